"""Relative robustness: how much of its in-distribution score a model keeps out of distribution.

RR = 1 - (P_I - P_O) / P_I = P_O / P_I (SURE-VQA, section 3.2, after Chen et al. 2023), P_I the mean score on the i.i.d.
test and P_O on the OoD test. Above 1 the OoD test was answered better. On a scale that starts above 0, such as one to
five stars, RR cannot reach 0 (1/5 at worst) and moves less than the score does: compare RR within one scale only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmms_medtasks.statistics.bootstrap import (
    RESAMPLES,
    Distribution,
    Figure,
    Interval,
    Part,
    bootstrap,
    mean,
    mean_change,
)


class Sides(NamedTuple):
    """A model's scores on the two tests, the score in the first column; the clusters are images."""

    iid: Part
    ood: Part

    @property
    def shared(self) -> int:
        """Images that are in both tests. A resample draws each with its questions of both."""
        return len(set(self.iid.clusters) & set(self.ood.clusters))


@dataclass(frozen=True)
class Robustness:
    """Both means, their ratio (RR) and their difference (OoD less i.i.d.), with intervals from the same resamples.

    ``ratio.estimate`` is None where a test has no score or the i.i.d. mean is 0: what is lost of nothing is not
    defined. ``ratio.undefined`` counts the resamples of which that holds. ``shared``: images in both tests.
    """

    iid: Interval
    ood: Interval
    ratio: Interval
    change: Interval
    shared: int


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
    """Statistic: the mean of the first column in the second part over that in the first; NaN where that is 0."""
    below = mean(iid)
    return mean(ood) / np.where(below == 0, np.nan, below)


def robustness(sides: Sides, *, seed: int | str = 0, resamples: int = RESAMPLES, level: float = 0.95) -> Robustness:
    """RR of one model with its interval: images of both tests are drawn together, so that a shared one stays paired.

    Rows without a score must have been left out of the parts.
    """
    figures = {
        "iid": Figure(mean, ("iid",)),
        "ood": Figure(mean, ("ood",)),
        "ratio": Figure(ratio, ("iid", "ood")),
        "change": Figure(mean_change, ("iid", "ood")),
    }
    found = bootstrap(sides._asdict(), figures, seed=seed, resamples=resamples)
    return Robustness(**{name: each.interval(level) for name, each in found.items()}, shared=sides.shared)


def draws(models: Mapping[str, Sides], *, seed: int | str = 0, resamples: int = RESAMPLES) -> dict[str, Distribution]:
    """RR of each model on the data and on each resample, (resamples,) floats, the same images drawn for all models.

    SURE-VQA's Figure 19 compares ``resamples=100`` such values (:mod:`lmms_medtasks.statistics.significance`).
    """
    figures = {name: Figure(ratio, (f"{name} iid", f"{name} ood")) for name in models}
    return bootstrap(_parts(models), figures, seed=seed, resamples=resamples)


def differences(
    models: Mapping[str, Sides], *, seed: int | str = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> list[Difference]:
    """RR of each model less that of each one after it, in the order of ``models``.

    Cut the models' rows to the questions that all of them have first.
    """
    names = list(models)
    pairs = [(first, second) for row, first in enumerate(names) for second in names[row + 1 :]]
    figures = {
        f"{row}": Figure(_difference, tuple(f"{name} {side}" for name in pair for side in ("iid", "ood")))
        for row, pair in enumerate(pairs)
    }
    found = bootstrap(_parts(models), figures, seed=seed, resamples=resamples)
    return [Difference(*pair, found[f"{row}"].interval(level)) for row, pair in enumerate(pairs)]


def _difference(iid: np.ndarray, ood: np.ndarray, other_iid: np.ndarray, other_ood: np.ndarray) -> np.ndarray:
    return ratio(iid, ood) - ratio(other_iid, other_ood)


def _parts(models: Mapping[str, Sides]) -> dict[str, Part]:
    return {f"{name} {side}": part for name, sides in models.items() for side, part in sides._asdict().items()}
