"""Relative robustness: how much of its in-distribution score a model keeps out of distribution.

RR = 1 - (P_I - P_O) / P_I = P_O / P_I (SURE-VQA, section 3.2, after Chen et al. 2023), P_I the mean score on the i.i.d.
test and P_O on the OoD test. Above 1 the OoD test was answered better. On a scale that starts above 0, such as one to
five stars, RR cannot reach 0 (1/5 at worst) and moves less than the score does: compare RR within one scale only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from lmms_medtasks.statistics.bootstrap import (
    RESAMPLES,
    Group,
    Interval,
    Statistic,
    bootstrap,
    mean,
)


class Sides(NamedTuple):
    """A model's scores on the two tests, the score in the first column; the clusters are images."""

    iid: Group
    ood: Group


class Difference(NamedTuple):
    """RR of one model less that of another on the same tests, with its interval over images drawn for both alike."""

    first: str
    second: str
    difference: Interval


def relative_robustness(iid: float | None, ood: float | None) -> float | None:
    """OoD over i.i.d. mean score; None where one of them is None, or the i.i.d. mean is 0.

    >>> relative_robustness(0.8, 0.4)  # half is lost
    0.5
    >>> relative_robustness(0.0, 0.5) is None
    True
    """
    return ood / iid if iid and ood is not None else None


def ratio(iid: np.ndarray, ood: np.ndarray) -> np.ndarray:
    """Statistic: the mean of the first column in the second group over that in the first; NaN where that is 0."""
    below = mean(iid)
    return mean(ood) / np.where(below == 0, np.nan, below)


def differences(
    models: Mapping[str, Sides], *, seed: int | str = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> list[Difference]:
    """RR of each model less that of each one after it, in the order of ``models``.

    Cut the models' rows to the questions that all of them have first.
    """
    names = list(models)
    pairs = [(first, second) for row, first in enumerate(names) for second in names[row + 1 :]]
    statistics = {
        f"{row}": Statistic(_difference, tuple(f"{name} {side}" for name in pair for side in ("iid", "ood")))
        for row, pair in enumerate(pairs)
    }
    found = bootstrap(_groups(models), statistics, seed=seed, resamples=resamples)
    return [Difference(*pair, found[f"{row}"].interval(level)) for row, pair in enumerate(pairs)]


def _difference(iid: np.ndarray, ood: np.ndarray, other_iid: np.ndarray, other_ood: np.ndarray) -> np.ndarray:
    difference: np.ndarray = ratio(iid, ood) - ratio(other_iid, other_ood)
    return difference


def _groups(models: Mapping[str, Sides]) -> dict[str, Group]:
    return {f"{name} {side}": group for name, sides in models.items() for side, group in sides._asdict().items()}
