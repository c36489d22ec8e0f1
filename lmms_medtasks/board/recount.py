"""What of an entry's rows contradicts its benchmark, its other columns or its own result file: a sentence for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import get_args

import numpy as np
import pyarrow.compute as pc

from lmms_medtasks.board import installed
from lmms_medtasks.board.columns import compact
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.run_entry import answer_columns, is_tag
from lmms_medtasks.record import CUT, EMPTY, FAILED, JudgementStatus
from lmms_medtasks.samples.table import FIELDS
from lmms_medtasks.suites.own_parts import NotFound
from lmms_medtasks.suites.reported_numbers import differences

_NOISE = 1e-11
"""Of floating-point sums, on scales of up to some hundreds. A ranking takes it for nothing (``SCORE_DIGITS``)."""


def of_submission(entry: Entry) -> Iterator[str]:
    """Everything that a pack says of an entry. Nothing of an unknown task."""
    suite = entry.declaration
    if suite is None:
        return
    if unknown := sorted(set(entry.answers.column_names) - set(answer_columns(suite))):
        yield f"{suite.name} declares nothing that has the columns {', '.join(unknown)}."
        return
    if others := [name for name in entry.questions.tags if not is_tag(suite, name, entry.questions.tag(name))]:
        yield f"{suite.name} has no tag {', '.join(others)}."
        return
    if missing := list(not_here(entry)):
        yield from missing
        return
    yield from sound(entry)


def not_here(entry: Entry) -> Iterator[str]:
    """Main metrics whose code is not here: without them an entry would look whole."""
    for metric in entry.declaration.main_metrics if entry.declaration else ():
        if isinstance(metric.estimate, NotFound):
            yield f"The main metric {metric.name} can't be computed: {metric.estimate.reason}"


def sound(entry: Entry) -> Iterator[str]:
    """What of an entry contradicts its own questions, trials and benchmark, whether it is a run or a pack."""
    yield from reported(entry)
    yield from _belonging(entry)
    yield from _ranges(entry)
    yield from of_trials(entry)
    yield from _unscored(entry)
    yield from _undeclared(entry)
    yield from _judgements(entry)
    yield from _totals(entry)
    yield from _bounds(entry)


def _undeclared(entry: Entry) -> Iterator[str]:
    """Judgements of a task that nobody judges, and of no known status."""
    task = installed.of_task(entry.task)
    judged = [
        name for name in entry.answers.column_names if name == "judgement" or name.endswith((".judged", ".requested"))
    ]
    if (
        task
        and not task.is_judged
        and any(entry.answers.column(name).null_count < len(entry.answers) for name in judged)
    ):
        yield f"It has judgements, and {entry.task} is judged by nobody."
    if "judgement" in judged and (other := {*entry.samples.column("judgement")} - {None, *get_args(JudgementStatus)}):
        named = ", ".join(repr(each) for each in sorted(map(str, other))[:3])
        yield f"It has judgements that are {named}; known are {', '.join(get_args(JudgementStatus))}."


def _unscored(entry: Entry) -> Iterator[str]:
    """Questions without a score of what is ranked, although a reply came and no judgement is missing.

    Other measures may have none: one judgement agrees with no other.
    """
    suite, samples = entry.declaration, entry.samples
    ranked = {getattr(each.estimate, "measure", None) for each in suite.main_metrics} if suite else set()
    places, trials = samples.texts("trials")
    came = np.bincount(places, np.asarray(pc.not_equal(trials, FAILED)), len(samples)) > 0
    for measure in suite.measures if suite else ():
        if measure.name not in ranked or f"{measure.name}.asked" not in entry.answers.column_names:
            continue
        asked = np.array([each is not None for each in samples.column(f"{measure.name}.asked")], dtype=bool)
        score, wanted, judged = (samples.column(f"{measure.name}.{each}") for each in ("score", "requested", "judged"))
        missing = np.nan_to_num(wanted) > np.nan_to_num(judged)
        wrong = asked & np.isnan(score) & came & ~missing
        yield from _first(entry, wrong, f"has a reply and no score of {measure.name}")


def _judgements(entry: Entry) -> Iterator[str]:
    """Judgements that contradict their status, or each other; and scores of a judged task that no judgement gave.

    Each question is looked at alone: what one has too many of would stand for what another lacks.
    """
    suite, samples = entry.declaration, entry.samples
    if suite is None:
        return
    status = np.array([each or "" for each in samples.column("judgement")])
    task = installed.of_task(entry.task)
    is_judged = installed.is_judged(entry.task, entry.settings)
    places, trials = samples.texts("trials")
    words = ~np.isin(np.asarray(trials), (EMPTY, CUT, "unreadable", FAILED))
    by_rule, has_words = status == "exact", np.bincount(places, words, len(samples)) > 0
    replies = np.bincount(places, np.asarray(pc.not_equal(trials, FAILED)), len(samples))
    if task and not task.settles_words:
        yield from _first(entry, by_rule & has_words, "has a reply with words, which no rule of its judge settles")
    read = np.array([each is not None for each in samples.column("expected")])
    main = {getattr(each.estimate, "measure", None) for each in suite.main_metrics}
    for measure in suite.measures:
        score, wanted, had = (samples.column(f"{measure.name}.{each}") for each in ("score", "requested", "judged"))
        counted, scored = ~np.isnan(wanted) | ~np.isnan(had), ~np.isnan(score)
        few = (had >= 0) & (had <= wanted) & (wanted == np.floor(wanted)) & (had == np.floor(had))
        fits = {
            "": np.zeros(len(samples), dtype=bool),
            "exact": (had == wanted) & (wanted > 0),
            "judged": (had == wanted) & (wanted > 0),
            "partial": (had > 0) & (had < wanted),
            "missing": (had == 0) & (wanted > 0) & ~scored,
            "failed": (wanted == 0) & ~scored,
        }
        agrees = few & np.select([status == each for each in fits], list(fits.values()), True)
        if (wrong := counted & ~agrees).any():
            yield from _first(entry, wrong, f"has judgements of {measure.name} that contradict their status")
            return
        # Each reply is judged as often: one that has many of a question would stand for all that others lack.
        often = np.divide(wanted, replies, out=np.full(len(samples), np.inf), where=replies > 0)
        if (asked := wanted > 0).any():
            more = asked & ((often > often[asked].min()) | (replies == 0))
            yield from _first(entry, more, f"has more judgements of {measure.name} for its replies than others have")
        if measure.name in main and is_judged:
            # Accuracy follows from what was read of the replies (see `of_trials`), and needs no judgement.
            unjudged = scored & ~counted & ~(read & (status == "") & (measure.name == "accuracy"))
            yield from _first(entry, unjudged, f"has a score of {measure.name} that no judgement gave")
            worst = measure.low if measure.higher_is_better else measure.high
            better = scored & by_rule & ~has_words & (np.abs(score - worst) > _NOISE)
            yield from _first(entry, better, f"has no reply with words, and by a rule not the worst {measure.name}")


def _totals(entry: Entry) -> Iterator[str]:
    """Totals of a judge's scores that are another number than these give; a mean of several judgements has it too."""
    suite, task, samples = entry.declaration, installed.of_task(entry.task), entry.samples
    names = {measure.name for measure in suite.measures} if suite else set()
    for protocol in task.judge_protocols if task else ():
        parts = [each.name for each in protocol.dimensions]
        if protocol.total is None or not {"total", *parts} <= names:
            continue
        said, *scores = (samples.column(f"{name}.score") for name in ("total", *parts))
        given = np.array([protocol.total(dict(zip(parts, each, strict=True))) for each in zip(*scores, strict=True)])
        wrong = ~((np.isnan(said) & np.isnan(given)) | (np.abs(said - given) < _NOISE))
        yield from _first(entry, wrong, "has a total that its scores do not give")


def _first(entry: Entry, wrong: np.ndarray, said: str) -> Iterator[str]:
    """The first question that is wrong, and how many are. ``wrong``: (n,) booleans."""
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        yield f"Question {str(entry.questions.ids[row])!r} {said} ({int(wrong.sum()):,} questions)."


def reported(entry: Entry) -> Iterator[str]:
    """The result file's numbers against those that the benchmark's estimates give of the questions."""
    if entry.declaration:
        yield from differences(entry.declaration, entry.samples, entry.reported)


def _belonging(entry: Entry) -> Iterator[str]:
    """Numbers of a measure at questions that do not belong to it: its mean would be of other questions than pinned."""
    names = set(entry.answers.column_names)
    for measure in entry.declaration.measures if entry.declaration else ():
        column = f"{measure.name}.asked"
        asked = _there(entry, column) if column in names else np.zeros(len(entry.questions), dtype=bool)
        if column in names and not all(
            value is True for value in compact(entry.answers.column(column)).dictionary.to_pylist()
        ):
            yield f"{column} is true where a question belongs to {measure.name}, and null elsewhere."
        for field in FIELDS:
            if f"{measure.name}.{field}" in names:
                wrong = _there(entry, f"{measure.name}.{field}") & ~asked
                yield from _first(entry, wrong, f"has a number of {measure.name} and does not belong to it")


def _there(entry: Entry, column: str) -> np.ndarray:
    """(n,) booleans: where a column has a value."""
    return np.asarray(entry.answers.column(column).is_valid())


def _ranges(entry: Entry) -> Iterator[str]:
    """Scores beyond their scale, by whatever a ranking would take for a difference."""
    suite, samples = entry.declaration, entry.samples
    for measure in suite.measures if suite else ():
        score = samples.column(f"{measure.name}.score")
        outside = (score < measure.low - _NOISE) | (score > measure.high + _NOISE)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            said = f"{measure.name} of question {str(entry.questions.ids[row])!r} is {score[row]:.15g}"
            yield f"{said}, outside its scale from {measure.low:g} to {measure.high:g}."


def _bounds(entry: Entry) -> Iterator[str]:
    """Bounds that are not what a score gives with every missing judgement at worst, and at best."""
    suite, samples = entry.declaration, entry.samples
    for measure in suite.measures if suite else ():
        score, low, high, had, wanted = (samples.column(f"{measure.name}.{field}") for field in FIELDS)
        share = np.divide(had, wanted, out=np.full(len(samples), np.nan), where=wanted > 0)
        # ``low`` is what the worst gives, which is the larger number where fewer is better.
        ends = (measure.low, measure.high) if measure.higher_is_better else (measure.high, measure.low)
        given = [np.nan_to_num(score) * share + end * (1 - share) for end in ends]
        pairs = zip((low, high), given, strict=True)
        wrong = [~np.isnan(said) & ~(np.abs(said - number) < _NOISE) for said, number in pairs]
        yield from _first(
            entry, wrong[0] | wrong[1], f"has bounds of {measure.name} that its score and judgements do not give"
        )


def of_trials(entry: Entry) -> Iterator[str]:
    """Accuracy against what was read from each reply: the share that is the right answer, where a rule settles it."""
    samples = entry.samples
    scores = samples.column("accuracy.score")
    expected, judged = samples.column("expected"), samples.column("judgement")
    places, trials = samples.texts("trials")
    came = np.asarray(pc.not_equal(trials, FAILED))
    right = came & (np.asarray(trials) == expected[places])
    replies, correct = (np.bincount(places, each, len(samples)) for each in (came, right))
    # Without a reply there is no score: any that is said is another one than that.
    shares = np.divide(correct, replies, out=np.full(len(samples), np.inf), where=replies > 0)
    settled = [answer is not None and status is None for answer, status in zip(expected, judged, strict=True)]
    given = np.where(settled, shares, np.nan)
    wrong = ~np.isnan(scores) & ~np.isnan(given) & ~(np.abs(scores - given) < _NOISE)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        said = f"accuracy of question {str(entry.questions.ids[row])!r} is {scores[row]:.15g}"
        found = "none" if np.isinf(given[row]) else f"{given[row]:.15g}"
        yield f"{said}, its trials give {found} ({int(wrong.sum()):,} questions differ)."
