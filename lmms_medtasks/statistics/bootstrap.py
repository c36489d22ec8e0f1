"""Intervals by bootstrap over clusters: images are drawn, with all their questions and all trials of those.

A statistic here is a function of sums over rows (a mean is a sum over a count, a calibration error a function of the
sums in its bins), so a resample costs a product of how often each cluster was drawn with the clusters' sums. All parts
given in one call, be they levels, models or groups, see the same resampled clusters, so that their differences are
paired.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from lmms_medtasks.seeding import generator

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Method = Literal["percentile", "bca"]
Statistic = Callable[..., np.ndarray]
"""Takes the sums of each of its parts, (..., cells, 1 + columns) with the number of rows in column 0, and returns
(...) floats, NaN where it has no value. It must take any leading dimensions."""

RESAMPLES = 1000
_CHUNK = 2**21
"""Numbers held at once while resampling (16 MiB as doubles)."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Part:
    """Rows that a statistic sums over: one level, one model, one group.

    Attributes:
        clusters: the cluster (image id) of each of the n rows.
        columns: (n, c) finite floats to be summed.
        cells: (n,) integers from 0 to cell_count - 1; sums are kept apart for each cell (a bin, a group).
    """

    clusters: tuple[str, ...]
    columns: np.ndarray
    cells: np.ndarray
    cell_count: int

    @property
    def width(self) -> int:
        """Numbers kept for each cluster: a count and the columns' sums for each cell."""
        return self.cell_count * (1 + self.columns.shape[1])


@dataclass(frozen=True)
class Interval:
    """An estimate and its bootstrap interval.

    Attributes:
        estimate: the statistic of the data as they are; None if it has no value, as with no rows.
        low, high: the interval's ends; None without an estimate, with fewer than two clusters, or with resamples=0.
        n: rows of all parts of the statistic together. clusters: clusters that these rows are of.
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
class Figure:
    """A statistic, and the names of the parts whose sums it is given, in this order."""

    statistic: Statistic
    parts: tuple[str, ...]


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
        return ndtr(bias + moved / (1 - acceleration * moved))


def part(
    clusters: Sequence[str],
    *columns: np.ndarray | Sequence[float],
    cells: np.ndarray | None = None,
    cell_count: int = 1,
) -> Part:
    """A :class:`Part` from n cluster labels and columns of n numbers; without ``cells`` all rows are in cell 0.

    Raises ValueError when lengths differ, a number is not finite (leave rows without a value out first), or a cell is
    out of range.
    """
    count = len(clusters)
    values = np.column_stack([np.empty((count, 0)), *(np.asarray(column, dtype=float) for column in columns)])
    places = np.zeros(count, dtype=np.intp) if cells is None else np.asarray(cells, dtype=np.intp)
    if places.shape != (count,) or (count and not 0 <= places.min() <= places.max() < cell_count):
        raise ValueError(f"Wanted a cell from 0 to {cell_count - 1} for each of {count} rows, got {places!r}.")
    if not np.isfinite(values).all():
        raise ValueError("A column holds NaN or infinity: leave rows without a value out, and say how many.")
    return Part(tuple(map(str, clusters)), values, places, cell_count)


def mean(sums: np.ndarray, column: int = 0) -> np.ndarray:
    """Statistic: a column's mean over all rows, NaN without rows."""
    return sums[..., 1 + column].sum(-1) / sums[..., 0].sum(-1)


def mean_change(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Statistic: mean of the first column in the second part less that in the first."""
    return mean(after) - mean(before)


def bootstrap(
    parts: Mapping[str, Part],
    figures: Mapping[str, Figure],
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    method: Method = "percentile",
) -> dict[str, Distribution]:
    """Evaluate all figures on the data and on the same ``resamples`` draws of clusters.

    A draw takes as many clusters as there are in all parts together, with replacement, and with each all its rows in
    every part. A part that has no row in a draw counts as empty there (the statistic is NaN). The result depends on
    the seed and on the rows, not on their order nor on the chunks in which the work is done. Time is proportional to
    resamples times clusters and to resamples times the clusters' filled cells; memory is bounded beside the rows.

    With ``method="bca"`` each figure is also evaluated without each cluster in turn.
    """
    labels = sorted(set().union(*(each.clusters for each in parts.values())))
    codes = {label: number for number, label in enumerate(labels)}
    sums = {name: _cluster_sums(each, codes) for name, each in parts.items()}
    totals = {name: _shaped(sums[name].sum(axis=0), each) for name, each in parts.items()}
    values = _on_draws(parts, sums, figures, generator("bootstrap", seed), resamples if labels else 0)
    left_out = _without_each(parts, sums, totals, figures) if method == "bca" else {}
    return {
        name: Distribution(
            estimate=float(_evaluate(figure, totals)[0]),
            values=values[name],
            n=sum(len(parts[each].clusters) for each in set(figure.parts)),
            clusters=len(set().union(*(parts[each].clusters for each in figure.parts))),
            jackknife=left_out.get(name, np.empty(0)),
        )
        for name, figure in figures.items()
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
    rows = part([clusters[row] for row in used], numbers[used])
    found = bootstrap({"": rows}, {"": Figure(mean, ("",))}, seed=seed, resamples=resamples, method=method)
    return found[""].interval(level)


def _cluster_sums(rows: Part, codes: Mapping[str, int]) -> csr_matrix:
    """(clusters, width) sums of each cluster's rows, sparse: a cluster has rows in few of the cells."""
    from scipy.sparse import coo_matrix

    cluster = np.fromiter((codes[label] for label in rows.clusters), dtype=np.intp, count=len(rows.clusters))
    # Floating-point sums depend on their order: rows are put into one that depends on nothing but themselves.
    order = np.lexsort((*rows.columns.T, rows.cells, cluster))
    entries = np.column_stack([np.ones(len(order)), rows.columns[order]])
    stride = entries.shape[1]
    places = rows.cells[order, None] * stride + np.arange(stride)
    shape = (len(codes), rows.width)
    return coo_matrix((entries.ravel(), (np.repeat(cluster[order], stride), places.ravel())), shape=shape).tocsr()


def _shaped(sums: np.ndarray, rows: Part) -> np.ndarray:
    return np.asarray(sums).reshape(-1, rows.cell_count, 1 + rows.columns.shape[1])


def _evaluate(figure: Figure, sums: Mapping[str, np.ndarray]) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(figure.statistic(*(sums[name] for name in figure.parts)), dtype=float)


def _split(sums: np.ndarray, parts: Mapping[str, Part]) -> dict[str, np.ndarray]:
    """The columns of all parts side by side, (rows, width of all), to (rows, cells, 1 + columns) for each part."""
    ends = np.cumsum([each.width for each in parts.values()])
    pieces = np.split(sums, ends[:-1], axis=1)
    return {name: _shaped(piece, each) for (name, each), piece in zip(parts.items(), pieces, strict=True)}


def _on_draws(
    parts: Mapping[str, Part],
    sums: Mapping[str, csr_matrix],
    figures: Mapping[str, Figure],
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, np.ndarray]:
    values = {name: np.empty(resamples) for name in figures}
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
        drawn_sums = _split((stacked.T @ times.T.astype(float, order="C")).T, parts)
        for name, figure in figures.items():
            values[name][start : start + size] = _evaluate(figure, drawn_sums)
    return values


def _without_each(
    parts: Mapping[str, Part],
    sums: Mapping[str, csr_matrix],
    totals: Mapping[str, np.ndarray],
    figures: Mapping[str, Figure],
) -> dict[str, np.ndarray]:
    count = next(iter(sums.values())).shape[0] if sums else 0
    values = {name: np.empty(count) for name in figures}
    step = max(1, _CHUNK // max([1, *(each.width for each in parts.values())]))
    for start in range(0, count, step):
        rows = slice(start, start + step)
        rest = {name: totals[name] - _shaped(sums[name][rows].toarray(), each) for name, each in parts.items()}
        for name, figure in figures.items():
            values[name][rows] = _evaluate(figure, rest)
    return values
