"""MedQ-Deg's task sets: which tasks of a run are the same questions at up to three levels, and how they were asked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import named
from lmms_medtasks.report.views import CellFunction, Row, Source
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import printable, settings_of
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Estimate
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.medq_deg.measures import LEVELS, NO_IMAGE, OWN_CONDITIONS, ROTATED, SUITE_NAME, task_set

SEVERITY = {0: "clean", 1: "mild", 2: "severe"}
_SUITE = SUITE_NAME
_RELEASE = f"{_SUITE}_release"
_STEMS = (_SUITE, f"{_SUITE}_calib", _RELEASE)


FAMILIES = {"simulated": "our degradations", "release": "released images"}
"""What reports call the two families of degraded images."""


class Setup(NamedTuple):
    """How a task set was asked; what must agree for two models to be compared.

    Attributes:
        family: "simulated", degraded by us when asked, or "release", the authors' own degraded images.
        variant: what else sets the tasks apart ("" for the benchmark as it is). trials: T, the most of any question.
    """

    family: str
    variant: str
    trials: int

    @property
    def label(self) -> str:
        """``our degradations, 3 trials``."""
        trials = "1 trial" if self.trials == 1 else f"{self.trials} trials"
        return ", ".join(filter(None, [FAMILIES[self.family], self.variant, trials]))


def setup_of(source: Source) -> Setup:
    """How the questions of a source were asked."""
    run, tasks = source.asked[0]
    # Of the release's set the clean level may be lent by tasks of our own.
    rendered = [task for task in tasks if settings_of(run, task).get("rendered")]
    stem = task_set((rendered or list(tasks))[0])
    variant = OWN_CONDITIONS.get(stem) or ("" if stem in _STEMS else printable(stem))
    trials = max(map(len, source.rows.column("trials")), default=0)
    return Setup("release" if rendered else "simulated", variant, trials)


def asks_otherwise(source: Source) -> bool:
    """Whether a source is the clean questions without images, or with rotated options: no part of the paper."""
    return setup_of(source).variant in (NO_IMAGE, ROTATED)


def task_sets(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """The task sets of the runs.

    Tasks of one level each (``medq_deg_l0``, ``medq_deg_l1`` …) make one set if their T is the same; a task of all
    levels is a set of its own. Where a run has two that were asked alike, their tasks tell them apart. Clean questions
    asked beside the release's images are the L0 of those too, and no set if nothing else was asked.
    """
    found = []
    for number, run in enumerate(runs):
        own = table.where({"run": number})
        for chosen in _tasks_by_level(own):
            asked = zip(own.column("task"), own.column("severity"), strict=True)
            rows = own.take(np.array([chosen.get(level) == task for task, level in asked], dtype=bool))
            tasks = tuple(dict.fromkeys(chosen[level] for level in LEVELS if level in chosen))
            source = Source("", rows, table, options.resamples, ((run, tasks),))
            found.append(replace(source, condition=setup_of(source).label))
    alike = Counter((each.run.path, each.condition) for each in found)
    repeated = {condition for (_, condition), count in alike.items() if count > 1}
    return named(
        [
            replace(each, condition=f"{each.condition}, {_tasks_said(each)}") if each.condition in repeated else each
            for each in found
        ]
    )


def _tasks_said(source: Source) -> str:
    """``medq_deg``, or ``medq_deg_l0 to l2``."""
    first, last = source.tasks[0], source.tasks[-1]
    return first if first == last else f"{first} to {last.removeprefix('medq_deg_')}"


def _tasks_by_level(rows: Samples) -> list[dict[int, str]]:
    """For each task set of a run the task that asked each level."""
    stems: dict[tuple[str, int], dict[int, str]] = {}
    whole: list[dict[int, str]] = []
    for (task,), own in rows.by(["task"], key=lambda values: 0).items():
        found = dict.fromkeys(sorted(own.values("severity")), task)
        if task_set(task) == task:
            whole.append(found)
        else:
            stems.setdefault((task_set(task), max(map(len, own.column("trials")))), {}).update(found)
    only_lent = set()
    for (stem, trials), of_level in stems.items():
        clean = stems.get((_SUITE, trials), {})
        if stem == _RELEASE and 0 in clean:
            of_level.setdefault(0, clean[0])
            if set(clean) == {0}:
                only_lent.add((_SUITE, trials))
    return [*(of_level for key, of_level in stems.items() if key not in only_lent), *whole]


def levels(source: Source) -> list[int]:
    """The levels that were asked, in their order."""
    return sorted(set(source.rows.column("severity")))


def degraded_levels(source: Source) -> tuple[int, ...]:
    """L1 and L2, or one of them, or none."""
    return tuple(level for level in levels(source) if level)


def counts_by_level(function: Callable[[Samples], float | int | None]) -> dict[int, Count]:
    """What is counted of each level's questions."""
    return {level: Count({"severity": level}, function=function) for level in LEVELS}


LevelEstimates = Mapping[str, Mapping[int, Estimate | CellFunction]]
"""Column -> level -> what stands in the level's row; a level that is not there leaves the cell empty."""


def level_rows(columns: LevelEstimates) -> Callable[[Sequence[Source]], list[Row]]:
    """A row for each level that the first source was asked."""
    return lambda sources: [
        Row((f"L{level}",), estimates={name: of.get(level) for name, of in columns.items()})
        for level in levels(sources[0])
    ]
