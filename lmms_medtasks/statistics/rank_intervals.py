"""Which of several models are better than which beyond chance, and the ranks that chance leaves open.

Null hypotheses: for each ordered pair of models, that the first is no better than the second. The unit of independence
is the cluster (an image with all its questions). The statistic of a pair is its summed difference over the root of the
sum of its squared differences by cluster: a t statistic but for a monotone change. Its distribution is that of flipped
signs (:mod:`lmms_medtasks.statistics.sign_flip`), one sign a cluster for all pairs together, so that the largest
statistic of all pairs has its own distribution (max-T, Westfall and Young 1993). Pairs that were told apart leave the
maximum (step-down, Romano and Wolf 2005).

The chance that any pair is told apart wrongly is at most the level where the differences of models that are equal are
symmetric together, whatever the other models are like; ``benchmarks/simulations/rank_intervals.py`` measures it where
they are not. Then all the intervals of ranks hold together (Mogstad, Romano, Shaikh and Wilhelm, Review of Economic
Studies 2024).

Memory: blocks of pairs are compared for blocks of signs, of at most :data:`BLOCK` numbers each. Beside three copies of
the scores and a few numbers for each pair that is at most 100 MB, however many models, clusters and signs there are.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import confidence

LEAST_CLUSTERS = 10
"""Clusters from which on models are ranked. With fewer an order is mostly chance, and hardly a pair can be told apart:
of five clusters that all differ alike p is 1/32 for a single pair, before any correction."""
FLIPS = 4096
"""Assignments of signs: all of them up to 12 clusters, else so many, one of them the data's own."""
_SAME = 1e-9
BLOCK = 2**18
"""Numbers of pairs and signs compared at once (2 MiB as doubles): what a processor's cache holds."""
_CHUNK = 2**22
"""Signs drawn at once (32 MiB as doubles)."""
_SIGNS_AT_ONCE = 512


@dataclass(frozen=True)
class RankIntervals:
    """Of m models. ``low``, ``high``: (m,) integers, the first and the last rank that chance leaves open.

    Of ordered pairs, (m, m), the row's model and the column's:

    Attributes:
        p: floats, of "the row's model is no better than the column's", corrected over all ordered pairs; 1 on the
            diagonal.
        better: whether p is at most the level: the row's model is better beyond chance.
        difference: floats, the row's mean less the column's; of questions where ``sizes`` were given, else of clusters.
        difference_low, difference_high: floats, the ends of the intervals that hold the true differences together, at
            the same level; infinite where there are too few clusters for ends. They are of the test's first step, so
            that one which a later step tells apart may hold 0.
    """

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray
    better: np.ndarray
    difference: np.ndarray
    difference_low: np.ndarray
    difference_high: np.ndarray


def rank_intervals(sums: np.ndarray, *, sizes: np.ndarray | None = None) -> RankIntervals | None:
    """The ranks of m models from (k, m) ``sums``: each cluster's summed scores, more being better.

    All models have a score for the same questions. ``sizes``: (k,) the questions of each cluster. None with fewer than
    :data:`LEAST_CLUSTERS` clusters: see there.
    """
    if len(sums) < LEAST_CLUSTERS:
        return None
    alpha = confidence.current_alpha()
    values = np.asarray(sums, dtype=float)
    p, largest = _compare_pairs(values)
    better = p <= alpha
    ranks = 1 + better.sum(axis=0), len(p) - better.sum(axis=1)
    counts = np.ones(len(values)) if sizes is None else np.asarray(sizes, dtype=float)
    return RankIntervals(*ranks, p, better, *_difference_intervals(values, counts, _critical_value(largest, alpha)))


def _compare_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(m, m) p values of "the row's model is no better than the column's", corrected over all ordered pairs; and of
    each assignment of signs the largest statistic of all pairs."""
    clusters, models = values.shape
    adjusted = np.ones((models, models))
    first, second = np.nonzero(~np.eye(models, dtype=bool))
    if not len(first) or not clusters:
        return adjusted, np.zeros(0)
    spread = _pair_spreads(values)
    spread = np.where(spread > _SAME, spread, np.inf)[first, second]
    totals = values.sum(axis=0)
    seen = (totals[first] - totals[second]) / spread
    order = np.argsort(-seen, kind="stable")
    first, second, spread, seen = (each[order] for each in (first, second, spread, seen))
    reached, largest = np.zeros(len(seen)), []
    at_once = max(_SIGNS_AT_ONCE, BLOCK // len(seen))
    for signs in _iter_signs(clusters):
        flipped = signs @ values
        for start in range(0, len(flipped), at_once):
            drawn = np.ascontiguousarray(flipped[start : start + at_once].T)
            largest.append(_count_reached(drawn, first, second, spread, seen, reached))
    largest_of_each = np.concatenate(largest)
    adjusted[first, second] = np.maximum.accumulate(reached / len(largest_of_each))
    return adjusted, largest_of_each


def _pair_spreads(values: np.ndarray) -> np.ndarray:
    """(m, m) roots of the summed squared differences by cluster."""
    return np.stack([np.sqrt(((values[:, [model]] - values) ** 2).sum(axis=0)) for model in range(values.shape[1])])


def _count_reached(
    drawn: np.ndarray, first: np.ndarray, second: np.ndarray, spread: np.ndarray, seen: np.ndarray, reached: np.ndarray
) -> np.ndarray:
    """Add to ``reached``, (pairs,), how many of the flipped sums ``drawn``, (models, signs), reach as far as the data.

    Pairs stand by their statistic, largest first. What counts for one is the largest of it and of all pairs whose own
    statistic is smaller, those not yet told apart: from the last pair to the first. Returns the largest of all pairs.
    """
    running = np.full(drawn.shape[1], -np.inf)
    step = max(1, BLOCK // drawn.shape[1])
    for stop in range(len(seen), 0, -step):
        part = slice(max(0, stop - step), stop)
        statistics = drawn[first[part]]
        statistics -= drawn[second[part]]
        statistics /= spread[part, None]
        # Row by row: a third of the time of NumPy's accumulation along the first axis, and the same numbers.
        for row in statistics[::-1]:
            running = np.maximum(row, running, out=row)
        reached[part] += np.count_nonzero(statistics >= seen[part, None] - _SAME, axis=1)
        running = statistics[0].copy()
    return running


def _critical_value(largest: np.ndarray, alpha: float) -> float:
    """What the largest statistic exceeds in at most the share ``alpha`` of all assignments of signs."""
    if not len(largest):
        return math.inf
    return float(np.sort(largest)[::-1][math.floor(alpha * len(largest))]) + _SAME


def _difference_intervals(
    values: np.ndarray, sizes: np.ndarray, critical: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(m, m) differences of means with the ends of their intervals: those that the first step does not reject.

    With d a cluster's difference and n its questions it rejects a difference t where |sum(d - t n)| exceeds the
    critical value times the root of sum((d - t n)^2): a quadratic inequality in t.
    """
    totals, products, number = values.sum(axis=0), sizes @ values, float(sizes.sum())
    difference = (totals[:, None] - totals[None, :]) / number
    # a t^2 - 2 b t + c <= 0
    square = critical**2
    a = number**2 - square * float((sizes**2).sum())
    if not a > 0:
        return difference, np.full(difference.shape, -math.inf), np.full(difference.shape, math.inf)
    b = difference * number**2 - square * (products[:, None] - products[None, :])
    c = (difference * number) ** 2 - square * _pair_spreads(values) ** 2
    half = np.sqrt(np.clip(b**2 - a * c, 0, None))
    return difference, (b - half) / a, (b + half) / a


def _iter_signs(clusters: int) -> Iterator[np.ndarray]:
    """(some, clusters) floats, 1 and -1; the data's own signs (all 1) among them."""
    if 2**clusters <= FLIPS:
        yield np.array(list(itertools.product((1.0, -1.0), repeat=clusters)))
        return
    rng = seeded_generator("rank intervals", clusters)
    yield np.ones((1, clusters))
    step = max(1, _CHUNK // clusters)
    for start in range(1, FLIPS, step):
        signs = rng.integers(0, 2, (min(step, FLIPS - start), clusters), dtype=np.int8).astype(float)
        signs *= 2.0
        signs -= 1.0
        yield signs
