"""MedQ-Deg on the first screen of a report: accuracy by level, and what severe degradation costs."""

from __future__ import annotations

from lmms_medtasks.report.findings import (
    Bar,
    Finding,
    chance_of_options,
    is_told_apart,
    listed,
    lost,
    share_bar,
    shown,
    span,
    there,
    whole,
)
from lmms_medtasks.report.views import Source
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, FALL, LEVELS
from lmms_medtasks.task_configs.medq_deg.report_published import REFERENCE
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise

TITLES = {0: "clean pictures (L0)", 1: "mild degradation (L1)", 2: "severe degradation (L2)"}
_PICTURES = {0: "clean pictures", 1: "mildly degraded ones", 2: "severely degraded ones"}
_FEWEST = 20
"""Questions under a degradation below which it is not called the worst. Our choice."""
_NAMED = 2
"""Degradations that are named."""
_MEAN = Mean()


def finding(source: Source) -> Finding | None:
    """The finding; None for clean questions that were asked otherwise."""
    if asks_otherwise(source):
        return None
    chance = chance_of_options(source.rows)
    bars: dict[int, Bar] = {}
    for level in LEVELS:
        printed = span(REFERENCE / "table6.csv", f"L{level}")
        for bar in there(share_bar(source, TITLES[level], ACCURACY[level], chance=chance, published=printed)):
            bars[level] = bar
    if not bars:
        return None
    ends = sorted({min(bars), max(bars)})
    pictures = {**_PICTURES, ends[0]: _PICTURES[ends[0]].replace("ones", "pictures")}
    clause = "right on " + listed([f"{whole(bars[level])} of {pictures[level]}" for level in ends])
    sentence, loss = _said(source, bars)
    return Finding("MedQ-Deg", tuple(bars.values()), sentence, clause, "questions about degraded pictures", loss)


def _said(source: Source, bars: dict[int, Bar]) -> tuple[str, str]:
    """The sentence, and what was lost."""
    asked = max(bars)
    if asked == 0 or 0 not in bars:
        return f"{shown(bars[asked])} right on {TITLES[asked]}.", ""
    names = worst(source, asked)
    most = f"most under {listed(names)}" if names else ""
    ends = f"from {bars[0].cell.value:.1f} % on clean pictures to {shown(bars[asked])} under {TITLES[asked]}"
    change = source.interval(FALL[asked])
    said = lost(change, f"under {TITLES[asked]}")
    if change.low is None:
        return f"From {ends.removeprefix('from ')}, too few pictures for an interval.", f"{said}."
    if not is_told_apart(change):
        return f"Not told apart: {ends}.", f"{said}."
    ended = f", {most}." if most else "."
    return f"{'Falls' if (change.estimate or 0) < 0 else 'Rises'} {ends}{ended}", f"{said}{ended}"


def worst(source: Source, level: int) -> list[str]:
    """The degradations of a level with the lowest accuracy: ``ghosting artifact (33.3 %)``."""
    found = []
    for (name,), rows in source.rows.where({"severity": level}).by(["degradation"]).items():
        mean = _MEAN.of(rows, with_intervals=False)["mean"].estimate
        if name and mean is not None and len(rows) >= _FEWEST:
            found.append((mean, str(name)))
    return [f"{name.replace('_', ' ')} ({100 * mean:.1f} %)" for mean, name in sorted(found)[:_NAMED]]
