"""What of the image's benefit is lost where images get worse or another test is taken, relative to the no-image floor.

The benefit of the image under a condition is the mean score with it less the mean score of the same questions without
it. A drop of four points is little for a model that gains forty from its images, and all there is for one that gains
four: the share lost is 1 - (benefit under the second condition) / (benefit under the first). Where the second condition
asks the same questions, such as degraded images, the floor is the same on both sides, and the share is
(first - second) / (first - without image).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.sums import Group, Statistic, group, mean
from lmms_medtasks.suites.estimates import Draw, Estimate

Question = tuple[Any, ...]
QUESTION = ("pair",)
"""The columns that name a question whatever its form."""


@dataclass(frozen=True)
class LostBenefit(Estimate):
    """The share of the image's benefit under ``first`` that is lost under ``second``, both drawn together.

    Statistics, in the measure's unit but for the last: ``first`` and ``second``, the mean scores with the image;
    ``floor`` and ``second_floor``, those of the same questions without it; ``benefit`` and ``second_benefit``, the
    difference; ``drop``, first less second; ``lost``, 1 - second_benefit / benefit, a ratio of sums over the same
    resampled clusters. ``lost`` has no value where the benefit is 0, and no meaning where it may be 0: a report leaves
    it empty there.

    Attributes:
        floor: a question, as the columns ``question`` name it -> its score without the image (:func:`floor_of`).
            Questions that are not there are left out.
        pair: columns in which a row of the second must agree with one of the first, each then in the cluster of the
            first; without it both are taken whole.
    """

    main: str = "lost"
    measure: str = "accuracy"
    floor: Mapping[Question, float] = field(default_factory=dict)
    question: tuple[str, ...] = QUESTION
    first: Where = field(default_factory=dict)
    second: Where = field(default_factory=dict)
    pair: tuple[str, ...] = ()

    def draw(self, rows: Samples) -> Draw | None:
        """The scores with and without the image on both sides; None where a side has none."""
        first, second = (self._with_floor(rows.where(each)) for each in (self.first, self.second))
        clusters = second.column("cluster")
        if self.pair:
            first, second = first.paired(second, self.pair)
            clusters = first.column("cluster")
        if not len(first) or not len(second):
            return None
        groups = {"first": self._group(first, first.column("cluster")), "second": self._group(second, clusters)}
        both = ("first", "second")
        return Draw(
            groups,
            {
                "first": Statistic(mean, ("first",)),
                "second": Statistic(mean, ("second",)),
                "floor": Statistic(_floor, ("first",)),
                "second_floor": Statistic(_floor, ("second",)),
                "benefit": Statistic(benefit, ("first",)),
                "second_benefit": Statistic(benefit, ("second",)),
                "drop": Statistic(_drop, both),
                "lost": Statistic(lost, both),
            },
        )

    def _with_floor(self, rows: Samples) -> Samples:
        scored = rows.scored(self.measure)
        return scored.take(np.array([each in self.floor for each in _questions(scored, self.question)], dtype=bool))

    def _group(self, rows: Samples, clusters: np.ndarray) -> Group:
        floors = [self.floor[each] for each in _questions(rows, self.question)]
        return group(clusters.tolist(), rows.column(f"{self.measure}.score"), floors)


def floor_of(rows: Samples, measure: str, question: Sequence[str] = QUESTION) -> dict[Question, float]:
    """The scores of questions that were asked without their image, by the columns ``question``: of several the mean."""
    scored = rows.scored(measure)
    found: dict[Question, list[float]] = {}
    for each, score in zip(_questions(scored, question), scored.column(f"{measure}.score"), strict=True):
        found.setdefault(each, []).append(float(score))
    return {each: math.fsum(scores) / len(scores) for each, scores in found.items()}


def _questions(rows: Samples, names: Sequence[str]) -> list[Question]:
    return list(zip(*(rows.column(name) for name in names), strict=True))


def benefit(sums: np.ndarray) -> np.ndarray:
    """Statistic: the mean score with the image less that of the same questions without it."""
    found: np.ndarray = mean(sums, 0) - mean(sums, 1)
    return found


def lost(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Statistic: 1 less the ratio of the second benefit to the first; NaN where the first is 0."""
    whole = benefit(first)
    return 1 - benefit(second) / np.where(whole == 0, np.nan, whole)


def _floor(sums: np.ndarray) -> np.ndarray:
    return mean(sums, 1)


def _drop(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    found: np.ndarray = mean(first) - mean(second)
    return found
