"""Entries of tasks that a run asked on degraded images (``TASK@blur.2``); they are shown, never ranked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from lmms_medtasks.board import packs
from lmms_medtasks.board.collect import log_of, result_file, result_files
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.run_entry import entry_of
from lmms_medtasks.board.trust import safe_files
from lmms_medtasks.errors import UserError
from lmms_medtasks.record import KEY, QuestionRecord, ScoreValue
from lmms_medtasks.samples.degraded import METADATA, PICTURES, SCORES, find_base_task
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite

HARNESS = "harness"
"""The suite of tasks of the harness."""


@dataclass(frozen=True)
class DegradedEntry(LeaderboardEntry):
    """A degraded task. ``scored_by``: the declaration of its clean task. ``modality``: as requested."""

    scored_by: Suite | None = None
    modality: str | None = None

    @property
    def declaration(self) -> Suite | None:
        """The declaration of its clean task: a degraded task belongs to no benchmark."""
        return self.scored_by


def degraded_entries(folder: Path, tasks: Sequence[str] = ()) -> tuple[list[LeaderboardEntry], list[str]]:
    """The degraded tasks of the runs in ``folder``, and why others can't be shown. ``tasks``: only these."""
    entries: list[LeaderboardEntry] = []
    reasons = []
    for file in result_files(folder):
        try:
            run = result_file(file)
        except UserError:  # reported by `collect_entries`
            continue
        for task, config in run.content.get("configs", {}).items():
            base = find_base_task(task, config)
            if base is None or (tasks and task not in tasks):
                continue
            try:
                entries.append(_read_degraded_entry(run, task, base))
            except UserError as error:
                reasons.append(str(error))
            except packs.UNCOMPUTABLE as error:
                shown = make_printable(task)
                reasons.append(f"{file}, {shown}: what it holds can't be computed with ({error!r:.200}).")
    return entries, reasons


def _read_degraded_entry(run: ResultFile, task: str, base: str) -> DegradedEntry:
    if task not in run.tasks:
        raise UserError(f"{run.path}: the run stopped before {make_printable(task)} had a result.")
    log = log_of(run, task)
    safe_files.check_regular_file(log, run.path.parent)
    safe_files.check_lines(log)
    metadata = dict(run.content["configs"][task]["metadata"])
    ordered = metadata.pop(METADATA)
    suite = registry.find_suite(base, {**run.content["configs"][task], "metadata": metadata})
    if suite is None:
        run = _HarnessRun(run.path, run.content)
        suite = run.suite(task, ordered)
    entry = entry_of(run, task, suite=suite)
    values = {field.name: getattr(entry, field.name) for field in fields(entry)}
    return DegradedEntry(**values, scored_by=suite, modality=ordered.get("modality"))


class _HarnessRun(ResultFile):
    """A run whose log has no records; each question has the scores that pair it with the clean one."""

    def rows(self, task: str) -> Iterator[tuple[int, dict[str, Any]]]:
        for line, row in super().rows(task):
            name, pictures = str(row.get("doc_id")), row.get(PICTURES) or [{}]
            scores = {key.partition(",")[0]: ScoreValue(value) for key, value in (row.get(SCORES) or {}).items()}
            record = QuestionRecord(
                id=name,
                cluster=str(pictures[0].get("picture", name)),
                trials=("ok",),
                expected=None,
                measures=scores,
                tags={},
            )
            yield line, {KEY: record.to_json()}

    def suite(self, task: str, ordered: dict[str, Any]) -> Suite:
        """A declaration of its scores. Unknown ranges are inferred from the scores."""
        highest: dict[str, float] = {}
        for _, row in self.rows(task):
            for name, value in row[KEY]["measures"].items():
                highest[name] = max(highest.get(name, 0.0), value.get("score") or 0.0)
        stated = {key.partition(",")[0]: top for key, top in (ordered.get("best_scores") or {}).items()}
        better = (self.content.get("higher_is_better") or {}).get(task) or {}
        measures = []
        for name, most in highest.items():
            top = stated.get(name) or (1.0 if most <= 1 else max(100.0, most))
            measures.append(Measure(name, high=top, unit="%" if top == 1 else "points"))
        metrics = tuple(
            Metric(measure.name, Mean(measure=measure.name), better.get(measure.name) is not False)
            for measure in measures
        )
        return Suite(HARNESS, "Tasks of the harness", "image", tuple(measures), metrics, {})
