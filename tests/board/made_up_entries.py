"""Entries of a board made of scores alone, without files: a benchmark with whatever measures a test needs."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.columns import dictionary_encode
from lmms_medtasks.board.comparison.compared_entries import ComparedRuns
from lmms_medtasks.board.entries import (
    EntryModel,
    EntryOrigin,
    EntryProblem,
    EntryQuestions,
    LeaderboardEntry,
    QuestionCounts,
)
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.sums import SumStatistic, make_scored_group, mean, mean_statistic
from lmms_medtasks.suites.estimates import Contrast, Custom, Draw, Fraction, Macro, Mean, Units
from lmms_medtasks.suites.suite import Measure, Metric, Suite

ACCURACY = Measure("accuracy")
STARS = Measure("stars", low=1.0, high=5.0, unit="stars")
ERRORS = Measure("errors", higher_is_better=False)

Scores = Mapping[str, float | None]
"""Question id -> its score, None where it has none."""


@dataclass(frozen=True)
class MadeUpEntry(LeaderboardEntry):
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
    metrics: Sequence[Metric] = (),
    problems: Sequence[EntryProblem] = (),
) -> MadeUpEntry:
    """A model's scores on a task; of accuracy, unless they are given by measure, where the first comes first.

    ``clusters``, ``pairs``: of questions; by default each is its own. ``tags``: name -> a value for each question, in
    the order of the ids. ``columns``: the same of answers, such as ``trials``. ``metrics``: main ones behind the means.
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
    table = pa.table({name: dictionary_encode(pa.array(values)) for name, values in asked.items()})
    answers = {"trials": [["ok"] for _ in ids], **(columns or {})}
    arrays = {name: dictionary_encode(pa.array(values)) for name, values in answers.items()}
    for measure, own in by_measure.items():
        arrays[f"{measure.name}.score"] = pa.array([own.get(id) for id in ids], pa.float64())
        arrays[f"{measure.name}.asked"] = pa.array([id in own for id in ids])
    names = (*(measure.name for measure in by_measure), *(each.name for each in metrics))
    declared = Suite(
        suite,
        suite,
        "image",
        tuple(by_measure),
        (
            *(
                Metric(each.name, Mean(measure=each.name), higher_is_better=each.higher_is_better, main=True)
                for each in by_measure
            ),
            *metrics,
        ),
        {"kind": names},
        tags=tuple(tags or ()),
    )
    return MadeUpEntry(
        suite=suite,
        task=task,
        version="1",
        model=EntryModel(model, "runner", ""),
        data="full",
        data_digest="da7a",
        digests={},
        package_version="1.0",
        package_modified=None,
        judge=None,
        harness="0.7.3",
        settings={},
        credentialed=False,
        source=EntryOrigin(kind="run", results=Path(f"{model}.json"), samples=None, date="2026-01-01"),
        questions=EntryQuestions(table, hashlib.sha256(repr(asked).encode()).hexdigest()),
        answers=pa.table(arrays),
        metrics=names,
        counts=QuestionCounts(len(ids), len(ids), len(ids), len(ids), len(ids), 0, len(ids), 0, 0, 0),
        reported={},
        problems=tuple(problems),
        declared=declared,
    )


def _agreement(rows: QuestionTable) -> Draw:
    """Of each image whether all its questions have the same score."""
    cells = rows.by(["cluster"])
    alike = [float(len(set(each.column("accuracy.score"))) == 1) for each in cells.values()]
    return Draw(
        {"": make_scored_group([name for (name,) in cells], alike)}, {"agreement": mean_statistic("", (0.0, 1.0))}
    )


def _spread(rows: QuestionTable) -> Draw:
    """How far the share of right answers is from a half: no sum over images, as a calibration error is none."""
    rows = rows.scored("accuracy")
    group = make_scored_group(rows.column("cluster").tolist(), rows.column("accuracy.score"))
    return Draw({"": group}, {"ece": SumStatistic(lambda sums: abs(mean(sums) - 0.5), ("",), (0.0, 0.5), mean=False)})


def _units(rows: QuestionTable) -> list[tuple[str, float | None]]:
    """Of each image its mean score; none where no question has one."""
    found = ((name, each.scored("accuracy").column("accuracy.score")) for (name,), each in rows.by(["cluster"]).items())
    return [(name, float(own.mean()) if len(own) else None) for name, own in found]


_SIDES: dict[str, Any] = {"first": {"side": "hard"}, "second": {"side": "easy"}}
KINDS = (
    Metric("balanced", Macro(by="side"), main=True),
    Metric("drop", Contrast(**_SIDES), higher_is_better=False, unit="points", main=True),
    Metric("robust", Contrast(main="ratio", first=_SIDES["second"], second=_SIDES["first"], ratio=True), unit="",
           main=True),
    Metric("items", Units(units=_units), main=True),
    Metric("agreement", Custom(main="agreement", function=_agreement), main=True),
    Metric("ece", Custom(main="ece", function=_spread), higher_is_better=False, unit="", main=True),
    Metric("precision", Fraction(top=lambda rows: np.nan_to_num(rows.column("accuracy.score"))), main=True),
)  # fmt: skip
"""Main metrics that are no means over questions, of questions with the tag ``side`` ("easy", "hard")."""


def of_every_kind(model: str, easy: str, hard: str, **more: Any) -> MadeUpEntry:
    """A model with a mean and each of :data:`KINDS`: the letters are its scores on an easy and a hard question a image.

    See :func:`right_and_wrong`.
    """
    scores = {**right_and_wrong(easy, "e"), **right_and_wrong(hard, "h")}
    return made_up_entry(
        model, scores, clusters={name: f"image {name[1:]}" for name in scores},
        tags={"side": ["easy" if name[0] == "e" else "hard" for name in sorted(scores)]}, metrics=KINDS, **more,
    )  # fmt: skip


def board_of(*entries: LeaderboardEntry) -> Leaderboard:
    """A board with these entries and no problems of its own."""
    return Leaderboard(entries, {}, ())


def right_and_wrong(letters: str, begin: str = "q") -> dict[str, float | None]:
    """Scores of ``1`` (right), ``0`` (wrong), ``h`` (half) and ``-`` (none): ``q00`` first."""
    known = {"1": 1.0, "0": 0.0, "h": 0.5, "-": None}
    return {f"{begin}{number:02}": known[letter] for number, letter in enumerate(letters)}


def sides(*entries: LeaderboardEntry) -> list[ComparedRuns]:
    """Each entry as a side of a comparison."""
    return [ComparedRuns(Path(entry.model.name), board_of(entry)) for entry in entries]
