"""Do several treatments differ within blocks: Cochran's Q for scores of any size, its p value by permutation.

A block is what its values have in common, such as a patient's case that several models, or several tasks, are about.
The hypothesis is that the treatments of a block are exchangeable: had they no effect, each block's values could as well
stand in any other order. The test permutes them within each block, so that a block counts once, however many questions
are summed in its values, and blocks that are hard or easy for all treatments say nothing.

The statistic is that of Cochran's Q where the values are 0 and 1 and no block lacks one (Cochran 1950), and Friedman's
where they are ranks; blocks that lack a treatment are permuted among those that they have (as Skillings and Mack 1981).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.sign_flip import sign_flip

PERMUTATIONS = 9_999
"""Random permutations, where there are more than these altogether: p is then at least 1 / 10,000."""
_CHUNK = 2**20
_SAME = 1e-9


@dataclass(frozen=True)
class BlockTest:
    """The test of "the treatments do not differ within blocks".

    Attributes:
        statistic: Q, about chi-squared with ``df`` degrees of freedom in many blocks; None where no block differs.
        p: the share of permutations whose Q is as large; 1 where no block differs, None without blocks.
        blocks: blocks with at least two treatments. differing: those whose values are not all the same.
        exact: p is over all permutations, not over a sample of them.
    """

    statistic: float | None
    df: int
    p: float | None
    blocks: int
    differing: int
    exact: bool


def within_blocks(values: np.ndarray, *, seed: int | str = 0, permutations: int = PERMUTATIONS) -> BlockTest:
    """The test of (blocks, treatments) floats; NaN where a block lacks a treatment.

    With two treatments it is the sign-flip test by block (:func:`.sign_flip.sign_flip`), which is exact.

    >>> found = within_blocks(np.array([[1.0, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 1]]))
    >>> round(found.statistic, 6), found.df, found.exact  # Cochran's Q: (k - 1) (k (16 + 4 + 1) - 49) / (k 7 - 15)
    (4.666667, 2, True)
    """
    scores = np.asarray(values, dtype=float)
    scores = scores[(~np.isnan(scores)).sum(axis=1) > 1]
    blocks, treatments = scores.shape
    residuals = scores - np.nanmean(scores, axis=1, keepdims=True) if blocks else scores
    residuals = residuals[(np.abs(np.nan_to_num(residuals)) > _SAME).any(axis=1)]
    if not len(residuals):
        return BlockTest(None, max(treatments - 1, 0), 1.0 if blocks else None, blocks, 0, True)
    inverse, df = _inverse(residuals)
    totals = np.nansum(residuals, axis=0)
    seen = float(totals @ inverse @ totals)
    present = ~np.isnan(residuals)
    sizes = present.sum(axis=1)
    if present.any(axis=0).sum() == 2:
        first, second = np.flatnonzero(present.any(axis=0))
        return BlockTest(seen, df, sign_flip(residuals[:, first] - residuals[:, second]), blocks, len(residuals), True)
    exact = math.prod(map(math.factorial, sizes.tolist())) <= permutations
    drawn = [_every(residuals)] if exact else _samples(residuals, seed, permutations)
    as_large = sum(int((np.einsum("ij,jk,ik->i", sums, inverse, sums) >= seen - _SAME).sum()) for sums in drawn)
    p = as_large / math.prod(map(math.factorial, sizes.tolist())) if exact else (as_large + 1) / (permutations + 1)
    return BlockTest(seen, df, p, blocks, len(residuals), exact)


def _inverse(residuals: np.ndarray) -> tuple[np.ndarray, int]:
    """The generalised inverse of the totals' covariance over all permutations, and its rank."""
    present = ~np.isnan(residuals)
    sizes = present.sum(axis=1)
    variances = np.nansum(residuals**2, axis=1) / (sizes - 1)
    covariance = np.diag((variances[:, None] * present).sum(axis=0))
    covariance -= np.einsum("i,ij,ik->jk", variances / sizes, present, present)
    # Its rows sum to 0: one of its eigenvalues is rounding.
    rank = np.linalg.matrix_rank(covariance, tol=_SAME * np.abs(covariance).max(), hermitian=True)
    return np.linalg.pinv(covariance, rcond=_SAME, hermitian=True), int(rank)


def _every(residuals: np.ndarray) -> np.ndarray:
    """(all permutations, treatments): the totals of each."""
    totals = np.zeros((1, residuals.shape[1]))
    for row in residuals:
        places = np.flatnonzero(~np.isnan(row))
        orders = np.zeros((math.factorial(len(places)), len(row)))
        orders[:, places] = list(itertools.permutations(row[places]))
        totals = (totals[:, None, :] + orders[None, :, :]).reshape(-1, len(row))
    return totals


def _samples(residuals: np.ndarray, seed: int | str, permutations: int) -> Iterator[np.ndarray]:
    """(some permutations, treatments) totals, ``permutations`` in all; blocks with the same treatments together."""
    rng = generator("within blocks", seed)
    patterns, codes = np.unique(~np.isnan(residuals), axis=0, return_inverse=True)
    groups = [(np.flatnonzero(pattern), residuals[np.ravel(codes) == code][:, pattern])
              for code, pattern in enumerate(patterns)]  # fmt: skip
    step = max(1, _CHUNK // residuals.size)
    for start in range(0, permutations, step):
        size = min(step, permutations - start)
        totals = np.zeros((size, residuals.shape[1]))
        for places, own in groups:
            order = rng.random((size, *own.shape)).argsort(axis=-1)
            totals[:, places] += np.take_along_axis(own[None], order, axis=-1).sum(axis=1)
        yield totals
