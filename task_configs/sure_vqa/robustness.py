"""Relative robustness: how much of its in-distribution score a model keeps out of distribution.

RR = 1 - (P_I - P_O) / P_I = P_O / P_I (SURE-VQA, section 3.2, after Chen et al. 2023), P_I the mean score on the i.i.d.
test and P_O on the OoD test. Above 1 the OoD test was answered better. On a scale that starts above 0, such as one to
five stars, RR cannot reach 0 (1/5 at worst) and moves less than the score does: compare RR within one scale only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sums import Difference as Less
from lmms_medtasks.statistics.sums import Group, Ratio, mean_statistic, range_of


class Sides(NamedTuple):
    """A model's scores on the two tests (:func:`lmms_medtasks.statistics.sums.scored`); the clusters are images."""

    iid: Group
    ood: Group


class Difference(NamedTuple):
    """RR of one model less that of another on the same tests, with its interval over images."""

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


def differences(models: Mapping[str, Sides], *, bounds: tuple[float, float] | None = None) -> list[Difference]:
    """RR of each model less that of each one after it, in the order of ``models``.

    Cut the models' rows to the questions that all of them have first. ``bounds``: of each score, such as 1 to 5 stars;
    without them scores of 1 alone are taken for shares (:func:`lmms_medtasks.statistics.sums.range_of`).
    """
    names = list(models)
    pairs = [(first, second) for row, first in enumerate(names) for second in names[row + 1 :]]
    groups = {f"{name} {side}": group for name, sides in models.items() for side, group in sides._asdict().items()}
    robust = {
        name: Ratio(*(mean_statistic(f"{name} {side}", range_of(group.columns[:, 0], bounds))
                      for side, group in (("ood", sides.ood), ("iid", sides.iid))))
        for name, sides in models.items()
    }  # fmt: skip
    statistics = {f"{row}": Less(robust[first], robust[second]) for row, (first, second) in enumerate(pairs)}
    found = intervals(groups, statistics)
    return [Difference(*pair, found[f"{row}"]) for row, pair in enumerate(pairs)]
