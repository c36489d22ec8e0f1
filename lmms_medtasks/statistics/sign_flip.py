"""Is a paired difference chance: Fisher-Pitman's permutation test over images.

Had both models the same ability, each image's difference could as well have the other sign. The test's p value is the
share of all assignments of signs whose sum is at least as far out as the one that was seen. Questions on one image
keep one sign together, so that they count as what they are: not independent. With one question an image and scores of
0 and 1 it is McNemar's exact test.
"""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np

Alternative = Literal["two-sided", "less", "greater"]

EXACT_UP_TO = 2000
"""Images with a difference up to which the distribution is computed; beyond, the normal one of the same variance."""
_ENUMERATED = 12
_LARGEST_UNIT = 60
_SAME = 1e-9


def sign_flip(sums: np.ndarray, alternative: Alternative = "two-sided") -> float | None:
    """p value of ``sums``, (k,) floats: each image's summed differences. None where none differs.

    ``less``: small sums are evidence. Exact up to :data:`EXACT_UP_TO` images that differ, if the differences are
    multiples of a common unit 1/1 to 1/60 (as shares of T trials and points on a scale are), or are few.

    >>> round(sign_flip(np.array([1.0, 1.0, 1.0, -1.0])), 9)  # 2 * (1 + 4) / 16: McNemar's exact test of 3 against 1
    0.625
    """
    own = np.asarray(sums, dtype=float)
    own = own[np.abs(own) > _SAME]
    if not len(own):
        return None
    total = own.sum()
    units = _in_units(own) if len(own) <= EXACT_UP_TO else None
    if units is not None:
        below, above = _tails(units)
    elif len(own) <= _ENUMERATED:
        flipped = np.array(list(itertools.product((-1.0, 1.0), repeat=len(own)))) @ own
        below, above = float((flipped <= total + _SAME).mean()), float((flipped >= total - _SAME).mean())
    else:
        below = _normal(total / math.sqrt(float((own**2).sum())))
        above = 1 - below
    if alternative == "two-sided":
        return min(1.0, 2 * min(below, above))
    return below if alternative == "less" else above


def _in_units(sums: np.ndarray) -> np.ndarray | None:
    """The sums as whole numbers of their largest common unit, None if there is none."""
    for parts in range(1, _LARGEST_UNIT + 1):
        scaled = sums * parts
        rounded = np.round(scaled)
        if np.abs(scaled - rounded).max() < 1e-6:
            whole = rounded.astype(np.int64)
            return whole // np.gcd.reduce(whole)
    return None


def _tails(units: np.ndarray) -> tuple[float, float]:
    """P(sum <= seen) and P(sum >= seen) over all signs, by convolving the images one size after the other."""
    from scipy.stats import binom

    # A sum of signs is (twice the sizes with a plus) less all sizes: count the plus ones only.
    sizes, counts = np.unique(np.abs(units), return_counts=True)
    plus = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        steps = np.zeros(size * count + 1)
        steps[::size] = binom.pmf(np.arange(count + 1), count, 0.5)
        plus = _convolved(plus, steps, size)
    seen = int(units[units > 0].sum())
    return float(min(1.0, plus[: seen + 1].sum())), float(min(1.0, plus[seen:].sum()))


def _convolved(one: np.ndarray, other: np.ndarray, step: int) -> np.ndarray:
    """As np.convolve, where only each ``step``-th of ``other`` is not 0; sums of positive numbers: no tail is lost."""
    if step == 1:
        return np.convolve(one, other)
    found = np.zeros(len(one) + len(other) - 1)
    for place in range(0, len(other), step):
        found[place : place + len(one)] += other[place] * one
    return found


def _normal(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
