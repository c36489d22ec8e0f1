"""Charts with a row a name, its numbers on a scale beside it: ranges, points and bullets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from xml.sax.saxutils import escape

from lmms_medtasks.report.charts.chart_spec import ChartSpec, Mark, axis_around, own_rows, rows_of
from lmms_medtasks.report.charts.svg import (
    BETWEEN,
    DISC,
    MODELS,
    OTHER,
    PUBLISHED,
    RING,
    Axis,
    Elements,
    Entry,
    Look,
    Svg,
    draw_legend,
    lines_of,
    percent_axis,
    signed_number,
    svg_number,
    text_width,
)
from lmms_medtasks.short_texts import cut_apart, first_listed, interval_text
from lmms_medtasks.statistics import confidence

NAMES = (0.0, 28.5)
"""Where names stand and how wide they are, percent."""
_PLOT = 29.0
_LETTERS, _SECOND = 15, 27
"""Letters of a name on its first and on its second line."""
_NARROW = 12
"""Letters of the first line on a phone, where the style sheet shows the element of the class "narrow"."""
_ROOM, _NARROW_ROOM, _BOLD = 163.0, 104.0, 1.1
"""Widths of a line that there is room for, as :func:`text_width` says them, and by how much bold letters are wider."""


def guess_of(marks: Sequence[Mark]) -> float | None:
    """What guessing gets, the last number of those that say it."""
    known = [mark.number for mark in marks if mark.kind == "counts" and mark.number is not None]
    return known[-1] if known else None


def plot_place(numbers: int) -> tuple[float, float]:
    """Where a plot with so many numbers at its right stands and how wide it is, percent."""
    return _PLOT, {0: 67.0, 1: 57.0, 2: 47.0}[numbers]


def draw_grid(plot: Elements, axis: Axis, top: float, bottom: float) -> None:
    """A line down and a text above it for each tick of the axis."""
    for tick, said in axis.texts:
        plot.line(axis.place(tick), top - 6, axis.place(tick), bottom, "grid")
        plot.text(axis.place(tick), top - 12, said, anchor="middle")


NameLines = Mapping[str, tuple[list[str], list[str]]]
"""By name its lines on a wide page and on a phone."""


def name_lines(said: Iterable[str], *, is_bold: bool, two_lines: bool = True) -> NameLines:
    """The lines of all names of a chart, cut together: no two names get the same ones."""
    names, found, bold = list(dict.fromkeys(said)), [], _BOLD if is_bold else 1.0
    for first, second, longest, room in ((_LETTERS, _SECOND, _SECOND, _ROOM), (_NARROW, _NARROW + 2, 0, _NARROW_ROOM)):
        most = second if two_lines else max(first + 4, longest)
        cut = {}
        for each in names:
            if two_lines and longest and text_width(each) * bold <= room:  # a wide page has room for it on one line
                cut[each] = [each]
                continue
            for size in range(most, 7, -1):
                cut[each] = lines_of(each, first, size, longest) if two_lines else [_without_middle(each, size)]
                if text_width(cut[each][-1]) * bold <= room:
                    break
        alike: dict[tuple[str, ...], list[str]] = {}
        for said_name, lines in cut.items():
            alike.setdefault(tuple(lines), []).append(said_name)
        for group in alike.values():
            if len(group) > 1:
                room_of_group = first + 2 if two_lines else most
                cut |= {each: [short] for each, short in cut_apart(group, room_of_group).items()}
        if len(set(map(tuple, cut.values()))) < len(names):
            cut = {each: [short] for each, short in cut_apart(names, first + 2).items()}
        found.append(cut)
    return {each: (found[0][each], found[1][each]) for each in names}


def draw_row_name(names: Elements, said: str, y: float, kind: str, lines: NameLines, *, href: str = "") -> None:
    """A row's name, on the lines that :func:`name_lines` has for it; the whole is its tooltip."""
    wide, narrow = lines[said]
    with names.within("a href", href):
        if href:  # What a finger is to hit is at least 24 px high.
            place = f'x="0" y="{svg_number(y - 12)}" width="100%" height="24"'
            names.parts.append(f'<rect {place} fill="none" pointer-events="all"/>')
        shown = {"": wide} if wide == narrow else {" wide": wide, " narrow": narrow}
        names.parts += [_draw_name(said, each, y, f"{kind}{width}") for width, each in shown.items()]


def _without_middle(said: str, most: int) -> str:
    """A name of so many letters at most: its first words and its last one, where they tell anything."""
    *words, last = re.split(r"(?<=[-_ /:])(?=.)|(?=\()", said)
    kept = ""
    for word in words if len(said) > most else ():
        if len(kept + word + last) >= most:
            break
        kept += word
    return f"{kept}…{last}" if kept else cut_apart([said], most)[said]


def _draw_name(said: str, lines: Sequence[str], y: float, kind: str) -> str:
    title = f"<title>{escape(said)}</title>" if list(lines) != [said] or len(said) > _LETTERS else ""
    first = y + 4 - 6.5 * (len(lines) - 1)
    spans = "".join(
        f'<tspan x="0" y="{svg_number(first + 13 * place)}">{escape(each)}</tspan>' for place, each in enumerate(lines)
    )
    return f'<text class="name {kind}">{spans}{title}</text>'


_Cells = Mapping[str, Mark]
"""A row: its marks by their columns."""
_RANGE_HEIGHT, _PRINTED_HEIGHT = 30, 18


def range_chart(chart: ChartSpec, marks: Sequence[Mark]) -> str:
    """A row a model: a ring for the first column, diamonds between, a disc for the last, a line that joins them.

    At the right the last number and its change from the first; below, published models; dashed, what guessing gets.
    """
    rows, chosen, guess = own_rows(chart, marks), chart.chosen(marks), guess_of(marks)
    # Of own rows none may be there, as where published ones are drawn apart.
    asked = {each.column for row in (rows or chosen).values() for each in row if each.number is not None}
    series = [column for column in dict.fromkeys(mark.column for mark in marks) if column in asked]
    own, printed = ([{each.column: each for each in row} for row in of.values()] for of in (rows, chosen))
    bars = [row[series[-1]].y for row in own if series[-1] in row and row[series[-1]].y.low is not None]
    if marks[0].unit == "%":
        numbers = [each.number for row in (*own, *printed) for each in row.values()]
        axis = _percents_from([*numbers, *(bar.low for bar in bars), guess])
    else:
        axis = axis_around(marks)
    svg = Svg(_describe_ranges(chart.title, series, own, len(printed), guess, axis), "ranges")
    entries: list[Entry] = [(RING, each) for each in series[:-1][:1]]
    entries += [*((BETWEEN, each) for each in series[1:-1]), (DISC, series[-1])]
    entries += [("interval", f"{confidence.format_current_level()} interval")] if bars else []
    entries += [(PUBLISHED, "published")] if printed else []
    entries += [("guess", f"guessing, {guess:.{axis.digits}f}")] if guess is not None else []
    top = draw_legend(svg, entries) + 36
    height = top + _RANGE_HEIGHT * len(own) + (_PRINTED_HEIGHT * (len(printed) + 1) if printed else 0) + 8
    names, plot = Elements(), Elements()
    rows_end = top + _RANGE_HEIGHT * len(own)
    draw_grid(plot, axis, top, rows_end if printed else height - 6)
    # Lines leave out the row that says what the rows below it are.
    below = [(rows_end + _PRINTED_HEIGHT, height - 6)] if printed else []
    for start, end in below:
        for tick, _ in axis.texts:
            plot.line(axis.place(tick), start, axis.place(tick), end, "grid")
    if guess is not None:
        for start, end in [(top - 6, rows_end if printed else height - 6), *below]:
            plot.line(axis.place(guess), start, axis.place(guess), end, "guess")
    svg.text(100, top - 26, series[-1].partition(" (")[0], anchor="end", dx=-50)
    if len(series) > 1:
        svg.text(100, top - 26, "change", anchor="end")
    y = float(top)
    lines = name_lines((next(iter(row.values())).row for row in own), is_bold=True)
    for row in own:
        _draw_range(svg, names, plot, row, series, axis, y + _RANGE_HEIGHT / 2, lines)
        y += _RANGE_HEIGHT
    if printed:
        svg.text(0, y + _PRINTED_HEIGHT - 5, "published in the paper, on its own data", "soft")
        y += _PRINTED_HEIGHT
        lines = name_lines((next(iter(row.values())).row for row in printed), is_bold=False, two_lines=False)
        for row in printed:
            _draw_range(svg, names, plot, row, series, axis, y + _PRINTED_HEIGHT / 2, lines)
            y += _PRINTED_HEIGHT
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(2))
    return svg.written(height)


def _percents_from(values: Iterable[float | None]) -> Axis:
    """Percent that hold all values, up to 100."""
    lowest = min((value for value in values if value is not None), default=0)
    start = min(10 * (lowest // 10), 80)  # all at 100 still need a scale
    ticks = tuple(map(float, range(int(start), 101, 10 if start >= 50 else 20)))
    return Axis(start, 100, ticks, unit=" %")


def _describe_ranges(
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


def _draw_range(
    svg: Elements, names: Elements, plot: Elements, row: _Cells, series: Sequence[str], axis: Axis, y: float,
    lines: NameLines,
) -> None:  # fmt: skip
    known = {each: row[each].value for each in series if each in row and row[each].number is not None}
    any_mark = next(iter(row.values()))
    own, last = not any_mark.is_published, series[-1]
    draw_row_name(names, any_mark.row, y, "strong" if own else "soft", lines, href=any_mark.href)
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
            svg.text(100, y + 4, signed_number(final - known[series[0]], axis.digits), "" if own else "soft", "end")


_APART = 10
MOST = len(MODELS) - 1
"""Models with a look and an interval of their own; with more the best ones have it, the others are small points."""


def point_chart(chart: ChartSpec, marks: Sequence[Mark]) -> str:
    """A row a category, in the order given: a point and interval a series, published models hollow, guessing dashed.

    Changes have a line at 0. Of more than :data:`MOST` series those with the highest mean are named.
    """
    own = [mark for mark in marks if mark.kind == "run"]
    series = list(dict.fromkeys(_series_of(chart, each) for each in own))
    rows = {said: row for said, row in rows_of(chart, marks).items() if any(each.kind == "run" for each in row)}
    cells = {said: {_series_of(chart, each): each for each in row if each.kind == "run"} for said, row in rows.items()}
    kept = {id(each) for row in chart.chosen(marks).values() for each in row if each.number is not None}
    title = chart.axis[0] if chart.axis else ""
    axis = percent_axis(title) if own[0].unit == "%" and not chart.scale else axis_around(own, title)
    named, others = _choose_named(series, list(cells.values()))
    each_row = float(max(_RANGE_HEIGHT, _APART * len(named) + 10))
    svg = Svg(_describe_points(chart.title, series, cells, axis), "points")
    cut = cut_apart(named, 28)
    entries: list[Entry] = [(look, cut[said]) for look, said in zip(MODELS, named, strict=False)]
    entries = entries if len(series) > 1 else []
    entries += [(OTHER, f"{len(others)} more")] if others else []
    has_bars = any(each.y.low is not None for each in own)
    entries += [("interval", f"{confidence.format_current_level()} interval")] if has_bars else []
    entries += [(PUBLISHED, "published")] if any(id(each) in kept for row in rows.values() for each in row) else []
    entries += [("guess", "guessing")] if any(guess_of(row) is not None for row in rows.values()) else []
    top = draw_legend(svg, entries) + 24
    bottom = top + each_row * len(rows)
    height = bottom + (26 if axis.title else 8)
    names, plot = Elements(), Elements()
    draw_grid(plot, axis, top, bottom)
    if own[0].signed:
        plot.line(axis.place(0), top - 6, axis.place(0), bottom, "zero")
    if axis.title:
        plot.text(50, height - 6, axis.title, "soft", "middle")
    lines = name_lines(rows, is_bold=True)
    for line, (said, row) in enumerate(rows.items()):
        y = top + each_row * (line + 0.5)
        draw_row_name(names, said, y, "strong", lines)
        for each in (each for each in row if id(each) in kept):
            shown = f"{said}: {each.row}, published, {axis.text(each.value)}"
            plot.mark(axis.place(each.value), y, PUBLISHED, shown, 3)
        if (guess := guess_of(row)) is not None:
            x = axis.place(guess)
            ends = y - each_row / 2 + 3, y + each_row / 2 - 3
            plot.line(x, ends[0], x, ends[1], "guess", f"guessing: {axis.text(guess)}")
        for other in others:
            _draw_point(plot, cells[said].get(other), f"{said}: {other}", OTHER, axis, y, 3)
        for place, own_name in enumerate(named):
            below = _APART * (place - (len(named) - 1) / 2)
            _draw_point(plot, cells[said].get(own_name), f"{said}: {own_name}", MODELS[place], axis, y + below)
        if len(series) == 1:
            _write_value(svg, cells[said].get(series[0]), axis, y)
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(int(len(series) == 1)))
    return svg.written(height)


def _series_of(chart: ChartSpec, mark: Mark) -> str:
    return mark.row if chart.turned else mark.column


def _choose_named(series: Sequence[str], rows: Sequence[Mapping[str, Mark]]) -> tuple[list[str], list[str]]:
    if len(series) <= MOST:
        return list(series), []
    means = {}
    for each in series:
        known = [value for row in rows if each in row and (value := row[each].number) is not None]
        means[each] = sum(known) / len(known) if known else float("-inf")
    best = sorted(series, key=lambda each: -means[each])[:MOST]
    return [each for each in series if each in best], [each for each in series if each not in best]


def _describe_points(title: str, series: Sequence[str], rows: Mapping[str, Mapping[str, Mark]], axis: Axis) -> str:
    said = []
    for name_of_row, row in rows.items():
        known = [(each, row[each].value) for each in series[:3] if each in row and row[each].number is not None]
        numbers = [f"{each} {value:.{axis.digits}f}".removeprefix(f"{series[0]} " * (len(series) == 1))
                   for each, value in known]  # fmt: skip
        said += [f"{name_of_row} {', '.join(numbers)}"] if numbers else []
    return f"{title}{f' ({axis.title})' if axis.title else ''}. {first_listed(said, 10)}."


def _write_value(svg: Elements, mark: Mark | None, axis: Axis, y: float) -> None:
    known = mark is not None and mark.number is not None
    said = f"{mark.value:.{axis.digits}f}{mark.y.mark}" if mark is not None and known else "–"
    svg.text(100, y + 4, said, "strong" if known else "soft", "end")


def _draw_point(
    plot: Elements, mark: Mark | None, said: str, look: Look, axis: Axis, y: float, size: float = 5
) -> None:
    if mark is None or mark.number is None:
        return
    low, high = mark.y.low, mark.y.high
    if low is not None and high is not None and look is not OTHER:
        plot.interval(axis.place(low), axis.place(high), y)
    shown = f"{said}, {axis.text(mark.value)}{interval_text(low, high, axis.digits)}"
    plot.mark(axis.place(mark.value), y, look, shown, size)


_BULLET_HEIGHT, _ALONE, _TOP, _BOTTOM = 54.0, 46.0, 8.0, 26.0
"""Pixels from one row to the next, of a row alone, and from its top to the ends of its bar."""
_MIDDLE = (_TOP + _BOTTOM) / 2
_NEAR = 14
"""Percent of the width below which two labels would touch on a phone."""


def bullet_chart(chart: ChartSpec, marks: Sequence[Mark], *, small: bool = False) -> str:
    """A row a number, on the chart's scale, on that of percent, or on one around all numbers; ``small``: no names.

    A grey frame is the range of published models, a dashed line what guessing gets.
    """
    around = percent_axis() if marks[0].unit == "%" else axis_around(marks)
    axis = Axis(*chart.ends) if chart.ends else around
    printed = [mark.number for mark in marks if mark.is_published and mark.number is not None]
    guess, said, names, plot = guess_of(marks), [], Elements(), Elements()
    rows = own_rows(chart, marks)
    lines = name_lines(rows, is_bold=True)
    for place, (row, own) in enumerate(rows.items()):
        draw_row_name(names, row, _BULLET_HEIGHT * place + _MIDDLE, "strong", lines, href=own[-1].href)
        said.append(_describe_bullet(own[-1], guess, printed))
        _draw_bullet(plot, own[-1], axis, guess, printed, _BULLET_HEIGHT * place, said[-1])
    svg = Svg(f"{chart.title}. {first_listed(said)}.", "bullets")
    height = _ALONE if small else _BULLET_HEIGHT * len(said)
    if small:
        svg.parts += plot.parts
    else:
        svg.frame(names, *NAMES, height)
        svg.frame(plot, *plot_place(0))
    return svg.written(height)


def _describe_bullet(mark: Mark, guess: float | None, printed: Sequence[float]) -> str:
    def text(value: object) -> str:
        return f"{value:.{mark.digits}f}"

    parts = [
        f"{mark.row} {text(mark.value)} {mark.unit}".rstrip() + interval_text(mark.y.low, mark.y.high, mark.digits)
    ]
    parts += [f"guessing {text(guess)}"] if guess is not None else []
    parts += [f"published models {text(min(printed))} to {text(max(printed))}"] if printed else []
    return ", ".join(parts)


def _draw_bullet(
    plot: Elements, mark: Mark, axis: Axis, guess: float | None, printed: Sequence[float], y: float, said: str
) -> None:
    plot.box(0, y + _TOP, 100, _BOTTOM - _TOP, "track-of", 1)
    if printed:
        start, end = axis.place(min(printed)), axis.place(max(printed))
        plot.box(start, y + _TOP + 1, max(end - start, 0.4), _BOTTOM - _TOP - 2, "range", 1)
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
            plot.text(x, y + _ALONE - 5, text, anchor=anchor)
