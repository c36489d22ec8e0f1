"""Confidence from votes, calibration shift, and the intra-model Dunning-Kruger effect (MedQ-Deg, section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import unknown
from lmms_medtasks.statistics.bootstrap import RESAMPLES, bootstrap
from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.pairing import pairs
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    Difference,
    Group,
    Statistic,
    StatisticFunction,
    Through,
    group,
    mean,
    mean_statistic,
    of_column,
    scored,
)
from lmms_medtasks.statistics.votes import VoteTable

Statistics = tuple[dict[str, Group], dict[str, AnyStatistic]]
"""Groups of rows, and statistics of them by name."""

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
    """The questions that have accuracy and C, which are its columns; clusters are images."""
    certain = confidences(table)
    used = np.flatnonzero(~np.isnan(certain))
    return group([table.image_ids[row] for row in used], table.scores[used], certain[used])


def _side(name: str, own: Group) -> Statistics:
    """Accuracy, mean confidence and shift of a group of :func:`calibration_group`, called ``name``."""
    shifts_of = scored(own.clusters, own.columns[:, 1] - own.columns[:, 0])
    shift = Through(Statistic(_shift, (name,)), mean_statistic(f"shift of {name}", (-1.0, 1.0)))
    return (
        {name: own, f"shift of {name}": shifts_of},
        {"accuracy": of_column(0, name), "confidence": of_column(1, name), "shift": shift},
    )


def _changes(sides: Mapping[str, Group], baseline: str) -> tuple[dict[str, Group], dict[str, dict[str, AnyStatistic]]]:
    """Of each other side its accuracy, confidence and shift less those of the baseline."""
    made = {name: _side(name, own) for name, own in sides.items()}
    before = made[baseline][1]
    groups = {name: own for each, _ in made.values() for name, own in each.items()}
    return groups, {
        name: {kind: Difference(statistic, before[kind]) for kind, statistic in own.items()}
        for name, (_, own) in made.items()
        if name != baseline
    }


def _paired(before: Group, after: Group) -> Statistics:
    """The changes of two sides whose rows belong together one by one."""
    groups, changes = _changes({"before": before, "after": after}, "before")
    accuracy, confidence = (after.columns[:, column] - before.columns[:, column] for column in (0, 1))
    steps = {"accuracy": accuracy, "confidence": confidence, "shift": confidence - accuracy}
    statistics: dict[str, AnyStatistic] = {}
    for kind, step in steps.items():
        groups[f"change of {kind}"] = scored(before.clusters, step)
        width = (-2.0, 2.0) if kind == "shift" else (-1.0, 1.0)
        statistics[kind] = Through(changes["after"][kind], mean_statistic(f"change of {kind}", width))
    return groups, statistics


def calibration_draw(table: VoteTable) -> Statistics:
    """Accuracy, mean confidence and calibration shift of a table."""
    return _side("", calibration_group(table))


def changes_draw(tables: Mapping[str, VoteTable], baseline: str) -> Statistics:
    """What accuracy, confidence and shift of each other table are more than those of ``tables[baseline]``.

    Statistics are named ``TABLE/accuracy`` and so on.
    Tables are compared as they are; use :func:`lmms_medtasks.statistics.votes.common` first for models that did
    not answer the same questions. Raises UserError when there is no such table.
    """
    if baseline not in tables:
        raise unknown("baseline", baseline, tables)
    groups, changes = _changes({name: calibration_group(table) for name, table in tables.items()}, baseline)
    return groups, {f"{name}/{kind}": each for name, own in changes.items() for kind, each in own.items()}


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
    before_group, after_group = (group(images, *each.T) for each in (before, after))
    whole = _evidence(clean_group, degraded_group, False, seed, resamples, level)
    paired = _evidence(before_group, after_group, True, seed, resamples, level)
    return IntraModelDKE(whole, paired, len(images), joined.clean_alone, joined.degraded_alone)


def _usable(table: VoteTable) -> tuple[VoteTable, Group]:
    kept = table.take(~np.isnan(confidences(table)))
    return kept, calibration_group(kept)


def _evidence(before: Group, after: Group, paired: bool, seed: int | str, resamples: int, level: float) -> Evidence:
    names = ("before", "after")
    accuracy, shift = _difference(_accuracy), _difference(_shift)

    def holds(first: np.ndarray, second: np.ndarray) -> np.ndarray:
        fall, rise = accuracy(first, second), shift(first, second)
        fulfilled = (np.round(fall, _DECIMALS) < 0) & (np.round(rise, _DECIMALS) >= 0)
        return np.where(np.isnan(fall), np.nan, fulfilled)

    sides = {"before": before, "after": after}
    answer = bootstrap(sides, {"": Statistic(holds, names)}, seed=seed, resamples=resamples)[""]
    groups, changes = _paired(before, after) if paired else _whole(before, after)
    found = intervals(groups, changes, level=level)
    defined = answer.values[~np.isnan(answer.values)]
    empty = np.isnan(answer.estimate)
    return Evidence(
        holds=None if empty else bool(answer.estimate),
        probability=float(defined.mean()) if len(defined) and not empty and answer.clusters > 1 else None,
        undefined=0 if empty else len(answer.values) - len(defined),
        accuracy=found["accuracy"],
        shift=found["shift"],
    )


def _whole(before: Group, after: Group) -> Statistics:
    groups, changes = _changes({"before": before, "after": after}, "before")
    return groups, changes["after"]


def _accuracy(sums: np.ndarray) -> np.ndarray:
    return mean(sums, 0)


def _shift(sums: np.ndarray) -> np.ndarray:
    difference: np.ndarray = mean(sums, 1) - mean(sums, 0)
    return difference


def _difference(statistic: StatisticFunction) -> StatisticFunction:
    return lambda before, after: statistic(after) - statistic(before)
