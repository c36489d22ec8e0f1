"""What a report says of parts that are not ours, and the numbers of metrics whose code is not at hand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.judges import own_scales
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Estimate
from lmms_medtasks.suites.own_parts import KEY, NotFound
from lmms_medtasks.suites.reported_numbers import numbers_of
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.suites.templates import DRAWN


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
    """Which parts of the source's tasks are not ours, and which metrics are as the run printed them, and why."""
    for run, tasks in source.asked:
        for task in tasks:
            config = run.content["configs"][task]
            if said := "; ".join((*_named(config.get("metadata")), *_degraded(config))):
                yield Flag("note", f"{printable(task)}: {printable(said)}. Not of lmms-medtasks.")
    names = {name for task in source.tasks for name in printed(suite, source, task)}
    for name in sorted(names):
        estimate = suite.estimates[name]
        reason = estimate.reason if isinstance(estimate, NotFound) else ""
        yield Flag("warning", f"{name} is as the run printed it, without an interval: {reason}")


def _degraded(config: Mapping[str, Any]) -> Iterator[str]:
    """The degradation of someone's own that all pictures of a task have, with its level."""
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    name = settings.get("degradation")
    if name in (None, DRAWN, *degradations.names()) or settings.get("no_image"):
        return
    modality = f", {settings['modality']}" if settings.get("modality") else ""
    done = "said to be " if settings.get("rendered") else ""
    named = own_scales.without_folder(str(name))
    yield f"images {done}degraded by {named}, level {settings.get('severity')}{modality}"


def _named(metadata: Any) -> Iterator[str]:
    own = metadata.get(KEY) if isinstance(metadata, Mapping) else None
    if not isinstance(own, Mapping):
        return
    if own.get("parser"):
        yield f"answers read by {own['parser'].get('reference')}"
    if own.get("metrics"):
        metrics = [f"{each.get('name')} ({each.get('reference')})" for each in own["metrics"]]
        yield f"metrics {', '.join(metrics)}"
    if own.get("judge"):
        yield f"judged under {own['judge'].get('name')} ({own['judge'].get('reference')})"
