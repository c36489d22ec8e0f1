"""Confidence from the votes of T trials, and calibration shift (MedQ-Deg, section 3.4).

Two confidences: the paper's C, whose expectation depends on T, and the agreement of trials, whose expectation does not.

What 0 means. Let a question's replies be drawn from chances p over its options. The replies are calibrated if, over all
questions and options, options of chance p are right in a share p of the cases. Then the expected accuracy, the sum of
(chance of giving option k) x (probability that k is right), is the sum of p^2. This is the probability that two
independent replies agree. So mean agreement less accuracy is 0 for calibrated replies, whatever T (the "generalization
disagreement equality" of Jiang, Nagarajan, Baek and Kolter, ICLR 2022, for trials of one model in place of trained
networks). A guesser among K options is calibrated: both are 1/K. The reverse does not hold: a mean of 0 may hide
overconfidence on some questions and the opposite on others.

The shift of C has no such zero: of a guesser among four options it is +.195 at T = 3 and -.127 at T = 10. What it would
be of calibrated replies with the same votes is mean C less mean agreement (:func:`calibrated_shift`), so the shift of C
less this reference is the shift of the agreement.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lmms_medtasks.errors import unknown_name_error
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    DifferenceOf,
    IntervalFrom,
    SumGroup,
    SumStatistic,
    make_scored_group,
    make_sum_group,
    mean,
    mean_of_column,
    mean_statistic,
)
from lmms_medtasks.statistics.votes import VoteTable

Statistics = tuple[dict[str, SumGroup], dict[str, AnyStatistic]]
"""Groups of rows, and statistics of them by name."""

Confidence = Literal["entropy", "agreement"]
"""The paper's C (equation 3), or the agreement of pairs of trials."""

_DECIMALS = 12
"""Confidences and differences that agree this far are equal: a tie must not hang on rounding."""


@dataclass(frozen=True)
class CalibrationResult:
    """Calibration shift of a set of questions (equation 4), and on what it rests.

    Attributes:
        n: questions that the means are over: those with a reply and at least two options; for the agreement of trials
            those with at least two replies and two options.
        accuracy: mean share of right replies. confidence: mean C, or mean agreement. shift: confidence less accuracy,
            in [-1, 1]. All None if n is 0.
    """

    n: int
    accuracy: float | None
    confidence: float | None
    shift: float | None


def entropy_confidences(table: VoteTable) -> np.ndarray:
    """(n,) floats in [0, 1]: C = 1 - H / log K (equation 3), NaN where it has no value.

    H is the entropy of the votes' shares, K the question's own number of options. Replies without an answer (empty,
    unreadable, cut and so on) are together one more outcome in H, failed requests are no votes. With that
    outcome H can exceed log K; C is then 0. The paper counts them as incorrect and does not say what they are in H.

    No reply, or one option only (log K is 0): NaN. One vote: C = 1, as for any unanimous vote, one for "no answer"
    included. T votes over K options can't spread evenly unless K divides T, and their entropy is too low on average:
    C of a model that only guesses is above 0 (:func:`chance_confidence`). Values are rounded to 12 decimals, so that
    the same votes for other options give the same C to the last bit.
    """
    from scipy.special import entr

    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.sort(table.counts, axis=1) / table.replies[:, None]
        spread = entr(shares).sum(axis=1) / np.log(table.option_counts)
    spread[(table.replies == 0) | (table.option_counts < 2)] = np.nan
    return np.asarray(np.clip(np.round(1 - spread, _DECIMALS), 0, 1) + 0.0)


def chance_confidence(option_count: int, trials: int) -> float:
    """Expected C of a model that answers each of ``trials`` trials with one of ``option_count`` options by chance.

    The count of one option is binomial, so E[C] = 1 + K sum_j P(j) (j/T) log(j/T) / log K. Its expected calibration
    shift is this less 1/K. Raises ValueError for fewer than two options or one trial.
    """
    from scipy.special import entr

    if option_count < 2 or trials < 1:
        raise ValueError(f"Expected 2 options and 1 trial at least, got {option_count!r} and {trials!r}.")
    # Whole numbers of any size, divided once: from 1,030 trials on the binomial coefficients are no floats.
    ways = (math.comb(trials, each) * (option_count - 1) ** (trials - each) for each in range(trials + 1))
    binomial = np.array([way / option_count**trials for way in ways])
    entropy = option_count * (binomial * entr(np.arange(trials + 1) / trials)).sum()
    return float(1 - entropy / np.log(option_count))


def trial_agreements(table: VoteTable) -> np.ndarray:
    """(n,) floats in [0, 1]: the share of agreeing pairs among each question's trials, NaN where it has no value.

    Of R replies, c_k of them for option k: the sum of c_k (c_k - 1) over the options, over R (R - 1). It is an unbiased
    estimate of the probability that two independent replies agree, the sum of the options' squared chances, whatever R.
    A pair agrees if both replies gave the same option: a reply without a readable answer agrees with none, as it is
    never right. Failed requests are no replies. Fewer than two replies or two options: NaN.
    """
    options = table.counts[:, :-1].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = (options * (options - 1)).sum(axis=1) / (table.replies * (table.replies - 1.0))
    found[(table.replies < 2) | (table.option_counts < 2)] = np.nan
    return np.asarray(found)


def confidence_values(table: VoteTable, kind: Confidence = "entropy") -> np.ndarray:
    return entropy_confidences(table) if kind == "entropy" else trial_agreements(table)


def calibrated_shift(table: VoteTable) -> float | None:
    """The shift of C (equation 4) that calibrated replies with these votes would have: mean C less mean agreement.

    Over the questions that have both; None if there is none (T = 1).
    """
    difference = entropy_confidences(table) - trial_agreements(table)
    used = difference[~np.isnan(difference)]
    return float(used.mean()) if len(used) else None


def measure_calibration(table: VoteTable, kind: Confidence = "entropy") -> CalibrationResult:
    """Accuracy, mean confidence and calibration shift (equation 4) of the questions in ``table``."""
    confidences = confidence_values(table, kind)
    used = ~np.isnan(confidences)
    if not used.any():
        return CalibrationResult(0, None, None, None)
    accuracy, confidence = float(table.take(used).scores.mean()), float(confidences[used].mean())
    return CalibrationResult(int(used.sum()), accuracy, confidence, confidence - accuracy)


def calibration_group(table: VoteTable, kind: Confidence = "entropy") -> SumGroup:
    """The questions that have accuracy and confidence, which are its columns; clusters are images."""
    confidences = confidence_values(table, kind)
    used = np.flatnonzero(~np.isnan(confidences))
    return make_sum_group([table.image_ids[row] for row in used], table.scores[used], confidences[used])


def _side_statistics(name: str, side: SumGroup) -> Statistics:
    """Accuracy, mean confidence and shift of a group of :func:`calibration_group`, called ``name``."""
    shifts_of = make_scored_group(side.clusters, side.columns[:, 1] - side.columns[:, 0])
    shift = IntervalFrom(SumStatistic(_mean_shift, (name,)), mean_statistic(f"shift of {name}", (-1.0, 1.0)))
    return (
        {name: side, f"shift of {name}": shifts_of},
        {"accuracy": mean_of_column(0, name), "confidence": mean_of_column(1, name), "shift": shift},
    )


def calibration_changes(
    sides: Mapping[str, SumGroup], baseline: str
) -> tuple[dict[str, SumGroup], dict[str, dict[str, AnyStatistic]]]:
    """Accuracy, confidence and shift of each other side less those of the baseline."""
    made = {name: _side_statistics(name, own) for name, own in sides.items()}
    before = made[baseline][1]
    groups = {name: own for each, _ in made.values() for name, own in each.items()}
    return groups, {
        name: {what: DifferenceOf(statistic, before[what]) for what, statistic in own.items()}
        for name, (_, own) in made.items()
        if name != baseline
    }


def calibration_draw(table: VoteTable, kind: Confidence = "entropy") -> Statistics:
    """Accuracy, mean confidence, calibration shift, and the shift's absolute value, which is not smooth at 0."""
    groups, statistics = _side_statistics("", calibration_group(table, kind))
    return groups, {
        **statistics,
        "size": SumStatistic(lambda sums: np.abs(_mean_shift(sums)), ("",), (0.0, 1.0), mean=False),
    }


def changes_draw(tables: Mapping[str, VoteTable], baseline: str, kind: Confidence = "entropy") -> Statistics:
    """Accuracy, confidence and shift of each other table less those of ``tables[baseline]``, as ``TABLE/accuracy``.

    Tables are compared as they are; use :func:`lmms_medtasks.statistics.votes.take_common_questions` first for models
    that did not answer the same questions. Raises UserError if there is no such table.
    """
    if baseline not in tables:
        raise unknown_name_error("baseline", baseline, tables)
    groups, changes = calibration_changes(
        {name: calibration_group(table, kind) for name, table in tables.items()}, baseline
    )
    return groups, {f"{name}/{what}": each for name, own in changes.items() for what, each in own.items()}


def _mean_shift(sums: np.ndarray) -> np.ndarray:
    return np.asarray(mean(sums, 1) - mean(sums, 0))
