"""Rank tests: of several independent groups (Kruskal-Wallis, Dunn), and of pairs (sign test, Wilcoxon).

Kruskal-Wallis, and Dunn's test of each pair after it, are how Bones and Joints tests whether models differ. The paper
(Statistical Analyses) used GraphPad Prism: its p values of Dunn's test are multiplied by the number of pairs
(Bonferroni), as here. Both tests take every value as an independent draw. Models that answered the same questions are
not independent samples, so differences are harder to find than with a paired test; and several questions on one case
are not independent either, which makes p too small (``benchmarks/simulations/cases.py``). Two models are compared by
case: :mod:`.sign_flip`.

The sign test and Wilcoxon's signed-rank test are how Med-CMR compares base models with their medically fine-tuned forms
(Figure 4b, 4c). A pair may be a question, a dimension or a task that both were scored on. Both tests take pairs as
independent: questions on one image are not, nor are dimensions of one model quite, so read p values near a threshold
with care.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.sign_flip import sign_flip

Samples = Mapping[str, "np.ndarray | Sequence[float]"]


@dataclass(frozen=True)
class KruskalWallisTest:
    """``statistic``: H, corrected for ties; ``n``: values in all groups.

    ``p`` and ``statistic`` are None where the test has no value: fewer than two groups with values, or all alike.
    """

    statistic: float | None
    p: float | None
    n: int


@dataclass(frozen=True)
class DunnComparison:
    """One pair. ``difference``: of mean ranks, first less second; ``z``: over its standard error; ``p`` two-sided.

    ``adjusted``: p corrected over all pairs of the call. None where all values are alike.
    """

    first: str
    second: str
    difference: float
    z: float | None
    p: float | None
    adjusted: float | None


def kruskal_wallis(samples: Samples) -> KruskalWallisTest:
    """The test of "all groups are draws from one distribution"; NaN and groups without values are left out."""
    groups = _groups_with_values(samples)
    n = sum(map(len, groups.values()))
    if len(groups) < 2 or np.ptp(np.concatenate(list(groups.values()))) == 0:
        return KruskalWallisTest(None, None, n)
    from scipy.stats import kruskal

    test = kruskal(*groups.values())
    return KruskalWallisTest(float(test.statistic), float(test.pvalue), n)


def dunn_test(samples: Samples) -> list[DunnComparison]:
    """Dunn's test (Dunn 1964, with the correction for ties) of each pair, in the order of ``samples``."""
    from scipy.stats import norm, rankdata

    groups = _groups_with_values(samples)
    if len(groups) < 2:
        return []
    names = list(groups)
    values = np.concatenate(list(groups.values()))
    ranks = np.split(rankdata(values), np.cumsum([len(groups[name]) for name in names])[:-1])
    means = {name: float(group_ranks.mean()) for name, group_ranks in zip(names, ranks, strict=True)}
    variance = _rank_variance(values)
    pairs = list(itertools.combinations(names, 2))
    differences = [means[first] - means[second] for first, second in pairs]
    if not variance > 0:
        return [DunnComparison(*pair, d, None, None, None) for pair, d in zip(pairs, differences, strict=True)]
    errors = [np.sqrt(variance * (1 / len(groups[first]) + 1 / len(groups[second]))) for first, second in pairs]
    scores = [float(difference / error) for difference, error in zip(differences, errors, strict=True)]
    raw = [float(2 * norm.sf(abs(score))) for score in scores]
    return [
        DunnComparison(*pair, difference, score, p, min(1.0, p * len(raw)))
        for pair, difference, score, p in zip(pairs, differences, scores, raw, strict=True)
    ]


def _groups_with_values(samples: Samples) -> dict[str, np.ndarray]:
    arrays = {name: np.asarray(values, dtype=float) for name, values in samples.items()}
    known = {name: values[~np.isnan(values)] for name, values in arrays.items()}
    return {name: values for name, values in known.items() if len(values)}


def _rank_variance(values: np.ndarray) -> float:
    """N (N + 1) / 12, less what ties take away: the sum of t^3 - t over ties of t values, over 12 (N - 1)."""
    n = len(values)
    ties = np.unique(values, return_counts=True)[1].astype(float)
    return n * (n + 1) / 12 - float((ties**3 - ties).sum()) / (12 * (n - 1))


_SAME = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """Two tests of "no difference" on n differences (second less first), two-sided.

    Attributes:
        n: pairs. up, down: pairs in which the second has more, less. The rest are the same and are in neither test.
        sign_p: sign test: probability of a split at least as uneven as up to down, had each the chance of one half.
        wilcoxon_p: of Wilcoxon's signed ranks: the share of all assignments of signs to the ranks that reach as far
            (:mod:`.sign_flip`), with or without ties; up to 2,000 differences, beyond by the normal distribution.
        effect: matched-pairs rank-biserial correlation, (ranks up - ranks down) / all ranks, from -1 to 1.

    Where no pair differs, the last three are None.
    """

    n: int
    up: int
    down: int
    sign_p: float | None
    wilcoxon_p: float | None
    effect: float | None


def paired_tests(differences: Iterable[float]) -> PairedTest:
    """The tests on ``differences``; those within 1e-12 of 0 count as none. Raises ValueError for NaN or infinity.

    >>> found = paired_tests([-0.12, -0.08, -0.1, -0.02, 0.01])
    >>> found.up, found.down, found.sign_p, found.wilcoxon_p
    (1, 4, 0.375, 0.125)
    """
    from scipy import stats

    values = np.array(list(differences), dtype=float)
    if not np.isfinite(values).all():
        raise ValueError("A difference is NaN or infinite: leave pairs without a value out, and say how many.")
    n = len(values)
    # Rounded, so that equal differences of decimal scores are equal sizes, whatever their last bits.
    values = np.round(values[np.abs(values) > _SAME], 12)
    up, down = int((values > 0).sum()), int((values < 0).sum())
    if not up + down:
        return PairedTest(n, 0, 0, None, None, None)
    ranks = stats.rankdata(np.abs(values))
    above, below = float(ranks[values > 0].sum()), float(ranks[values < 0].sum())
    return PairedTest(
        n=n,
        up=up,
        down=down,
        sign_p=float(stats.binomtest(up, up + down, 0.5).pvalue),
        wilcoxon_p=sign_flip(np.sign(values) * ranks),
        effect=(above - below) / (above + below),
    )
