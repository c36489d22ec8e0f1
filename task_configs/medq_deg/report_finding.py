"""MedQ-Deg on the first screen of a report: accuracy by level, and what severe degradation costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import percent
from lmms_medtasks.report.charts import (
    DISC,
    Chart,
    Guide,
    Panel,
    Point,
    RangeRow,
    Series,
    axis_of,
    places_axis,
    range_chart,
    small_plane,
)
from lmms_medtasks.report.findings import (
    Bar,
    Finding,
    Sketch,
    chance_of_options,
    is_told_apart,
    lost,
    share_bar,
    shown,
    there,
    whole,
    without_interval,
)
from lmms_medtasks.report.published import span
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import listed
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.medq_deg.measures import ACCURACY, FALL, LEVELS, SUITE, pairs
from lmms_medtasks.task_configs.medq_deg.report_published import TABLE_6
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
        printed = span(SUITE, f"medq_deg_l{level}", "accuracy")
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
        under=f"under {TITLES[asked]}", sketch=(lambda: _sketch(bars)) if len(bars) > 1 else None,
    )  # fmt: skip


def _sketch(bars: dict[int, Bar]) -> Sketch:
    """The fall: a line through the levels, those of the paper's models grey."""
    asked = sorted(bars)
    printed = [values for _, values in _printed(asked)]
    own = tuple(
        Point(
            place, bar.cell.value, f"{bar.title}: {shown(bar)}", bar.cell.low, bar.cell.high,
            label=f"{bar.cell.value:.1f}", size=3.5,
        )
        for place, bar in enumerate(bars[level] for level in asked)
        if isinstance(bar.cell.value, int | float)
    )  # fmt: skip
    chance = bars[asked[0]].chance
    ends = [end for point in own for end in (point.y, point.low, point.high)]
    x = places_axis([_SHORT[level].partition(" ")[0] for level in asked])
    grey = tuple(
        Series("", tuple(Point(place, value) for place, value in enumerate(values)), None, "joined-published faint")
        for values in printed
    )
    panel = Panel(
        x,
        axis_of([*ends, chance, *(value for values in printed for value in values)], most=4),
        (*grey, Series("this model", own, DISC, "joined")),
        guides=() if chance is None else (Guide(x.low, chance, x.high, chance, "guessing"),),
    )
    svg = small_plane(f"Correct by level. {', '.join(each.said for each in own)}.", panel)
    return Sketch(svg, f"correct (%); grey: {len(printed)} published models, on the paper's data")


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


def _fall_rows(sources: Sequence[Source]) -> list[RangeRow]:
    asked = sorted({level for source in sources for level in LEVELS if source.interval(ACCURACY[level]).n})
    own = []
    for source, name in zip(sources, _row_names(sources), strict=True):
        cells = [percent(source.interval(ACCURACY[level])) for level in asked]
        values = tuple(cell.value if isinstance(cell.value, int | float) else None for cell in cells)
        own.append(RangeRow(name, values, cells[-1].low, cells[-1].high))
    ranked = sorted(_printed(asked), key=lambda each: -each[1][-1])
    step = (len(ranked) - 1) / (PRINTED - 1)
    printed = [RangeRow(*ranked[round(number * step)], published=True) for number in range(PRINTED)]
    return [*sorted(own, key=lambda row: -(row.values[-1] or 0.0)), *printed]


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


def _printed(asked: Sequence[int]) -> list[tuple[str, tuple[float, ...]]]:
    """The paper's models, each with its accuracy at these levels, in percent."""
    rows = TABLE_6.published.rows() if TABLE_6.published else ()
    return [(row.texts["model"], row.values(*(f"L{level}" for level in asked))) for row in rows]


def _draw_fall(sources: Sequence[Source]) -> str:
    series = [_SHORT[level] for level in LEVELS if any(source.interval(ACCURACY[level]).n for source in sources)]
    chance = chance_of_options(sources[0].rows)
    title = "From clean to degraded images"
    return range_chart(title, series, _fall_rows(sources), None if chance is None else 100 * chance)


def _is_drawn(sources: Sequence[Source]) -> bool:
    if any(map(asks_otherwise, sources)):
        return False
    # A level whose requests all failed has no number, and no place in the chart.
    return len({level for source in sources for level in levels(source) if source.interval(ACCURACY[level]).n}) > 1


FALL_CHART = Chart(
    "fall",
    "From clean to degraded images, beside published models",
    f"Share correct in percent. Published: {PRINTED} of the paper's models, evenly spaced by rank, on the "
    f"paper's data.",
    "levels",
    _draw_fall,
    _is_drawn,
)
FALL_CHART_OF_MODELS = replace(FALL_CHART, table="models")
