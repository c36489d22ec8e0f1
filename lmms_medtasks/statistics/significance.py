"""Corrections for several tests, win/loss matrices of tests, and the tests of SURE-VQA: Welch's t-tests of resamples.

SURE-VQA, appendix C.5.1 and Figure 19: for each shift, the robustness of each pair of methods over 100 resamples of
the test sets is compared by Welch's t-test, and the p values are corrected for multiple testing (the paper does not
say how; here Holm's step-down by default).

:func:`welch` is kept to be set beside that figure, and for nothing else: resamples are not observations. Their spread
is the standard error of the number, not that of the questions, so that with 100 of them a difference of 0.3 standard
errors has p < 0.05, and with more of them any difference has. Two methods that are alike are called different in most
data sets (``benchmarks/simulations/methods.py``). The test of the data is
:func:`lmms_medtasks.statistics.paired_robustness.swap_test`, the intervals are
:func:`lmms_medtasks.statistics.robustness.differences`.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

Correction = Literal["holm", "bh", "none"]
"""holm: Holm (1979), the chance of any false win. bh: Benjamini and Hochberg (1995), the share of false wins."""

Values = Mapping[Any, Mapping[str, np.ndarray | Sequence[float]]]
"""Shift (or any condition) -> method -> its values, over resamples or seeds. NaN is left out."""


@dataclass(frozen=True)
class Comparison:
    """A two-sided test of two methods under one condition.

    ``difference`` is the first's value less the second's, ``statistic`` the test's (of Welch's test t; None where it is
    not told). ``p`` is None where the test has no value: of Welch's test where a method has fewer than two values or
    neither varies. ``adjusted`` is p after the correction over all comparisons; where it is None the pair is not among
    those that are corrected for, and no win.
    """

    condition: Hashable
    first: str
    second: str
    difference: float | None
    statistic: float | None
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


def welch(values: Values, *, correction: Correction = "holm") -> list[Comparison]:
    """Compare each pair of methods under each condition; all comparisons are corrected for together."""
    found = []
    for condition, methods in values.items():
        for first, second in itertools.combinations(methods, 2):
            found.append((condition, first, second, *_test(methods[first], methods[second])))
    tested = {row: p for row, (*_, p) in enumerate(found) if p is not None}
    adjusted: list[float | None] = [None] * len(found)
    for row, value in zip(tested, adjust(list(tested.values()), correction), strict=True):
        adjusted[row] = value
    return [Comparison(*each, corrected) for each, corrected in zip(found, adjusted, strict=True)]


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


def adjust(p: Sequence[float], correction: Correction = "holm") -> list[float]:
    """p values corrected for multiple testing, in their order.

    >>> [round(value, 4) for value in adjust([0.01, 0.04, 0.03])]  # 3 x 0.01; 2 x 0.03; at least that
    [0.03, 0.06, 0.06]
    """
    raw = np.asarray(p, dtype=float)
    if correction == "none" or not len(raw):
        unchanged: list[float] = raw.tolist()
        return unchanged
    if correction == "bh":
        from scipy.stats import false_discovery_control

        controlled: list[float] = false_discovery_control(raw).tolist()
        return controlled
    order = np.argsort(raw, kind="stable")
    stepped = np.maximum.accumulate(raw[order] * np.arange(len(raw), 0, -1))
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(stepped, 1.0)
    stepped_down: list[float] = adjusted.tolist()
    return stepped_down


def _test(
    first: np.ndarray | Sequence[float], second: np.ndarray | Sequence[float]
) -> tuple[float | None, float | None, float | None]:
    """Difference of means, t and p; None where they are not defined."""
    from scipy.stats import ttest_ind

    one, other = (np.asarray(each, dtype=float) for each in (first, second))
    one, other = one[~np.isnan(one)], other[~np.isnan(other)]
    if not len(one) or not len(other):
        return None, None, None
    difference = float(one.mean() - other.mean())
    if min(len(one), len(other)) < 2 or not (np.ptp(one) > 0 or np.ptp(other) > 0):
        return difference, None, None
    result = ttest_ind(one, other, equal_var=False)
    return difference, float(result.statistic), float(result.pvalue)
