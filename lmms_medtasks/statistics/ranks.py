"""Whether two task sets rank models alike (MedQ-Deg, section 4.6).

No percentile bootstrap of ranks or of their correlation: models that are nearly alike change places in most resamples,
and the interval covers neither their order nor their tie. In its place stand the correlation from disjoint halves of
the images, what it would be for orders that are unrelated and for one order, and which swaps are beyond chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.image_halves import (
    SPLITS,
    HalvesResult,
    compare_halves,
    half_means,
    halves,
    image_sums,
    mean_of_known,
    nothing,
)
from lmms_medtasks.statistics.rank_correlation import kendall, known, ranks, signs, spearman, value
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.sums import Group

FEWEST_IMAGES = 10
"""Below this number of images in a set no swap is tested."""


@dataclass(frozen=True)
class RankedModel:
    """A model's ranks in two task sets: 1 is best, tied models share their mean rank."""

    model: str
    first: float
    second: float


@dataclass(frozen=True)
class Swap:
    """Two models in opposite order: ``first_better`` is ahead in the first set, ``second_better`` in the second."""

    first_better: str
    second_better: str


@dataclass(frozen=True)
class RankConsistency:
    """How alike two task sets rank the models that both have (section 4.6).

    Attributes:
        ranks: in the order of the first set. only_first, only_second: models that the other set lacks, or has None for.
        swaps: pairs in opposite order; pairs tied in a set are none. pairs: all pairs of models.
        kendall (tau-b), spearman: with ties; None with fewer than two models or all models tied in a set.
    """

    ranks: tuple[RankedModel, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    pairs: int
    swaps: tuple[Swap, ...]
    kendall: float | None
    spearman: float | None


@dataclass(frozen=True)
class RankAgreement:
    """The order of the models in two sets, each from another half of the images.

    Attributes:
        across: scores in the first set from one half of the images, in the second set from the other half; ``p`` is of
            the hypothesis that the two orders are unrelated, against that they are alike.
        one_order: what Kendall's tau of halves is where the order is the same: the mean of the first set's halves
            against each other and the second set's. Below 1 by the noise of half the images.
        swaps: pairs of models whose swap is beyond chance, see :func:`rank_agreement`; None where that is not tested,
            and ``swaps_untested`` says why.
    """

    across: HalvesResult
    one_order: float | None
    swaps: tuple[Swap, ...] | None
    swaps_untested: str


def rank_consistency(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> RankConsistency:
    """Compare the order of models in two task sets by a number of which more is better (accuracy), by model."""
    shared = sorted(name for name in first if known(first, name) and known(second, name))
    one, other = (np.array([numbers[name] for name in shared], dtype=float) for numbers in (first, second))
    ranks_one, ranks_other = ranks(-one), ranks(-other)
    rows = np.lexsort((ranks_other, ranks_one))
    ahead, behind = np.nonzero((signs(one) > 0) & (signs(other) < 0))
    return RankConsistency(
        ranks=tuple(RankedModel(shared[row], float(ranks_one[row]), float(ranks_other[row])) for row in rows),
        only_first=tuple(sorted(name for name in first if name not in shared and known(first, name))),
        only_second=tuple(sorted(name for name in second if name not in shared and known(second, name))),
        pairs=len(shared) * (len(shared) - 1) // 2,
        swaps=tuple(Swap(shared[better], shared[worse]) for better, worse in zip(ahead, behind, strict=True)),
        kendall=value(kendall(one, other)),
        spearman=value(spearman(one, other)),
    )


def rank_agreement(
    first: Mapping[str, Group], second: Mapping[str, Group], *, seed: int | str = 0, splits: int = SPLITS
) -> RankAgreement:
    """The order of the models that both sets have; a group for each model, its first column the score.

    Halves are of the images of both sets together, so that an image that both have serves one of them only.

    A swap is beyond chance where the one model is better in the first set and the other in the second, each by a
    one-sided t test of the difference of their means with errors over images, at alpha over all pairs of models (Holm).
    Both tests must agree, so the larger p value of the two counts.
    """
    shared = [name for name in sorted(first) if name in second and first[name].clusters and second[name].clusters]
    both = {**{f"1/{name}": first[name] for name in shared}, **{f"2/{name}": second[name] for name in shared}}
    sums = image_sums(both)
    images, models = sums.shape[1], len(shared)
    swaps, swaps_untested = _swaps_beyond_chance(shared, sums[:models], sums[models:])
    if images < 2 or models < 2 or not splits:
        too_few = "fewer than two models" if models < 2 else "one image has no halves"
        nothing_said = nothing(too_few if splits else "no resamples were asked for", models, images)
        return RankAgreement(nothing_said, None, swaps, swaps_untested)
    half = halves(images, splits, generator("halves of the images", seed))
    own, others = half_means(sums, half)[..., 0], half_means(sums, 1 - half)[..., 0]
    across = compare_halves(own[:, :models], others[:, models:], images, "same", generator("assigned models", seed))
    within = np.concatenate([kendall(own[:, each], others[:, each]) for each in (slice(models), slice(models, None))])
    return RankAgreement(across, mean_of_known(within), swaps, swaps_untested)


def _swaps_beyond_chance(
    names: list[str], first: np.ndarray, second: np.ndarray
) -> tuple[tuple[Swap, ...] | None, str]:
    """Swaps of models (m, images, 1 + columns) in two sets, and why there are none to be found."""
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
    adjusted = adjust(smaller.tolist())
    found = []
    for row, column, p in zip(rows.tolist(), columns.tolist(), adjusted, strict=True):
        if p <= confidence.alpha():
            ahead, behind = (row, column) if larger[row, column] <= larger[column, row] else (column, row)
            found.append(Swap(names[ahead], names[behind]))
    return tuple(found), ""


def _better_p(sums: np.ndarray) -> np.ndarray:
    """(m, m) one-sided p values of the row's model being better than the column's: t over images."""
    from scipy.special import stdtr

    totals = sums.sum(axis=1)
    means = totals[:, 1] / totals[:, 0]
    own = (sums[..., 1] - means[:, None] * sums[..., 0]) / totals[:, :1]
    images = int((sums[..., 0].sum(axis=0) > 0).sum())
    differences = means[:, None] - means[None, :]
    products = own @ own.T
    squares = np.diag(products)
    variances = np.clip(squares[:, None] + squares[None, :] - 2 * products, 0, None) * images / (images - 1)
    errors = np.sqrt(variances)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(errors > 1e-12, differences / errors, np.where(np.abs(differences) < 1e-12, 0, np.nan))
    # A difference that is the same on every image: a sign test of the images.
    certain = np.where(differences > 0, 0.5**images, 1 - 0.5**images)
    p: np.ndarray = np.where(np.isnan(ratios), certain, stdtr(images - 1, -ratios))
    return p
