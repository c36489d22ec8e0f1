"""A row a model with its numbers from the first condition to the last, joined: what a degradation or a shift costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmms_medtasks.report.charts.axes import Axis
from lmms_medtasks.report.charts.rows import NAMES, name, plot_place
from lmms_medtasks.report.charts.svg import BETWEEN, DISC, PUBLISHED, RING, Elements, Entry, Svg, legend, signed
from lmms_medtasks.short_texts import first_listed, interval_text
from lmms_medtasks.statistics import confidence

_ROW, _SMALL_ROW = 30, 18


@dataclass(frozen=True)
class RangeRow:
    """A row of :func:`range_chart`: a model, its numbers from the first condition to the last, and the last's interval.

    ``values``: percent, None where it was not asked. ``published``: a row of the paper's.
    """

    name: str
    values: tuple[float | None, ...]
    low: float | None = None
    high: float | None = None
    published: bool = False


def range_chart(
    title: str,
    series: Sequence[str],
    rows: Sequence[RangeRow],
    chance: float | None = None,
    axis: Axis | None = None,
) -> str:
    """A row a model: a ring for the first of ``series``, diamonds between, a disc for the last, a line that joins them.

    At the right the last number and its change from the first. ``chance``: what guessing gets, a dashed line.
    ``axis``: percent that hold all numbers, where None is given.
    """
    own, printed = ([row for row in rows if row.published is kind] for kind in (False, True))
    scale = axis or _scale([*(value for row in rows for value in (*row.values, row.low)), chance])
    svg = Svg(_said(title, series, own, len(printed), chance, scale), "ranges")
    entries: list[Entry] = [(RING, each) for each in series[:-1][:1]]
    entries += [*((BETWEEN, each) for each in series[1:-1]), (DISC, series[-1])]
    entries += [("interval", f"{confidence.percent()} interval")] if any(row.low is not None for row in own) else []
    entries += [(PUBLISHED, "published")] if printed else []
    entries += [("guess", f"guessing, {chance:.{scale.digits}f}")] if chance is not None else []
    top = legend(svg, entries) + 36
    height = top + _ROW * len(own) + (_SMALL_ROW * (len(printed) + 1) if printed else 0) + 8
    plot = Elements()
    for tick, said in scale.texts:
        plot.line(scale.place(tick), top - 6, scale.place(tick), height - 6, "grid")
        plot.text(scale.place(tick), top - 12, said, anchor="middle")
    if chance is not None:
        # The line leaves out the row that says what the rows below it are.
        rows_end = top + _ROW * len(own)
        ends = [(top - 6, rows_end), (rows_end + _SMALL_ROW, height - 6)] if printed else [(top - 6, height - 6)]
        for start, end in ends:
            plot.line(scale.place(chance), start, scale.place(chance), end, "guess")
    svg.text(100, top - 26, series[-1].partition(" (")[0], anchor="end", dx=-50)
    if len(series) > 1:
        svg.text(100, top - 26, "change", anchor="end")
    names = Elements()
    y = float(top)
    for row in own:
        _row(svg, names, plot, row, series, scale, y + _ROW / 2)
        y += _ROW
    if printed:
        svg.text(0, y + _SMALL_ROW - 5, "published in the paper, on its own data", "soft")
        y += _SMALL_ROW
        for row in printed:
            _row(svg, names, plot, row, series, scale, y + _SMALL_ROW / 2)
            y += _SMALL_ROW
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(2))
    return svg.written(height)


def _scale(values: Sequence[float | None]) -> Axis:
    lowest = min((value for value in values if value is not None), default=0)
    start = min(10 * (lowest // 10), 80)  # all at 100 still need a scale
    ticks = tuple(map(float, range(int(start), 101, 10 if start >= 50 else 20)))
    return Axis(start, 100, ticks, unit=" %")


def _said(
    title: str, series: Sequence[str], own: Sequence[RangeRow], published: int, chance: float | None, scale: Axis
) -> str:
    rows = [
        f"{row.name} "
        + ", ".join(
            f"{said} {value:.{scale.digits}f}"
            for said, value in zip(series, row.values, strict=False)
            if value is not None
        )
        for row in own
    ]
    more = f" {published} published rows in grey." if published else ""
    guess = f" Guessing gets {chance:.{scale.digits}f}." if chance is not None else ""
    unit = {"%": "Percent: ", "": ""}.get(scale.unit.strip(), f"In {scale.unit.strip()}: ")
    return f"{title}. {unit}{first_listed(rows)}.{more}{guess}"


def _row(
    svg: Elements, names: Elements, plot: Elements, row: RangeRow, series: Sequence[str], scale: Axis, y: float
) -> None:
    known = [(number, value) for number, value in enumerate(row.values) if value is not None]
    own = not row.published
    name(names, row.name, y, "strong" if own else "soft", two_lines=own)
    if not known:
        return
    values = [value for _, value in known]
    kind = "joined" if own else "joined-published"
    plot.line(scale.place(min(values)), y, scale.place(max(values)), y, kind)
    if row.low is not None and row.high is not None:
        plot.interval(scale.place(row.low), scale.place(row.high), y)
    last = len(series) - 1
    for number, value in known:
        said = f"{row.name}, {series[number]}: {scale.text(value)}"
        said += interval_text(row.low, row.high, scale.digits) if number == last else ""
        if not own:
            plot.mark(scale.place(value), y, PUBLISHED, said, 3)
        else:
            plot.mark(scale.place(value), y, DISC if number == last else BETWEEN if number else RING, said)
    first, final = row.values[0], row.values[-1]
    if final is not None:
        svg.text(100, y + 4, f"{final:.{scale.digits}f}", "strong" if own else "soft", "end", dx=-50)
    if final is not None and first is not None and last:
        svg.text(100, y + 4, signed(final - first, scale.digits), "" if own else "soft", "end")
