"""Whether two task sets rank models alike (MedQ-Deg, section 4.6), and which swaps are beyond chance.

No percentile bootstrap of ranks or of their correlation: models that are nearly alike change places in most resamples,
and the interval covers neither their order nor their tie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.significance import adjust_p_values
from lmms_medtasks.statistics.sums import SumGroup, sums_by_cluster

FEWEST_IMAGES = 10
"""Below this number of images in a set no swap is tested."""


@dataclass(frozen=True)
class RankedModel:
    """A model's ranks in two task sets: 1 is best, tied models share their mean rank."""

    model: str
    first: float
    second: float


@dataclass(frozen=True)
class RankSwap:
    """Two models in opposite order: ``first_better`` is ahead in the first set, ``second_better`` in the second."""

    first_better: str
    second_better: str


@dataclass(frozen=True)
class RankConsistency:
    """How alike two task sets rank the models that both have (section 4.6).

    Attributes:
        ranks: in the order of the first set. swaps: pairs in opposite order; pairs tied in a set are none.
        kendall: tau-b; None with fewer than two models or all models tied in a set.
    """

    ranks: tuple[RankedModel, ...]
    swaps: tuple[RankSwap, ...]
    kendall: float | None


def rank_consistency(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> RankConsistency:
    """Compare the order of models in two task sets by a number of which more is better (accuracy), by model."""
    shared = sorted(name for name in first if has_number(first, name) and has_number(second, name))
    first_values, second_values = (
        np.array([numbers[name] for name in shared], dtype=float) for numbers in (first, second)
    )
    ranks_one, ranks_other = _mean_ranks(-first_values), _mean_ranks(-second_values)
    rows = np.lexsort((ranks_other, ranks_one))
    ahead, behind = np.nonzero((ranks_one[:, None] < ranks_one) & (ranks_other[:, None] > ranks_other))
    return RankConsistency(
        ranks=tuple(RankedModel(shared[row], float(ranks_one[row]), float(ranks_other[row])) for row in rows),
        swaps=tuple(RankSwap(shared[better], shared[worse]) for better, worse in zip(ahead, behind, strict=True)),
        kendall=kendall_tau(first_values, second_values),
    )


def find_significant_swaps(
    one: Mapping[str, SumGroup], other: Mapping[str, SumGroup]
) -> tuple[int, tuple[RankSwap, ...] | None, str]:
    """Images of the models that both sets have, swaps of these beyond chance (None if not tested), and why not.

    A group for each model, its first column the score. A swap is beyond chance where the one model is better in the
    first set and the other in the second, each by a one-sided t test of the difference of their means with errors over
    images, at alpha over all pairs of models (Holm). Both tests must agree, so the larger p value of the two counts.
    """
    names = [name for name in sorted(one) if name in other and one[name].clusters and other[name].clusters]
    sums = sums_by_cluster(
        {f"{number}/{name}": groups[name] for number, groups in enumerate((one, other)) for name in names}
    )
    images, (first, second) = sums.shape[1], np.split(sums, 2)
    return images, *_find_swaps(names, first, second)


def _find_swaps(names: list[str], first: np.ndarray, second: np.ndarray) -> tuple[tuple[RankSwap, ...] | None, str]:
    if len(names) < 2:
        return None, "fewer than two models"
    fewest = min(int((each[..., 0].sum(axis=0) > 0).sum()) for each in (first, second))
    if fewest < FEWEST_IMAGES:
        return None, f"{fewest} image{'' if fewest == 1 else 's'}: no swap is tested below {FEWEST_IMAGES}"
    better, worse = _better_p(first), _better_p(second).T
    larger = np.maximum(better, worse)
    rows, columns = np.triu_indices(len(names), k=1)
    # Of a pair at most one direction is near significance: in each set one of the two models has the higher mean.
    smaller = np.minimum(larger[rows, columns], larger[columns, rows])
    adjusted = adjust_p_values(smaller.tolist())
    swaps = []
    for row, column, p in zip(rows.tolist(), columns.tolist(), adjusted, strict=True):
        if p <= confidence.current_alpha():
            ahead, behind = (row, column) if larger[row, column] <= larger[column, row] else (column, row)
            swaps.append(RankSwap(names[ahead], names[behind]))
    return tuple(swaps), ""


def _better_p(sums: np.ndarray) -> np.ndarray:
    """(m, m) one-sided p values of the row's model being better than the column's: t over images."""
    from scipy.special import stdtr

    totals = sums.sum(axis=1)
    means = totals[:, 1] / totals[:, 0]
    deviations = (sums[..., 1] - means[:, None] * sums[..., 0]) / totals[:, :1]
    images = int((sums[..., 0].sum(axis=0) > 0).sum())
    differences = means[:, None] - means[None, :]
    products = deviations @ deviations.T
    squares = np.diag(products)
    variances = np.clip(squares[:, None] + squares[None, :] - 2 * products, 0, None) * images / (images - 1)
    errors = np.sqrt(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(errors > 1e-12, differences / errors, np.where(np.abs(differences) < 1e-12, 0, np.nan))
    # A difference that is the same on every image: a sign test of the images.
    certain = np.where(differences > 0, 0.5**images, 1 - 0.5**images)
    return np.asarray(np.where(np.isnan(ratios), certain, stdtr(images - 1, -ratios)))


def has_number(numbers: Mapping[str, float | None], name: str) -> bool:
    number = numbers.get(name)
    return number is not None and not np.isnan(number)


def round_ties(numbers: np.ndarray) -> np.ndarray:
    """The numbers rounded to 12 decimals: equal ones are tied."""
    return np.round(numbers, 12)


def _mean_ranks(numbers: np.ndarray) -> np.ndarray:
    """(..., models) ranks from 1; tied numbers have the mean of theirs (scipy.stats takes half a second to import)."""
    values = round_ties(numbers)
    order = np.argsort(values, axis=-1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=-1)
    is_first = np.ones(values.shape, dtype=bool)
    is_first[..., 1:] = ordered[..., 1:] != ordered[..., :-1]
    firsts = np.flatnonzero(is_first)
    counts = np.diff(firsts, append=values.size)
    means = np.repeat(firsts % values.shape[-1] + (counts + 1) / 2, counts)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, means.reshape(values.shape), axis=-1)
    ranks[np.isnan(values).any(axis=-1)] = np.nan
    return ranks


def spearman_rho(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) Spearman's rho of (..., models) numbers: Pearson's correlation of their mean ranks; NaN where all are tied.

    scipy.stats.spearmanr takes one pair of rows at a time, which is slow for the exchanges of models.
    """
    first_ranks, second_ranks = (_mean_ranks(each) - (each.shape[-1] + 1) / 2 for each in (first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        rho: np.ndarray = (first_ranks * second_ranks).sum(-1) / np.sqrt(
            (first_ranks**2).sum(-1) * (second_ranks**2).sum(-1)
        )
    return rho


def kendall_tau(first: np.ndarray, second: np.ndarray) -> float | None:
    """Kendall's tau-b of (models,) numbers; None with fewer than two, or where all are tied in one of them."""
    rows, columns = np.triu_indices(len(first), 1)
    first_signs, second_signs = (
        np.sign(each[rows] - each[columns]) for each in (round_ties(first), round_ties(second))
    )
    if not (first_signs.any() and second_signs.any()):
        return None
    untied = [np.sqrt(np.count_nonzero(signs)) for signs in (first_signs, second_signs)]
    return float(np.clip((first_signs * second_signs).sum() / untied[0] / untied[1], -1, 1))
