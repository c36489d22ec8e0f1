"""Confidence from votes, calibration shift, and the intra-model Dunning-Kruger effect (MedQ-Deg, section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import unknown
from lmms_medtasks.statistics.bootstrap import (
    RESAMPLES,
    Group,
    Interval,
    Statistic,
    StatisticFunction,
    bootstrap,
    group,
    mean,
)
from lmms_medtasks.statistics.pairing import pairs
from lmms_medtasks.statistics.votes import VoteTable

Statistics = tuple[dict[str, Group], dict[str, Statistic]]
"""What the bootstrap takes: its groups, and statistics of them by name."""

_DECIMALS = 12
"""Confidences and differences that agree this far are equal: a tie must not hang on rounding."""


@dataclass(frozen=True)
class Calibration:
    """Calibration shift of a set of questions (equation 4), and on what it rests.

    Attributes:
        n: questions that the means are over: those with a reply and at least two options.
        accuracy: mean share of right replies. confidence: mean C. shift: confidence less accuracy, in [-1, 1];
            above 0 is overconfidence. All None if n is 0.
        no_reply: questions left out because all their requests failed. single_option: left out because C has no
            value (K = 1).
        single_reply: questions among the n with one vote only (T = 1, or the other requests failed): their C is 1
            whatever the model.
        partly_failed: questions among the n with fewer votes than trials. no_answer: questions among the n whose most
            common outcome (ties not counted) is that no answer could be read; they can be "confident" too.
    """

    n: int
    accuracy: float | None
    confidence: float | None
    shift: float | None
    no_reply: int
    single_option: int
    single_reply: int
    partly_failed: int
    no_answer: int


@dataclass(frozen=True)
class Evidence:
    """Whether equation 5 holds between two sets.

    Attributes:
        holds: equation 5 on the data as they are; None when a set is empty.
        probability: share of the resamples in which it holds; None without any, or with fewer than two clusters.
        undefined: resamples left out because a set was empty in them.
        accuracy, shift: their changes, L2 less L0. Equation 5 asks for accuracy < 0 and shift >= 0.
    """

    holds: bool | None
    probability: float | None
    undefined: int
    accuracy: Interval
    shift: Interval


@dataclass(frozen=True)
class IntraModelDKE:
    """Equation 5 in two ways, see :func:`intra_model_dke`.

    Attributes:
        whole: over all questions of each level, as the equation is written. paired: each degraded question against its
            own clean form. pairs: number of such pairs. clean_alone, degraded_alone: questions of the two levels
            that are in no pair.
    """

    whole: Evidence
    paired: Evidence
    pairs: int
    clean_alone: int
    degraded_alone: int


def confidences(table: VoteTable) -> np.ndarray:
    """(n,) floats in [0, 1]: C = 1 - H / log K (equation 3), NaN where it has no value.

    H is the entropy of the votes' shares, K the question's own number of options. Replies without an answer (empty,
    unreadable, truncated and so on) are together one more outcome in H, failed requests are no votes. With that
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
    clipped: np.ndarray = np.clip(np.round(1 - spread, _DECIMALS), 0, 1) + 0.0
    return clipped


def chance_confidence(option_count: int, trials: int) -> float:
    """Expected C of a model that answers each of ``trials`` trials with one of ``option_count`` options by chance.

    The count of one option is binomial, so E[C] = 1 + K sum_j P(j) (j/T) log(j/T) / log K. Its expected calibration
    shift is this less 1/K. Raises ValueError for fewer than two options or one trial.
    """
    from scipy.special import entr
    from scipy.stats import binom

    if option_count < 2 or trials < 1:
        raise ValueError(f"Wanted 2 options and 1 trial at least, got {option_count!r} and {trials!r}.")
    counts = np.arange(trials + 1)
    entropy = option_count * (binom.pmf(counts, trials, 1 / option_count) * entr(counts / trials)).sum()
    return float(1 - entropy / np.log(option_count))


def shifts(table: VoteTable) -> np.ndarray:
    """(n,) floats in [-1, 1]: each question's C less its share of right replies, NaN where C has no value.

    Their mean over a set is its calibration shift (equation 4).
    """
    shift: np.ndarray = confidences(table) - table.scores
    return shift


def calibration(table: VoteTable) -> Calibration:
    """Accuracy, mean confidence and calibration shift (equation 4) of the questions in ``table``."""
    certain = confidences(table)
    used = ~np.isnan(certain)
    kept, replies = table.take(used), table.replies
    options, unread = kept.counts[:, :-1], kept.counts[:, -1]
    n = int(used.sum())
    return Calibration(
        n=n,
        accuracy=float(kept.scores.mean()) if n else None,
        confidence=float(certain[used].mean()) if n else None,
        shift=float(certain[used].mean() - kept.scores.mean()) if n else None,
        no_reply=int((replies == 0).sum()),
        single_option=int(((replies > 0) & (table.option_counts < 2)).sum()),
        single_reply=int((kept.replies == 1).sum()),
        partly_failed=int((kept.failed > 0).sum()),
        no_answer=int((unread > options.max(axis=1, initial=0)).sum()),
    )


def calibration_group(table: VoteTable) -> Group:
    """The bootstrap's rows of a table: accuracy and C of the questions that have both, clusters are images."""
    certain = confidences(table)
    used = np.flatnonzero(~np.isnan(certain))
    return group([table.image_ids[row] for row in used], table.scores[used], certain[used])


def calibration_draw(table: VoteTable) -> Statistics:
    """Accuracy, mean confidence and calibration shift of a table, for one call of the bootstrap."""
    return {"": calibration_group(table)}, {name: Statistic(each, ("",)) for name, each in _FUNCTIONS.items()}


def changes_draw(tables: Mapping[str, VoteTable], baseline: str) -> Statistics:
    """What accuracy, confidence and shift of each other table are more than those of ``tables[baseline]``.

    For one call of the bootstrap: the same images are drawn for all tables. Statistics are named ``TABLE/accuracy`` and
    so on. Tables are compared as they are; use :func:`lmms_medtasks.statistics.votes.common` first for models that did
    not answer the same questions. Raises UserError when there is no such table.
    """
    if baseline not in tables:
        raise unknown("baseline", baseline, tables)
    groups = {name: calibration_group(table) for name, table in tables.items()}
    statistics = {
        f"{name}/{kind}": Statistic(_difference(statistic), (baseline, name))
        for name in groups
        if name != baseline
        for kind, statistic in _FUNCTIONS.items()
    }
    return groups, statistics


def intra_model_dke(
    clean: VoteTable, degraded: VoteTable, *, seed: int | str = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> IntraModelDKE:
    """Intra-model Dunning-Kruger effect (equation 5): accuracy at L0 > accuracy at L2, shift at L0 <= shift at L2.

    As shift is confidence less accuracy, this says: accuracy falls, and confidence falls by no more than accuracy.

    ``whole`` takes the two sets as they are. They need not be alike: a modality with few degradations, ``--limit`` or
    a failed request gives some questions fewer degraded forms than others, and that alone moves a mean. ``paired``
    removes this: each degraded question is compared with the clean form of the same ``question_id``, so that a clean
    question counts as often as it has degraded forms. Both are resampled over images, a clean image and its degraded
    forms together. Where every question has equally many forms the two agree.

    ``probability`` is the bootstrap's support for the yes or no, not a p-value. Two conditions must hold at once, so of
    a model that does not change at all it is not near 0.5, and it varies widely. Measured with this function on models
    whose chance of each option is the same at L0 and L2 (400 data sets each of 200 images, three degraded forms, four
    options, T = 10, 500 resamples; paired), mean and quartiles:

    - chances from Dirichlet(0.5), the right option one of the four by chance: 0.36; 0.12, 0.32, 0.57
    - Dirichlet(0.1), right option the likeliest in about 60 %: 0.32; 0.10, 0.27, 0.49
    - chance of the right option from Beta(2, 1), the others share the rest: 0.25; 0.06, 0.19, 0.38

    ``holds`` was true of 26 to 38 % of these data sets, and ``probability`` at least 0.95 in 1.3 % at most.

    Differences under 1e-12 count as none. An empty set or no pairs: None throughout.
    """
    clean_rows, clean_group = _usable(clean)
    degraded_rows, degraded_group = _usable(degraded)
    joined = pairs(clean_rows.question_ids, degraded_rows.question_ids)
    before, after = clean_group.columns[joined.clean], degraded_group.columns[joined.degraded]
    images = [clean_rows.image_ids[row] for row in joined.clean]
    whole = _evidence(clean_group, degraded_group, seed, resamples, level)
    paired = _evidence(group(images, *before.T), group(images, *after.T), seed, resamples, level)
    return IntraModelDKE(whole, paired, len(images), joined.clean_alone, joined.degraded_alone)


def _usable(table: VoteTable) -> tuple[VoteTable, Group]:
    kept = table.take(~np.isnan(confidences(table)))
    return kept, calibration_group(kept)


def _evidence(before: Group, after: Group, seed: int | str, resamples: int, level: float) -> Evidence:
    names = ("before", "after")
    accuracy, shift = _difference(_accuracy), _difference(_shift)

    def holds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        fall, rise = accuracy(first, second), shift(first, second)
        fulfilled = (np.round(fall, _DECIMALS) < 0) & (np.round(rise, _DECIMALS) >= 0)
        return np.where(np.isnan(fall), np.nan, fulfilled)

    functions = {"holds": holds, "accuracy": accuracy, "shift": shift}
    statistics = {name: Statistic(statistic, names) for name, statistic in functions.items()}
    found = bootstrap({"before": before, "after": after}, statistics, seed=seed, resamples=resamples)
    answer = found["holds"]
    defined = answer.values[~np.isnan(answer.values)]
    empty = np.isnan(answer.estimate)
    return Evidence(
        holds=None if empty else bool(answer.estimate),
        probability=float(defined.mean()) if len(defined) and not empty and answer.clusters > 1 else None,
        undefined=0 if empty else len(answer.values) - len(defined),
        accuracy=found["accuracy"].interval(level),
        shift=found["shift"].interval(level),
    )


def _accuracy(sums: np.ndarray) -> np.ndarray:
    return mean(sums, 0)


def _confidence(sums: np.ndarray) -> np.ndarray:
    return mean(sums, 1)


def _shift(sums: np.ndarray) -> np.ndarray:
    difference: np.ndarray = mean(sums, 1) - mean(sums, 0)
    return difference


_FUNCTIONS: Mapping[str, StatisticFunction] = {"accuracy": _accuracy, "confidence": _confidence, "shift": _shift}


def _difference(statistic: StatisticFunction) -> StatisticFunction:
    return lambda before, after: statistic(after) - statistic(before)
