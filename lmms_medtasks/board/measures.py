"""How each measure of our tasks is shown and which of them are compared; the table is ``measures.yml``."""

from __future__ import annotations

import fnmatch
import functools
import importlib.resources
from typing import Any

import yaml

from lmms_medtasks.board.entries import Entry, Scale
from lmms_medtasks.contribute.templates.measures import suite as template_suite
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Suite

_SHARE = Scale(0.0, 1.0, "%", 1)


@functools.cache
def scale(task: str, measure: str) -> Scale:
    """How ``measure`` of ``task`` is shown: as its benchmark declares it; a share in percent where nothing is said."""
    suite = registry.find(task, {})
    if suite is not None:
        return _declared(suite, measure) or _SHARE
    for block in _table():
        if fnmatch.fnmatchcase(task, block["tasks"]):
            for pattern, found in block["measures"].items():
                if fnmatch.fnmatchcase(measure, pattern):
                    return Scale(**{**found, "low": float(found["low"]), "high": float(found["high"])})
            return _SHARE
    # A contributed task without measures of its own is on a template.
    return _declared(template_suite("contributed"), measure) or _SHARE


def _declared(suite: Suite, name: str) -> Scale | None:
    """As a benchmark declares it; None where it does not declare this metric as a mean."""
    metric = next((each for each in suite.metrics if each.name == name), None)
    if metric is None or not isinstance(metric.estimate, Mean):
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
