"""Contradictions between an entry's rows and its benchmark, its other columns or its result file, a sentence each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np

from lmms_medtasks.board import installed
from lmms_medtasks.board.columns import dictionary_encode
from lmms_medtasks.board.entries import LeaderboardEntry, measure_of, replies_to
from lmms_medtasks.board.run_entry import allowed_answer_columns, is_tag
from lmms_medtasks.record import CUT, EMPTY, FAILED, JudgementStatus
from lmms_medtasks.samples.table import FIELDS
from lmms_medtasks.suites.own_parts import MissingEstimate
from lmms_medtasks.suites.suite import Measure, Suite
from lmms_medtasks.suites.suite_rows import reported_differences

_NOISE = 1e-11
"""Of floating-point sums, on scales of up to some hundreds. A ranking ignores it (``SCORE_DIGITS``)."""


def of_submission(entry: LeaderboardEntry) -> Iterator[str]:
    """Contradictions in a pack; none for an unknown task."""
    suite = entry.declaration
    if suite is None:
        return
    if unknown := sorted(set(entry.answers.column_names) - set(allowed_answer_columns(suite))):
        yield f"{suite.name} declares nothing that has the columns {', '.join(unknown)}."
    elif others := [name for name in entry.questions.tags if not is_tag(suite, name, entry.questions.tag(name))]:
        yield f"{suite.name} has no tag {', '.join(others)}."
    else:
        yield from entry_contradictions(entry)


def not_here(entry: LeaderboardEntry) -> Iterator[str]:
    """Main metrics whose code is not installed: without them an entry would look complete."""
    for metric in entry.declaration.main_metrics if entry.declaration else ():
        if isinstance(metric.estimate, MissingEstimate):
            yield f"The main metric {metric.name} can't be computed: {metric.estimate.reason}"


def entry_contradictions(entry: LeaderboardEntry) -> Iterator[str]:
    """Contradictions between an entry and its own questions, trials and benchmark; none for an unknown task."""
    suite = entry.declaration
    if suite is None:
        return
    yield from reported_differences(suite, entry.samples, entry.reported)
    rows = _Rows(entry, suite)
    for check in (
        _misplaced_scores,
        _out_of_range_scores,
        _trial_contradictions,
        _unscored_questions,
        _undeclared_judgements,
        _judgement_contradictions,
        _total_contradictions,
        _bound_contradictions,
    ):
        yield from check(rows)


class _Rows:
    """An entry's n questions in the form that the checks need; all arrays are (n,)."""

    def __init__(self, entry: LeaderboardEntry, suite: Suite) -> None:
        self.entry, self.suite, self.samples = entry, suite, entry.samples
        self.task = installed.find_installed_task(entry.task)
        self.main = {measure_of(main_metric) for main_metric in suite.main_metrics}
        self.status = np.array([each or "" for each in self.samples.column("judgement")])
        self.has_expected = np.array([each is not None for each in self.samples.column("expected")], dtype=bool)
        self.replies = replies_to(self.samples)

    def numbers(self, measure: Measure, *fields: str) -> list[np.ndarray]:
        """Floats of a measure, NaN for none."""
        return [self.samples.column(f"{measure.name}.{field}") for field in fields]

    def has(self, column: str) -> np.ndarray:
        """Whether a column of the answers has a value."""
        there = column in self.entry.answers.column_names
        return np.asarray(self.entry.answers.column(column).is_valid()) if there else np.zeros(len(self.replies), bool)

    def trials_that(self, fulfil: np.ndarray) -> np.ndarray:
        """Trials of each question for which ``fulfil`` is true; ``fulfil``: booleans, one a trial."""
        return np.bincount(self.samples.texts("trials")[0], fulfil, len(self.replies))

    def first(self, wrong: np.ndarray, said: str) -> Iterator[str]:
        """A sentence on the first wrong question, with the number of wrong ones."""
        if wrong.any():
            yield f"Question {self.id_of(wrong)} {said} ({int(wrong.sum()):,} questions)."

    def id_of(self, wrong: np.ndarray) -> str:
        return repr(str(self.entry.questions.ids[wrong.argmax()]))


def _misplaced_scores(rows: _Rows) -> Iterator[str]:
    """Numbers of a measure at questions outside it: its mean would be of other questions than pinned."""
    for measure in rows.suite.measures:
        column = f"{measure.name}.asked"
        asked = rows.has(column)
        if asked.any() and set(dictionary_encode(rows.entry.answers.column(column)).dictionary.to_pylist()) != {True}:
            yield f"{column} is true where a question belongs to {measure.name}, and null elsewhere."
        wrong = np.logical_or.reduce([rows.has(f"{measure.name}.{field}") for field in FIELDS]) & ~asked
        yield from rows.first(wrong, f"has a number of {measure.name} and does not belong to it")


def _out_of_range_scores(rows: _Rows) -> Iterator[str]:
    """Scores beyond their scale by more than a ranking ignores."""
    for measure in rows.suite.measures:
        (score,) = rows.numbers(measure, "score")
        outside = (score < measure.low - _NOISE) | (score > measure.high + _NOISE)
        if outside.any():
            said = f"{measure.name} of question {rows.id_of(outside)} is {score[outside][0]:.15g}"
            yield f"{said}, outside its scale from {measure.low:g} to {measure.high:g}."


def _trial_contradictions(rows: _Rows) -> Iterator[str]:
    """Accuracy that differs from the share of correct trials, where a rule decides what is correct."""
    scores = rows.samples.column("accuracy.score")
    places, trials = rows.samples.texts("trials")
    read = np.asarray(trials)
    correct = rows.trials_that((read != FAILED) & (read == rows.samples.column("expected")[places]))
    # Without a reply any score is a contradiction.
    shares = np.divide(correct, rows.replies, out=np.full(len(scores), np.inf), where=rows.replies > 0)
    settled = rows.has_expected & (rows.status == "")
    wrong = ~np.isnan(scores) & settled & ~(np.abs(scores - shares) < _NOISE)
    if wrong.any():
        share = shares[wrong][0]
        said = f"accuracy of question {rows.id_of(wrong)} is {scores[wrong][0]:.15g}"
        given = "none" if np.isinf(share) else f"{share:.15g}"
        yield f"{said}, its trials give {given} ({int(wrong.sum()):,} questions differ)."


def _unscored_questions(rows: _Rows) -> Iterator[str]:
    """Questions without a score of a main measure although a reply came and no judgement is missing.

    Other measures may lack scores: a single judgement has no agreement.
    """
    for measure in rows.suite.measures:
        if measure.name in rows.main:
            score, judged, requested = rows.numbers(measure, "score", "judged", "requested")
            none_is_missing = np.nan_to_num(requested) <= np.nan_to_num(judged)
            wrong = rows.has(f"{measure.name}.asked") & np.isnan(score) & (rows.replies > 0) & none_is_missing
            yield from rows.first(wrong, f"has a reply and no score of {measure.name}")


def _undeclared_judgements(rows: _Rows) -> Iterator[str]:
    """Judgements of a task without a judge, or of an unknown status."""
    judged = [f"{measure.name}.{field}" for measure in rows.suite.measures for field in ("judged", "requested")]
    if rows.task and not rows.task.is_judged and any(rows.has(name).any() for name in ("judgement", *judged)):
        yield f"It has judgements, and {rows.entry.task} is judged by nobody."
    known = get_args(JudgementStatus)
    if other := {*rows.samples.column("judgement")} - {None, *known}:
        named = ", ".join(repr(each) for each in sorted(map(str, other))[:3])
        yield f"It has judgements that are {named}; known are {', '.join(known)}."


def _judgement_contradictions(rows: _Rows) -> Iterator[str]:
    """Judgements that contradict their status or each other; scores of a judged task without a judgement.

    Each question is checked separately, so that surplus judgements of one can't hide missing ones of another.
    """
    status, replies = rows.status, rows.replies
    is_judged = installed.is_judged(rows.entry.task, rows.entry.settings)
    trials = np.asarray(rows.samples.texts("trials")[1])
    by_rule = status == "exact"
    has_words = rows.trials_that(~np.isin(trials, (EMPTY, CUT, "unreadable", FAILED))) > 0
    if rows.task and not rows.task.settles_words:
        yield from rows.first(by_rule & has_words, "has a reply with words, which no rule of its judge settles")
    for measure in rows.suite.measures:
        score, wanted, had = rows.numbers(measure, "score", "requested", "judged")
        counted, scored = ~np.isnan(wanted) | ~np.isnan(had), ~np.isnan(score)
        few = (had >= 0) & (had <= wanted) & (wanted == np.floor(wanted)) & (had == np.floor(had))
        all_were_had = (had == wanted) & (wanted > 0)
        fits = {
            "": np.zeros(len(score), dtype=bool),
            "exact": all_were_had,
            "judged": all_were_had,
            "partial": (had > 0) & (had < wanted),
            "missing": (had == 0) & (wanted > 0) & ~scored,
            "failed": (wanted == 0) & ~scored,
        }
        agrees = few & np.select([status == fit for fit in fits], list(fits.values()), True)
        if (wrong := counted & ~agrees).any():
            yield from rows.first(wrong, f"has judgements of {measure.name} that contradict their status")
            return
        # All replies are judged equally often, so that one question's judgements can't stand for another's.
        often = np.divide(wanted, replies, out=np.full(len(score), np.inf), where=replies > 0)
        if (asked := wanted > 0).any():
            more = asked & ((often > often[asked].min()) | (replies == 0))
            yield from rows.first(more, f"has more judgements of {measure.name} for its replies than others have")
        if measure.name in rows.main and is_judged:
            # Accuracy follows from the trials (see `_trial_contradictions`), and needs no judgement.
            follows = rows.has_expected & (status == "") & (measure.name == "accuracy")
            yield from rows.first(scored & ~counted & ~follows, f"has a score of {measure.name} that no judgement gave")
            worst = measure.low if measure.higher_is_better else measure.high
            better = scored & by_rule & ~has_words & (np.abs(score - worst) > _NOISE)
            yield from rows.first(better, f"has no reply with words, and by a rule not the worst {measure.name}")


def _total_contradictions(rows: _Rows) -> Iterator[str]:
    """Totals of a judge's scores that these scores do not give; also holds for means of several judgements."""
    names = {measure.name for measure in rows.suite.measures}
    for protocol in rows.task.judge_protocols if rows.task else ():
        parts = [dimension.name for dimension in protocol.dimensions]
        if protocol.total is None or not {"total", *parts} <= names:
            continue
        said, *scores = (rows.samples.column(f"{name}.score") for name in ("total", *parts))
        given = np.array([protocol.total(dict(zip(parts, each, strict=True))) for each in zip(*scores, strict=True)])
        wrong = ~((np.isnan(said) & np.isnan(given)) | (np.abs(said - given) < _NOISE))
        yield from rows.first(wrong, "has a total that its scores do not give")


def _bound_contradictions(rows: _Rows) -> Iterator[str]:
    """Bounds other than the score with every missing judgement at worst, and at best."""
    for measure in rows.suite.measures:
        score, low, high, had, wanted = rows.numbers(measure, *FIELDS)
        share = np.divide(had, wanted, out=np.full(len(score), np.nan), where=wanted > 0)
        # ``low`` is what the worst gives, which is the larger number where fewer is better.
        ends = (measure.low, measure.high) if measure.higher_is_better else (measure.high, measure.low)
        wrong = np.zeros(len(score), dtype=bool)
        for said, end in zip((low, high), ends, strict=True):
            given = np.nan_to_num(score) * share + end * (1 - share)
            wrong |= ~np.isnan(said) & ~(np.abs(said - given) < _NOISE)
        yield from rows.first(wrong, f"has bounds of {measure.name} that its score and judgements do not give")
