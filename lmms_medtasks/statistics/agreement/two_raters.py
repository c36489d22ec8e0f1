"""Two raters of the same items: rank correlations, Cohen's kappas, and how often they say the same.

All of them are functions of how often each pair of ratings occurs, so a resample costs sums over the pairs that do
occur (25 at most for a scale of five), and products of the numbers of distinct ratings.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.agreement.measure import Measure, coded
from lmms_medtasks.statistics.intervals import intervals
from lmms_medtasks.statistics.sums import Statistic, StatisticFunction, group

_DENSE = 8
"""A table is filled where it has so many times the cells that occur at most."""


@dataclass(frozen=True)
class Pairs:
    """The pairs of ratings that occur, (P,) of them, sorted by the first rating and then the second.

    ``first`` (A,), ``second`` (B,): each rater's distinct ratings, ascending. ``one``, ``other``: (P,) places in these.
    """

    first: np.ndarray
    second: np.ndarray
    one: np.ndarray
    other: np.ndarray

    def marginals(self, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(..., P) counts -> how often each rater gave each rating, (..., A) and (..., B)."""
        order = np.argsort(self.other, kind="stable")
        return _sums(counts, self.one), _sums(counts[..., order], self.other[order])


Coefficient = Callable[[np.ndarray, Pairs], np.ndarray]
"""Takes (..., P) counts of the pairs and returns (...) floats, NaN where it has no value."""


def spearman(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Spearman's rho: Pearson's correlation of the ranks, ties sharing their mean rank."""
    given = pairs.marginals(counts)
    middle = (counts.sum(-1)[..., None] + 1) / 2
    first, second = (each.cumsum(-1) - (each - 1) / 2 - middle for each in given)
    together = (counts * first[..., pairs.one] * second[..., pairs.other]).sum(-1)
    spread = (given[0] * first**2).sum(-1) * (given[1] * second**2).sum(-1)
    rho: np.ndarray = together / np.sqrt(np.where(spread > 0, spread, np.nan))
    return rho


def kendall(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Kendall's tau-b: concordant less discordant pairs over the geometric mean of the pairs untied in each rater."""
    count = counts.sum(-1)
    untied = [(count * (count - 1) - (each * (each - 1)).sum(-1)) / 2 for each in pairs.marginals(counts)]
    product = untied[0] * untied[1]
    return _surplus(counts, pairs) / np.sqrt(np.where(product > 0, product, np.nan))


def kappa(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Cohen's kappa (1960): every disagreement weighs the same."""
    return _kappa(counts, pairs, (pairs.first[:, None] != pairs.second).astype(float))


def kappa_linear(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Weighted kappa (Cohen 1968); a disagreement weighs the distance of the two ratings as numbers.

    With equally spaced labels this is the kappa weighted by the distance of the labels' places, labels that nobody gave
    included.
    """
    return _kappa(counts, pairs, np.abs(pairs.first[:, None] - pairs.second))


def kappa_quadratic(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Weighted kappa (Cohen 1968); a disagreement weighs the squared distance of the two ratings as numbers."""
    return _kappa(counts, pairs, (pairs.first[:, None] - pairs.second) ** 2)


def exact(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Share of the items that both rated alike."""
    share: np.ndarray = (counts * (pairs.first[pairs.one] == pairs.second[pairs.other])).sum(-1) / counts.sum(-1)
    return share


COEFFICIENTS: Mapping[str, Coefficient] = {
    "spearman": spearman,
    "kendall": kendall,
    "kappa": kappa,
    "kappa_linear": kappa_linear,
    "kappa_quadratic": kappa_quadratic,
    "exact": exact,
}
"""By name. All but ``exact`` need two items; ``spearman`` and ``kendall`` that neither rater gave one rating only,
the kappas that the raters did not both give one and the same rating only."""


def agreement(
    first: Sequence[float] | np.ndarray,
    second: Sequence[float] | np.ndarray,
    clusters: Sequence[str],
    *,
    names: Sequence[str] = tuple(COEFFICIENTS),
    level: float | None = None,
) -> dict[str, Measure]:
    """The coefficients ``names`` of two raters' ratings of n items, NaN where a rater gave none.

    ``clusters``: what is independent, a label an item (its image, or the item itself). Items that one of them did not
    rate are left out; ``interval.n`` is the number of those that both did.
    Raises ValueError when the lengths differ.
    """
    one, other = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    if not one.shape == other.shape == (len(clusters),):
        raise ValueError(f"Expected as many ratings as clusters, got {one.shape}, {other.shape} and {len(clusters)}.")
    both = np.flatnonzero(~(np.isnan(one) | np.isnan(other)))
    rows, row_codes = coded(one[both])
    columns, column_codes = coded(other[both])
    occurring, cells = np.unique(row_codes * len(columns) + column_codes, return_inverse=True)
    pairs = Pairs(rows, columns, *np.divmod(occurring, max(1, len(columns))))
    counted = group([clusters[place] for place in both.tolist()], cells=cells, cell_count=max(1, len(occurring)))
    statistics = {
        name: Statistic(_statistic(COEFFICIENTS[name], pairs), ("",), (-1.0, 1.0), mean=False) for name in names
    }
    if "exact" in statistics:
        statistics["exact"] = Statistic(_statistic(exact, pairs), ("",), (0.0, 1.0), mean=False)
    measures = {}
    for name, interval in intervals({"": counted}, statistics, level=level).items():
        missing = interval.estimate is None
        measures[name] = Measure(interval, _reason(name, one[both], other[both]) if missing else "")
    return measures


def _statistic(compute: Coefficient, pairs: Pairs) -> StatisticFunction:
    def statistic(sums: np.ndarray) -> np.ndarray:
        counts = sums[..., 0]
        if not len(pairs.one):
            return np.full(counts.shape[:-1], np.nan)
        fewest = 1 if compute is exact else 2
        return np.where(counts.sum(-1) >= fewest, compute(counts, pairs), np.nan)

    return statistic


def _reason(name: str, first: np.ndarray, second: np.ndarray) -> str:
    if not len(first):
        return "no item was rated by both"
    if len(first) == 1:
        return "one item only was rated by both"
    constant = [place for place, each in (("first", first), ("second", second)) if len(coded(each)[0]) == 1]
    if len(constant) == 2:
        return "both raters gave one rating only"
    return f"the {constant[0]} rater gave one rating only" if constant else f"{name} has no value here"


def _sums(counts: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The sums over each run of equal ``places``, which are ascending and leave none out."""
    return np.add.reduceat(counts, np.flatnonzero(np.diff(places, prepend=-1)), axis=-1)


def _kappa(counts: np.ndarray, pairs: Pairs, weights: np.ndarray) -> np.ndarray:
    """1 less observed over expected disagreement; ``weights``: (A, B), 0 where the raters agree."""
    first, second = pairs.marginals(counts)
    observed = (counts * weights[pairs.one, pairs.other]).sum(-1) * counts.sum(-1)
    expected = ((first @ weights) * second).sum(-1)
    kappa: np.ndarray = 1 - observed / np.where(expected > 0, expected, np.nan)
    return kappa


def _surplus(counts: np.ndarray, pairs: Pairs) -> np.ndarray:
    """Concordant less discordant pairs of items."""
    shape = (len(pairs.first), len(pairs.second))
    if shape[0] * shape[1] > _DENSE * len(pairs.one):
        signs = np.sign(pairs.one[:, None] - pairs.one) * np.sign(pairs.other[:, None] - pairs.other)
        surplus: np.ndarray = ((counts @ signs.astype(float)) * counts).sum(-1) / 2
        return surplus
    table = np.zeros((*counts.shape[:-1], *shape))
    table[..., pairs.one, pairs.other] = counts
    below = table.sum(-2, keepdims=True) - table.cumsum(-2)  # items with a higher first rating, by the second
    higher = below.sum(-1, keepdims=True) - below.cumsum(-1)
    lower = below.cumsum(-1) - below
    total: np.ndarray = (table * (higher - lower)).sum((-2, -1))
    return total
