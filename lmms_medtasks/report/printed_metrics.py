"""Metrics whose code is not at hand: the report has the number that the run printed, and why it has no interval."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Estimate
from lmms_medtasks.suites.own_parts import NotFound
from lmms_medtasks.suites.reported_numbers import numbers_of
from lmms_medtasks.suites.suite import Suite


def printed(suite: Suite, source: Source, task: str) -> Mapping[str, Estimate]:
    """An estimate without interval, of what the run printed of a task, for each metric whose code is not here."""
    missing = [name for name, estimate in suite.estimates.items() if isinstance(estimate, NotFound)]
    said = next((numbers_of(run.tasks.get(task, {})) for run, tasks in source.asked if task in tasks), {})
    return {name: _number(said[name]) for name in missing if name in said}


def _number(value: float) -> Estimate:
    def number(rows: Samples) -> float:
        return value

    return Count(function=number)


def caveats(suite: Suite, source: Source) -> Iterator[Flag]:
    """Which metrics of the source's tasks are as the run printed them, and why."""
    names = {name for task in source.tasks for name in printed(suite, source, task)}
    for name in sorted(names):
        estimate = suite.estimates[name]
        reason = estimate.reason if isinstance(estimate, NotFound) else ""
        yield Flag("warning", f"{name} is as the run printed it, without an interval: {reason}")
