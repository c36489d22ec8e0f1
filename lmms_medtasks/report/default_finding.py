"""The first screen's finding of tasks whose benchmark declares none: the main metric of each task."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lmms_medtasks.report.cells import scaled
from lmms_medtasks.report.findings import BELOW, NO_BETTER, Bar, Finding, chance_of_options, shown, whole
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import listed
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Suite

MOST = 4
"""Tasks on the first screen; the report's tables have them all."""

_SHIFTED = "_ood"
"""How the metrics of the shifted test end in the templates (lmms_medtasks/suites/templates/measures.py)."""


def finding_of(suite: Suite) -> Callable[[Source], Finding | None]:
    """From a source to its finding, None where none of its tasks has a number."""

    def finding(source: Source) -> Finding | None:
        bars = [bar for task in source.tasks[:MOST] for bar in _bars(suite, source, task)][:MOST]
        if not bars:
            return None
        guessed = [bar for bar in bars if not bar.beats_chance]
        better = [bar for bar in bars if bar.beats_chance]
        first, task = (better or bars)[0], source.tasks[0]
        clause = (
            f"{whole(first)} on {first.title}" if len(source.tasks) > 1 else f"{first.title} {whole(first)} on {task}"
        )
        if better and guessed:
            said = listed([f"{shown(bar)} ({bar.title}{bar.guessing and f', {bar.guessing}'})" for bar in bars])
            clause += f" ({NO_BETTER} at {listed([bar.title for bar in guessed])})"
        else:
            below = guessed and all(bar.guessing == BELOW for bar in bars)
            said = listed([f"{shown(bar)} ({bar.title})" for bar in bars])
            said += f", {BELOW if below else NO_BETTER}" if guessed else ""
        left = len(source.tasks) - MOST
        more = f" The tables have {left} more task{'s' if left > 1 else ''}." if left > 0 else ""
        return Finding(suite.title, tuple(bars), f"{said}.{more}", clause, suite.title, beats=bool(better))

    return finding


def _bars(suite: Suite, source: Source, task: str) -> Iterator[Bar]:
    """The first main metric of a task that has a number; where the task tests a shift that of the shifted test."""
    where = {"task": task}
    rows = source.rows.where(where)
    found = [(metric, source.interval(metric.estimate, where)) for metric in suite.main_metrics]
    known = [(metric, each) for metric, each in found if each.estimate is not None]
    shifted = [one for one in known if one[0].name.endswith(_SHIFTED)]
    for metric, each in (shifted or known)[:1]:
        unit = suite.unit(metric) or ""
        bottom, top = metric.estimate.range(rows)
        factor = 100.0 if unit == "%" or (unit == "points" and top <= 1) else 1.0
        is_share = unit == "%" and isinstance(metric.estimate, Mean)
        chance = _chance(suite, source, task) if is_share else None
        if chance is None and is_share:
            chance = chance_of_options(rows) if "option_count" in rows.columns else None
        named = metric.name.replace("_", " ")
        title = f"{task}, {named}" if len(source.tasks) > 1 else named
        yield Bar(
            title,
            scaled(each, factor),
            unit,
            factor * top,
            None if chance is None else 100 * chance,
            higher_is_better=metric.higher_is_better is not False,
            bottom=factor * bottom,
        )


def _chance(suite: Suite, source: Source, task: str) -> float | None:
    if not any(each.name == "chance" for each in suite.measures):
        return None
    return source.interval(Mean(measure="chance", exact=True), {"task": task}).estimate
