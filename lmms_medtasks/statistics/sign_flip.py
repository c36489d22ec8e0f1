"""Is a paired difference chance: Fisher-Pitman's permutation test over clusters (images), by flipping signs.

Null hypothesis: each cluster's difference is as likely to have the other sign, as it is where two models are equally
able. The unit of independence is the cluster: the questions of one keep one sign together. The p value is the share of
all assignments of signs whose sum is at least as far out as the one that was seen. With one question a cluster and
scores of 0 and 1 it is McNemar's exact test.
"""

from __future__ import annotations

import itertools
import math
from typing import Literal

import numpy as np

Alternative = Literal["two-sided", "greater"]

EXACT_UP_TO = 2000
"""Clusters with a difference up to which the distribution is computed; beyond, the normal one of the same variance."""
_LARGEST_PARTS = 600
_LONGEST = 2**17
"""Values of a sum that are told apart."""
_SAME = 1e-9
_WHOLE = 1e-6


def sign_flip(sums: np.ndarray, alternative: Alternative = "two-sided") -> float | None:
    """p value of ``sums``, (k,) floats: each cluster's summed differences. 1 where none differs, None without any.

    ``greater``: large sums alone are evidence. Exact up to :data:`EXACT_UP_TO` clusters that differ. Differences that
    are no multiples of a common unit (1/1 to 1/600), or of one that is very small, are rounded to 131,072 steps of the
    largest possible sum; as the signs of rounded differences can be flipped as well, the test is exact all the same.

    >>> round(sign_flip(np.array([1.0, 1.0, 1.0, -1.0])), 9)  # 2 * (1 + 4) / 16: McNemar's exact test of 3 against 1
    0.625
    """
    differing = np.asarray(sums, dtype=float)
    if not len(differing):
        return None
    differing = differing[np.abs(differing) > _SAME]
    if not len(differing):
        return 1.0
    if len(differing) <= EXACT_UP_TO:
        below, above = _tail_shares(_scale_to_units(differing))
    else:
        z = float(differing.sum()) / math.sqrt(float((differing**2).sum()))
        below, above = _normal_cdf(z), _normal_cdf(-z)
    return above if alternative == "greater" else min(1.0, 2 * min(below, above))


def _scale_to_units(sums: np.ndarray) -> np.ndarray:
    """The sums as whole numbers of their largest common unit, or rounded."""
    total = float(np.abs(sums).sum())
    every = np.arange(1, _LARGEST_PARTS + 1)
    first = sums[0] * every
    for parts in every[np.abs(first - np.round(first)) < _WHOLE].tolist():
        scaled = sums * parts
        rounded = np.round(scaled)
        if np.abs(scaled - rounded).max() < _WHOLE:
            whole: np.ndarray = rounded.astype(np.int64)
            whole //= np.gcd.reduce(whole)
            if np.abs(whole).sum() <= _LONGEST:
                return whole
            break
    return np.round(sums * (_LONGEST / total)).astype(np.int64)


def _tail_shares(units: np.ndarray) -> tuple[float, float]:
    """P(sum <= seen) and P(sum >= seen) over all signs, by convolving the clusters one size after the other."""
    # A sum of signs is (twice the sizes with a plus) less all sizes: count the plus ones only.
    sizes, counts = np.unique(np.abs(units[units != 0]), return_counts=True)
    plus = np.ones(1)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        steps = np.zeros(size * count + 1)
        steps[::size] = _head_shares(count)
        plus = _convolve_steps(plus, steps, size)
    seen = int(units[units > 0].sum())
    return float(min(1.0, plus[: seen + 1].sum())), float(min(1.0, plus[seen:].sum()))


def _head_shares(count: int) -> np.ndarray:
    """(count + 1,) probabilities of so many heads in ``count`` throws of a coin, each correctly rounded."""
    ways = itertools.accumulate(range(count), lambda way, heads: way * (count - heads) // (heads + 1), initial=1)
    # Whole numbers of any size, divided once: scipy.stats is off by up to 2e-13, and takes half a second to import.
    return np.array([way / 2**count for way in ways])


def _convolve_steps(probabilities: np.ndarray, steps: np.ndarray, step: int) -> np.ndarray:
    """As np.convolve, where only each ``step``-th of ``steps`` is not 0; sums of positive numbers: no tail is lost."""
    if step == 1:
        return np.convolve(probabilities, steps)
    convolved = np.zeros(len(probabilities) + len(steps) - 1)
    for offset in range(0, len(steps), step):
        convolved[offset : offset + len(probabilities)] += steps[offset] * probabilities
    return convolved


def _normal_cdf(z: float) -> float:
    return 0.5 * math.erfc(-z / math.sqrt(2))
