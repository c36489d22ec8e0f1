"""Estimates: each is a rule from a table of questions to groups of rows and statistics of them.

Without intervals an estimate is what the harness's table prints; with them it is a cell of the report, the leaderboard
or a comparison. There is no other way from questions to a number, and one rule for every interval
(:mod:`lmms_medtasks.statistics.intervals`). A group's interval does not depend on which other groups are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals, point_estimates
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    DifferenceOf,
    IntervalFrom,
    RatioOf,
    SumGroup,
    SumStatistic,
    make_scored_group,
    make_sum_group,
    mean_of_means,
    mean_statistic,
    statistic_bounds,
    value_range,
)

Bounds = tuple[float, float]

EMPTY = IntervalEstimate(None, None, None, 0, 0)
"""The interval of a number that does not exist."""

Unit = tuple[str, float | None]
"""A cluster and the value of something that is no question: an item's agreement, a case. None: it has no value."""


class Draw(NamedTuple):
    """Groups of rows, and statistics of them."""

    groups: Mapping[str, SumGroup]
    statistics: Mapping[str, AnyStatistic]


@dataclass(frozen=True)
class Estimate:
    """A rule from a table to numbers.

    Attributes:
        where: rows that the estimate is about; all of the table's by default.
        main: the statistic that stands for the estimate where one number is shown.
        exact: the numbers are known and not estimated, as what guessing gets is: no interval.
    """

    where: Where = field(default_factory=dict)
    main: str = "mean"
    exact: bool = False

    def draw(self, rows: QuestionTable) -> Draw | None:
        """Make groups and statistics of ``rows``, which are already restricted; None if nothing can be estimated."""
        raise NotImplementedError

    def of(self, rows: QuestionTable, with_intervals: bool = True) -> Mapping[str, IntervalEstimate]:
        """Name -> statistic with its interval; {} if nothing can be estimated."""
        drawn = self.draw(rows.where(self.where))
        if drawn is None:
            return {}
        return estimate_intervals(*drawn) if with_intervals and not self.exact else point_estimates(*drawn)

    @property
    def columns(self) -> list[str]:
        """The columns by which it selects, groups or pairs questions."""
        values = [item for value in vars(self).values() for item in (value if isinstance(value, tuple) else (value,))]
        restricting = [name for value in values if isinstance(value, Mapping) for name in value]
        pairing = (getattr(self, "by", ""), *getattr(self, "pair", ()))
        return list(dict.fromkeys([*restricting, *filter(None, pairing)]))

    def value(self, rows: QuestionTable) -> float | int | None:
        """The main statistic without its interval: the number in the harness's table."""
        return self.of(rows, with_intervals=False).get(self.main, EMPTY).estimate

    def range(self, rows: QuestionTable) -> Bounds:
        """The range of the main statistic; 0 to 1 if unknown (a ratio)."""
        drawn = self.draw(rows.where(self.where))
        return (drawn and self.main in drawn.statistics and statistic_bounds(drawn.statistics[self.main])) or (0.0, 1.0)


@dataclass(frozen=True)
class Mean(Estimate):
    """Mean of a measure over the questions that have a score.

    ``bounds``: the range of a score. Without them it is 0 to 1, or -1 to 1, where all scores are within; a mean of
    other scores has an interval that knows no bounds.
    """

    measure: str = "accuracy"
    bounds: Bounds | None = None

    def draw(self, rows: QuestionTable) -> Draw:
        """The questions with a score; their mean."""
        scored_rows = rows.scored(self.measure)
        scores = scored_rows.column(f"{self.measure}.score")
        questions = make_scored_group(scored_rows.column("cluster").tolist(), scores)
        return Draw({"": questions}, {"mean": mean_statistic("", value_range(scores, self.bounds))})


@dataclass(frozen=True)
class Macro(Estimate):
    """Plain mean of the means of groups, which may overlap.

    The groups are the values of the tag ``by``, or those that ``groups`` restricts to. Where one of ``groups`` has no
    score there is no mean, unless ``skip_empty``; a group of a tag's value always has rows. ``bounds``: as of a mean.
    There is no interval where a group has fewer than five clusters.
    """

    measure: str = "accuracy"
    by: str = ""
    groups: tuple[Where, ...] = ()
    skip_empty: bool = False
    bounds: Bounds | None = None

    def draw(self, rows: QuestionTable) -> Draw | None:
        """The scores of all groups, a cell each; the mean of the cells' means."""
        chosen = rows.by([self.by]).values() if self.by else (rows.where(part) for part in self.groups)
        parts = [part.scored(self.measure) for part in chosen]
        if self.skip_empty:
            parts = [part for part in parts if len(part)]
        if not parts or not all(map(len, parts)):
            return None
        cells = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
        clusters = np.concatenate([part.column("cluster") for part in parts])
        scores = np.concatenate([part.column(f"{self.measure}.score") for part in parts])
        return Draw(
            {"": make_scored_group(clusters.tolist(), scores, cells=cells, cell_count=len(parts))},
            {"mean": mean_statistic("", value_range(scores, self.bounds), mean_of_means)},
        )


@dataclass(frozen=True)
class MacroContrast(Estimate):
    """Two macro means, drawn together; the groups are what ``first`` and ``second`` restrict to.

    Statistics: ``first`` and ``second``, the plain means of their groups' means; ``change``, second less first. Nothing
    where a group has no score. ``bounds``: as of a mean.
    """

    main: str = "change"
    measure: str = "accuracy"
    first: tuple[Where, ...] = ()
    second: tuple[Where, ...] = ()
    bounds: Bounds | None = None

    def draw(self, rows: QuestionTable) -> Draw | None:
        """The scores of the groups on both sides, a cell each; the means of the cells' means."""
        sides = {name: Macro(measure=self.measure, groups=groups).draw(rows)
                 for name, groups in (("first", self.first), ("second", self.second))}  # fmt: skip
        groups = {name: drawn.groups[""] for name, drawn in sides.items() if drawn}
        if len(groups) < len(sides):
            return None
        bounds = value_range(np.concatenate([cells.columns[:, 0] for cells in groups.values()]), self.bounds)
        first, second = (mean_statistic(name, bounds, mean_of_means) for name in ("first", "second"))
        return Draw(groups, {"first": first, "second": second, "change": DifferenceOf(second, first)})


@dataclass(frozen=True)
class Contrast(Estimate):
    """Two restrictions of a table, drawn together.

    Statistics: ``first`` and ``second``, their means; ``change``, second less first; with ``ratio``, or where it is
    the main one, also ``ratio``, second over first.

    ``pair``: columns in which a row of the second must agree with one of the first; only pairs with both scores count,
    each in the cluster of the first. Without it both are taken whole. ``bounds``: as of a mean.
    """

    main: str = "change"
    measure: str = "accuracy"
    first: Where = field(default_factory=dict)
    second: Where = field(default_factory=dict)
    pair: tuple[str, ...] = ()
    ratio: bool = False
    bounds: Bounds | None = None

    def draw(self, rows: QuestionTable) -> Draw:
        """The scores on both sides."""
        first, second = (rows.where(side).scored(self.measure) for side in (self.first, self.second))
        if self.pair:
            first, second = first.paired(second, self.pair)
        first_scores, second_scores = (side.column(f"{self.measure}.score") for side in (first, second))
        bounds = value_range(np.concatenate([first_scores, second_scores]), self.bounds)
        clusters = first.column("cluster").tolist()
        second_clusters = clusters if self.pair else second.column("cluster").tolist()
        groups = {
            "first": make_scored_group(clusters, first_scores),
            "second": make_scored_group(second_clusters, second_scores),
        }
        before, after = mean_statistic("first", bounds), mean_statistic("second", bounds)
        statistics: dict[str, AnyStatistic] = {"first": before, "second": after, "change": DifferenceOf(after, before)}
        if self.pair:
            groups["pairs"] = make_scored_group(clusters, second_scores - first_scores)
            width = (bounds[0] - bounds[1], bounds[1] - bounds[0]) if bounds else None
            statistics["change"] = IntervalFrom(DifferenceOf(after, before), mean_statistic("pairs", width))
        if self.ratio or self.main == "ratio":
            statistics["ratio"] = RatioOf(after, before)
        return Draw(groups, statistics)


@dataclass(frozen=True)
class Fraction(Estimate):
    """The sum of one number of each question over the sum of another, such as precision or F1.

    ``top``, ``bottom``: table of n questions -> (n,) numbers, 0 or more; the sum of ``bottom`` is never the smaller. No
    value where it is 0.
    """

    main: str = "fraction"
    top: Callable[[QuestionTable], Sequence[float] | np.ndarray] = lambda rows: np.zeros(len(rows))
    bottom: Callable[[QuestionTable], Sequence[float] | np.ndarray] = lambda rows: np.ones(len(rows))

    def draw(self, rows: QuestionTable) -> Draw | None:
        """Both numbers of each question; the one sum over the other."""
        columns = [np.asarray(column(rows), dtype=float) for column in (self.top, self.bottom)]
        for column in columns:
            if column.shape != (len(rows),) or not np.isfinite(column).all() or (column < 0).any():
                raise UserError(
                    f"A fraction's top and bottom give {len(rows)} numbers, 0 or more, one a question; got the shape "
                    f"{column.shape}, values {column.ravel()[:5].tolist()}."
                )
        if not len(rows):
            return None
        both = make_sum_group(rows.column("cluster").tolist(), *columns)
        return Draw({"": both}, {self.main: SumStatistic(_fraction_of_sums, ("",), (0.0, 1.0), mean=False)})


def _fraction_of_sums(sums: np.ndarray) -> np.ndarray:
    totals = sums.sum(-2)
    parts: np.ndarray = totals[..., 1] / totals[..., 2]
    return parts


@dataclass(frozen=True)
class Units(Estimate):
    """Mean over units other than questions, such as whether all answers about an item agree."""

    units: Callable[[QuestionTable], Sequence[Unit]] = lambda rows: ()

    def draw(self, rows: QuestionTable) -> Draw:
        """The units that have a value; their mean."""
        known = [(cluster, value) for cluster, value in self.units(rows) if value is not None]
        clusters, values = [cluster for cluster, _ in known], [value for _, value in known]
        bounds = value_range(np.array(values, dtype=float))
        return Draw({"": make_scored_group(clusters, values)}, {"mean": mean_statistic("", bounds)})

    def without_value(self, rows: QuestionTable) -> int:
        """Number of units that have none."""
        return sum(value is None for _, value in self.units(rows.where(self.where)))


@dataclass(frozen=True)
class Custom(Estimate):
    """Groups and statistics that a benchmark's own function makes."""

    function: Callable[[QuestionTable], Draw | None] = lambda rows: None

    def draw(self, rows: QuestionTable) -> Draw | None:
        """The function's result."""
        return self.function(rows)


@dataclass(frozen=True)
class Count(Estimate):
    """A number that is counted, not estimated: it has no interval. None if there is nothing to count."""

    main: str = "count"
    exact: bool = True
    function: Callable[[QuestionTable], float | int | None] = len

    def of(self, rows: QuestionTable, with_intervals: bool = True) -> Mapping[str, IntervalEstimate]:
        """The number; ``n`` is the number of rows."""
        counted = self.value(rows)
        restricted = rows.where(self.where)
        return {"count": IntervalEstimate(counted, None, None, len(restricted), len(set(restricted.column("cluster"))))}

    def value(self, rows: QuestionTable) -> float | int | None:
        """The number."""
        return self.function(rows.where(self.where))
