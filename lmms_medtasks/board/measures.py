"""How each measure of our tasks is shown and which of them are compared; the table is ``measures.yml``."""

from __future__ import annotations

import fnmatch
import functools
import importlib.resources
from typing import Any

import yaml

from lmms_medtasks.board import installed
from lmms_medtasks.board.entries import Entry, Scale
from lmms_medtasks.contribute.templates.measures import suite as template_suite
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean

_SHARE = Scale(0.0, 1.0, "%", 1)


@functools.cache
def scale(task: str, measure: str) -> Scale:
    """How ``measure`` of ``task`` is shown; a share in percent where the table says nothing."""
    declared = _declared(task, measure)
    if declared is not None:
        return declared
    for block in _table():
        if fnmatch.fnmatchcase(task, block["tasks"]):
            for pattern, found in block["measures"].items():
                if fnmatch.fnmatchcase(measure, pattern):
                    return Scale(**{**found, "low": float(found["low"]), "high": float(found["high"])})
            return _SHARE
    return _SHARE


def _declared(task: str, name: str) -> Scale | None:
    """As the task's benchmark declares it; None where it declares none, or not this metric."""
    suite = registry.find(task, {})
    if suite is None and installed.of_task(task) is None:
        suite = template_suite("contributed")
    metric = next((each for each in suite.metrics if each.name == name), None) if suite else None
    if suite is None or metric is None or not isinstance(metric.estimate, Mean):
        return None
    measure = suite.measure(metric.estimate.measure)
    return Scale(
        measure.low,
        measure.high,
        measure.unit,
        measure.digits,
        metric.higher_is_better is not False,
        metric.main,
        metric.estimate.interval,
    )


def main_measures(entry: Entry) -> list[str]:
    """The measures of an entry that its suite's table shows and that are compared, in the log's order.

    Where the table names none that the entry has, its first one.
    """
    found = [name for name in entry.measures if scale(entry.task, name).main]
    return found or list(entry.measures)[:1]


@functools.cache
def tag_names() -> tuple[str, ...]:
    """The tags that entries keep (``tags.yml``)."""
    return tuple(_load("tags.yml"))


@functools.cache
def _table() -> tuple[dict[str, Any], ...]:
    return tuple(_load("measures.yml"))


def _load(name: str) -> Any:
    return yaml.safe_load(importlib.resources.files(__package__).joinpath(name).read_text("utf-8"))
