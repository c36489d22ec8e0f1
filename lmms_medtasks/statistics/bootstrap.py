"""Intervals by bootstrap over clusters: images are drawn, with all their questions and all trials of those.

A statistic is a function of sums over rows (:mod:`lmms_medtasks.statistics.sums`), so a resample costs a product of how
often each cluster was drawn with the clusters' sums. All groups
given in one call, be they levels, models or categories, see the same resampled clusters, so that their differences are
paired.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.sums import (
    Group,
    Statistic,
    StatisticFunction,
    cluster_sums,
    evaluate,
    group,
    mean,
    mean_change,
    mean_of_means,
    shaped,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = [
    "RESAMPLES",
    "Distribution",
    "Statistic",
    "Interval",
    "Method",
    "Group",
    "StatisticFunction",
    "bootstrap",
    "mean",
    "mean_change",
    "mean_interval",
    "mean_of_means",
    "group",
]

Method = Literal["percentile", "bca"]
RESAMPLES = 1000
_CHUNK = 2**21
"""Numbers held at once while resampling (16 MiB as doubles)."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Interval:
    """An estimate and its bootstrap interval.

    Attributes:
        estimate: the statistic of the data as they are; None if it has no value, as with no rows.
        low, high: the interval's ends; None without an estimate, with fewer than two clusters, or with resamples=0.
        n: rows of all groups of the statistic together. clusters: clusters that these rows are of.
        undefined: resamples left out because the statistic had no value in them (a small group not drawn at all).
        degenerate: all resamples gave the estimate itself. An interval of no width is then no certainty: clusters that
            are all alike (0 right out of 4) show the bootstrap no variation.
        level: nominal coverage. method: "percentile" or "bca", as it was used.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    undefined: int = 0
    degenerate: bool = False
    level: float = 0.95
    method: Method = "percentile"


@dataclass(frozen=True)
class Distribution:
    """A statistic's value on the data and on each resample, (R,) floats, and without each cluster, (G,) or (0,)."""

    estimate: float
    values: np.ndarray
    n: int
    clusters: int
    jackknife: np.ndarray = field(default_factory=lambda: np.empty(0))

    def interval(self, level: float = 0.95) -> Interval:
        """The interval from the ``(1 - level) / 2`` quantile to its mirror (linear interpolation).

        With a jackknife the quantiles are BCa's (Efron 1987): moved for the bias, the share of resamples below the
        estimate (ties half), and for the acceleration from the jackknife over clusters. Where these have no value (all
        resamples on one side, or no variation) the interval is the percentile one, and ``method`` says so.
        """
        defined = self.values[~np.isnan(self.values)]
        if np.isnan(self.estimate):
            return Interval(None, None, None, self.n, self.clusters, level=level)
        undefined = len(self.values) - len(defined)
        if self.clusters < 2 or not len(defined):
            return Interval(float(self.estimate), None, None, self.n, self.clusters, undefined, level=level)
        tails = np.array([(1 - level) / 2, (1 + level) / 2])
        corrected = self._bca(defined, tails)
        low, high = np.quantile(defined, tails if corrected is None else corrected)
        return Interval(
            estimate=float(self.estimate),
            low=float(low),
            high=float(high),
            n=self.n,
            clusters=self.clusters,
            undefined=undefined,
            degenerate=bool((np.abs(defined - self.estimate) < _ROUNDING).all()),
            level=level,
            method="percentile" if corrected is None else "bca",
        )

    def _bca(self, defined: np.ndarray, tails: np.ndarray) -> np.ndarray | None:
        if not len(self.jackknife):
            return None
        from scipy.special import ndtr, ndtri

        below = ((defined < self.estimate).mean() + (defined <= self.estimate).mean()) / 2
        away = self.jackknife.mean() - self.jackknife
        spread = (away**2).sum()
        if not 0 < below < 1 or not spread > 0:  # also when the jackknife has a NaN
            return None
        acceleration = (away**3).sum() / (6 * spread**1.5)
        bias = ndtri(below)
        moved = bias + ndtri(tails)
        corrected: np.ndarray = ndtr(bias + moved / (1 - acceleration * moved))
        return corrected


def bootstrap(
    groups: Mapping[str, Group],
    statistics: Mapping[str, Statistic],
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    method: Method = "percentile",
) -> dict[str, Distribution]:
    """Evaluate all statistics on the data and on the same ``resamples`` draws of clusters.

    A draw takes as many clusters as there are in all groups together, with replacement, and with each all its rows in
    every group. A group that has no row in a draw counts as empty there (the statistic is NaN). The result depends on
    the seed and on the rows, not on their order nor on the chunks in which the work is done. Time is proportional to
    resamples times clusters and to resamples times the clusters' filled cells; memory is bounded beside the rows.

    With ``method="bca"`` each statistic is also evaluated without each cluster in turn.
    """
    labels = sorted(set().union(*(each.clusters for each in groups.values())))
    codes = {label: number for number, label in enumerate(labels)}
    sums = {name: cluster_sums(each, codes) for name, each in groups.items()}
    totals = {name: shaped(sums[name].sum(axis=0), each) for name, each in groups.items()}
    values = _on_draws(groups, sums, statistics, generator("bootstrap", seed), resamples if labels else 0)
    left_out = _without_each(groups, sums, totals, statistics) if method == "bca" else {}
    return {
        name: Distribution(
            estimate=float(evaluate(statistic, totals)[0]),
            values=values[name],
            n=sum(len(groups[each].clusters) for each in set(statistic.groups)),
            clusters=len(set().union(*(groups[each].clusters for each in statistic.groups))),
            jackknife=left_out.get(name, np.empty(0)),
        )
        for name, statistic in statistics.items()
    }


def mean_interval(
    clusters: Sequence[str],
    values: np.ndarray | Sequence[float],
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
    method: Method = "percentile",
) -> Interval:
    """The mean of ``values`` with its interval. Rows without a value (NaN) are left out: ``n`` is the number used."""
    numbers = np.asarray(values, dtype=float)
    used = np.flatnonzero(~np.isnan(numbers)).tolist()
    rows = group([clusters[row] for row in used], numbers[used])
    found = bootstrap({"": rows}, {"": Statistic(mean, ("",))}, seed=seed, resamples=resamples, method=method)
    return found[""].interval(level)


def _split(sums: np.ndarray, groups: Mapping[str, Group]) -> dict[str, np.ndarray]:
    """The columns of all groups side by side, (rows, width of all), to (rows, cells, 1 + columns) for each group."""
    ends = np.cumsum([each.width for each in groups.values()])
    pieces = np.split(sums, ends[:-1], axis=1)
    return {name: shaped(piece, each) for (name, each), piece in zip(groups.items(), pieces, strict=True)}


def _on_draws(
    groups: Mapping[str, Group],
    sums: Mapping[str, csr_matrix],
    statistics: Mapping[str, Statistic],
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, np.ndarray]:
    values = {name: np.empty(resamples) for name in statistics}
    if not resamples:
        return values
    from scipy.sparse import hstack

    stacked = hstack(list(sums.values()), format="csr")
    count = stacked.shape[0]
    step = max(1, _CHUNK // max(stacked.shape))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        # Sparse times dense adds a column's clusters in the same order in every column; BLAS need not, and the
        # difference of identical data would not be exactly 0.
        drawn_sums = _split((stacked.T @ times.T.astype(float, order="C")).T, groups)
        for name, statistic in statistics.items():
            values[name][start : start + size] = evaluate(statistic, drawn_sums)
    return values


def _without_each(
    groups: Mapping[str, Group],
    sums: Mapping[str, csr_matrix],
    totals: Mapping[str, np.ndarray],
    statistics: Mapping[str, Statistic],
) -> dict[str, np.ndarray]:
    count = next(iter(sums.values())).shape[0] if sums else 0
    values = {name: np.empty(count) for name in statistics}
    step = max(1, _CHUNK // max([1, *(each.width for each in groups.values())]))
    for start in range(0, count, step):
        rows = slice(start, start + step)
        rest = {name: totals[name] - shaped(sums[name][rows].toarray(), each) for name, each in groups.items()}
        for name, statistic in statistics.items():
            values[name][rows] = evaluate(statistic, rest)
    return values
