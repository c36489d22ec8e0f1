"""Every number of an entry computed anew from its questions by the benchmark's estimates; a sentence for each that
differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any, get_args

import numpy as np
import pyarrow.compute as pc

from lmms_medtasks.board import installed
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.run_entry import counts_of, metrics_of
from lmms_medtasks.record import FAILED, JudgementStatus
from lmms_medtasks.suites.reported_numbers import differences, same

_TOLERANCE = 1e-9


def of_submission(entry: Entry, said: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Everything that a pack says of an entry; ``said``: ``mean`` and ``n`` by metric. Nothing of an unknown task."""
    suite = entry.declaration
    if suite is None:
        return
    samples = entry.samples
    unknown = {name.rpartition(".")[0] for name in entry.answers.column_names if "." in name} - {
        measure.name for measure in suite.measures
    }
    if unknown:
        yield f"{suite.name} declares no measure {', '.join(sorted(unknown))}."
        return
    own = metrics_of(suite, samples, {*said, *entry.reported})
    if own != entry.metrics:
        yield f"It has the metrics {', '.join(entry.metrics) or 'none'}; its columns give {', '.join(own) or 'none'}."
        return
    for name in entry.metrics:
        mean, n = (said[name].get(each) for each in ("mean", "n"))
        found = entry.interval(name, with_interval=False)
        if not same(mean, found.estimate) or n != found.n:
            yield f"{name} says {mean!r} over {n!r} questions, its scores give {found.estimate!r} over {found.n}."
    yield from sound(entry)
    counts = dataclasses.asdict(entry.counts)
    counted = counts_of(suite, samples, entry.counts.original, entry.counts.effective)
    for name, value in dataclasses.asdict(counted).items():
        if counts[name] != value:
            yield f"{name} is {counts[name]!r}, its columns give {value!r}."
    yield from _ranges(entry)


def sound(entry: Entry) -> Iterator[str]:
    """What of an entry contradicts its own questions, trials and benchmark, whether it is a run or a pack."""
    yield from reported(entry)
    yield from of_trials(entry)
    yield from _unscored(entry)
    yield from _undeclared(entry)


def _undeclared(entry: Entry) -> Iterator[str]:
    """Metrics that the task does not print, judgements of a task that nobody judges, and of no known status."""
    suite, task = entry.declaration, installed.of_task(entry.task)
    if suite is None:
        return
    allowed = task.metrics if task else frozenset(suite.estimates)
    if others := sorted({*entry.metrics, *entry.reported} - allowed):
        yield f"{entry.task} has no metric {', '.join(others)}."
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
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            said = f"Question {str(entry.questions.ids[row])!r} has a reply and no score of {measure.name}"
            yield f"{said} ({int(wrong.sum()):,} questions)."


def reported(entry: Entry) -> Iterator[str]:
    """The result file's numbers against those that the benchmark's estimates give of the questions."""
    if entry.declaration:
        yield from differences(entry.declaration, entry.samples, entry.reported)


def _ranges(entry: Entry) -> Iterator[str]:
    suite, samples = entry.declaration, entry.samples
    for measure in suite.measures if suite else ():
        for field in ("score", "low", "high"):
            values = samples.column(f"{measure.name}.{field}")
            outside = (values < measure.low - _TOLERANCE) | (values > measure.high + _TOLERANCE)
            if outside.any():
                row = int(np.flatnonzero(outside)[0])
                said = f"{measure.name} of question {str(entry.questions.ids[row])!r} is {values[row]:g}"
                yield f"{said}, outside its scale from {measure.low:g} to {measure.high:g}."


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
    wrong = ~np.isnan(scores) & ~np.isnan(given) & ~(np.abs(scores - given) < _TOLERANCE)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        said = f"accuracy of question {str(entry.questions.ids[row])!r} is {scores[row]:g}"
        found = "none" if np.isinf(given[row]) else f"{given[row]:g}"
        yield f"{said}, its trials give {found} ({int(wrong.sum()):,} questions differ)."
