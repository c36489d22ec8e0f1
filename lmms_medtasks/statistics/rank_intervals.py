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
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.seeding import generator

LEAST_CLUSTERS = 10
"""Clusters from which on models are ranked. With fewer an order is mostly chance, and hardly a pair can be told apart:
of five clusters that all differ alike p is 1/32 for a single pair, before any correction."""
FLIPS = 4096
"""Assignments of signs: all of them up to 12 clusters, else so many, one of them the data's own."""
_SAME = 1e-9
_CHUNK = 2**22
"""Numbers held at once (32 MiB as doubles)."""


@dataclass(frozen=True)
class RankIntervals:
    """Of m models. ``low``, ``high``: (m,) integers, the first and the last rank that chance leaves open.

    ``p``: (m, m) floats, of "the row's model is no better than the column's", corrected over all ordered pairs; 1 on
    the diagonal.
    """

    low: np.ndarray
    high: np.ndarray
    p: np.ndarray


def rank_intervals(sums: np.ndarray, *, alpha: float = 0.05) -> RankIntervals | None:
    """The ranks of m models from (k, m) ``sums``: each cluster's summed scores, more being better.

    All models have a score for the same questions. None with fewer than :data:`LEAST_CLUSTERS` clusters: see there.
    """
    if len(sums) < LEAST_CLUSTERS:
        return None
    p = no_better_p(sums)
    better = p <= alpha
    return RankIntervals(1 + better.sum(axis=0), len(p) - better.sum(axis=1), p)


def no_better_p(sums: np.ndarray) -> np.ndarray:
    """(m, m) p values of "the row's model is no better than the column's", corrected over all ordered pairs."""
    values = np.asarray(sums, dtype=float)
    clusters, models = values.shape
    adjusted = np.ones((models, models))
    first, second = np.nonzero(~np.eye(models, dtype=bool))
    if not len(first) or not clusters:
        return adjusted
    spread = np.stack([np.sqrt(((values[:, [model]] - values) ** 2).sum(axis=0)) for model in range(models)])
    spread = np.where(spread > _SAME, spread, np.inf)[first, second]
    totals = values.sum(axis=0)
    seen = (totals[first] - totals[second]) / spread
    order = np.argsort(-seen, kind="stable")
    first, second, spread, seen = (each[order] for each in (first, second, spread, seen))
    reached, flips = np.zeros(len(seen)), 0
    for signs in _signs(clusters):
        flips += len(signs)
        flipped = signs @ values
        for part in _parts(flipped, len(seen)):
            drawn = (part[:, first] - part[:, second]) / spread
            # The largest of each pair and all pairs whose own statistic is smaller: those not yet told apart.
            largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
            reached += (largest >= seen - _SAME).sum(axis=0)
    adjusted[first, second] = np.maximum.accumulate(reached / flips)
    return adjusted


def _parts(rows: np.ndarray, width: int) -> Iterator[np.ndarray]:
    step = max(1, _CHUNK // width)
    for start in range(0, len(rows), step):
        yield rows[start : start + step]


def _signs(clusters: int) -> Iterator[np.ndarray]:
    """(some, clusters) floats, 1 and -1; the data's own signs (all 1) among them."""
    if 2**clusters <= FLIPS:
        yield np.array(list(itertools.product((1.0, -1.0), repeat=clusters)))
        return
    rng = generator("rank intervals", clusters)
    yield np.ones((1, clusters))
    step = max(1, _CHUNK // clusters)
    for start in range(1, FLIPS, step):
        yield 2.0 * rng.integers(0, 2, (min(step, FLIPS - start), clusters), dtype=np.int8) - 1.0
