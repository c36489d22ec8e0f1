"""A number a row on its scale: beside guessing, the middle of other models and the range of the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.charts.axes import Axis, axis_around, percent_axis
from lmms_medtasks.report.charts.rows import NAMES, guess_of, name, own_rows, plot_place
from lmms_medtasks.report.charts.svg import DISC, Elements, Svg
from lmms_medtasks.short_texts import first_listed, interval_text

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

_ROW, _HEIGHT, _TOP, _BOTTOM = 54.0, 46.0, 8.0, 26.0
"""Pixels from one row to the next, of a row alone, and from its top to the ends of its bar."""
_MIDDLE = (_TOP + _BOTTOM) / 2
_NEAR = 14
"""Percent of the width below which two labels would touch on a phone."""


def bullet_chart(chart: Chart, marks: Sequence[Mark], *, small: bool = False) -> str:
    """A row a number, on the chart's scale, on that of percent, or on one around all numbers; ``small``: no names.

    A grey frame is the range of published models, a blue band the middle half of others with a line at their median
    (``x`` of the mark), a dashed line what guessing gets.
    """
    around = percent_axis() if marks[0].unit == "%" else axis_around(marks)
    axis = Axis(*chart.ends) if chart.ends else around
    printed = [each.number for each in marks if each.is_published and each.number is not None]
    guess, said, names, plot = guess_of(marks), [], Elements(), Elements()
    for place, (row, own) in enumerate(own_rows(chart, marks).items()):
        name(names, row, _ROW * place + _MIDDLE, "strong", href=own[-1].href)
        said.append(_said(own[-1], guess, printed))
        _row(plot, own[-1], axis, guess, printed, _ROW * place, said[-1])
    svg = Svg(f"{chart.title}. {first_listed(said)}.", "bullets")
    height = _HEIGHT if small else _ROW * len(said)
    if small:
        svg.parts += plot.parts
    else:
        svg.frame(names, *NAMES, height)
        svg.frame(plot, *plot_place(0))
    return svg.written(height)


def _said(mark: Mark, guess: float | None, printed: Sequence[float]) -> str:
    """All that is drawn of a row, in words."""

    def text(value: object) -> str:
        return f"{value:.{mark.digits}f}"

    parts = [
        f"{mark.row} {text(mark.value)} {mark.unit}".rstrip() + interval_text(mark.y.low, mark.y.high, mark.digits)
    ]
    if mark.x.value is not None:
        parts.append(f"quartiles of the ranked models {', '.join(map(text, (mark.x.low, mark.x.value, mark.x.high)))}")
    parts += [f"guessing {text(guess)}"] if guess is not None else []
    parts += [f"published models {text(min(printed))} to {text(max(printed))}"] if printed else []
    return ", ".join(parts)


def _row(
    plot: Elements, mark: Mark, axis: Axis, guess: float | None, printed: Sequence[float], y: float, said: str
) -> None:
    def band(low: float, high: float, inset: float, kind: str) -> None:
        start, width = axis.place(low), max(axis.place(high) - axis.place(low), 0.4)
        plot.box(start, y + _TOP + inset, width, _BOTTOM - _TOP - 2 * inset, kind, 1)

    plot.box(0, y + _TOP, 100, _BOTTOM - _TOP, "track-of", 1)
    if printed:
        band(min(printed), max(printed), 1, "range")
    low, median, high = mark.x.low, mark.x.value, mark.x.high
    if low is not None and high is not None and isinstance(median, int | float):
        band(low, high, 0, "quartiles")
        plot.line(axis.place(median), y + _TOP, axis.place(median), y + _BOTTOM, "median")
    if guess is not None:
        plot.line(axis.place(guess), y + _TOP - 5, axis.place(guess), y + _BOTTOM + 5, "guess")
    if mark.y.low is not None and mark.y.high is not None:
        plot.interval(axis.place(mark.y.low), axis.place(mark.y.high), y + _MIDDLE)
    plot.mark(axis.place(mark.value), y + _MIDDLE, DISC, said, 6)
    # Labels of the line below the scale, the more telling first; one that would touch another is left to the legend.
    wanted = [] if guess is None else [(axis.place(guess), f"guessing {guess:.{mark.digits}f}")]
    taken: list[tuple[float, float]] = []
    for x, text in (*wanted, (0.0, f"{axis.low:g}"), (100.0, f"{axis.high:g}")):
        anchor = "start" if x < _NEAR else "end" if x > 100 - _NEAR else "middle"
        width = 2.4 * len(text)  # percent, on a phone
        start = x - {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        if all(start + width < other[0] or start > other[1] for other in taken):
            taken.append((start, start + width))
            plot.text(x, y + _HEIGHT - 5, text, anchor=anchor)
