"""The makers of numbers: each estimate is a rule from a table of questions to one draw of the bootstrap.

Without resamples an estimate is what the harness's table prints; with 1,000 it is a cell of the report, the leaderboard
or a comparison, with its interval. There is no other way from questions to a number.

Statistics of one draw see the same resampled clusters. Only what belongs together is drawn together: the two sides of a
contrast, the cells of a macro mean. A group's interval does not depend on which other groups are reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.bootstrap import (
    RESAMPLES,
    Distribution,
    Group,
    Interval,
    Statistic,
    bootstrap,
    group,
    mean,
    mean_change,
    mean_of_means,
)
from lmms_medtasks.statistics.robustness import ratio
from lmms_medtasks.statistics.shares import wilson

EMPTY = Interval(None, None, None, 0, 0)
"""The interval of a number that does not exist."""

Unit = tuple[str, float | None]
"""A cluster and the value of something that is no question: an item's agreement, a case. None: it has no value."""


class Draw(NamedTuple):
    """One call of the bootstrap: groups of rows, and the statistics of them."""

    groups: Mapping[str, Group]
    statistics: Mapping[str, Statistic]


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

    def draw(self, rows: Samples) -> Draw | None:
        """What is drawn of ``rows``, which are restricted already; None where nothing can be estimated."""
        raise NotImplementedError

    def distributions(
        self, rows: Samples, resamples: int = RESAMPLES, seed: int | str = 0
    ) -> Mapping[str, Distribution]:
        """Each statistic on the rows and on every resample, by name; {} where nothing can be estimated."""
        drawn = self.draw(rows.where(self.where))
        if drawn is None:
            return {}
        return bootstrap(*drawn, seed=seed, resamples=0 if self.exact else resamples)

    def of(self, rows: Samples, resamples: int = RESAMPLES, seed: int | str = 0) -> Mapping[str, Interval]:
        """Each statistic with its 95 % interval, by name; {} where nothing can be estimated."""
        return {name: each.interval() for name, each in self.distributions(rows, resamples, seed).items()}

    def value(self, rows: Samples) -> float | int | None:
        """The main statistic without its interval: the number in the harness's table."""
        return self.of(rows, resamples=0).get(self.main, EMPTY).estimate


@dataclass(frozen=True)
class Mean(Estimate):
    """Mean of a measure over the questions that have a score.

    ``interval``: "bootstrap" over clusters; "share": Wilson's for scores of 0 and 1 whose clusters are all different,
    else the bootstrap.
    """

    measure: str = "accuracy"
    interval: Literal["bootstrap", "share"] = "bootstrap"

    def draw(self, rows: Samples) -> Draw:
        """The questions with a score; their mean."""
        return Draw({"": measured(rows, self.measure)}, {"mean": Statistic(mean, ("",))})

    def of(self, rows: Samples, resamples: int = RESAMPLES, seed: int | str = 0) -> Mapping[str, Interval]:
        """The mean with its interval."""
        found = super().of(rows, resamples, seed)
        if self.interval != "share" or not resamples or self.exact:
            return found
        scored = rows.where(self.where).scored(self.measure)
        scores, clusters = scored.column(f"{self.measure}.score"), set(scored.column("cluster"))
        if not len(scored) or len(clusters) < len(scored) or not np.isin(scores, (0.0, 1.0)).all():
            return found
        low, high = wilson(int(scores.sum()), len(scores))
        return {"mean": Interval(float(scores.mean()), low, high, len(scored), len(clusters))}


@dataclass(frozen=True)
class Macro(Estimate):
    """Plain mean of the means of groups, which may overlap.

    The groups are the values of the tag ``by``, or those that ``groups`` restricts to. Where one of ``groups`` has no
    score there is no mean, unless ``skip_empty``; a group of a tag's value always has rows.
    """

    measure: str = "accuracy"
    by: str = ""
    groups: tuple[Where, ...] = ()
    skip_empty: bool = False

    def draw(self, rows: Samples) -> Draw | None:
        """The scores of all groups, a cell each; the mean of the cells' means."""
        chosen = rows.by([self.by]).values() if self.by else (rows.where(each) for each in self.groups)
        scored = [each.scored(self.measure) for each in chosen]
        if self.skip_empty:
            scored = [each for each in scored if len(each)]
        if not scored or not all(map(len, scored)):
            return None
        cells = np.repeat(np.arange(len(scored)), [len(each) for each in scored])
        clusters = np.concatenate([each.column("cluster") for each in scored])
        scores = np.concatenate([each.column(f"{self.measure}.score") for each in scored])
        return Draw(
            {"": group(clusters.tolist(), scores, cells=cells, cell_count=len(scored))},
            {"mean": Statistic(mean_of_means, ("",))},
        )


@dataclass(frozen=True)
class MacroContrast(Estimate):
    """Two macro means, drawn together; the groups are what ``first`` and ``second`` restrict to.

    Statistics: ``first`` and ``second``, the plain means of their groups' means; ``change``, second less first. Nothing
    where a group has no score.
    """

    main: str = "change"
    measure: str = "accuracy"
    first: tuple[Where, ...] = ()
    second: tuple[Where, ...] = ()

    def draw(self, rows: Samples) -> Draw | None:
        """The scores of the groups on both sides, a cell each; the means of the cells' means."""
        sides = {name: Macro(measure=self.measure, groups=groups).draw(rows)
                 for name, groups in (("first", self.first), ("second", self.second))}  # fmt: skip
        groups = {name: drawn.groups[""] for name, drawn in sides.items() if drawn}
        if len(groups) < len(sides):
            return None
        statistics = {name: Statistic(mean_of_means, (name,)) for name in groups}
        statistics["change"] = Statistic(macro_change, ("first", "second"))
        return Draw(groups, statistics)


@dataclass(frozen=True)
class Contrast(Estimate):
    """Two restrictions of a table, drawn together.

    Statistics: ``first`` and ``second``, their means; ``change``, second less first; with ``ratio`` also ``ratio``,
    second over first.

    ``pair``: columns in which a row of the second must agree with one of the first; only pairs with both scores count,
    each in the cluster of the first. Without it both are taken whole.
    """

    main: str = "change"
    measure: str = "accuracy"
    first: Where = field(default_factory=dict)
    second: Where = field(default_factory=dict)
    pair: tuple[str, ...] = ()
    ratio: bool = False

    def draw(self, rows: Samples) -> Draw:
        """The scores on both sides."""
        first, second = (rows.where(each).scored(self.measure) for each in (self.first, self.second))
        if self.pair:
            first, second = first.paired(second, self.pair)
        clusters = first.column("cluster") if self.pair else second.column("cluster")
        groups = {
            "first": group(first.column("cluster").tolist(), first.column(f"{self.measure}.score")),
            "second": group(clusters.tolist(), second.column(f"{self.measure}.score")),
        }
        statistics = {name: Statistic(mean, (name,)) for name in groups}
        statistics["change"] = Statistic(mean_change, ("first", "second"))
        if self.ratio:
            statistics["ratio"] = Statistic(ratio, ("first", "second"))
        return Draw(groups, statistics)


@dataclass(frozen=True)
class Units(Estimate):
    """Mean over units that are no questions, such as whether all answers about an item agree."""

    units: Callable[[Samples], Sequence[Unit]] = lambda rows: ()

    def draw(self, rows: Samples) -> Draw:
        """The units that have a value; their mean."""
        known = [(cluster, value) for cluster, value in self.units(rows) if value is not None]
        clusters, values = [cluster for cluster, _ in known], [value for _, value in known]
        return Draw({"": group(clusters, values)}, {"mean": Statistic(mean, ("",))})

    def without_value(self, rows: Samples) -> int:
        """Number of units that have none."""
        return sum(value is None for _, value in self.units(rows.where(self.where)))


@dataclass(frozen=True)
class Custom(Estimate):
    """Groups and statistics that a suite makes itself."""

    function: Callable[[Samples], Draw | None] = lambda rows: None

    def draw(self, rows: Samples) -> Draw | None:
        """What the function gives."""
        return self.function(rows)


@dataclass(frozen=True)
class Count(Estimate):
    """A number that is counted, not estimated: it has no interval. None where there is nothing to count."""

    main: str = "count"
    exact: bool = True
    function: Callable[[Samples], float | int | None] = len

    def of(self, rows: Samples, resamples: int = RESAMPLES, seed: int | str = 0) -> Mapping[str, Interval]:
        """The number; ``n`` is the number of rows."""
        counted = self.value(rows)
        own = rows.where(self.where)
        return {"count": Interval(counted, None, None, len(own), len(set(own.column("cluster"))))}

    def value(self, rows: Samples) -> float | int | None:
        """The number."""
        return self.function(rows.where(self.where))


def macro_change(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Statistic: the macro mean of the second group less that of the first."""
    return np.asarray(mean_of_means(after) - mean_of_means(before))


def measured(rows: Samples, measure: str) -> Group:
    """The questions with a score of ``measure``, for the bootstrap."""
    scored = rows.scored(measure)
    return group(scored.column("cluster").tolist(), scored.column(f"{measure}.score"))
