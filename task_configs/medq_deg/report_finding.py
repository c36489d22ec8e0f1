"""MedQ-Deg on the first screen of a report: accuracy by level, and what severe degradation costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import (
    Bar,
    Finding,
    Sketch,
    chance_of_options,
    is_told_apart,
    lost,
    share_bar,
    shown,
    span,
    there,
    whole,
    without_interval,
)
from lmms_medtasks.report.views import Column, Published, Row, Source, Table
from lmms_medtasks.short_texts import listed
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, FALL, LEVELS, pairs
from lmms_medtasks.task_configs.medq_deg.report_published import REFERENCE
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise, levels

TITLES = {0: "clean images (L0)", 1: "mild degradation (L1)", 2: "severe degradation (L2)"}
_SHORT = {0: "clean (L0)", 1: "mild (L1)", 2: "severe (L2)"}
_PICTURES = {0: "clean images", 1: "mildly degraded ones", 2: "severely degraded ones"}
_FEWEST = 20
"""Questions under a degradation below which it is not called the worst. Our choice."""
_NAMED = 2
"""Degradations that are named."""
_CHANGE = Mean(measure="change")


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
    pictures = {**_PICTURES, ends[0]: _PICTURES[ends[0]].replace("ones", "images")}
    clause = "correct on " + listed([f"{whole(bars[level])} of {pictures[level]}" for level in ends])
    sentence, loss = _said(source, bars)
    asked = max(bars)
    change = source.interval(FALL[asked]) if asked and 0 in bars else None
    return Finding(
        "MedQ-Deg", tuple(bars.values()), sentence, clause, "questions about degraded images", loss, change=change,
        under=f"under {TITLES[asked]}", sketch=(lambda: _sketch(source)) if len(bars) > 1 else None,
    )  # fmt: skip


def _sketch(source: Source) -> Sketch:
    """The fall: a line through the levels, those of the paper's models grey."""
    printed = len(_SKETCH.published_names([source]))
    return Sketch(_SKETCH.small(source), f"correct (%); grey: {printed} published models, on the paper's data")


def _said(source: Source, bars: dict[int, Bar]) -> tuple[str, str]:
    """The sentence, and what was lost."""
    asked = max(bars)
    if asked == 0 or 0 not in bars:
        return f"{shown(bars[asked])} correct on {TITLES[asked]}.", ""
    ends = f"from {bars[0].cell.value:.1f} % on clean images to {shown(bars[asked])} under {TITLES[asked]}"
    change = source.interval(FALL[asked])
    said = lost(change, f"under {TITLES[asked]}")
    if change.low is None:
        return f"From {ends.removeprefix('from ')}, {without_interval(change)}.", f"{said}."
    if not is_told_apart(change):
        return f"Not told apart: {ends}.", f"{said}."
    falls = (change.estimate or 0) < 0
    names = worst(source, asked) if falls else []
    ended = f", most under {listed(names)}." if names else "."
    return f"{'Falls' if falls else 'Rises'} {ends}{ended}", f"{said}{ended}"


def worst(source: Source, level: int) -> list[str]:
    """The degradations of a level that cost most, against the same questions clean: ``bubble (by 33.3 points)``."""
    found = []
    for (name,), rows in source.derived(pairs).rows.where({"severity": level}).by(["degradation"]).items():
        change = _CHANGE.of(rows, with_intervals=False)["mean"].estimate
        if name and change is not None and change < 0 and len(rows) >= _FEWEST:
            found.append((change, str(name)))
    return [f"{name.replace('_', ' ')} (by {-100 * change:.1f} points)" for change, name in sorted(found)[:_NAMED]]


PRINTED = 9
"""Published models that are drawn, evenly spaced by rank; the table has them all."""


def _row_names(sources: Sequence[Source]) -> list[str]:
    """The sources' names without what all share of how they were asked, and of one model without its name."""
    parts = [source.name.partition(" (") for source in sources]
    models, how = [model for model, _, _ in parts], [end.removesuffix(")").split(", ") for _, _, end in parts]
    told = [[each for each in own if not all(each in other for other in how)] for own in how]
    # The last that is told, such as the task set, does alone where it tells the rows of each model apart.
    last = [", ".join(own[-1:]) for own in told]
    short = last if len({*zip(models, last, strict=True)}) == len(sources) else [", ".join(own) for own in told]
    if len(set(models)) > 1:
        return [f"{model} ({own})" if own else model for model, own in zip(models, short, strict=True)]
    return [each or model for each, model in zip(short, models, strict=True)]


def _is_drawn(sources: Sequence[Source]) -> bool:
    if any(map(asks_otherwise, sources)):
        return False
    # A level whose requests all failed has no number, and no place in the chart.
    return len({level for source in sources for level in levels(source) if source.interval(ACCURACY[level]).n}) > 1


def _fall_rows(sources: Sequence[Source]) -> Iterator[Row]:
    for source, name in zip(sources, _row_names(sources), strict=True):
        yield Row((name,), source=source)
    chance = Cell(None if (share := chance_of_options(sources[0].rows)) is None else 100 * share)
    guess = dict.fromkeys(_SHORT.values(), lambda source, row, rows: chance)
    yield Row(("uniform guessing",), kind="counts", estimates=guess)


PRINTED = 9
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
FALL_CHART = Chart(
    "ranges",
    "fall",
    "From clean to degraded images, beside published models",
    f"Share correct in percent. Published: {PRINTED} of the paper's models, evenly spaced by rank, on the paper's "
    "data.",
    Table(
        "levels",
        "From clean to degraded images",
        ("model",),
        _fall_rows,
        tuple(Column(_SHORT[level], ACCURACY[level]) for level in LEVELS),
        published=Published(
            REFERENCE / "table6.csv",
            {f"L{level}": _SHORT[level] for level in LEVELS},
            lambda row: (row["model"],),
        ),
    ),
    tuple(_SHORT.values()),
    printed=PRINTED,
    sort="falling",
    shown=_is_drawn,
)
FALL_CHART_OF_MODELS = replace(FALL_CHART, numbers="models")
_SKETCH = replace(
    FALL_CHART,
    kind="plane",
    joined=True,
    scale="fitted",
    printed=0,
    heads={each: each.partition(" ")[0] for each in _SHORT.values()},
)
