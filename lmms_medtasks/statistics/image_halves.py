"""Is one number of the models related to another: each from another half of the images, so that they share no noise.

Both numbers of a model from the same questions share their noise. Calibration shift is confidence less accuracy: a
model that was lucky has a higher accuracy and a lower shift, and models that are all alike look related. Halves of the
images share no question. Over many random halves the correlation is that of the models, weakened by the noise of each
number, and of models that are all alike it is 0 on average.

The test takes models as its units. Its hypothesis: the two numbers are unrelated among these models, so that any
assignment of the second numbers to the models was as likely as the one seen. For one split this gives an exact p value.
Splits overlap: twice the mean of their p values is a p value however they depend on each other (Rüschendorf 1982; Vovk
and Wang, Biometrika 2020). It is conservative.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lmms_medtasks.statistics.rank_correlation import centred_ranks, kendall, share_of_opposite_pairs, spearman
from lmms_medtasks.statistics.sums import Group, plain_cluster_sums, shaped

Direction = Literal["opposite", "same"]
"""What is tested for: a lower first number goes with a higher second one, or with a lower one."""

SPLITS = 100
FEWEST_MODELS = 5
_PERMUTATIONS = 1999
_ENUMERATED = 5040
"""All orders of up to seven models."""
_SAME = 1e-9


@dataclass(frozen=True)
class HalvesResult:
    """Correlations of two numbers of the models, each number from another half of the images.

    Attributes:
        splits: that the means are over, each half serving for each number once. models, images: their numbers.
        share: mean share of the pairs of models with different first numbers whose second numbers are in the opposite
            order. unrelated_share: what it is on average if the second numbers are assigned to the models by chance:
            half of the pairs, less ties. spearman, kendall: mean correlations; unrelated numbers have 0.
        p: one-sided, see the module; None where there is no test, and ``untested`` says why.
    """

    splits: int
    models: int
    images: int
    share: float | None
    unrelated_share: float | None
    spearman: float | None
    kendall: float | None
    p: float | None
    untested: str


def image_sums(groups: Mapping[str, Group]) -> np.ndarray:
    """(models, images, 1 + columns) sums of each model's rows on each image, the number of rows first."""
    labels = sorted(set().union(*(each.clusters for each in groups.values())))
    codes = {label: number for number, label in enumerate(labels)}
    width = max((each.columns.shape[1] for each in groups.values()), default=0)
    sums = [shaped(plain_cluster_sums(each, codes), each)[:, 0] for each in groups.values()]
    return np.stack(sums) if sums else np.zeros((0, 0, 1 + width))


def halves(images: int, splits: int, rng: np.random.Generator) -> np.ndarray:
    """(2 splits, images) floats 0 and 1: random halves of the images, and after those their other halves."""
    chosen = rng.random((splits, images)).argsort(axis=1) < images // 2
    return np.concatenate([chosen, ~chosen]).astype(float)


def half_means(sums: np.ndarray, half: np.ndarray) -> np.ndarray:
    """(halves, models, columns) means over the rows of each half of the images; NaN for a model without a row there."""
    totals = np.einsum("hg,mgc->hmc", half, sums, optimize=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        means: np.ndarray = totals[..., 1:] / totals[..., :1]
    return means


def compare_halves(
    first: np.ndarray, second: np.ndarray, images: int, direction: Direction, rng: np.random.Generator
) -> HalvesResult:
    """The result for (halves, models) numbers; row by row they are of disjoint halves of the images.

    Rows with a NaN are left out.
    """
    known = ~np.isnan(first + second).any(axis=1)
    first, second = first[known], second[known]
    count, models = first.shape
    shares = share_of_opposite_pairs(first, second)
    unrelated = _unrelated_share(first, second)
    correlations = spearman(first, second)
    untested = _untested(count, models, images, correlations)
    p = None if untested else min(1.0, 2 * float(_permutation_p(first, second, direction, rng).mean()))
    return HalvesResult(
        splits=count,
        models=models,
        images=images,
        share=mean_of_known(shares),
        unrelated_share=mean_of_known(unrelated),
        spearman=mean_of_known(correlations),
        kendall=mean_of_known(kendall(first, second)),
        p=p,
        untested=untested,
    )


def nothing(untested: str, models: int = 0, images: int = 0) -> HalvesResult:
    """The result where nothing can be computed."""
    return HalvesResult(0, models, images, None, None, None, None, None, untested)


def mean_of_known(numbers: np.ndarray) -> float | None:
    """The mean without NaN; None where there is nothing else."""
    known = numbers[~np.isnan(numbers)]
    return float(known.mean()) if len(known) else None


def _untested(splits: int, models: int, images: int, correlations: np.ndarray) -> str:
    if images < 2:
        return "one image has no halves" if images else "no questions"
    if models < FEWEST_MODELS:
        return f"{models} models: no test below {FEWEST_MODELS}"
    if not splits:
        return "a model has no reply in one half of the images, however they are split"
    if np.isnan(correlations).all():
        return "a number is the same for all models"
    return ""


def _unrelated_share(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(halves,) expected share of opposite pairs under random assignment: half of the share of pairs not tied."""
    models = second.shape[1]
    pairs = models * (models - 1)
    differ = (np.abs(second[:, :, None] - second[:, None, :]) > _SAME).sum((-2, -1))
    apart = (np.abs(first[:, :, None] - first[:, None, :]) > _SAME).any((-2, -1))
    return np.where(apart, differ / 2 / max(pairs, 1), np.nan)


def _permutation_p(first: np.ndarray, second: np.ndarray, direction: Direction, rng: np.random.Generator) -> np.ndarray:
    """(halves,) p values of Spearman's correlation over assignments of the second numbers to the models."""
    from scipy.sparse import csr_matrix

    models = first.shape[1]
    assigned, exact = _assignments(models, rng)
    places = (np.arange(models) * models + assigned).ravel()
    starts = np.arange(0, len(places) + 1, models)
    chosen = csr_matrix((np.ones(len(places)), places, starts), shape=(len(assigned), models * models))
    one, other = centred_ranks(first), centred_ranks(second)
    sign = -1.0 if direction == "opposite" else 1.0
    products = sign * (one[:, :, None] * other[:, None, :]).reshape(len(first), -1)
    of_data = sign * (one * other).sum(axis=1)
    as_far = (chosen @ products.T >= of_data - _SAME).sum(axis=0)
    p: np.ndarray = as_far / len(assigned) if exact else (1 + as_far) / (1 + len(assigned))
    return p


def _assignments(models: int, rng: np.random.Generator) -> tuple[np.ndarray, bool]:
    """(r, models) orders of the models: all of them if they are few."""
    if math.factorial(models) <= _ENUMERATED:
        every: Sequence[tuple[int, ...]] = list(itertools.permutations(range(models)))
        return np.array(every), True
    return rng.random((_PERMUTATIONS, models)).argsort(axis=1), False
