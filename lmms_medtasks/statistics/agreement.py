"""Agreement of raters, people or judges: coefficients with intervals over clusters.

Ratings are numbers: a label stands for the number that its scale gives it. NaN is a rating that was not made; it is
left out and ``n`` says how many were used. A coefficient that has no value is None with the reason, never 0.

Two raters have rank correlations, Cohen's kappas, and how often they say the same. All of these are functions of how
often each pair of ratings occurs, so a resample costs sums over the pairs that do occur (25 at most for a scale of
five), and products of the numbers of distinct ratings.

Any number of raters have Krippendorff's alpha, ratings missing or not: K. Krippendorff, "Computing Krippendorff's
Alpha-Reliability" (2011), section D; nominal, ordinal and interval data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals
from lmms_medtasks.statistics.sums import StatisticFunction, SumGroup, SumStatistic, make_sum_group

DECIMALS = 9
"""Ratings that agree this far are the same: means of the same labels may differ in the last bit."""


@dataclass(frozen=True)
class AgreementEstimate:
    """An estimate with its interval (``interval.n`` items were rated), and ``reason`` where the estimate is None."""

    interval: IntervalEstimate
    reason: str = ""

    @property
    def value(self) -> float | None:
        return self.interval.estimate


def estimate_without_value(count: int, reason: str) -> AgreementEstimate:
    """The estimate for ``count`` items for which the coefficient is not defined, whatever their ratings."""
    return AgreementEstimate(IntervalEstimate(None, None, None, count, 0), reason)


def code_ratings(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ratings in order, (V,) floats, and which of them each rating is, integers in the ratings' shape."""
    values, codes = np.unique(np.round(ratings, DECIMALS) + 0.0, return_inverse=True)
    return values, codes.reshape(ratings.shape)


@dataclass(frozen=True)
class RatingPairs:
    """The pairs of ratings that occur, (P,) of them, sorted by the first rating and then the second.

    ``first`` (A,), ``second`` (B,): each rater's distinct ratings, ascending. ``one``, ``other``: (P,) places in these.
    """

    first: np.ndarray
    second: np.ndarray
    one: np.ndarray
    other: np.ndarray

    def count_marginals(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., P) counts -> how often each rater gave each rating, (..., A) and (..., B)."""
        order = np.argsort(self.other, kind="stable")
        return _sum_runs(counts, self.one), _sum_runs(counts[..., order], self.other[order])


Coefficient = Callable[[np.ndarray, RatingPairs], np.ndarray]
"""Takes (..., P) counts of the pairs and returns (...) floats, NaN where it has no value."""


def rating_spearman(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Spearman's rho: Pearson's correlation of the ranks, ties sharing their mean rank."""
    given = pairs.count_marginals(counts)
    middle = (counts.sum(-1)[..., None] + 1) / 2
    first, second = (marginal.cumsum(-1) - (marginal - 1) / 2 - middle for marginal in given)
    together = (counts * first[..., pairs.one] * second[..., pairs.other]).sum(-1)
    spread = (given[0] * first**2).sum(-1) * (given[1] * second**2).sum(-1)
    return np.asarray(together / np.sqrt(np.where(spread > 0, spread, np.nan)))


def rating_kendall(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Kendall's tau-b: concordant less discordant pairs over the geometric mean of the pairs untied in each rater."""
    count = counts.sum(-1)
    untied = [
        (count * (count - 1) - (marginal * (marginal - 1)).sum(-1)) / 2 for marginal in pairs.count_marginals(counts)
    ]
    product = untied[0] * untied[1]
    return _concordance_surplus(counts, pairs) / np.sqrt(np.where(product > 0, product, np.nan))


def kappa(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Cohen's kappa (1960): every disagreement weighs the same."""
    return _weighted_kappa(counts, pairs, (pairs.first[:, None] != pairs.second).astype(float))


def kappa_linear(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Weighted kappa (Cohen 1968); a disagreement weighs the distance of the two ratings as numbers.

    With equally spaced labels this is the kappa weighted by the distance of the labels' places, labels that nobody gave
    included.
    """
    return _weighted_kappa(counts, pairs, np.abs(pairs.first[:, None] - pairs.second))


def kappa_quadratic(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Weighted kappa (Cohen 1968); a disagreement weighs the squared distance of the two ratings as numbers."""
    return _weighted_kappa(counts, pairs, (pairs.first[:, None] - pairs.second) ** 2)


def exact_share(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Share of the items that both rated alike."""
    share: np.ndarray = (counts * (pairs.first[pairs.one] == pairs.second[pairs.other])).sum(-1) / counts.sum(-1)
    return share


COEFFICIENTS: Mapping[str, Coefficient] = {
    "spearman": rating_spearman,
    "kendall": rating_kendall,
    "kappa": kappa,
    "kappa_linear": kappa_linear,
    "kappa_quadratic": kappa_quadratic,
    "exact": exact_share,
}
"""By name. All but ``exact`` need two items; ``spearman`` and ``kendall`` that neither rater gave one rating only,
the kappas that the raters did not both give one and the same rating only."""


def measure_agreement(
    first: Sequence[float] | np.ndarray,
    second: Sequence[float] | np.ndarray,
    clusters: Sequence[str],
    *,
    names: Sequence[str] = tuple(COEFFICIENTS),
    level: float | None = None,
) -> dict[str, AgreementEstimate]:
    """The coefficients ``names`` of two raters' ratings of n items, NaN where a rater gave none.

    ``clusters``: what is independent, a label an item (its image, or the item itself). Items that one of them did not
    rate are left out; ``interval.n`` is the number of those that both did.
    Raises ValueError when the lengths differ.
    """
    first_ratings, second_ratings = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not first_ratings.shape == second_ratings.shape == (len(clusters),):
        raise ValueError(
            f"Expected as many ratings as clusters, got {first_ratings.shape}, "
            f"{second_ratings.shape} and {len(clusters)}."
        )
    both = np.flatnonzero(~(np.isnan(first_ratings) | np.isnan(second_ratings)))
    rows, row_codes = code_ratings(first_ratings[both])
    columns, column_codes = code_ratings(second_ratings[both])
    occurring, cells = np.unique(row_codes * len(columns) + column_codes, return_inverse=True)
    pairs = RatingPairs(rows, columns, *np.divmod(occurring, max(1, len(columns))))
    counted = make_sum_group([clusters[row] for row in both.tolist()], cells=cells, cell_count=max(1, len(occurring)))
    statistics = {}
    for name in names:
        bounds = (0.0 if name == "exact" else -1.0, 1.0)
        statistics[name] = SumStatistic(_pair_statistic(COEFFICIENTS[name], pairs), ("",), bounds, mean=False)
    measures = {}
    for name, interval in estimate_intervals({"": counted}, statistics, level=level).items():
        reason = "" if interval.estimate is not None else _missing_reason(name, rows, columns, len(both))
        measures[name] = AgreementEstimate(interval, reason)
    return measures


def _pair_statistic(compute: Coefficient, pairs: RatingPairs) -> StatisticFunction:
    def compute_statistic(sums: np.ndarray) -> np.ndarray:
        counts = sums[..., 0]
        if not len(pairs.one):
            return np.full(counts.shape[:-1], np.nan)
        fewest = 1 if compute is exact_share else 2
        return np.where(counts.sum(-1) >= fewest, compute(counts, pairs), np.nan)

    return compute_statistic


def _missing_reason(name: str, first: np.ndarray, second: np.ndarray, count: int) -> str:
    """``first``, ``second``: each rater's distinct ratings of the ``count`` items."""
    if count < 2:
        return "one item only was rated by both" if count else "no item was rated by both"
    constant = [rater for rater, ratings in (("first", first), ("second", second)) if len(ratings) == 1]
    if len(constant) == 2:
        return "both raters gave one rating only"
    return f"the {constant[0]} rater gave one rating only" if constant else f"{name} has no value here"


def _sum_runs(counts: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """The sums over each run of equal ``codes``, which are ascending and leave none out."""
    return np.add.reduceat(counts, np.flatnonzero(np.diff(codes, prepend=-1)), axis=-1)


def _weighted_kappa(counts: np.ndarray, pairs: RatingPairs, weights: np.ndarray) -> np.ndarray:
    """1 less observed over expected disagreement; ``weights``: (A, B), 0 where the raters agree."""
    first, second = pairs.count_marginals(counts)
    observed = (counts * weights[pairs.one, pairs.other]).sum(-1) * counts.sum(-1)
    expected = ((first @ weights) * second).sum(-1)
    return np.asarray(1 - observed / np.where(expected > 0, expected, np.nan))


def _concordance_surplus(counts: np.ndarray, pairs: RatingPairs) -> np.ndarray:
    """Concordant less discordant pairs of items."""
    signs = np.sign(pairs.one[:, None] - pairs.one) * np.sign(pairs.other[:, None] - pairs.other)
    return np.asarray(((counts @ signs.astype(float)) * counts).sum(-1) / 2)


Level = Literal["nominal", "ordinal", "interval"]
ALPHA_LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def measure_alpha(
    ratings: Sequence[Sequence[float]] | np.ndarray,
    clusters: Sequence[str],
    level: Level,
    *,
    coverage: float | None = None,
) -> AgreementEstimate:
    """Alpha of (raters, items) ratings with its interval.

    ``clusters``: what is independent, a label an item. Items with fewer than two ratings say nothing and are left out:
    ``interval.n`` is the number of the others. ``coverage`` is the interval's. The value is None when all ratings of
    these are the same. Raises ValueError when the shapes do not fit.
    """
    values = np.asarray(ratings, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(clusters):
        raise ValueError(f"Expected ratings as (raters, {len(clusters)} items), got {values.shape}.")
    used = np.flatnonzero((~np.isnan(values)).sum(0) >= 2)
    rated = values[:, used]
    numbers = code_ratings(rated[~np.isnan(rated)])[0]
    rows, cells = _count_coincidences(rated, [clusters[item] for item in used.tolist()])
    statistic = SumStatistic(_alpha_statistic(numbers, cells, level), ("",), (-1.0, 1.0), mean=False)
    interval = replace(estimate_intervals({"": rows}, {"": statistic}, level=coverage)[""], n=len(used))
    if interval.estimate is not None:
        return AgreementEstimate(interval)
    return AgreementEstimate(interval, "all ratings are the same" if len(used) else "no item has two ratings")


def _count_coincidences(values: np.ndarray, clusters: Sequence[str]) -> tuple[SumGroup, np.ndarray]:
    """A row for each ordered pair of ratings of an item, that weighs 1 / (ratings of the item - 1).

    ``values``: (raters, items), two ratings at least for each item. The sums over the group's cells are those entries
    of Krippendorff's coincidence matrix that are not 0; the second of what is returned says which, as row * V + column
    of V distinct ratings, ascending.
    """
    given = ~np.isnan(values)
    codes = np.zeros(values.shape, dtype=np.intp)
    numbers, codes[given] = code_ratings(values[given])
    weights = 1 / np.maximum(given.sum(0) - 1, 1)
    rated_items, entries = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for first in range(len(values)):
        for second in range(len(values)):
            if first != second:
                both = np.flatnonzero(given[first] & given[second])
                rated_items.append(both)
                entries.append(codes[first, both] * len(numbers) + codes[second, both])
    order = np.concatenate(rated_items)
    occurring, cells = np.unique(np.concatenate(entries), return_inverse=True)
    labels = [clusters[item] for item in order.tolist()]
    return make_sum_group(labels, weights[order], cells=cells, cell_count=max(1, len(occurring))), occurring


def _alpha_statistic(numbers: np.ndarray, cells: np.ndarray, level: Level) -> StatisticFunction:
    first_codes, second_codes = np.divmod(cells, max(1, len(numbers)))

    def compute_statistic(sums: np.ndarray) -> np.ndarray:
        if not len(cells):
            return np.full(sums.shape[:-2], np.nan)
        pairs = sums[..., 1]
        given = np.add.reduceat(pairs, np.flatnonzero(np.diff(first_codes, prepend=-1)), axis=-1)
        count = given.sum(-1)
        if level == "nominal":
            observed = (pairs * (first_codes != second_codes)).sum(-1)
            expected = count**2 - (given**2).sum(-1)
        else:
            positions = _scale_positions(numbers, given, level)
            observed = (pairs * (positions[..., first_codes] - positions[..., second_codes]) ** 2).sum(-1)
            # The squared distances of all pairs are twice the count times those from the mean.
            mean = (given * positions).sum(-1) / count
            expected = 2 * count * (given * (positions - mean[..., None]) ** 2).sum(-1)
        differ = (given > 0).sum(-1) > 1
        return np.asarray(1 - (count - 1) * observed / np.where(differ, expected, np.nan))

    return compute_statistic


def _scale_positions(numbers: np.ndarray, given: np.ndarray, level: Level) -> np.ndarray:
    """(..., V) positions of the ratings on the scale, ordinal ones at their middle rank; ``given``: (..., V) counts."""
    return given.cumsum(-1) - given / 2 if level == "ordinal" else np.broadcast_to(numbers, given.shape)
