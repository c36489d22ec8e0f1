"""Is one of two methods more robust: a permutation test that swaps the methods' answers, image by image.

Had both methods the same answers in distribution, each image's answers could as well have been the other's. The test
swaps the two methods in each image, with all its questions of both tests (i.i.d. and OoD), and compares the difference
in relative robustness with those of all swaps. Questions on one image keep together, so that they count as what they
are: not independent.

The difference is divided by its standard error, from each image's influence on it. With that the test is also valid, in
many images, for two methods that are equally robust and not equally good (Chung and Romano 2013); without it, it would
be valid for methods that are alike in all only.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.seeding import generator

SWAPS = 9_999
"""Random swaps, where there are more than these altogether: p is then at least 1 / 10,000."""
_ENUMERATED = 13
_CHUNK = 2**21
_SAME = 1e-9


@dataclass(frozen=True)
class SwapTest:
    """The test of "both are equally robust", two-sided.

    Attributes:
        difference: relative robustness of the first less that of the second; None where one has no value.
        p: share of swaps whose difference, over its standard error, is as far from 0; 1 where no image has different
            scores, None where ``difference`` is None.
        images: of both tests. differing: those on which the methods' scores differ. exact: p is over all swaps.
    """

    difference: float | None
    p: float | None
    images: int
    differing: int
    exact: bool


def swap_test(
    images: Sequence[str],
    ood: Sequence[bool] | np.ndarray,
    first: Sequence[float] | np.ndarray,
    second: Sequence[float] | np.ndarray,
    *,
    seed: int | str = 0,
    swaps: int = SWAPS,
) -> SwapTest:
    """Test two methods on the same n questions: each question's image, whether it is OoD, and both scores."""
    sums, counts = _by_image(
        images, np.asarray(ood, dtype=bool), *(np.asarray(each, float) for each in (first, second))
    )
    (difference,), (seen,) = _studentised(*_moments(np.zeros((1, len(sums))), sums, counts))
    differing = np.flatnonzero((np.abs(sums[:, :2] - sums[:, 2:]) > _SAME).any(axis=1))
    exact = len(differing) <= _ENUMERATED
    if np.isnan(difference):
        return SwapTest(None, None, len(sums), len(differing), True)
    if not len(differing):
        return SwapTest(float(difference), 1.0, len(sums), 0, True)
    as_far, drawn = 0, 0
    for chosen in _every(len(differing)) if exact else _samples(len(differing), seed, swaps):
        swapped = np.zeros((len(chosen), len(sums)))
        swapped[:, differing] = chosen
        _, values = _studentised(*_moments(swapped, sums, counts))
        # A swap without a value (an i.i.d. mean of 0) counts as far: it can only make p larger.
        as_far += int((~(np.abs(values) < abs(seen) - _SAME)).sum())
        drawn += len(chosen)
    p = as_far / drawn if exact else (as_far + 1) / (drawn + 1)
    return SwapTest(float(difference), p, len(sums), len(differing), exact)


def _by_image(
    images: Sequence[str], ood: np.ndarray, first: np.ndarray, second: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """(images, 4) sums of scores (first's i.i.d. and OoD, second's) and (images, 2) numbers of questions."""
    _, codes = np.unique(np.asarray(images, dtype=str), return_inverse=True)
    count = int(codes.max(initial=-1)) + 1
    tests = (~ood, ood)
    sums = [np.bincount(codes, weights=scores * test, minlength=count) for scores in (first, second) for test in tests]
    counts = [np.bincount(codes, weights=test, minlength=count) for test in tests]
    return np.column_stack(sums).reshape(-1, 4), np.column_stack(counts).reshape(-1, 2)


def _moments(swapped: np.ndarray, sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each row of ``swapped``, (rows, images) of 0 and 1: totals and second moments of the columns over images.

    A swapped image's columns are exchanged, so both are linear in ``swapped``.
    """
    asked = np.hstack([sums, counts])
    other = np.hstack([sums[:, [2, 3, 0, 1]], counts])
    products, exchanged = ((each[:, :, None] * each[:, None, :]).reshape(len(each), 36) for each in (asked, other))
    totals = asked.sum(axis=0) + swapped @ (other - asked)
    moments = products.sum(axis=0) + swapped @ (exchanged - products)
    return totals, moments.reshape(-1, 6, 6)


def _studentised(totals: np.ndarray, moments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The difference in robustness, and the same over its standard error; NaN where an i.i.d. mean is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        iid, ood, other_iid, other_ood, n_iid, n_ood = totals.T
        mean, other_mean = iid / n_iid, other_iid / n_iid
        ratio, other_ratio = (ood / n_ood) / mean, (other_ood / n_ood) / other_mean
        # How much the difference moves with each column of an image, to the first order.
        weights = np.column_stack([
            -ratio / (n_iid * mean), 1 / (n_ood * mean), other_ratio / (n_iid * other_mean), -1 / (n_ood * other_mean),
            (ratio - other_ratio) / n_iid, (other_ratio - ratio) / n_ood,
        ])  # fmt: skip
        variance = np.einsum("ij,ijk,ik->i", weights, moments, weights)
        difference = np.where((iid == 0) | (other_iid == 0), np.nan, ratio - other_ratio)
        # No difference is none, whatever its error; a difference without any error is as far as can be.
        error = np.sqrt(np.where(variance > _SAME**2, variance, 0.0))
        studentised = np.where(np.abs(difference) < _SAME, 0.0 * difference, difference / error)
    return difference, studentised


def _every(count: int) -> Iterator[np.ndarray]:
    """All swaps of ``count`` images. The first stays: swapping all only turns the sign."""
    rest = np.array(list(itertools.product((0.0, 1.0), repeat=count - 1))).reshape(2 ** (count - 1), count - 1)
    yield np.hstack([np.zeros((len(rest), 1)), rest])


def _samples(count: int, seed: int | str, swaps: int) -> Iterator[np.ndarray]:
    rng = generator("swapped methods", seed)
    step = max(1, _CHUNK // count)
    for start in range(0, swaps, step):
        yield rng.integers(0, 2, (min(step, swaps - start), count)).astype(float)
