"""What charts with a row a name share: their rows, a column of names, the plot beside it, numbers at the right."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

from lmms_medtasks.report.charts.axes import Axis
from lmms_medtasks.report.charts.svg import Elements, lines_of, number
from lmms_medtasks.short_texts import cut_apart, short

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

NAMES = (0.0, 28.5)
"""Where names stand and how wide they are, percent."""
_PLOT = 29.0
_LETTERS, _SECOND = 15, 27
"""Letters of a name on its first and on its second line."""
_NARROW = 13
"""Letters of the first line on a phone, where the style sheet shows the element of the class "narrow"."""


def rows_of(chart: Chart, marks: Iterable[Mark]) -> dict[str, list[Mark]]:
    """Marks by the row that they stand in."""
    found: dict[str, list[Mark]] = {}
    for each in marks:
        found.setdefault(each.column if chart.turned else each.row, []).append(each)
    return found


def own_rows(chart: Chart, marks: Sequence[Mark]) -> dict[str, list[Mark]]:
    """The rows that are ours and have a number."""
    rows = rows_of(chart, (each for each in marks if each.kind == "run"))
    return {said: own for said, own in rows.items() if any(each.number is not None for each in own)}


def guess_of(marks: Sequence[Mark]) -> float | None:
    """What guessing gets, the last number of those that say it."""
    known = [each.number for each in marks if each.kind == "counts" and each.number is not None]
    return known[-1] if known else None


def plot_place(numbers: int) -> tuple[float, float]:
    """Where a plot with so many numbers at its right stands and how wide it is, percent."""
    return _PLOT, {0: 67.0, 1: 57.0, 2: 47.0}[numbers]


def grid(plot: Elements, axis: Axis, top: float, bottom: float) -> None:
    """A line down and a text above it for each tick of the axis."""
    for tick, said in axis.texts:
        plot.line(axis.place(tick), top - 6, axis.place(tick), bottom, "grid")
        plot.text(axis.place(tick), top - 12, said, anchor="middle")


def name(names: Elements, said: str, y: float, kind: str, *, two_lines: bool = True, href: str = "") -> None:
    """A row's name, on two lines where it is long; the whole is its tooltip."""
    lines = lines_of(said, _LETTERS, _SECOND) if two_lines else [short(said, _SECOND)]
    narrow = lines_of(said, _NARROW, _NARROW + 2) if two_lines else [_without_middle(said, _NARROW + 5)]
    with names.link(href):
        if lines == narrow:
            names.parts.append(_name(said, lines, y, kind))
        else:
            names.parts.append(_name(said, lines, y, f"{kind} wide"))
            names.parts.append(_name(said, narrow, y, f"{kind} narrow"))


def _without_middle(said: str, most: int) -> str:
    """A name of so many letters at most: its first words and its last one, where they tell anything."""
    *words, last = re.split(r"(?<=[-_ /:])(?=.)|(?=\()", said)
    kept = ""
    for word in words if len(said) > most else ():
        if len(kept + word + last) >= most:
            break
        kept += word
    return f"{kept}…{last}" if kept else cut_apart([said], most)[said]


def _name(said: str, lines: Sequence[str], y: float, kind: str) -> str:
    title = f"<title>{escape(said)}</title>" if list(lines) != [said] or len(said) > _LETTERS else ""
    first = y + 4 - 6.5 * (len(lines) - 1)
    spans = "".join(
        f'<tspan x="0" y="{number(first + 13 * place)}">{escape(each)}</tspan>' for place, each in enumerate(lines)
    )
    return f'<text class="name {kind}">{spans}{title}</text>'
