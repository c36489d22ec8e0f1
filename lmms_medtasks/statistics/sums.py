"""Statistics as functions of sums over rows, and their values on the data as they are.

A mean is a sum over a count, a calibration error a function of the sums in its bins. Sums are taken for each cluster
(image id) first: what is left out, drawn or added up afterwards is whole clusters
(:mod:`lmms_medtasks.statistics.intervals`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

StatisticFunction = Callable[..., np.ndarray]
"""Takes the sums of each of its groups, (..., cells, 1 + columns) with the number of rows in column 0, and returns
(...) floats, NaN where it has no value. It must take any leading dimensions."""


@dataclass(frozen=True)
class SumGroup:
    """Rows that a statistic sums over: one level, one model, one category.

    Attributes:
        clusters: the cluster (image id) of each of the n rows.
        columns: (n, c) finite floats to be summed.
        cells: (n,) integers from 0 to cell_count - 1; sums are kept apart for each cell (a bin, a category).
    """

    clusters: tuple[str, ...]
    columns: np.ndarray
    cells: np.ndarray
    cell_count: int

    @property
    def width(self) -> int:
        """Numbers kept for each cluster: a count and the columns' sums for each cell."""
        return self.cell_count * (1 + int(self.columns.shape[1]))


@dataclass(frozen=True)
class SumStatistic:
    """A function of sums, and the names of the groups whose sums it is given, in this order.

    ``bounds``: its range, None if unknown. ``mean``: it is a mean of values in this range, or a mean of such means:
    linear in the values, so that the bounds shape its interval. ``macro``: all cells count alike, so that each needs
    enough clusters.
    """

    function: StatisticFunction
    groups: tuple[str, ...]
    bounds: tuple[float, float] | None = None
    mean: bool = True
    macro: bool = False


@dataclass(frozen=True)
class _StatisticPair:
    first: AnyStatistic
    second: AnyStatistic

    @property
    def groups(self) -> tuple[str, ...]:
        return (*self.first.groups, *self.second.groups)


class DifferenceOf(_StatisticPair):
    """The first statistic less the second."""


class RatioOf(_StatisticPair):
    """The first statistic over the second; it has no value where the second is 0."""


@dataclass(frozen=True)
class IntervalFrom:
    """A statistic whose interval is that of another one, which has the same value by another way."""

    value: AnyStatistic
    interval_of: AnyStatistic

    @property
    def groups(self) -> tuple[str, ...]:
        return self.value.groups


AnyStatistic = SumStatistic | DifferenceOf | RatioOf | IntervalFrom


def make_sum_group(
    clusters: Sequence[str],
    *columns: np.ndarray | Sequence[float],
    cells: np.ndarray | None = None,
    cell_count: int = 1,
) -> SumGroup:
    """A :class:`SumGroup` from n cluster labels and columns of n numbers; without ``cells`` all rows are in cell 0.

    Raises ValueError when lengths differ, a number is not finite (leave rows without a value out first), or a cell is
    out of range.
    """
    count = len(clusters)
    values = np.column_stack([np.empty((count, 0)), *(np.asarray(column, dtype=float) for column in columns)])
    cell_codes = np.zeros(count, dtype=np.intp) if cells is None else np.asarray(cells, dtype=np.intp)
    if cell_codes.shape != (count,) or (count and not 0 <= cell_codes.min() <= cell_codes.max() < cell_count):
        raise ValueError(f"Expected a cell from 0 to {cell_count - 1} for each of {count} rows, got {cell_codes!r}.")
    if not np.isfinite(values).all():
        raise ValueError("A column holds NaN or infinity: leave rows without a value out, and say how many.")
    return SumGroup(tuple(map(str, clusters)), values, cell_codes, cell_count)


def make_scored_group(
    clusters: Sequence[str],
    values: np.ndarray | Sequence[float],
    *,
    cells: np.ndarray | None = None,
    cell_count: int = 1,
) -> SumGroup:
    """A group for :func:`mean_statistic`: columns value, what of it is above 0, and what is below, both 0 or more."""
    numbers = np.asarray(values, dtype=float)
    return make_sum_group(
        clusters, numbers, np.maximum(numbers, 0), np.maximum(-numbers, 0), cells=cells, cell_count=cell_count
    )


def value_range(values: np.ndarray, bounds: tuple[float, float] | None = None) -> tuple[float, float] | None:
    """``bounds`` if given; else 0 to 1 or -1 to 1 if all values are within, None if not."""
    if bounds is not None or not len(values):
        return bounds or (0.0, 1.0)
    low, high = float(np.min(values)), float(np.max(values))
    return None if low < -1 or high > 1 else (-1.0, 1.0) if low < 0 else (0.0, 1.0)


def mean_statistic(
    name: str, bounds: tuple[float, float] | None, function: StatisticFunction | None = None
) -> AnyStatistic:
    """The mean of the values of a group that :func:`make_scored_group` made; ``function``: :func:`mean_of_means` for a
    macro mean.

    Where values may be above and below 0, the interval is that of the mean gain less the mean loss.
    """
    of = mean if function is None else function
    macro = function is mean_of_means
    value = SumStatistic(of, (name,), bounds, macro=macro)
    if bounds is None or not bounds[0] < 0 < bounds[1]:
        return value
    gain = SumStatistic(functools.partial(of, column=1), (name,), (0.0, bounds[1]), macro=macro)
    loss = SumStatistic(functools.partial(of, column=2), (name,), (0.0, -bounds[0]), macro=macro)
    return IntervalFrom(value, DifferenceOf(gain, loss))


def statistic_bounds(statistic: AnyStatistic) -> tuple[float, float] | None:
    """The range of a statistic; None if it is unknown, as of a ratio."""
    if isinstance(statistic, IntervalFrom):
        return statistic_bounds(statistic.value)
    if isinstance(statistic, SumStatistic):
        return statistic.bounds
    first, second = statistic_bounds(statistic.first), statistic_bounds(statistic.second)
    if isinstance(statistic, RatioOf) or first is None or second is None:
        return None
    return first[0] - second[1], first[1] - second[0]


def mean(sums: np.ndarray, column: int = 0) -> np.ndarray:
    """Statistic: a column's mean over all rows, NaN without rows."""
    return np.asarray(sums[..., 1 + column].sum(-1) / sums[..., 0].sum(-1))


def averaged_column(statistic: SumStatistic) -> int | None:
    """The column that the statistic is the mean of (:func:`mean`); None for any other statistic."""
    function = statistic.function
    if isinstance(function, functools.partial):
        return int(function.keywords.get("column", 0)) if function.func is mean else None
    return 0 if function is mean else None


def mean_of_column(column: int, name: str = "") -> SumStatistic:
    """The mean of a column of a group whose values are from 0 to 1."""
    return SumStatistic(functools.partial(mean, column=column), (name,), (0.0, 1.0))


def mean_of_means(sums: np.ndarray, column: int = 0) -> np.ndarray:
    """Statistic: the mean over cells of a column's mean in each; NaN when a cell has no row."""
    return np.asarray((sums[..., 1 + column] / sums[..., 0]).mean(-1))


def cluster_sums(rows: SumGroup, codes: Mapping[str, int]) -> csr_matrix:
    """(clusters, width) sums of each cluster's rows, sparse: a cluster has rows in few of the cells."""
    from scipy.sparse import coo_matrix

    entries, cluster, positions = _sum_entries(rows, codes)
    return coo_matrix((entries, (cluster, positions)), shape=(len(codes), rows.width)).tocsr()


def plain_cluster_sums(rows: SumGroup, codes: Mapping[str, int]) -> np.ndarray:
    """The same as a plain array: quicker where it is small."""
    entries, cluster, positions = _sum_entries(rows, codes)
    size = len(codes) * rows.width
    return np.bincount(cluster * rows.width + positions, weights=entries, minlength=size).reshape(
        len(codes), rows.width
    )


def sums_by_cluster(groups: Mapping[str, SumGroup]) -> np.ndarray:
    """(groups, clusters of all, 1 + columns) sums of groups of one cell and as many columns; numbers of rows first."""
    labels = sorted(set().union(*(group.clusters for group in groups.values())))
    codes = {label: code for code, label in enumerate(labels)}
    sums = [split_cells(plain_cluster_sums(group, codes), group)[:, 0] for group in groups.values()]
    return np.stack(sums) if sums else np.zeros((0, 0, 1))


def _sum_entries(rows: SumGroup, codes: Mapping[str, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The entries to add up, with the cluster and the position in its sums of each."""
    cluster = np.fromiter((codes[label] for label in rows.clusters), dtype=np.intp, count=len(rows.clusters))
    # Floating-point sums depend on their order: rows are put into one that depends on nothing but themselves.
    order = np.lexsort((*rows.columns.T, rows.cells, cluster))
    entries = np.column_stack([np.ones(len(order)), rows.columns[order]])
    stride = entries.shape[1]
    positions = rows.cells[order, None] * stride + np.arange(stride)
    return entries.ravel(), np.repeat(cluster[order], stride), positions.ravel()


def split_cells(sums: np.ndarray, rows: SumGroup) -> np.ndarray:
    """Sums of (..., width) as (..., cells, 1 + columns); one row of sums gets a leading dimension of 1."""
    return np.asarray(sums).reshape(-1, rows.cell_count, 1 + rows.columns.shape[1])


def evaluate_statistic(statistic: AnyStatistic, sums: Mapping[str, np.ndarray]) -> np.ndarray:
    """The statistic of the sums of its groups, (...) floats, NaN where it has no value."""
    if isinstance(statistic, IntervalFrom):
        return evaluate_statistic(statistic.value, sums)
    if not isinstance(statistic, SumStatistic):
        first, second = evaluate_statistic(statistic.first, sums), evaluate_statistic(statistic.second, sums)
        if isinstance(statistic, DifferenceOf):
            return np.asarray(first - second)
        return np.asarray(first / np.where(second == 0, np.nan, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(statistic.function(*(sums[name] for name in statistic.groups)), dtype=float)
