"""A row a category: a point and its interval for each model, published numbers hollow, guessing dashed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.charts.axes import Axis, axis_around, percent_axis
from lmms_medtasks.report.charts.rows import NAMES, grid, guess_of, name, plot_place, rows_of
from lmms_medtasks.report.charts.svg import MODELS, OTHER, PUBLISHED, Elements, Entry, Look, Svg, legend
from lmms_medtasks.short_texts import cut_apart, first_listed, interval_text
from lmms_medtasks.statistics import confidence

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

_ROW, _APART = 30, 10
MOST = len(MODELS) - 1
"""Models with a look and an interval of their own; with more the best ones have it, the others are small points."""


def point_chart(chart: Chart, marks: Sequence[Mark]) -> str:
    """A row a category, in the order given: a point and interval a series, published models hollow, guessing dashed.

    Changes have a line at 0. Of more than :data:`MOST` series those with the highest mean are named.
    """
    own = [each for each in marks if each.kind == "run"]
    series = list(dict.fromkeys(_series(chart, each) for each in own))
    rows = {said: row for said, row in rows_of(chart, marks).items() if any(each.kind == "run" for each in row)}
    cells = {said: {_series(chart, each): each for each in row if each.kind == "run"} for said, row in rows.items()}
    kept = {id(each) for row in chart.chosen(marks).values() for each in row if each.number is not None}
    title = chart.axis[0] if chart.axis else ""
    if chart.scale == "ranks":
        axis = Axis(0.5, len(series) + 0.5, tuple(map(float, range(1, len(series) + 1))), title)
    else:
        axis = percent_axis(title) if own[0].unit == "%" and not chart.scale else axis_around(own, title)
    named, others = _chosen(series, list(cells.values()))
    each_row = float(max(_ROW, _APART * len(named) + 10))
    svg = Svg(_said(chart.title, series, cells, axis), "points")
    cut = cut_apart(named, 28)
    entries: list[Entry] = [(look, cut[said]) for look, said in zip(MODELS, named, strict=False)]
    entries = entries if len(series) > 1 else []
    entries += [(OTHER, f"{len(others)} more")] if others else []
    has_bars = any(each.y.low is not None for each in own)
    entries += [("interval", f"{confidence.percent()} interval")] if has_bars else []
    entries += [(PUBLISHED, "published")] if any(id(each) in kept for row in rows.values() for each in row) else []
    entries += [("guess", "guessing")] if any(guess_of(row) is not None for row in rows.values()) else []
    top = legend(svg, entries) + 24
    bottom = top + each_row * len(rows)
    height = bottom + (26 if axis.title else 8)
    names, plot = Elements(), Elements()
    grid(plot, axis, top, bottom)
    if own[0].signed:
        plot.line(axis.place(0), top - 6, axis.place(0), bottom, "zero")
    if axis.title:
        plot.text(50, height - 6, axis.title, "soft", "middle")
    for number, (said, row) in enumerate(rows.items()):
        y = top + each_row * (number + 0.5)
        name(names, said, y, "strong")
        for each in (each for each in row if id(each) in kept):
            shown = f"{said}: {each.row}, published, {axis.text(each.value)}"
            plot.mark(axis.place(each.value), y, PUBLISHED, shown, 3)
        if (guess := guess_of(row)) is not None:
            x = axis.place(guess)
            ends = y - each_row / 2 + 3, y + each_row / 2 - 3
            plot.line(x, ends[0], x, ends[1], "guess", f"guessing: {axis.text(guess)}")
        for other in others:
            _point(plot, cells[said].get(other), f"{said}: {other}", OTHER, axis, y, 3)
        for place, own_name in enumerate(named):
            below = _APART * (place - (len(named) - 1) / 2)
            _point(plot, cells[said].get(own_name), f"{said}: {own_name}", MODELS[place], axis, y + below)
        if len(series) == 1:
            _value(svg, cells[said].get(series[0]), axis, y)
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(int(len(series) == 1)))
    return svg.written(height)


def _series(chart: Chart, mark: Mark) -> str:
    return mark.row if chart.turned else mark.column


def _chosen(series: Sequence[str], rows: Sequence[Mapping[str, Mark]]) -> tuple[list[str], list[str]]:
    """The series that are named, in the order given, and the others."""
    if len(series) <= MOST:
        return list(series), []
    means = {}
    for each in series:
        known = [value for row in rows if each in row and (value := row[each].number) is not None]
        means[each] = sum(known) / len(known) if known else float("-inf")
    best = sorted(series, key=lambda each: -means[each])[:MOST]
    return [each for each in series if each in best], [each for each in series if each not in best]


def _said(title: str, series: Sequence[str], rows: Mapping[str, Mapping[str, Mark]], axis: Axis) -> str:
    said = []
    for name_of_row, row in rows.items():
        known = [(each, row[each].value) for each in series[:3] if each in row and row[each].number is not None]
        numbers = [f"{each} {value:.{axis.digits}f}".removeprefix(f"{series[0]} " * (len(series) == 1))
                   for each, value in known]  # fmt: skip
        said += [f"{name_of_row} {', '.join(numbers)}"] if numbers else []
    return f"{title}{f' ({axis.title})' if axis.title else ''}. {first_listed(said, 10)}."


def _value(svg: Elements, mark: Mark | None, axis: Axis, y: float) -> None:
    known = mark is not None and mark.number is not None
    said = f"{mark.value:.{axis.digits}f}{mark.y.mark}" if mark is not None and known else "–"
    svg.text(100, y + 4, said, "strong" if known else "soft", "end")


def _point(plot: Elements, mark: Mark | None, said: str, look: Look, axis: Axis, y: float, size: float = 5) -> None:
    if mark is None or mark.number is None:
        return
    low, high = mark.y.low, mark.y.high
    if low is not None and high is not None and look is not OTHER:
        plot.interval(axis.place(low), axis.place(high), y)
    shown = f"{said}, {axis.text(mark.value)}{interval_text(low, high, axis.digits)}"
    plot.mark(axis.place(mark.value), y, look, shown, size)
