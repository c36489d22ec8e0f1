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
from lmms_medtasks.statistics.sums import AnyStatistic, Difference, Ratio, Through, mean_statistic, range_of, scored
from lmms_medtasks.suites.estimates import Bounds, Draw, Estimate

Question = tuple[Any, ...]
QUESTION = ("pair",)
"""The columns that name a question whatever its form."""


@dataclass(frozen=True)
class LostBenefit(Estimate):
    """The share of the image's benefit under ``first`` that is lost under ``second``, both of the same clusters.

    Statistics, in the measure's unit but for the last: ``first`` and ``second``, the mean scores with the image;
    ``floor`` and ``second_floor``, those of the same questions without it; ``benefit`` and ``second_benefit``, the
    difference; ``drop``, first less second; ``lost``, what the second benefit is less than the first, over the first.
    ``lost`` has no value where the benefit is 0, and no meaning where it may be 0: a report leaves it empty there.

    Attributes:
        floor: a question, as the columns ``question`` name it -> its score without the image (:func:`floor_of`).
            Questions that are not there are left out.
        pair: columns in which a row of the second must agree with one of the first, each then in the cluster of the
            first; without it both are taken whole.
        bounds: the range of a score, as of a mean.
    """

    main: str = "lost"
    measure: str = "accuracy"
    floor: Mapping[Question, float] = field(default_factory=dict)
    question: tuple[str, ...] = QUESTION
    first: Where = field(default_factory=dict)
    second: Where = field(default_factory=dict)
    pair: tuple[str, ...] = ()
    bounds: Bounds | None = None

    def draw(self, rows: Samples) -> Draw | None:
        """The scores with and without the image on both sides; None where a side has none."""
        first, second = (self._with_floor(rows.where(each)) for each in (self.first, self.second))
        if self.pair:
            first, second = first.paired(second, self.pair)
        if not len(first) or not len(second):
            return None
        clusters = first.column("cluster").tolist()
        own = clusters if self.pair else second.column("cluster").tolist()
        one, other = (each.column(f"{self.measure}.score") for each in (first, second))
        floor, other_floor = (self._floors(each) for each in (first, second))
        bounds = range_of(np.concatenate([one, other, floor, other_floor]), self.bounds)
        change = (bounds[0] - bounds[1], bounds[1] - bounds[0]) if bounds else None
        groups = {
            "first": scored(clusters, one),
            "second": scored(own, other),
            "floor": scored(clusters, floor),
            "second_floor": scored(own, other_floor),
            "benefit": scored(clusters, one - floor),
            "second_benefit": scored(own, other - other_floor),
        }
        statistics: dict[str, AnyStatistic] = {
            name: mean_statistic(name, change if "benefit" in name else bounds) for name in groups
        }
        statistics["drop"] = Difference(statistics["first"], statistics["second"])
        loss: AnyStatistic = Difference(statistics["benefit"], statistics["second_benefit"])
        if self.pair:
            groups["pairs"] = scored(clusters, one - other)
            # The same question has the same score without its image, so that what is lost of the benefit is the drop.
            drop = mean_statistic("pairs", change)
            statistics["drop"], loss = Through(statistics["drop"], drop), Through(loss, drop)
        statistics["lost"] = Ratio(loss, statistics["benefit"])
        return Draw(groups, statistics)

    def _with_floor(self, rows: Samples) -> Samples:
        known = rows.scored(self.measure)
        return known.take(np.array([each in self.floor for each in _questions(known, self.question)], dtype=bool))

    def _floors(self, rows: Samples) -> np.ndarray:
        return np.array([self.floor[each] for each in _questions(rows, self.question)])


def floor_of(rows: Samples, measure: str, question: Sequence[str] = QUESTION) -> dict[Question, float]:
    """The scores of questions that were asked without their image, by the columns ``question``: of several the mean."""
    scored = rows.scored(measure)
    found: dict[Question, list[float]] = {}
    for each, score in zip(_questions(scored, question), scored.column(f"{measure}.score"), strict=True):
        found.setdefault(each, []).append(float(score))
    return {each: math.fsum(scores) / len(scores) for each, scores in found.items()}


def _questions(rows: Samples, names: Sequence[str]) -> list[Question]:
    return list(zip(*(rows.column(name) for name in names), strict=True))
