"""What became of the replies: the outcomes that stand beside every mean, counted from what was read of each trial."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import pyarrow.compute as pc

from lmms_medtasks.record import CUT, EMPTY, FAILED
from lmms_medtasks.samples.table import Samples

ANSWERED = "answered"
READINGS: Mapping[str, tuple[str, ...]] = {
    "unreadable": ("unreadable", "ambiguous"),
    "cut": (CUT,),
    "empty": (EMPTY,),
    "refused": ("refused",),
    "failed": (FAILED,),
}
"""Outcome -> the readings (:attr:`lmms_medtasks.record.Record.trials`) that are it; every other reading answers."""

OUTCOMES = (ANSWERED, *READINGS)
_OF_READING = {reading: outcome for outcome, readings in READINGS.items() for reading in readings}
_SAID = {"cut": "cut off", "failed": "failed requests"}

WRONG = "A reply without an answer (unreadable, cut off, empty, refused) is wrong; a failed request counts for nothing."
"""What a measure says where answers are read."""
LOWEST = (
    "A reply without an answer's text (cut off, empty, unreadable) is at worst; a failed request counts for nothing."
)
"""What a measure says where a judge scores answers."""


def outcome_of(reading: str) -> str:
    """The outcome of a trial that was read as ``reading``."""
    return _OF_READING.get(reading, ANSWERED)


def outcomes(rows: Samples) -> dict[str, int]:
    """How many trials have each of :data:`OUTCOMES`, in that order. Of a judged reply "answered": it has a text."""
    found = dict.fromkeys(OUTCOMES, 0)
    for each in pc.value_counts(rows.texts("trials")[1]) if len(rows) else ():
        found[outcome_of(str(each["values"]))] += each["counts"].as_py()
    return found


def said(counts: Mapping[str, int], names: Iterable[str] = OUTCOMES) -> str:
    """``7 answered, 4 cut off, 1 empty``: those that there are. "" where there are none."""
    return ", ".join(f"{counts[name]:,} {_SAID.get(name, name)}" for name in names if counts[name])
