"""Bones and Joints: the tasks that a model was asked, each under a condition, and their accuracy as a cell."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import NONE, percent
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import Judging, marks
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import named, sources_by_model
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.bones_joints import judging
from lmms_medtasks.task_configs.bones_joints.forms import Task, forms
from lmms_medtasks.task_configs.bones_joints.measures import ACCURACY, AS_PUBLISHED, CONDITIONS, LABELS, REPORTS

SHOWN = (AS_PUBLISHED, REPORTS)
"""The conditions under which a task compares with the paper's."""


@dataclass(frozen=True)
class TaskGroup:
    """The questions of one of the eight tasks, asked under one condition; ``name`` is the harness's task."""

    task: Task
    condition: str
    name: str
    rows: Samples

    @functools.cached_property
    def judging(self) -> Judging | None:
        """What became of the judgements; None where there are none."""
        return Judging.of(self.rows)

    @functools.cached_property
    def measured(self) -> bool:
        """Whether it has an accuracy, and its parts may have one: no score, or only what rules settled, is none."""
        return bool(len(self.rows.scored("accuracy")))

    @property
    def where(self) -> Where:
        """The restriction of a source's rows to these."""
        return {"paper_task": self.task.key, "condition": self.condition}

    @property
    def label(self) -> str:
        """``IV, reports``; a task as the paper has it by its numeral alone."""
        return self.task.numeral if self.condition == AS_PUBLISHED else f"{self.task.numeral}, {self.condition}"

    @property
    def key(self) -> str:
        """What a table's key of this group ends with: nothing as the paper asks."""
        return f"_{self.condition}" if self.condition != AS_PUBLISHED else ""

    def accuracy(self, source: Source, where: Where | None = None, *, bare: bool = False) -> Cell:
        """The accuracy of these questions, restricted further, in percent; ``bare`` leaves the interval out."""
        if not self.measured:
            return NONE
        found = source.interval(ACCURACY, {**self.where, **(where or {})})
        if found.estimate is None:
            return NONE
        cell = percent(found, bare=bare)
        return replace(cell, mark=marks(self.judging) + cell.mark)

    def label_counts(self) -> Counter[str]:
        """The judgements that were obtained, by their label; "" for those of labels that no measure counts."""
        if not self.measured or not self.judging:
            return Counter()
        judged = self.rows.column("accuracy.judged")
        found = {
            label: int(np.nansum(np.rint(self.rows.column(f"{measure}.score") * judged)))
            for measure, label in LABELS.items()
        }
        rest = int(np.nansum(judged)) - sum(found.values())
        other = judging.NAMED if self.task.form == "contradiction" else ""
        return Counter({label: count for label, count in ({other: rest} | found).items() if count})


def task_groups(source: Source) -> list[TaskGroup]:
    """What a model was asked, Task I first, as the paper asks first."""
    groups = source.rows.by(["paper_task", "condition"], key=_place)
    return [
        TaskGroup(forms()[task], condition, str(rows.column("task")[0]), rows)
        for (task, condition), rows in groups.items()
    ]


def _place(values: tuple[str, ...]) -> tuple[int, int]:
    return list(forms()).index(values[0]), CONDITIONS.index(values[1])


def find_group(groups: Sequence[TaskGroup], task: str, *conditions: str) -> TaskGroup | None:
    """The task's group under the first of these conditions that it was asked under."""
    own = {each.condition: each for each in groups if each.task.key == task}
    return next((own[condition] for condition in conditions if condition in own), None)


def sources(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """What was asked, by model: a task once under each condition.

    Raises UserError where a log is of several of the eight.
    """
    for (number, name), rows in table.by(["run", "task"]).items():
        file = runs[number].samples_file(name)
        tasks = rows.values("paper_task")
        if len(tasks) > 1:
            place = int(np.flatnonzero(rows.column("paper_task") == tasks[1])[0])
            line = rows.column("line")[place]
            raise UserError(f"{file}, line {line}: a record of {tasks[1]} in a log of {tasks[0]}.")
    found = sources_by_model(suite, runs, table, options, once=("paper_task", "condition"))
    # A source has tasks under several conditions: none of them is its own.
    return named([Source("", each.rows, each.every, each.resamples, each.asked) for each in found])
