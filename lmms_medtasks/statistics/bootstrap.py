"""Resampling of clusters: images are drawn, with all their questions and all trials of those.

For what a paper compares resample by resample (SURE-VQA's Welch tests). No interval is made of resamples: those come
from :mod:`lmms_medtasks.statistics.intervals`. A statistic is a function of sums over rows
(:mod:`lmms_medtasks.statistics.sums`), so a resample costs a product of how often each cluster was drawn with the
clusters' sums. All groups given in one call, be they levels, models or categories, see the same resampled clusters, so
that their differences are paired.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.sums import AnyStatistic, Group, cluster_sums, evaluate, shaped

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

RESAMPLES = 1000
_CHUNK = 2**21
"""Numbers held at once while resampling (16 MiB as doubles)."""


@dataclass(frozen=True)
class Distribution:
    """A statistic's value on the data and on each resample, (R,) floats."""

    estimate: float
    values: np.ndarray
    n: int
    clusters: int


def bootstrap(
    groups: Mapping[str, Group],
    statistics: Mapping[str, AnyStatistic],
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
) -> dict[str, Distribution]:
    """Evaluate all statistics on the data and on the same ``resamples`` draws of clusters.

    A draw takes as many clusters as there are in all groups together, with replacement, and with each all its rows in
    every group. A group that has no row in a draw counts as empty there (the statistic is NaN). The result depends on
    the seed and on the rows, not on their order nor on the chunks in which the work is done. Time is proportional to
    resamples times clusters and to resamples times the clusters' filled cells; memory is bounded beside the rows.
    """
    labels = sorted(set().union(*(each.clusters for each in groups.values())))
    codes = {label: number for number, label in enumerate(labels)}
    sums = {name: cluster_sums(each, codes) for name, each in groups.items()}
    totals = {name: shaped(sums[name].sum(axis=0), each) for name, each in groups.items()}
    values = _on_draws(groups, sums, statistics, generator("bootstrap", seed), resamples if labels else 0)
    return {
        name: Distribution(
            estimate=float(evaluate(statistic, totals)[0]),
            values=values[name],
            n=sum(len(groups[each].clusters) for each in set(statistic.groups)),
            clusters=len(set().union(*(groups[each].clusters for each in statistic.groups))),
        )
        for name, statistic in statistics.items()
    }


def _split(sums: np.ndarray, groups: Mapping[str, Group]) -> dict[str, np.ndarray]:
    """The columns of all groups side by side, (rows, width of all), to (rows, cells, 1 + columns) for each group."""
    ends = np.cumsum([each.width for each in groups.values()])
    pieces = np.split(sums, ends[:-1], axis=1)
    return {name: shaped(piece, each) for (name, each), piece in zip(groups.items(), pieces, strict=True)}


def _on_draws(
    groups: Mapping[str, Group],
    sums: Mapping[str, csr_matrix],
    statistics: Mapping[str, AnyStatistic],
    rng: np.random.Generator,
    resamples: int,
) -> dict[str, np.ndarray]:
    values = {name: np.empty(resamples) for name in statistics}
    if not resamples:
        return values
    from scipy.sparse import hstack

    stacked = hstack(list(sums.values()), format="csr")
    count = stacked.shape[0]
    step = max(1, _CHUNK // max(stacked.shape))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(0, count, (size, count)) + np.arange(size)[:, None] * count
        times = np.bincount(drawn.ravel(), minlength=size * count).reshape(size, count)
        # Sparse times dense adds a column's clusters in the same order in every column; BLAS need not, and the
        # difference of identical data would not be exactly 0.
        drawn_sums = _split((stacked.T @ times.T.astype(float, order="C")).T, groups)
        for name, statistic in statistics.items():
            values[name][start : start + size] = evaluate(statistic, drawn_sums)
    return values
