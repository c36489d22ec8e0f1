"""How well confidence distinguishes right from wrong votes: calibration error, Brier score, bins, risk and coverage.

All of it is beyond the paper. The confidence of a question is the majority's share of the replies, which is the model's
own frequency of the answer that it is judged by. It is compared with whether the majority vote is right. Outcomes with
equally many votes share the majority: the vote is then right with the probability that a fair draw among them is (0.5
for A and B with five votes each, if one of them is right). "No answer" is an outcome like any other, and never right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.calibration import Statistics
from lmms_medtasks.statistics.sums import SumStatistic, make_sum_group, mean_of_column
from lmms_medtasks.statistics.votes import VoteTable

BINS = 10
"""Bins of equal width over [0, 1], closed on the right: (0.1, 0.2]; the first on both sides."""


@dataclass(frozen=True)
class ReliabilityBin:
    """One bin, (low, high]: number of questions, their mean confidence and the share of right votes (None if n = 0)."""

    low: float
    high: float
    n: int
    confidence: float | None
    correctness: float | None


def majority_share(table: VoteTable) -> np.ndarray:
    """(n,) floats in (0, 1]: share of the replies that the most common outcome has, NaN without a reply."""
    with np.errstate(invalid="ignore"):
        return table.counts.max(axis=1) / table.replies if len(table) else np.empty(0)


def majority_correct(table: VoteTable) -> np.ndarray:
    """(n,) floats in [0, 1]: probability that the majority vote is right, a draw among ties; NaN without a reply.

    With one option (K = 1) it is 1 unless unreadable replies are more, with one reply it is that reply's score.
    """
    if not len(table):
        return np.empty(0)
    most = table.counts.max(axis=1)
    tied = (table.counts == most[:, None]).sum(axis=1)
    return np.where(table.replies > 0, (table.right == most) / tied, np.nan)


def ece(sums: np.ndarray) -> np.ndarray:
    """Statistic: expected calibration error of sums by bin, columns confidence and correctness.

    Sum over bins of n_b / n times |mean confidence - mean correctness| (Naeini et al. 2015; Guo et al. 2017, equation
    3). Biased upwards in small samples, the more so the more bins.
    """
    return np.asarray(np.abs(sums[..., 1] - sums[..., 2]).sum(-1) / sums[..., 0].sum(-1))


def aurc(sums: np.ndarray) -> np.ndarray:
    """Statistic: area under the risk-coverage curve of sums by distinct confidence, highest first, column error.

    The mean over k = 1 … n of the error rate among the k most confident questions (Geifman et al. 2019), expected over
    the orders of equally confident questions: after N questions with E errors, m equal ones with e errors add
    sum_j (E + e j/m) / (N + j), j = 1 … m. With S = psi(N + m + 1) - psi(N + 1) that is E S + e/m (m - N S).
    """
    from scipy.special import digamma

    count, errors = sums[..., 0], sums[..., 1]
    count_before = np.cumsum(count, axis=-1) - count
    errors_before = np.cumsum(errors, axis=-1) - errors
    harmonic = digamma(count_before + count + 1) - digamma(count_before + 1)
    rate = errors / np.maximum(count, 1)
    added = errors_before * harmonic + rate * (count - count_before * harmonic)
    return np.asarray(added.sum(-1) / count.sum(-1))


def reliability_draw(table: VoteTable) -> Statistics:
    """Calibration error, Brier score and risk against coverage of the majority's share, over questions with a reply.

    ``correctness``: share of right majority votes. ``confidence``: mean confidence. ``ece``: expected calibration error
    in [0, 1]. ``brier``: the mean of (confidence - whether the majority vote is right) squared, in expectation over
    ties. ``aurc``: area under the risk-coverage curve in [0, 1]; a confidence that says nothing has 1 - correctness.
    """
    answered, shares, correct = _answered(table)
    levels, rank = np.unique(-shares, return_inverse=True)
    binary = correct * (shares - 1) ** 2 + (1 - correct) * shares**2
    images = answered.image_ids
    groups = {
        "bins": make_sum_group(images, shares, correct, cells=_find_bins(shares), cell_count=BINS),
        "scores": make_sum_group(images, binary),
        "order": make_sum_group(images, 1 - correct, cells=rank, cell_count=max(1, len(levels))),
    }
    return groups, {
        "correctness": mean_of_column(1, "bins"),
        "confidence": mean_of_column(0, "bins"),
        "ece": SumStatistic(ece, ("bins",), (0.0, 1.0), mean=False),
        "brier": mean_of_column(0, "scores"),
        "aurc": SumStatistic(aurc, ("order",), (0.0, 1.0), mean=False),
    }


def reliability_bins(table: VoteTable) -> tuple[ReliabilityBin, ...]:
    """The bins of :func:`reliability_draw`, the empty ones too."""
    _, shares, correct = _answered(table)
    bins = _find_bins(shares)
    sizes, sums, right = (np.bincount(bins, weights, BINS) for weights in (None, shares, correct))
    return tuple(
        ReliabilityBin(
            low=number / BINS,
            high=(number + 1) / BINS,
            n=int(sizes[number]),
            confidence=float(sums[number] / sizes[number]) if sizes[number] else None,
            correctness=float(right[number] / sizes[number]) if sizes[number] else None,
        )
        for number in range(BINS)
    )


def _answered(table: VoteTable) -> tuple[VoteTable, np.ndarray, np.ndarray]:
    """The questions with a reply, their majority's share, and whether the majority is right."""
    shares = majority_share(table)
    has_reply = ~np.isnan(shares)
    return table.take(has_reply), shares[has_reply], majority_correct(table)[has_reply]


def _find_bins(shares: np.ndarray) -> np.ndarray:
    # Not linspace: 3/10 must be the very number that three votes of ten are.
    return np.searchsorted(np.arange(1, BINS) / BINS, shares, side="left")
