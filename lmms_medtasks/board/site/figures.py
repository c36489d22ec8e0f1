"""A task's ranking as a picture: the mean of each model with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.document import Cell, Figure, Row, Table
from lmms_medtasks.report.drawing import DASHES, INK, MARKERS, SERIES, canvas, svg

_SERIES = len(SERIES)
_NAME = 36
_LEAST, _ROOM = 0.2, 0.02
_ROOMY = 12
_MOST = 40
"""Models in a picture; more are in the table only."""


def forest(table: Table, measures: Sequence[str], key: str, ends: tuple[float, float]) -> Figure | None:
    """The first three of ``measures`` of the ranked models in ``table``; None with nothing to draw.

    ``ends``: of the first measure's scale, in its unit.
    """
    heads = [column.head for column in table.columns]
    places = [place for place, column in enumerate(table.columns) if column.name in measures][:_SERIES]
    units = {table.columns[place].unit for place in places}
    places = [place for place in places if table.columns[place].unit == table.columns[places[0]].unit]
    rows = [row for row in table.rows if row.kind == "run"][:_MOST]
    if not rows or not places:
        return None
    # Many models stand closer, so that the table below is not far away.
    row = 0.18 + 0.14 * len(places) if len(rows) <= _ROOMY else 0.1 + 0.07 * len(places)
    with canvas(7.0, 1.1 + row * len(rows)) as figure:
        axes = figure.subplots()
        for number, place in enumerate(places):
            _series(axes, rows, place, number, len(places), heads[place])
        axes.set_yticks(range(len(rows)), [_short(row) for row in rows])
        axes.set_ylim(len(rows) - 0.4, -0.6)
        axes.set_xlim(axis(axes.get_xlim(), ends))
        axes.set_xlabel(table.columns[places[0]].unit)
        axes.grid(axis="x")
        if len(places) > 1:
            figure.legend(loc="outside upper center", ncols=len(places))
        drawn = svg(figure, key, table.title)
    about = "Mean and 95 % interval of each ranked model." + (
        " Measures in other units are in the table." if len(units) > 1 else ""
    )
    return Figure("forest", table.title, about, drawn, table.key)


def axis(drawn: tuple[float, float], ends: tuple[float, float]) -> tuple[float, float]:
    """The ends of an axis for what was ``drawn``: never a sliver of the scale, and not far beyond its ``ends``."""
    room = _ROOM * (ends[1] - ends[0])
    half = max(drawn[1] - drawn[0], _LEAST * (ends[1] - ends[0])) / 2
    middle = sum(drawn) / 2
    # Into the scale as a whole first, so that the least width stays.
    low = min(max(middle - half, ends[0] - room), max(ends[1] + room - 2 * half, ends[0] - room))
    return low, min(low + 2 * half, ends[1] + room)


def _series(axes: object, rows: Sequence[Row], place: int, number: int, count: int, name: str) -> None:
    offset = 0.0 if count == 1 else 0.5 * (number / (count - 1) - 0.5)
    named = name
    for row, each in enumerate(rows):
        cell: Cell = each.cells[place]
        if not isinstance(cell.value, int | float):
            continue
        colour = SERIES[number] if count > 1 else INK
        if cell.low is not None and cell.high is not None:
            line = {"color": colour, "linestyle": DASHES[number], "linewidth": 1.4}
            axes.plot([cell.low, cell.high], [row + offset] * 2, **line)  # type: ignore[attr-defined]
        point = {"color": colour, "marker": MARKERS[number], "markersize": 5, "linestyle": "none", "label": named}
        axes.plot([cell.value], [row + offset], **point)  # type: ignore[attr-defined]
        named = "_nolegend_"


def _short(row: Row) -> str:
    name = str(row.cells[0].value)
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"
