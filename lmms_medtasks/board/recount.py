"""Every number of an entry computed anew from its scores question by question; a sentence for each that differs."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from lmms_medtasks.board.build import counts_of
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.measures import main_measures, scale

_TOLERANCE = 1e-9


def of_means(entry: Entry, said: Mapping[str, tuple[Any, Any]]) -> Iterator[str]:
    """The means and numbers of questions that were ``said``, against those of the scores."""
    for name, measure in entry.measures.items():
        mean, n = said.get(name, (None, None))
        if not _same(mean, measure.mean) or n != measure.n:
            yield f"{name} says {mean!r} over {n!r} questions, its scores give {measure.mean!r} over {measure.n}."


def of_entry(entry: Entry) -> Iterator[str]:
    """Reported metrics, counts, ranges, and scores that the trials give."""
    yield from reported(entry)
    yield from _counts(entry)
    yield from _ranges(entry)
    yield from of_trials(entry)


def reported(entry: Entry) -> Iterator[str]:
    """The result file's numbers against the means of the scores, for the measures of the suite's table."""
    for name in main_measures(entry):
        value, mean = entry.reported.get(name), entry.measures[name].mean
        if value is not None and not _same(value, mean):
            got = "none" if mean is None else f"{mean:.6g}"
            yield f"{name} is {value:.6g} in the result file; its samples give {got}."


def _counts(entry: Entry) -> Iterator[str]:
    said = dataclasses.asdict(entry.counts)
    asked = entry.counts.original, entry.counts.effective
    for name, value in dataclasses.asdict(counts_of(entry.measures, entry.extra, len(entry.questions), *asked)).items():
        if said[name] != value:
            yield f"{name} is {said[name]!r}, its columns give {value!r}."


def _ranges(entry: Entry) -> Iterator[str]:
    for name in main_measures(entry):
        scores, shown = entry.measures[name].score.floats(), scale(entry.task, name)
        outside = (scores < shown.low - _TOLERANCE) | (scores > shown.high + _TOLERANCE)
        if outside.any():
            row = int(np.flatnonzero(outside)[0])
            said = f"{name} of question {str(entry.questions.ids[row])!r} is {scores[row]:g}"
            yield f"{said}, outside its scale from {shown.low:g} to {shown.high:g}."


def of_trials(entry: Entry) -> Iterator[str]:
    """Scores of multiple choice against what was read from each reply: the share that is the right answer."""
    trials, answers = entry.extra.get("trials"), entry.questions.tags.get("answer")
    if trials is None or answers is None:
        return
    named = [name for name in main_measures(entry) if name.startswith("accuracy")]
    given = _given(trials.labels(), answers.labels()) if named else np.empty(0)
    for name in named:
        scores = entry.measures[name].score.floats()
        wrong = ~np.isnan(scores) & ~(np.abs(scores - given) < _TOLERANCE)
        if wrong.any():
            row = int(np.flatnonzero(wrong)[0])
            said = f"{name} of question {str(entry.questions.ids[row])!r} is {scores[row]:g}"
            yield f"{said}, its trials give {given[row]:g} ({int(wrong.sum()):,} questions differ)."


def _given(trials: list[Any], answers: list[Any]) -> np.ndarray:
    known: dict[tuple[Any, Any], float] = {}
    found = np.empty(len(trials))
    for row, pair in enumerate(zip(trials, answers, strict=True)):
        if pair not in known:
            replies = [each for each in str(pair[0] or "failed").split(";") if each != "failed"]
            known[pair] = sum(each == pair[1] for each in replies) / len(replies) if replies else np.nan
        found[row] = known[pair]
    return found


def _same(said: Any, mean: float | None) -> bool:
    if said is None or mean is None:
        return said is None and mean is None
    number = isinstance(said, int | float) and not isinstance(said, bool)
    return number and abs(said - mean) <= _TOLERANCE * max(1.0, abs(mean))
