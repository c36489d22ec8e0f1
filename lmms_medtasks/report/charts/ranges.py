"""A row a model with its numbers from the first condition to the last, joined: what a degradation or a shift costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.charts.axes import Axis, axis_around
from lmms_medtasks.report.charts.rows import NAMES, grid, guess_of, name, own_rows, plot_place
from lmms_medtasks.report.charts.svg import BETWEEN, DISC, PUBLISHED, RING, Elements, Entry, Svg, legend, signed
from lmms_medtasks.short_texts import first_listed, interval_text
from lmms_medtasks.statistics import confidence

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

_Cells = Mapping[str, "Mark"]
"""A row: its marks by their columns."""
_ROW, _SMALL_ROW = 30, 18


def range_chart(chart: Chart, marks: Sequence[Mark]) -> str:
    """A row a model: a ring for the first column, diamonds between, a disc for the last, a line that joins them.

    At the right the last number and its change from the first; below, published models; dashed, what guessing gets.
    """
    rows, chosen, guess = own_rows(chart, marks), chart.chosen(marks), guess_of(marks)
    # Of own rows none may be there, as where published ones are drawn apart.
    asked = {each.column for row in (rows or chosen).values() for each in row if each.number is not None}
    series = [each for each in dict.fromkeys(mark.column for mark in marks) if each in asked]
    own, printed = ([{each.column: each for each in row} for row in of.values()] for of in (rows, chosen))
    bars = [row[series[-1]].y for row in own if series[-1] in row and row[series[-1]].y.low is not None]
    if marks[0].unit == "%":
        numbers = [each.number for row in (*own, *printed) for each in row.values()]
        axis = _percents([*numbers, *(bar.low for bar in bars), guess])
    else:
        axis = axis_around(marks)
    svg = Svg(_said(chart.title, series, own, len(printed), guess, axis), "ranges")
    entries: list[Entry] = [(RING, each) for each in series[:-1][:1]]
    entries += [*((BETWEEN, each) for each in series[1:-1]), (DISC, series[-1])]
    entries += [("interval", f"{confidence.percent()} interval")] if bars else []
    entries += [(PUBLISHED, "published")] if printed else []
    entries += [("guess", f"guessing, {guess:.{axis.digits}f}")] if guess is not None else []
    top = legend(svg, entries) + 36
    height = top + _ROW * len(own) + (_SMALL_ROW * (len(printed) + 1) if printed else 0) + 8
    names, plot = Elements(), Elements()
    grid(plot, axis, top, height - 6)
    if guess is not None:
        # The line leaves out the row that says what the rows below it are.
        rows_end = top + _ROW * len(own)
        ends = [(top - 6, rows_end), (rows_end + _SMALL_ROW, height - 6)] if printed else [(top - 6, height - 6)]
        for start, end in ends:
            plot.line(axis.place(guess), start, axis.place(guess), end, "guess")
    svg.text(100, top - 26, series[-1].partition(" (")[0], anchor="end", dx=-50)
    if len(series) > 1:
        svg.text(100, top - 26, "change", anchor="end")
    y = float(top)
    for row in own:
        _row(svg, names, plot, row, series, axis, y + _ROW / 2)
        y += _ROW
    if printed:
        svg.text(0, y + _SMALL_ROW - 5, "published in the paper, on its own data", "soft")
        y += _SMALL_ROW
        for row in printed:
            _row(svg, names, plot, row, series, axis, y + _SMALL_ROW / 2)
            y += _SMALL_ROW
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(2))
    return svg.written(height)


def _percents(values: Iterable[float | None]) -> Axis:
    """Percent that hold all values, up to 100."""
    lowest = min((value for value in values if value is not None), default=0)
    start = min(10 * (lowest // 10), 80)  # all at 100 still need a scale
    ticks = tuple(map(float, range(int(start), 101, 10 if start >= 50 else 20)))
    return Axis(start, 100, ticks, unit=" %")


def _said(
    title: str,
    series: Sequence[str],
    own: Sequence[Mapping[str, Mark]],
    published: int,
    guess: float | None,
    axis: Axis,
) -> str:
    rows = []
    for row in own:
        known = [(each, row[each].number) for each in series if each in row]
        numbers = ", ".join(f"{said} {value:.{axis.digits}f}" for said, value in known if value is not None)
        rows.append(f"{next(iter(row.values())).row} {numbers}")
    more = f" {published} published rows in grey." if published else ""
    guessing = f" Guessing gets {guess:.{axis.digits}f}." if guess is not None else ""
    unit = {"%": "Percent: ", "": ""}.get(axis.unit.strip(), f"In {axis.unit.strip()}: ")
    return f"{title}. {unit}{first_listed(rows)}.{more}{guessing}"


def _row(
    svg: Elements, names: Elements, plot: Elements, row: _Cells, series: Sequence[str], axis: Axis, y: float
) -> None:
    known = {each: row[each].value for each in series if each in row and row[each].number is not None}
    any_mark = next(iter(row.values()))
    own, last = not any_mark.is_published, series[-1]
    name(names, any_mark.row, y, "strong" if own else "soft", two_lines=own, href=any_mark.href)
    if not known:
        return
    kind = "joined" if own else "joined-published"
    plot.line(axis.place(min(known.values())), y, axis.place(max(known.values())), y, kind)
    bar = row[last].y if last in row and own else None
    if bar and bar.low is not None and bar.high is not None:
        plot.interval(axis.place(bar.low), axis.place(bar.high), y)
    for column, value in known.items():
        said = f"{any_mark.row}, {column}: {axis.text(value)}"
        said += interval_text(bar.low, bar.high, axis.digits) if bar and column == last else ""
        look = DISC if column == last else RING if column == series[0] else BETWEEN
        plot.mark(axis.place(value), y, look if own else PUBLISHED, said, 5 if own else 3)
    if last in known:
        final = known[last]
        svg.text(100, y + 4, f"{final:.{axis.digits}f}", "strong" if own else "soft", "end", dx=-50)
        if series[0] in known and len(series) > 1:
            svg.text(100, y + 4, signed(final - known[series[0]], axis.digits), "" if own else "soft", "end")
