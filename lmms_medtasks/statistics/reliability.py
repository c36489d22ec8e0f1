"""How well confidence tells right from wrong votes: calibration error, Brier score, bins, risk against coverage.

All of it is beyond the paper. Two numbers can stand for a question's confidence, and both are offered (:data:`Kind`):

* ``"entropy"``: C = 1 - H / log K of equation 3, as the calibration shift uses it. It is no probability: of votes that
  stand 3 to 1 it is 0.59 for four options, 0.19 for two. Its calibration error says how far C is from being one.
* ``"share"``: the majority's share of the replies, which is the model's own frequency of the answer it is judged by.

What they are held against is whether the majority vote is right. Outcomes with equally many votes share the majority:
the vote is then right with the probability that a fair draw among them is (0.5 for A and B with five votes each, if
one of them is right). "No answer" is an outcome like any other, and never right.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lmms_medtasks.statistics.calibration import Statistics, confidences
from lmms_medtasks.statistics.sums import AnyStatistic, Group, Statistic, group, of_column
from lmms_medtasks.statistics.votes import VoteTable

Kind = Literal["entropy", "share"]


@dataclass(frozen=True)
class Binning:
    """How confidences are put into bins.

    ``"width"``: bins of equal width over [0, 1], closed on the right, (0.1, 0.2], the first on both sides.
    ``"mass"``: bins that end at the quantiles i / bins of the confidences (a value that occurs), closed on the right.
    Equal confidences stay together, so that there can be fewer bins than asked for, and of unequal mass: of votes,
    half of which are unanimous, half lie in the last. Neither depends on the order of the questions.
    """

    kind: Literal["width", "mass"] = "width"
    bins: int = 10

    def __post_init__(self) -> None:
        if self.kind not in ("width", "mass") or self.bins < 1:
            raise ValueError(
                f"Expected kind 'width' or 'mass' and at least 1 bin, got {self.kind!r} and {self.bins!r}."
            )

    def bin_edges(self, confidence: np.ndarray) -> np.ndarray:
        """(b + 1,) ascending edges from 0 to 1."""
        if self.kind == "width" or not len(confidence):
            # Not linspace: 3/10 must be the very number that three votes of ten are.
            return np.arange(self.bins + 1) / self.bins
        inner = np.quantile(confidence, np.arange(1, self.bins) / self.bins, method="inverted_cdf")
        inner = inner[(inner < confidence.max())]
        return np.concatenate([[0.0], np.unique(inner), [1.0]])


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
    errors: np.ndarray = np.abs(sums[..., 1] - sums[..., 2]).sum(-1) / sums[..., 0].sum(-1)
    return errors


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
    area: np.ndarray = added.sum(-1) / count.sum(-1)
    return area


def reliability_draw(table: VoteTable, kind: Kind, binning: Binning | None = None) -> Statistics:
    """Calibration error, Brier score and risk against coverage of one confidence.

    ``kind`` names the confidence (module docstring). ``correctness``: share of right majority votes. ``confidence``:
    mean confidence. ``ece``: expected calibration error in [0, 1]. ``brier``: the mean of (confidence - whether the
    majority vote is right) squared, in expectation over ties. ``aurc``: area under the risk-coverage curve in [0, 1]; a
    confidence that says nothing has 1 - correctness. Bins are those of the data, also where they end at quantiles, and
    stay so without an image. Without ``binning``: ten of equal width, (0.9, 1] and so on, so that each share of T = 10
    votes has its own bin.

    Questions without a reply, and for "entropy" those with one option, are left out.
    """
    certain, correct = _confidence_and_correctness(table, kind)
    used = ~np.isnan(certain)
    edges = (binning or Binning()).bin_edges(certain[used])
    places = _find_bins(certain[used], edges)
    return _make_groups(table.take(used), certain[used], correct[used], places, len(edges) - 1), dict(_STATISTICS)


def _confidence_and_correctness(table: VoteTable, kind: Kind) -> tuple[np.ndarray, np.ndarray]:
    """(n,) confidences of this kind, NaN where a question has none, and (n,) whether the majority is right."""
    certain = confidences(table) if kind == "entropy" else majority_share(table)
    return certain, majority_correct(table)


def reliability_bins(table: VoteTable, kind: Kind, binning: Binning | None = None) -> tuple[ReliabilityBin, ...]:
    """The bins of :func:`reliability_draw`, the empty ones too."""
    certain, correct = _confidence_and_correctness(table, kind)
    used = ~np.isnan(certain)
    certain, correct = certain[used], correct[used]
    edges = (binning or Binning()).bin_edges(certain)
    return _make_bins(certain, correct, _find_bins(certain, edges), edges)


_STATISTICS: Mapping[str, AnyStatistic] = {
    "correctness": of_column(1, "bins"),
    "confidence": of_column(0, "bins"),
    "ece": Statistic(ece, ("bins",), (0.0, 1.0), mean=False),
    "brier": of_column(0, "scores"),
    "aurc": Statistic(aurc, ("order",), (0.0, 1.0), mean=False),
}


def _make_groups(
    kept: VoteTable, certain: np.ndarray, correct: np.ndarray, places: np.ndarray, bin_count: int
) -> dict[str, Group]:
    levels, rank = np.unique(-certain, return_inverse=True)
    binary = correct * (certain - 1) ** 2 + (1 - correct) * certain**2
    images = kept.image_ids
    return {
        "bins": group(images, certain, correct, cells=places, cell_count=bin_count),
        "scores": group(images, binary),
        "order": group(images, 1 - correct, cells=rank, cell_count=max(1, len(levels))),
    }


def _find_bins(certain: np.ndarray, edges: np.ndarray) -> np.ndarray:
    return np.searchsorted(edges[1:-1], certain, side="left")


def _make_bins(
    certain: np.ndarray, correct: np.ndarray, places: np.ndarray, edges: np.ndarray
) -> tuple[ReliabilityBin, ...]:
    count = len(edges) - 1
    sizes, sums, right = (np.bincount(places, weights, count) for weights in (None, certain, correct))
    return tuple(
        ReliabilityBin(
            low=float(edges[each]),
            high=float(edges[each + 1]),
            n=int(sizes[each]),
            confidence=float(sums[each] / sizes[each]) if sizes[each] else None,
            correctness=float(right[each] / sizes[each]) if sizes[each] else None,
        )
        for each in range(count)
    )
