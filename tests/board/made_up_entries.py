"""Entries of a board made of scores alone, without files: a benchmark with whatever measures a test needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.columns import compact
from lmms_medtasks.board.entries import Counts, Entry, Model, Problem, Questions, Source
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite

ACCURACY = Measure("accuracy")
STARS = Measure("stars", low=1.0, high=5.0, unit="stars")
ERRORS = Measure("errors", higher_is_better=False)

Scores = Mapping[str, float | None]
"""Question id -> its score, None where it has none."""


@dataclass(frozen=True)
class MadeUpEntry(Entry):
    """An entry that brings its benchmark's declaration along."""

    declared: Suite | None = None

    @property
    def declaration(self) -> Suite | None:
        """The declaration that it was made with."""
        return self.declared


def made_up_entry(
    model: str,
    scores: Scores | Mapping[Measure, Scores],
    *,
    task: str = "made_up_task",
    suite: str = "made_up",
    clusters: Mapping[str, str] | None = None,
    pairs: Mapping[str, str] | None = None,
    tags: Mapping[str, Sequence[Any]] | None = None,
    columns: Mapping[str, Sequence[Any]] | None = None,
    problems: Sequence[Problem] = (),
) -> MadeUpEntry:
    """A model's scores on a task; of accuracy, unless they are given by measure, where the first comes first.

    ``clusters``, ``pairs``: of questions; by default each is its own. ``tags``: name -> a value for each question, in
    the order of the ids. ``columns``: the same of answers, such as ``trials``.
    """
    found: dict[Measure, Scores] = {}
    plain: dict[str, float | None] = {}
    for key, value in scores.items():
        if isinstance(key, Measure):
            assert isinstance(value, Mapping)
            found[key] = value
        else:
            assert not isinstance(value, Mapping)
            plain[key] = value
    by_measure = found or {ACCURACY: plain}
    ids = sorted({id for each in by_measure.values() for id in each})
    asked = {
        "id": ids,
        "cluster": [(clusters or {}).get(id, f"image of {id}") for id in ids],
        "pair": [(pairs or {}).get(id, id) for id in ids],
        **(tags or {}),
    }
    table = pa.table({name: compact(pa.array(values)) for name, values in asked.items()})
    answers = {"trials": [["ok"] for _ in ids], **(columns or {})}
    arrays = {name: compact(pa.array(values)) for name, values in answers.items()}
    for measure, own in by_measure.items():
        arrays[f"{measure.name}.score"] = pa.array([own.get(id) for id in ids], pa.float64())
        arrays[f"{measure.name}.asked"] = pa.array([id in own for id in ids])
    names = tuple(measure.name for measure in by_measure)
    declared = Suite(
        suite,
        suite,
        "image",
        tuple(by_measure),
        tuple(
            Metric(each.name, Mean(measure=each.name), higher_is_better=each.higher_is_better, main=True)
            for each in by_measure
        ),
        {"kind": names},
        tags=tuple(tags or ()),
    )
    return MadeUpEntry(
        suite=suite,
        task=task,
        version="1",
        model=Model(model, "runner", ""),
        data="full",
        data_digest="da7a",
        digests={},
        package_version="1.0",
        package_modified=None,
        judge=None,
        harness="0.7.3",
        settings={},
        credentialed=False,
        source=Source("run", Path(f"{model}.json"), None, "2026-01-01"),
        questions=Questions(table, tuple(tags or ()), hashlib.sha256(repr(asked).encode()).hexdigest()),
        answers=pa.table(arrays),
        metrics=names,
        counts=Counts(len(ids), len(ids), len(ids), len(ids), len(ids), 0, len(ids), 0, 0, 0),
        reported={},
        problems=tuple(problems),
        declared=declared,
    )


def board_of(*entries: Entry) -> Board:
    """A board with these entries and no problems of its own."""
    return Board(entries, {}, ())


def right_and_wrong(letters: str, begin: str = "q") -> dict[str, float | None]:
    """Scores of ``1`` (right), ``0`` (wrong), ``h`` (half) and ``-`` (none): ``q00`` first."""
    known = {"1": 1.0, "0": 0.0, "h": 0.5, "-": None}
    return {f"{begin}{number:02}": known[letter] for number, letter in enumerate(letters)}
