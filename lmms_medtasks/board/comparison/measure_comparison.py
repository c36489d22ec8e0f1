"""``lmms-medtasks compare``: a comparison for each task and measure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.compared_entries import SAME, ComparedRuns, PairedScores, pair_scores
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.shown_answers import SampleLogs
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics.power import DetectableDifference, TestCriterion
from lmms_medtasks.statistics.rank_tests import paired_tests
from lmms_medtasks.statistics.significance import adjust_known_p_values
from lmms_medtasks.suites.contributions import PairedChange
from lmms_medtasks.suites.suite import Measure

TELLING = 20
_RECORDED = ("task", "measure", "wins", "ties", "losses", "p_holm", "test", "p_questions", "p_sign", "cohens_h", "odds",
             "rank_biserial")  # fmt: skip


@dataclass(frozen=True)
class ScoreComparison:
    """The second entry against the first on a task's measure.

    Attributes:
        wins, ties, losses: questions (of a number that is not a mean over questions, images) on which the second is
            better, equal, worse; None if an image's contribution is a first-order approximation.
        test, p_questions: "McNemar" (exact) for scores of 0 and 1, else "Wilcoxon"; takes questions as independent.
            p_sign: of the sign test, equal to McNemar's exact test. A number that is not a mean over questions has only
            the p value of ``change``, and ``test`` is its: "signs flipped", of a smooth one "signs flipped,
            asymptotic".
        cohens_h: 2 asin sqrt(second) - 2 asin sqrt(first) (Cohen 1988; 0.2 is small, 0.5 medium, 0.8 large), for scores
            of 0 and 1. odds: the matched pairs' odds ratio, wins to losses, (wins + 1/2) / (losses + 1/2).
        rank_biserial: the matched pairs' rank-biserial correlation, from -1 to 1, for other scores.
        p_holm: p of ``change`` after Holm's correction over all comparisons of the call.
        detectable: the smallest true difference that would have been shown with 80 % probability, corrected likewise.

    Missing values are None; if no question differs, p is 1, and ``p_questions`` and effects are None.
    """

    first: LeaderboardEntry
    second: LeaderboardEntry
    measure: str
    scale: Measure
    pairs: PairedScores
    wins: int | None
    ties: int | None
    losses: int | None
    test: str
    p_questions: float | None
    p_sign: float | None
    cohens_h: float | None
    odds: float | None
    rank_biserial: float | None
    p_holm: float | None = None
    detectable: DetectableDifference | None = None

    @property
    def task(self) -> str:
        """The task's name."""
        return self.first.task

    @property
    def change(self) -> PairedChange:
        """Both numbers over the same questions, second minus first with its interval over images, and p."""
        return self.pairs.change

    @property
    def alike(self) -> bool:
        """Whether both are comparable: one task version, one data set, asked and judged alike."""
        return not any(compared_entries.incomparable_reasons(self.first, self.second))

    def record(self) -> dict[str, Any]:
        """Its numbers by name, JSON-safe, in the measure's unit; tables and JSON are made of it."""
        pairs, change = self.pairs, self.change
        return {
            **{name: getattr(self, name) for name in _RECORDED},
            "same_thing": self.alike, "by_words": dict(zip("ab", pairs.by_words, strict=True)),
            "unit": self.scale.unit, "range": [self.scale.low, self.scale.high],
            "of": "questions" if pairs.of_questions else "images",
            "questions": len(pairs) if pairs.of_questions else None, "images": pairs.images,
            "unscored": pairs.unscored, "only_a": pairs.only_first, "only_b": pairs.only_second,
            "a": change.first, "b": change.second, "difference": change.interval.estimate,
            "low": change.interval.low, "high": change.interval.high, "no_interval": change.interval.reason,
            "detectable": self.detectable.difference if self.detectable else None, "p": change.p,
            "replies": {"a": self.first.outcomes, "b": self.second.outcomes},
        }  # fmt: skip


@dataclass(frozen=True)
class RunsComparison:
    """The comparison of two sides. ``only_first``, ``only_second``: tasks of one side alone.

    ``telling``: the questions on which the two differ most: task, measure, id, the scores "a" and "b"; and "asked",
    "expected", "a_replies" and "b_replies" if they may be shown. ``warnings``: sentences to read before any number: not
    comparable, not all questions asked, the same run. ``notes``: other differences.
    """

    sides: tuple[ComparedRuns, ComparedRuns]
    comparisons: tuple[ScoreComparison, ...]
    telling: tuple[dict[str, Any], ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def compare(first: ComparedRuns, second: ComparedRuns, *, telling: int = TELLING) -> RunsComparison:
    """Compare two sides of one model each on every common task.

    Raises UserError if a side has several entries on a task, or there is no common task.
    """
    matched = compared_entries.match_entries(first, second)
    ones, others = (compared_entries.entry_tasks(side.board.entries) for side in (first, second))
    comparisons = _compare_matched(matched)
    return RunsComparison(
        sides=(first, second),
        comparisons=comparisons,
        telling=tuple(each for pair in matched for each in _discordant_questions(pair, comparisons, telling)),
        only_first=tuple(task for task in ones if task not in others),
        only_second=tuple(task for task in others if task not in ones),
        warnings=tuple(_incomparable_warnings(matched)),
        notes=(*_degraded_notes(first, second), *(said for pair in matched for said in _entry_notes(*pair))),
    )


def _degraded_notes(first: ComparedRuns, second: ComparedRuns) -> Iterator[str]:
    if tasks := compared_entries.degraded_tasks_of_both(first, second):
        yield (
            f"Not compared: {first_listed(tasks, 4)}. A degraded task is paired with the clean one of its own run; "
            "what each run lost stands in lmms-medtasks report RUN."
        )


def _entry_notes(one: LeaderboardEntry, other: LeaderboardEntry) -> Iterator[str]:
    if found := list(compared_entries.explaining_differences(one, other)):
        yield f"{one.task}: Also differs: {'; '.join(found)}."
    for name, own, its in (("B", one, other), ("A", other, one)):
        if lacks := [metric for metric in own.main_metrics if metric not in its.metrics]:
            yield f"{one.task}: {name} has no number of {', '.join(lacks)}: not compared."


def _incomparable_warnings(matched: Sequence[tuple[LeaderboardEntry, LeaderboardEntry]]) -> Iterator[str]:
    differing = compared_entries.incomparable_reasons
    reasons = compared_entries.group_reasons(("; ".join(differing(one, other)), one.task) for one, other in matched)
    if reasons:
        count = sum(map(len, reasons.values()))
        where = "" if count == len(matched) else f" in {count} of {len(matched)} tasks"
        named = list(reasons) if len(reasons) == 1 and not where else [
            f"{said} ({first_listed(tasks, 4)})" for said, tasks in reasons.items()
        ]  # fmt: skip
        yield f"A and B are not of the same thing{where}: {'; '.join(named)}."
    if all(compared_entries.same_run(*pair) for pair in matched):
        yield "A and B are the same run, from the same files."
    for name, entries in zip("AB", zip(*matched, strict=True), strict=True):
        yield from compared_entries.asked_in_part(name, entries)


def _compare_matched(matched: Sequence[tuple[LeaderboardEntry, LeaderboardEntry]]) -> tuple[ScoreComparison, ...]:
    comparisons = [
        _compare_metric(one, other, name)
        for one, other in matched
        for name in one.main_metrics
        if name in other.metrics
    ]
    adjusted = adjust_known_p_values([each.change.p for each in comparisons])
    criterion = TestCriterion(comparisons=max(1, len(adjusted) - adjusted.count(None)))
    return tuple(
        replace(each, p_holm=p, detectable=each.pairs.detectable(criterion, each.scale.high - each.scale.low))
        for each, p in zip(comparisons, adjusted, strict=True)
    )


def _compare_metric(one: LeaderboardEntry, other: LeaderboardEntry, name: str) -> ScoreComparison:
    """A measure of both, not yet corrected for the others. Scores of 0 and 1 are binary only if they are shares."""
    scale, joined = one.scale(name), pair_scores(one, other, name)
    gains = joined.differences if scale.higher_is_better else -joined.differences
    scores = np.concatenate([joined.first, joined.second])
    binary = scale.range == (0.0, 1.0) and joined.of_questions and bool(np.isin(scores, (0.0, 1.0)).all())
    tested = paired_tests(gains if joined.of_questions else gains[:0])
    flipped = "signs flipped" if joined.linear else "signs flipped, asymptotic"
    wins, losses = int((gains > SAME).sum()), int((gains < -SAME).sum())
    first, second = joined.change.first, joined.change.second
    return ScoreComparison(
        one, other, name, scale, joined,
        wins=wins if joined.linear else None,
        ties=len(joined) - wins - losses if joined.linear else None,
        losses=losses if joined.linear else None,
        test="McNemar" if binary else "Wilcoxon" if joined.of_questions else flipped,
        p_questions=tested.sign_p if binary else tested.wilcoxon_p,
        p_sign=tested.sign_p,
        cohens_h=cohens_h(first, second) if binary and first is not None and second is not None else None,
        odds=(wins + 0.5) / (losses + 0.5) if binary and wins + losses else None,
        rank_biserial=None if binary else tested.effect,
    )  # fmt: skip


def cohens_h(first: float, second: float) -> float:
    """Cohen's h of two shares.

    >>> round(cohens_h(0.5, 0.6), 4)
    0.2014
    """
    return 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))


def _discordant_questions(
    pair: tuple[LeaderboardEntry, LeaderboardEntry], comparisons: Sequence[ScoreComparison], count: int
) -> Iterator[dict[str, Any]]:
    """The questions of a task that differ most, by share of the scale, each question once."""
    chosen: dict[str, tuple[float, ScoreComparison, int]] = {}
    for comparison in comparisons:
        if comparison.first is not pair[0] or not comparison.pairs.of_questions:
            continue
        for row in comparison.pairs.most_telling(count, comparison.task):
            away = abs(float(comparison.pairs.differences[row])) / (comparison.scale.high - comparison.scale.low)
            name = str(comparison.pairs.ids[row])
            if name not in chosen or chosen[name][0] < away:
                chosen[name] = (away, comparison, row)
    # Stable: questions that differ alike stay in the order in which they were drawn.
    best = sorted(chosen.items(), key=lambda item: -round(item[1][0], 9))[:count]
    logs = SampleLogs()
    shown = [logs.of(entry, [name for name, _ in best]) for entry in pair]
    if any(entry.credentialed for entry in pair):
        shown = [{}, {}]
    for name, (_, each, row) in best:
        fields: dict[str, Any] = {"task": each.task, "measure": each.measure, "id": name}
        fields |= {"a": float(each.pairs.first[row]), "b": float(each.pairs.second[row])}
        for side, texts in zip("ba", reversed(shown), strict=True):
            if answer := texts.get(name):
                fields |= {"asked": answer.prompt, "expected": answer.expected, f"{side}_replies": list(answer.replies)}
        yield fields
