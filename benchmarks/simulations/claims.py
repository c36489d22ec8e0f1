"""What a simulation measured in one setting, with its Monte-Carlo errors, and the files that keep it."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lmms_medtasks.statistics.intervals import IntervalEstimate

COLUMNS = ("about", "setting", "claimed", "figure", "value", "error", "repeats")


class Figure(NamedTuple):
    """A measured number, and its Monte-Carlo standard error in the same unit. Shares are in percent."""

    name: str
    value: float
    error: float


@dataclass(frozen=True)
class Claim:
    """What is claimed in one setting, and what was measured.

    Attributes:
        about: the number or the test, such as "share" or "gate".
        setting: the data that were made up: images, questions an image, trials, the true value.
        claimed: in words and numbers, such as "covers 95 %" or "false alarms at most 5 %".
        figures: the same as it was measured.
        repeats: data sets that it was counted over.
    """

    about: str
    setting: str
    claimed: str
    figures: tuple[Figure, ...]
    repeats: int


def percent(found: Sequence[bool] | np.ndarray, name: str = "share") -> Figure:
    """Percent of the data sets in which something was found; its error is never 0 (a hit and a miss are added)."""
    count, hits = len(found), float(np.sum(found))
    smoothed = (hits + 1) / (count + 2)
    return Figure(name, 100 * hits / count, 100 * math.sqrt(smoothed * (1 - smoothed) / count))


def average(values: Sequence[float] | np.ndarray, name: str = "mean") -> Figure:
    """The mean over data sets."""
    spread = np.std(values, ddof=1) if len(values) > 1 else math.nan
    return Figure(name, float(np.mean(values)), float(spread / math.sqrt(len(values))))


def holds(interval: IntervalEstimate, truth: float) -> bool:
    """Whether there is an interval, and it covers the truth."""
    return interval.low is not None and interval.high is not None and interval.low <= truth <= interval.high


def write(path: Path, made_by: str, claims: Iterable[Claim]) -> None:
    """One row a figure, behind a line that says how it was made."""
    path.parent.mkdir(exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# {made_by}\n")
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(COLUMNS)
        for claim in claims:
            for name, value, error in claim.figures:
                said = (claim.about, claim.setting, claim.claimed, name)
                rows.writerow([*said, f"{value:.4g}", f"{error:.2g}", claim.repeats])


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file of :func:`write`."""
    with path.open(encoding="utf-8", newline="") as file:
        next(file)
        return list(csv.DictReader(file))
