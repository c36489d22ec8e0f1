"""Wins and losses of methods, and the paper's test of them: Welch's t-tests of resamples of the test sets.

SURE-VQA, appendix C.5.1 and Figure 19: for each shift, the robustness of each pair of methods over 100 resamples of
the test sets is compared by Welch's t-test, and the p values are corrected for multiple testing (the paper does not
say how; here Holm's step-down).

:func:`welch` is kept to be set beside that figure, and for nothing else: resamples are not observations. Their spread
is the standard error of the number, not that of the questions, so that with 100 of them a difference of 0.3 standard
errors has p < 0.05, and with more of them any difference has. Two methods that are alike are called different in most
data sets (``benchmarks/simulations/methods.py``). The test of the data is
:func:`lmms_medtasks.statistics.paired_robustness.swap_test`, the intervals are :func:`.robustness.differences`.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.sums import AnyStatistic, Group, evaluate, plain_cluster_sums, shaped

PAPER_ALPHA = 0.05
"""Of the paper's own test, whose number of resamples is the other constant."""
RESAMPLES = 100
"""Resamples of RR that Welch's tests compare (SURE-VQA, appendix C.5.1)."""

Values = Mapping[Any, Mapping[str, "np.ndarray | Sequence[float]"]]
"""Shift (or any condition) -> method -> its values, over resamples or seeds. NaN is left out."""


@dataclass(frozen=True)
class Comparison:
    """A two-sided test of two methods under one condition.

    ``difference`` is the first's value less the second's. ``p`` is None where the test has no value: of Welch's test
    where a method has fewer than two values or neither varies. ``adjusted`` is p after the correction over all
    comparisons; where it is None the pair is not among those that are corrected for, and no win.
    """

    condition: Hashable
    first: str
    second: str
    difference: float | None
    p: float | None
    adjusted: float | None


@dataclass(frozen=True)
class WinLoss:
    """``wins[row][column]``: conditions in which the row's method was better than the column's, adjusted p < alpha.

    ``comparisons`` has the number of conditions in which the pair was tested. Both are (m, m) integers with zeros on
    the diagonal, in the order of ``methods``.
    """

    methods: tuple[str, ...]
    wins: np.ndarray
    comparisons: np.ndarray


def resampled(groups: Mapping[str, Group], statistic: AnyStatistic, resamples: int, seed: int | str = 0) -> np.ndarray:
    """(resamples,) values of a statistic on draws of the clusters (images), NaN where a draw lacks one of its groups.

    A draw takes as many clusters as there are in all groups together, with replacement, and with each all its rows in
    every group. The result depends on the seed and on the rows, not on their order: data of the same clusters see the
    same draws. None are drawn where there are no clusters.
    """
    labels = sorted(set().union(*(each.clusters for each in groups.values())))
    codes = {label: number for number, label in enumerate(labels)}
    count = len(labels)
    drawn = generator("bootstrap", seed).integers(0, count, (resamples, count)) if count else np.empty((0, 0), int)
    times = np.stack([np.bincount(own, minlength=count) for own in drawn]) if len(drawn) else np.empty((0, count))
    sums = {name: shaped(times @ plain_cluster_sums(each, codes), each) for name, each in groups.items()}
    return evaluate(statistic, sums)


def welch(values: Values) -> list[Comparison]:
    """Compare each pair of methods under each condition; all comparisons are corrected for together (Holm)."""
    found = []
    for condition, methods in values.items():
        for first, second in itertools.combinations(methods, 2):
            found.append((condition, first, second, *_test(methods[first], methods[second])))
    adjusted = iter(adjust([p for *_, p in found if p is not None]))
    return [Comparison(*each, None if each[-1] is None else next(adjusted)) for each in found]


def win_loss(comparisons: Sequence[Comparison], *, alpha: float) -> WinLoss:
    """Count the comparisons whose adjusted p is below ``alpha``, for the method with the higher mean."""
    methods = tuple(dict.fromkeys(name for each in comparisons for name in (each.first, each.second)))
    place = {name: row for row, name in enumerate(methods)}
    wins, tested = (np.zeros((len(methods), len(methods)), dtype=int) for _ in range(2))
    for each in comparisons:
        if each.adjusted is None or each.difference is None:
            continue
        first, second = place[each.first], place[each.second]
        tested[[first, second], [second, first]] += 1
        if each.adjusted < alpha:
            better, worse = (first, second) if each.difference > 0 else (second, first)
            wins[better, worse] += 1
    return WinLoss(methods, wins, tested)


def _test(
    first: np.ndarray | Sequence[float], second: np.ndarray | Sequence[float]
) -> tuple[float | None, float | None]:
    """Difference of means and p; None where they are not defined."""
    from scipy.stats import ttest_ind

    one, other = (np.asarray(each, dtype=float) for each in (first, second))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    if not len(one) or not len(other):
        return None, None
    difference = float(one.mean() - other.mean())
    if min(len(one), len(other)) < 2 or not (np.ptp(one) > 0 or np.ptp(other) > 0):
        return difference, None
    return difference, float(ttest_ind(one, other, equal_var=False).pvalue)
