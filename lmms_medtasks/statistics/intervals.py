"""The interval of every number: one rule, from the sums of each cluster (image).

A statistic is a function of sums over rows (:mod:`lmms_medtasks.statistics.sums`). Its jackknife values, those without
each cluster in turn, give its variance with whatever correlation the questions of an image and the trials of a question
have. What follows from the variance depends on what the statistic is:

* **A mean of values in a known range** (a share, a score, a macro mean): the range is taken to 0 to 1. The mean p with
  variance V is worth n = 1 + p(1 - p) / V answers that are right or wrong (Korn and Graubard 1998), and the interval is
  that of pn right answers of n: the quantiles of Beta(pn + 1/3, n - pn + 2/3) and Beta(pn + 2/3, n - pn + 1/3),
  between those of Clopper and Pearson (0 and 1) and of Jeffreys (1/2). V is not trusted where few clusters made it:
  of the k clusters that have anything right, or of those that have anything wrong if these are fewer, V becomes
  ((k - 1) V + c max(V, W)) / (k - 1 + c), where W = p(1 - p) / (K - 1) is the variance if all answers of a cluster were
  one answer, K is Kish's number of clusters, and c = 0.2. Where nothing varies V is W: n is the number of clusters.
* **A difference or a ratio** of two such: from the two intervals and the correlation of their jackknife values (MOVER:
  Zou and Donner 2008; of ratios Donner and Zou 2012). Of independent shares it is close to Newcombe's (1998).
  A paired change is the difference of two shares: the mean gain less the mean loss.
* **Anything else** (a coefficient of agreement, a mean without known bounds): Student's t with one degree of freedom
  less than clusters, cut to the statistic's range.

With fewer than 5 clusters, or of a macro mean fewer than 5 in one of its groups, there is no interval, and
:attr:`IntervalEstimate.reason` says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    IntervalFrom,
    RatioOf,
    SumGroup,
    SumStatistic,
    averaged_column,
    cluster_sums,
    evaluate_statistic,
    make_scored_group,
    mean_statistic,
    plain_cluster_sums,
    split_cells,
    value_range,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MINIMUM = 5
"""Clusters that an interval takes at least."""

FEW = f"fewer than {MINIMUM} images"
FEW_IN_GROUP = f"a group of the mean rests on fewer than {MINIMUM} images"
ALIKE = "all images give the same value"
MISSING = "no value without one of the images"
ZERO = "the number below the line may be 0"
"""Why there is no interval."""

_PRIOR = 0.2
_OFFSET = 1 / 3
_CHUNK = 2**21
"""Numbers held at once (16 MiB as doubles)."""
_ROUNDING = 1e-12


@dataclass(frozen=True)
class IntervalEstimate:
    """An estimate and its interval.

    Attributes:
        estimate: the statistic of the data; None if it has no value, as with no rows.
        low, high: the interval's ends; None where there is none.
        n: rows of all groups of the statistic together. clusters: clusters that these rows are of.
        level: nominal coverage; that of the command where none is given.
        reason: why there is an estimate and no interval; "" where there is one or none is wanted.
        standard_error: by the jackknife over clusters; None without an interval. What the interval is made of is not
            this alone.
        clustered_error: of a plain mean with an interval, see :func:`clustered_error`; else None. No interval is made
            of it.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    level: float = field(default_factory=confidence.current_level)
    reason: str = ""
    standard_error: float | None = None
    clustered_error: float | None = None


class StatisticLimits(NamedTuple):
    """A statistic, the ends of its interval, and what each of G clusters adds to its deviation.

    Arrays of one shape (...), ``deviations`` (..., G). ``low`` and ``high`` are NaN where there is none; ``reason``.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    deviations: np.ndarray
    reason: str = ""


def estimate_intervals(
    groups: Mapping[str, SumGroup], statistics: Mapping[str, AnyStatistic], *, level: float | None = None
) -> dict[str, IntervalEstimate]:
    """All statistics on the data, each with its interval. The result depends on the rows, not on their order."""
    with confidence.use_level(confidence.current_level() if level is None else level):
        data = _ClusterData(groups)
        return {name: data.estimate_interval(statistic) for name, statistic in statistics.items()}


def point_estimates(
    groups: Mapping[str, SumGroup], statistics: Mapping[str, AnyStatistic]
) -> dict[str, IntervalEstimate]:
    """All statistics on the data, without intervals."""
    data = _ClusterData(groups)
    return {name: data.point_estimate(statistic) for name, statistic in statistics.items()}


def jackknife_deviations(groups: Mapping[str, SumGroup], statistic: AnyStatistic) -> tuple[list[str], np.ndarray, str]:
    """The jackknife over the G clusters of ``groups``: their names, sorted, the deviations, and why there are none.

    Deviations: (G,) floats, each one's jackknife value less their mean; of a difference or a ratio to first order.
    """
    data = _ClusterData(groups)
    limits = data.interval_limits(statistic)
    return data.labels, limits.deviations, limits.reason


def estimate_mean(
    clusters: Sequence[str],
    values: np.ndarray | Sequence[float],
    *,
    bounds: tuple[float, float] | None = None,
    level: float | None = None,
) -> IntervalEstimate:
    """The mean of ``values`` with its interval. Rows without a value (NaN) are left out: ``n`` is the number used.

    ``bounds``: of each value, see :func:`lmms_medtasks.statistics.sums.value_range`.
    """
    numbers = np.asarray(values, dtype=float)
    used = np.flatnonzero(~np.isnan(numbers))
    rows = make_scored_group([clusters[row] for row in used.tolist()], numbers[used])
    return estimate_intervals({"": rows}, {"": mean_statistic("", value_range(numbers[used], bounds))}, level=level)[""]


def clustered_error(rows: SumGroup, column: int = 0) -> float:
    """Miller's clustered standard error of the mean of a column of two rows or more.

    Equation 4 of Miller (2024), as the harness prints it (``Stderr_Clustered``): the squared standard error of
    independent rows, and the products of the deviations of each two rows of a cluster over the squared number of rows.
    Where the rows of a cluster go together and clusters are few it is smaller than the jackknife's.
    """
    codes = np.unique(rows.clusters, return_inverse=True)[1].ravel()
    order = np.lexsort((rows.columns[:, column], codes))  # a sum depends on its order
    codes, values = codes[order], rows.columns[order, column] - rows.columns[order, column].mean()
    count, independent = len(values), float((values**2).sum())
    together = float((np.bincount(codes, weights=values) ** 2).sum()) - independent
    return math.sqrt(max(independent / (count - 1) / count + together / count**2, 0.0))


def share_limits(
    contributions: np.ndarray, weights: np.ndarray, deviations: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The interval of a mean of values from 0 to 1 over G clusters, two at least.

    ``contributions``: (..., G), each cluster's part of the mean, that add up to it. ``weights``: (..., G), what these
    parts would be if all its values were 1; they add up to 1. ``deviations``: (..., G), each cluster's jackknife value
    less their mean.
    """
    from scipy.special import betaincinv

    value = contributions.sum(-1)
    count = deviations.shape[-1]
    # A cluster's part of the variance goes with the square of its weight.
    right, wrong = contributions > _ROUNDING, weights - contributions > _ROUNDING
    made_by = np.minimum(_effective_clusters(weights**2, right), _effective_clusters(weights**2, wrong))
    binary = value * (1 - value)
    clusters = _effective_clusters(weights, weights > 0)
    largest = binary / np.maximum(clusters - 1, _ROUNDING)
    variance = (count - 1) / count * (deviations**2).sum(-1)
    known = np.maximum(made_by - 1, 0)
    pooled = (known * variance + _PRIOR * np.maximum(variance, largest)) / (known + _PRIOR)
    inside = binary > _ROUNDING
    answers = np.where(inside, 1 + binary / np.where(inside, pooled, 1), clusters)
    tail = (1 - confidence.current_level()) / 2
    right_answers, wrong_answers = np.maximum(value * answers, 0), np.maximum((1 - value) * answers, 0)
    low = betaincinv(right_answers + _OFFSET, wrong_answers + 1 - _OFFSET, tail)
    high = betaincinv(right_answers + 1 - _OFFSET, wrong_answers + _OFFSET, 1 - tail)
    return np.where(value <= _ROUNDING, 0.0, low), np.where(value >= 1 - _ROUNDING, 1.0, high)


def _effective_clusters(weights: np.ndarray, chosen: np.ndarray) -> np.ndarray:
    """(...) effective number of the chosen clusters, (sum w)^2 / sum w^2; 0 where none is."""
    chosen_weights = weights * chosen
    squares = (chosen_weights**2).sum(-1)
    return np.where(squares > 0, chosen_weights.sum(-1) ** 2 / np.where(squares > 0, squares, 1), 0.0)


def student_limits(value: np.ndarray, deviations: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Student's interval from jackknife deviations; NaN where these have no variance."""
    from scipy.special import stdtrit

    count = deviations.shape[-1]
    spread = np.sqrt((count - 1) / count * (deviations**2).sum(-1))
    quantile = stdtrit(count - 1, (1 + confidence.current_level()) / 2)
    half = np.where(spread > _ROUNDING, quantile * spread, np.nan)
    return value - half, value + half


def difference_limits(first: StatisticLimits, second: StatisticLimits) -> StatisticLimits:
    """First less second, by the method of variance estimates recovery (Zou and Donner 2008)."""
    value = first.value - second.value
    together = deviation_correlation(first.deviations, second.deviations)
    down = _combine_distances(first.value - first.low, second.high - second.value, together)
    up = _combine_distances(first.high - first.value, second.value - second.low, together)
    return StatisticLimits(
        value, value - down, value + up, first.deviations - second.deviations, first.reason or second.reason
    )


def ratio_limits(above: StatisticLimits, below: StatisticLimits) -> StatisticLimits:
    """Above over below, by the method of variance estimates recovery (Donner and Zou 2012); ``below`` is 0 or more.

    The ends are the ratios R at which ``above - R below`` has an interval that ends at 0. Which end of ``below`` counts
    there depends on the sign of R, which is that of the end of ``above``. Both are infinite where the interval of
    ``below`` reaches 0 and R may be on either side; else the upper one is.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        value = above.value / np.where(below.value == 0, np.nan, below.value)
        # A negative ratio is as exact as the same one above 0.
        sign = np.where(above.value < 0, -1.0, 1.0)
        together = sign * deviation_correlation(sign[..., None] * above.deviations, below.deviations)
        # 0 over anything is 0 and has the lower end 0, unless what is above can be negative.
        low = np.where((above.value == 0) & (above.low == 0), 0.0, _ratio_end(above, below, together, above.low, -1))
        high = _ratio_end(above, below, together, above.high, 1)
        deviations = (above.deviations - value[..., None] * below.deviations) / below.value[..., None]
    return StatisticLimits(value, low, high, deviations, above.reason or below.reason)


def _ratio_end(
    above: StatisticLimits, below: StatisticLimits, together: np.ndarray, end: np.ndarray, side: int
) -> np.ndarray:
    """The lower (``side`` -1) or upper (1) end of a ratio; ``end``: that of what is above."""
    a, b = above.value, below.value
    x = side * (end - a)
    # A positive ratio is low where what is below is high; a negative one where it is low.
    y = np.where((end < 0) == (side > 0), below.high - b, b - below.low)
    middle, outer, inner = a * b - together * x * y, a**2 - x**2, b**2 - y**2
    root = np.sqrt(np.maximum(middle**2 - outer * inner, 0))
    # Two forms of one root: the first divides by what may be 0 or below it, the second by what then is not.
    away_from_zero = (end < 0) == (side < 0)
    near = outer / (middle - side * root)
    far = np.where(inner > _ROUNDING, (middle + side * root) / np.where(inner > _ROUNDING, inner, 1), side * np.inf)
    return np.where(away_from_zero, far, near)


def deviation_correlation(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) correlation of (..., G) deviations, as far as G clusters can tell; 0 where one of them does not vary.

    What is not shared, 1 - r of a positive r, is estimated from the clusters alone, so it is multiplied by the square
    of Student's quantile over the normal one.
    """
    from scipy.special import ndtri, stdtrit

    product = np.sqrt((first**2).sum(-1) * (second**2).sum(-1))
    varied = product > _ROUNDING**2
    correlations = np.clip(np.where(varied, (first * second).sum(-1) / np.where(varied, product, 1), 0.0), -1, 1)
    clusters = ((first != 0) & (second != 0)).sum(-1)
    tail = (1 + confidence.current_level()) / 2
    wider = (stdtrit(np.maximum(clusters - 1, 1), tail) / ndtri(tail)) ** 2
    discounted: np.ndarray = np.where(correlations > 0, np.maximum(1 - (1 - correlations) * wider, 0), correlations)
    return discounted


def _combine_distances(first_distance: np.ndarray, second_distance: np.ndarray, together: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):  # an end that is infinite, with no correlation
        distance: np.ndarray = np.sqrt(
            np.maximum(first_distance**2 + second_distance**2 - 2 * together * first_distance * second_distance, 0)
        )
    return distance


def _to_array(sums: csr_matrix | np.ndarray) -> np.ndarray:
    return sums if isinstance(sums, np.ndarray) else np.asarray(sums.toarray())


class _ClusterData:
    """The sums of each cluster and of all, and what was computed from them already."""

    def __init__(self, groups: Mapping[str, SumGroup]) -> None:
        self.groups = groups
        self.labels = sorted(set().union(*(group.clusters for group in groups.values())))
        codes = {label: number for number, label in enumerate(self.labels)}
        self.count = len(self.labels)
        self.sums: dict[str, csr_matrix | np.ndarray] = {
            name: (cluster_sums if self.count * each.width > _CHUNK else plain_cluster_sums)(each, codes)
            for name, each in groups.items()
        }
        self.totals = {name: split_cells(self.sums[name].sum(axis=0), each) for name, each in groups.items()}
        self._known: dict[int, tuple[AnyStatistic, StatisticLimits]] = {}

    def point_estimate(self, statistic: AnyStatistic) -> IntervalEstimate:
        value = float(evaluate_statistic(statistic, self.totals)[0])
        groups = [self.groups[name] for name in dict.fromkeys(statistic.groups)]
        return IntervalEstimate(
            None if np.isnan(value) else value,
            None,
            None,
            sum(len(group.clusters) for group in groups),
            len(set().union(*(group.clusters for group in groups))),
        )

    def estimate_interval(self, statistic: AnyStatistic) -> IntervalEstimate:
        estimate = self.point_estimate(statistic)
        if estimate.estimate is None:
            return estimate
        limits = self.interval_limits(statistic)
        low, high = float(limits.low), float(limits.high)
        if limits.reason or not np.isfinite([low, high]).all():
            return replace(estimate, reason=limits.reason or (ZERO if np.isinf([low, high]).any() else ALIKE))
        spread = math.sqrt((estimate.clusters - 1) / estimate.clusters * float((limits.deviations**2).sum()))
        value = statistic.value if isinstance(statistic, IntervalFrom) else statistic
        column = averaged_column(value) if isinstance(value, SumStatistic) else None
        clustered = None if column is None else clustered_error(self.groups[value.groups[0]], column)
        return replace(estimate, low=low, high=high, standard_error=spread, clustered_error=clustered)

    def interval_limits(self, statistic: AnyStatistic) -> StatisticLimits:
        key = id(statistic)
        if key not in self._known:
            if isinstance(statistic, SumStatistic):
                limits = self._statistic_limits(statistic)
            elif isinstance(statistic, IntervalFrom):
                limits = self.interval_limits(statistic.interval_of)
            else:
                first, second = self.interval_limits(statistic.first), self.interval_limits(statistic.second)
                limits = (ratio_limits if isinstance(statistic, RatioOf) else difference_limits)(first, second)
                if np.isinf(limits.high) and not limits.reason:
                    limits = limits._replace(reason=ZERO)
            self._known[key] = statistic, limits
        return self._known[key][1]

    def _statistic_limits(self, statistic: SumStatistic) -> StatisticLimits:
        value = evaluate_statistic(statistic, self.totals)[0]
        none = StatisticLimits(value, np.array(np.nan), np.array(np.nan), np.zeros(self.count))
        rows = np.zeros(self.count)
        for name in dict.fromkeys(statistic.groups):
            rows += np.asarray(self.sums[name][:, :: 1 + self.groups[name].columns.shape[1]].sum(axis=1)).ravel()
        present = np.flatnonzero(rows)
        if len(present) < MINIMUM:
            return none._replace(reason=FEW)
        if statistic.macro and min(self._clusters_by_cell(statistic)) < MINIMUM:
            return none._replace(reason=FEW_IN_GROUP)
        left_out, parts, weights = self._leave_each_out(statistic, present)
        if np.isnan(left_out).any():
            return none._replace(reason=MISSING)
        deviations = np.zeros(self.count)
        deviations[present] = left_out.mean() - left_out
        if statistic.bounds is None:
            low, high = student_limits(value, deviations[present])
        elif statistic.mean:
            bottom, width = statistic.bounds[0], statistic.bounds[1] - statistic.bounds[0]
            low, high = share_limits((parts - bottom * weights) / width, weights, deviations[present] / width)
            low, high = bottom + width * low, bottom + width * high
        else:
            low, high = student_limits(value, deviations[present])
            low, high = np.maximum(low, statistic.bounds[0]), np.minimum(high, statistic.bounds[1])
        return StatisticLimits(value, low, high, deviations)

    def _clusters_by_cell(self, statistic: SumStatistic) -> list[int]:
        counts = (
            self.sums[name][:, :: 1 + self.groups[name].columns.shape[1]] for name in dict.fromkeys(statistic.groups)
        )
        return [int(count) for sums in counts for count in np.asarray((sums > 0).sum(axis=0)).ravel()]

    def _leave_each_out(
        self, statistic: SumStatistic, present: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(present,) values without each of these clusters; of a mean also each one's part of it, and its weight."""
        names = list(dict.fromkeys(statistic.groups))
        values, parts, weights = np.empty(len(present)), np.zeros(len(present)), np.zeros(len(present))
        step = max(1, _CHUNK // max([1, *(self.groups[name].width for name in names)]))
        for start in range(0, len(present), step):
            chosen = slice(start, start + step)
            each = {name: split_cells(_to_array(self.sums[name][present[chosen]]), self.groups[name]) for name in names}
            rest = {name: self.totals[name] - each[name] for name in names}
            for name in names:  # what is left of a sum that was all the cluster's is 0, not the rounding of it
                rest[name][rest[name][..., 0] < 0.5] = 0
            values[chosen] = evaluate_statistic(statistic, rest)
            if statistic.mean and statistic.bounds is not None:
                # A mean is linear in its values: over all rows, with those of the other clusters 0, it is this one's
                # part; with those of this one 1, the cluster's weight.
                ones = {name: np.repeat(each[name][..., :1], each[name].shape[-1], axis=-1) for name in names}
                for name in names:
                    each[name][..., 0] = ones[name][..., 0] = self.totals[name][..., 0]
                parts[chosen], weights[chosen] = (
                    evaluate_statistic(statistic, each),
                    evaluate_statistic(statistic, ones),
                )
        return values, parts, weights
