"""From a declared chart and its marks to what the drawer takes: rows, series, axes, names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from lmms_medtasks.report.charts.axes import Axis, percent_axis
from lmms_medtasks.report.charts.bullets import bullet
from lmms_medtasks.report.charts.heat import FEW, HeatCell, HeatRow, ShareRow, heat_chart, share_chart
from lmms_medtasks.report.charts.plane_panels import axis_around, panels_of, said_of
from lmms_medtasks.report.charts.planes import Guide, plane_chart, small_plane
from lmms_medtasks.report.charts.points import PointRow, point_chart
from lmms_medtasks.report.charts.ranges import RangeRow, range_chart
from lmms_medtasks.report.charts.rows import NAMES, name, plot_place
from lmms_medtasks.report.charts.svg import Elements, Svg
from lmms_medtasks.report.document import Cell
from lmms_medtasks.short_texts import first_listed, interval_text

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

_STRONGEST = 60.0
"""Points lost from which on a cell of a heat map has its full colour."""
_NAMED, _ALONE, _SEVERAL, _LINE = 360.0, 300.0, 200.0, 26.0
"""Heights of a plot with names beside its marks, of others, of one beside others, and of a rank, in pixels."""
_BULLET = 54


def drawn(chart: Chart, marks: Sequence[Mark], guides: Sequence[Guide] = (), *, legend: bool = True) -> str:
    """The chart as an <svg>; without ``legend`` what is around a plane says what its marks are."""
    if chart.kind == "plane":
        panels = panels_of(chart, marks, guides)
        ranks = len(panels[0].series) * _LINE if chart.scale == "ranks" else 0
        alone = _NAMED if chart.names == "points" else _ALONE
        height = ranks or (alone if len(panels) == 1 else _SEVERAL)
        return plane_chart(said_of(chart.title, panels), panels, height=height, entries=None if legend else ())
    return {"ranges": _ranges, "points": _points, "heat": _heat, "shares": _shares, "bullets": _bullets}[chart.kind](
        chart, marks
    )


def small(chart: Chart, marks: Sequence[Mark], guides: Sequence[Guide] = ()) -> str:
    """The chart for a column of a page."""
    if chart.kind == "heat":
        return _heat(chart, [replace(each, task="", total=None) for each in marks], is_small=True)
    (panel,) = panels_of(chart, marks, guides, is_small=True)
    return small_plane(said_of(chart.title, [panel]), panel)


def _rows(chart: Chart, marks: Iterable[Mark]) -> dict[str, list[Mark]]:
    """Marks by the row that they stand in."""
    found: dict[str, list[Mark]] = {}
    for each in marks:
        found.setdefault(each.column if chart.turned else each.row, []).append(each)
    return found


def _own(chart: Chart, marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    """The rows that are ours and have a number, in the chart's order."""
    rows = _rows(chart, (each for each in marks if each.kind == "run"))
    known = {name: own for name, own in rows.items() if any(each.y.value is not None for each in own)}
    if not chart.sort:
        return known
    sign = -1 if chart.sort == "falling" else 1
    return dict(sorted(known.items(), key=lambda each: (each[1][-1].rank is None, sign * (each[1][-1].rank or 0.0))))


def _number(mark: Mark) -> float | None:
    return mark.value if mark.y.value is not None else None


def _guess(marks: Sequence[Mark]) -> float | None:
    known = [each.value for each in marks if each.kind == "counts" and each.y.value is not None]
    return known[-1] if known else None


def _ranges(chart: Chart, marks: Sequence[Mark]) -> str:
    rows = _own(chart, marks)
    # Of own rows none may be there, as where published ones are drawn apart.
    known = rows or chart.chosen(marks)
    asked = {each.column for own in known.values() for each in own if each.y.value is not None}
    series = [each for each in dict.fromkeys(mark.column for mark in marks) if each in asked]
    made = []
    for published, group in ((False, rows), (True, chart.chosen(marks))):
        for said, own in group.items():
            of = {each.column: each for each in own}
            values = tuple(_number(of[each]) if each in of else None for each in series)
            last = of[series[-1]].y if series[-1] in of and not published else Cell(None)
            made.append(RangeRow(said, values, last.low, last.high, published))
    axis = None if marks[0].unit == "%" else axis_around(marks)
    return range_chart(chart.title, series, made, _guess(marks), axis)


def _points(chart: Chart, marks: Sequence[Mark]) -> str:
    own = [each for each in marks if each.kind == "run"]
    series = list(dict.fromkeys(_series(chart, each) for each in own))
    shown = {mark for row in chart.chosen(marks).values() for mark in map(id, row)}
    made = []
    for said, row in _rows(chart, marks).items():
        cells = {_series(chart, each): each.y for each in row if each.kind == "run"}
        if not cells:
            continue
        published = tuple((each.row, each.value) for each in row if id(each) in shown and each.y.value is not None)
        made.append(PointRow(said, tuple(cells.get(each, Cell(None)) for each in series), published, _guess(row)))
    title = chart.axis[0] if chart.axis else ""
    if chart.scale == "ranks":
        scale: str | Axis = Axis(0.5, len(series) + 0.5, tuple(map(float, range(1, len(series) + 1))), title)
    else:
        scale = percent_axis(title) if own[0].unit == "%" and not chart.scale else axis_around(own, title)
    return point_chart(chart.title, series, made, scale, 0.0 if own[0].signed else None)


def _series(chart: Chart, mark: Mark) -> str:
    return mark.row if chart.turned else mark.column


def _heat(chart: Chart, marks: Sequence[Mark], *, is_small: bool = False) -> str:
    marks = [each for each in marks if each.kind in ("run", "reference")]
    harm = marks[0].signed
    if chart.turned:
        best = chart.chosen(marks)
        drawn_marks = [
            *(each for each in marks if each.kind == "run"),
            *(each for own in best.values() for each in own),
        ]
        known = {each.row for each in drawn_marks if each.y.value is not None}
        drawn_marks = [each for each in drawn_marks if each.row in known]
        heads = list(dict.fromkeys(each.row for each in drawn_marks))
        made = [_heat_row(said, own) for said, own in _rows(chart, drawn_marks).items()]
    else:
        heads = list(dict.fromkeys(each.column for each in marks))
        made = [_heat_row(said, own) for said, own in _own(chart, marks).items()]
        printed = [_heat_row(said, own) for said, own in chart.chosen(marks).items()]
        made += [HeatRow("published:", ()), *printed] if printed else []
    total = chart.heads.get(chart.total, chart.total) if any(row.total for row in made) else ""
    return heat_chart(chart.title, heads, made, total, "harm" if harm else "score", is_small)


def _heat_row(said: str, row: Sequence[Mark]) -> HeatRow:
    total = "" if row[-1].total is None else f"{row[-1].total:.1f}"
    return HeatRow(said, tuple(map(_heat_cell, row)), total)


def _heat_cell(mark: Mark) -> HeatCell:
    count = FEW if mark.n is None else mark.n
    if mark.y.value is None:
        return HeatCell(None, count, 0.0)
    digits, value = mark.digits, mark.value
    said = f"{mark.row}, {mark.column}: " + (f"{value:+.{digits}f} points" if mark.signed else f"{value:.{digits}f}")
    said += interval_text(mark.y.low, mark.y.high, digits)
    said += ", published" if mark.is_published else "" if mark.n is None else f", {mark.n:,} questions"
    strength = min(1.0, max(0.0, -value / _STRONGEST if mark.signed else value / 100))
    return HeatCell(value, count, strength, said, mark.task if mark.tags else "", mark.tags, mark.is_published)


def _shares(chart: Chart, marks: Sequence[Mark]) -> str:
    rows = _own(chart, marks)
    series = list(dict.fromkeys(each.column for own in rows.values() for each in own))
    made = [ShareRow(said, tuple(_number(each) or 0.0 for each in own)) for said, own in rows.items()]
    return share_chart(chart.title, series, made)


def _bullets(chart: Chart, marks: Sequence[Mark]) -> str:
    """A row a number, on the whole scale of percent, or on one around all numbers."""
    axis = percent_axis() if marks[0].unit == "%" else axis_around(marks)
    printed = [each.value for each in marks if each.is_published and each.y.value is not None]
    said, names, plot = [], Elements(), Elements()
    for number, (row, own) in enumerate(_own(chart, marks).items()):
        y, mark = float(_BULLET * number), own[-1]
        said.append(f"{row} {mark.value:.{mark.digits}f}{interval_text(mark.y.low, mark.y.high, mark.digits)}")
        name(names, row, y + 17, "strong")
        drawing = bullet(
            said[-1], (axis.low, axis.high), mark.value, (mark.y.low, mark.y.high), chance=_guess(marks),
            published=(min(printed), max(printed)) if printed else None, digits=mark.digits,
        )  # fmt: skip
        plot.parts.append(drawing.replace("<svg ", f'<svg y="{y:g}" ', 1))
    height = _BULLET * len(said)
    svg = Svg(f"{chart.title}. {first_listed(said)}.", "bullets")
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(0))
    return svg.written(height)
