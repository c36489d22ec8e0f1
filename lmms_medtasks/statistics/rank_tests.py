"""The Kruskal-Wallis test, and Dunn's test for each pair after it: as Bones and Joints tests whether models differ.

The paper (Statistical Analyses) used GraphPad Prism: its p values of Dunn's test are multiplied by the number of pairs
(Bonferroni), as here.

Both tests take every value as an independent draw. Models that answered the same questions are not independent samples,
so differences are harder to find than with a paired test; and several questions on one case are not independent either,
which makes p too small (``benchmarks/simulations/cases.py``). Two models are compared by case: :mod:`.sign_flip`.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

Samples = Mapping[str, "np.ndarray | Sequence[float]"]


@dataclass(frozen=True)
class KruskalWallis:
    """``statistic``: H, corrected for ties; ``n``: values in all groups.

    ``p`` and ``statistic`` are None where the test has no value: fewer than two groups with values, or all alike.
    """

    statistic: float | None
    p: float | None
    n: int


@dataclass(frozen=True)
class Dunn:
    """One pair. ``difference``: of mean ranks, first less second; ``z``: over its standard error; ``p`` two-sided.

    ``adjusted``: p corrected over all pairs of the call. None where all values are alike.
    """

    first: str
    second: str
    difference: float
    z: float | None
    p: float | None
    adjusted: float | None


def kruskal_wallis(samples: Samples) -> KruskalWallis:
    """The test of "all groups are draws from one distribution"; groups without values are left out, NaN too."""
    groups = _groups(samples)
    n = sum(map(len, groups.values()))
    if len(groups) < 2 or np.ptp(np.concatenate(list(groups.values()))) == 0:
        return KruskalWallis(None, None, n)
    from scipy.stats import kruskal

    found = kruskal(*groups.values())
    return KruskalWallis(float(found.statistic), float(found.pvalue), n)


def dunn(samples: Samples) -> list[Dunn]:
    """Dunn's test (Dunn 1964, with the correction for ties) of each pair, in the order of ``samples``."""
    from scipy.stats import norm, rankdata

    groups = _groups(samples)
    if len(groups) < 2:
        return []
    names = list(groups)
    values = np.concatenate(list(groups.values()))
    ranks = np.split(rankdata(values), np.cumsum([len(groups[name]) for name in names])[:-1])
    means = {name: float(own.mean()) for name, own in zip(names, ranks, strict=True)}
    variance = _rank_variance(values)
    pairs = list(itertools.combinations(names, 2))
    differences = [means[first] - means[second] for first, second in pairs]
    if not variance > 0:
        return [Dunn(*pair, difference, None, None, None) for pair, difference in zip(pairs, differences, strict=True)]
    errors = [np.sqrt(variance * (1 / len(groups[first]) + 1 / len(groups[second]))) for first, second in pairs]
    scores = [float(difference / error) for difference, error in zip(differences, errors, strict=True)]
    raw = [float(2 * norm.sf(abs(score))) for score in scores]
    return [
        Dunn(*pair, difference, score, p, min(1.0, p * len(raw)))
        for pair, difference, score, p in zip(pairs, differences, scores, raw, strict=True)
    ]


def _groups(samples: Samples) -> dict[str, np.ndarray]:
    found = {name: np.asarray(values, dtype=float) for name, values in samples.items()}
    kept = {name: values[~np.isnan(values)] for name, values in found.items()}
    return {name: values for name, values in kept.items() if len(values)}


def _rank_variance(values: np.ndarray) -> float:
    """N (N + 1) / 12, less what ties take away: the sum of t^3 - t over ties of t values, over 12 (N - 1)."""
    n = len(values)
    ties = np.unique(values, return_counts=True)[1].astype(float)
    return n * (n + 1) / 12 - float((ties**3 - ties).sum()) / (12 * (n - 1))
