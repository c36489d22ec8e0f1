"""How much of what a model gains from its images is lost."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    DifferenceOf,
    IntervalFrom,
    RatioOf,
    make_scored_group,
    mean_statistic,
    value_range,
)
from lmms_medtasks.suites.estimates import Bounds, Draw, Estimate


@dataclass(frozen=True)
class LostBenefit(Estimate):
    """The share of the image's benefit under ``first`` that is lost under ``second``, both of the same clusters.

    The benefit of the image under a condition is the mean score with it less the mean score of the same questions
    without it. A drop of four points is little for a model that gains forty from its images, and all there is for one
    that gains four: the share lost is 1 - (benefit under the second condition) / (benefit under the first). Where the
    second condition asks the same questions, such as degraded images, the floor is the same on both sides, and the
    share is (first - second) / (first - without image).

    Statistics, in the measure's unit but for the last: ``first`` and ``second``, the mean scores with the image;
    ``floor`` and ``second_floor``, those of the same questions without it; ``benefit`` and ``second_benefit``, the
    difference; ``drop``, first less second; ``lost``, what the second benefit is less than the first, over the first.
    ``lost`` has no value where the benefit is 0, and no meaning where it may be 0: a report leaves it empty there.

    Attributes:
        floor: a question's ``pair`` -> its score without the image (:func:`floor_of`). Other questions are left out.
        pair: columns in which a row of the second must agree with one of the first, each then in the cluster of the
            first; without it both are taken whole.
        bounds: the range of a score, as of a mean.
    """

    main: str = "lost"
    measure: str = "accuracy"
    floor: Mapping[str, float] = field(default_factory=dict)
    first: Where = field(default_factory=dict)
    second: Where = field(default_factory=dict)
    pair: tuple[str, ...] = ()
    bounds: Bounds | None = None

    def draw(self, rows: QuestionTable) -> Draw | None:
        """The scores with and without the image on both sides; None if a side has no score."""
        first, second = (self._with_floor(rows.where(side)) for side in (self.first, self.second))
        if self.pair:
            first, second = first.paired(second, self.pair)
        if not len(first) or not len(second):
            return None
        clusters = first.column("cluster").tolist()
        second_clusters = clusters if self.pair else second.column("cluster").tolist()
        first_scores, second_scores = (side.column(f"{self.measure}.score") for side in (first, second))
        first_floor, second_floor = (self._floor_scores(side) for side in (first, second))
        bounds = value_range(np.concatenate([first_scores, second_scores, first_floor, second_floor]), self.bounds)
        change = (bounds[0] - bounds[1], bounds[1] - bounds[0]) if bounds else None
        groups = {
            "first": make_scored_group(clusters, first_scores),
            "second": make_scored_group(second_clusters, second_scores),
            "floor": make_scored_group(clusters, first_floor),
            "second_floor": make_scored_group(second_clusters, second_floor),
            "benefit": make_scored_group(clusters, first_scores - first_floor),
            "second_benefit": make_scored_group(second_clusters, second_scores - second_floor),
        }
        statistics: dict[str, AnyStatistic] = {
            name: mean_statistic(name, change if "benefit" in name else bounds) for name in groups
        }
        statistics["drop"] = DifferenceOf(statistics["first"], statistics["second"])
        loss: AnyStatistic = DifferenceOf(statistics["benefit"], statistics["second_benefit"])
        if self.pair:
            groups["pairs"] = make_scored_group(clusters, first_scores - second_scores)
            # The same question has the same score without its image, so that what is lost of the benefit is the drop.
            drop = mean_statistic("pairs", change)
            statistics["drop"], loss = IntervalFrom(statistics["drop"], drop), IntervalFrom(loss, drop)
        statistics["lost"] = RatioOf(loss, statistics["benefit"])
        return Draw(groups, statistics)

    def _with_floor(self, rows: QuestionTable) -> QuestionTable:
        known = rows.scored(self.measure)
        return known.take(np.array([pair in self.floor for pair in known.column("pair")], dtype=bool))

    def _floor_scores(self, rows: QuestionTable) -> np.ndarray:
        return np.array([self.floor[pair] for pair in rows.column("pair")])


def floor_of(rows: QuestionTable, measure: str) -> dict[str, float]:
    """A question's ``pair`` -> its mean score without the image."""
    scored = rows.scored(measure)
    scores_by_pair: dict[str, list[float]] = {}
    for pair, score in zip(scored.column("pair"), scored.column(f"{measure}.score"), strict=True):
        scores_by_pair.setdefault(pair, []).append(float(score))
    return {pair: math.fsum(scores) / len(scores) for pair, scores in scores_by_pair.items()}
