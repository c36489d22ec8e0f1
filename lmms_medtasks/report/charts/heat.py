"""Numbers on coloured cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.report.charts.chart_spec import ChartSpec, Mark, own_rows, rows_of
from lmms_medtasks.report.charts.row_charts import NAMES, draw_row_name, name_lines, plot_place
from lmms_medtasks.report.charts.svg import Elements, Svg, signed_number
from lmms_medtasks.report.document import MARKS
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.short_texts import first_listed, interval_text

_ROW, _SMALL_ROW = 24, 18
_SMALL_NAMES, _SMALL_PLOT = (0.0, 46.0), (46.0, 54.0)
"""As :data:`lmms_medtasks.report.charts.row_charts.NAMES`, of a chart in a column of a page."""
_FEW = 5
"""Questions below which a cell's number is shown as uncertain."""
_STRONGEST = 60.0
"""Points lost from which on a cell has its full colour."""
_SHORT = 12
"""Letters of a head up to which it stands above its column on a phone, turned a little; longer ones are upright."""
_PRINTED = "published:"


def heat_chart(chart: ChartSpec, marks: Sequence[Mark], *, small: bool = False) -> str:
    """Numbers on coloured cells; those over fewer than :data:`_FEW` questions in italics, on half the colour.

    A published number has a frame and no colour, as it was not measured here. ``small``: for a column of a page, with
    lower rows.
    """
    marks = [each for each in marks if each.kind in ("run", "reference")]
    chosen = chart.chosen(marks)
    printed = [each for own in chosen.values() for each in own]
    if chart.turned:
        shown = [*(each for each in marks if each.kind == "run"), *printed]
        known = {each.row for each in shown if each.number is not None}
        rows = rows_of(chart, (each for each in shown if each.row in known))
        heads = [row for row in dict.fromkeys(each.row for each in shown) if row in known]
    else:
        rows = own_rows(chart, marks)
        # The name of published rows has a line of its own.
        rows |= {_PRINTED: [], **chosen} if chosen and rows else chosen
        heads = list(dict.fromkeys(each.column for each in marks))
    kind = "harm" if marks[0].signed else "score"
    has_total = not small and any(row and row[-1].total is not None for row in rows.values())
    total = chart.heads.get(chart.total, chart.total) if has_total else ""
    long = not small and any(len(each) > _SHORT for each in heads)
    top, height_of = (22, _SMALL_ROW) if small else (104 if long else 48, _ROW)
    height = top + height_of * len(rows) + 4
    width = 100 / max(len(heads), 1)
    style = "sketch" if small else "heat long" if long else "heat"
    svg, names, plot = Svg(_describe_heat(chart.title, heads, rows), style), Elements(), Elements()
    for number, head in enumerate(heads):
        plot.head(width * (number + 0.5), top - 8, head)
    if total:
        svg.text(100, top - 8, total, "wide", "end")
        # On a phone the columns' heads are turned, and reach over here.
        svg.text(100, top - 8, total.partition("(")[2].rstrip(")") or total, "narrow", "end")
    lines = name_lines(rows, is_bold=False, two_lines=False)
    for line, (said, row) in enumerate(rows.items()):
        y = float(top + height_of * line)
        href = row[0].href if row else ""
        draw_row_name(names, said, y + height_of / 2, "" if row else "soft", lines, href=href)
        for number, mark in enumerate(row):
            _draw_heat_cell(plot, mark, (width * number, y, width, height_of), kind)
        if total and row and row[-1].total is not None:
            svg.text(100, y + height_of / 2 + 4, f"{row[-1].total:.1f}", "strong", "end")
    svg.frame(names, *(_SMALL_NAMES if small else NAMES), height)
    svg.frame(plot, *(_SMALL_PLOT if small else plot_place(int(bool(total)))))
    return svg.written(height)


def _draw_heat_cell(plot: Elements, mark: Mark, box: tuple[float, float, float, float], kind: str) -> None:
    x, y, width, height = box
    middle = x + width / 2
    if mark.number is None:
        plot.text(middle, y + height - 8, "·", "soft", "middle")
        return
    digits = mark.digits
    said = f"{mark.row}, {mark.column}: "
    said += f"{mark.value:+.{digits}f} points" if mark.signed else f"{mark.value:.{digits}f}"
    said += interval_text(mark.y.low, mark.y.high, digits)
    said += ", published" if mark.is_published else "" if mark.n is None else f", {mark.n:,} questions"
    few = _is_few(mark)
    look, opaque = (
        ("published", 1.0) if mark.is_published else (kind, 0.72 * _colour_strength(mark) * (0.5 if few else 1))
    )
    plot.box(x + 0.2, y + 1, width - 0.4, height - 2, look, opaque, said)
    style = "soft" if mark.is_published else "few" if few else "value"
    plot.text(middle, y + height / 2 + 4, _number_with_marks(mark), style, "middle")


def _is_few(mark: Mark) -> bool:
    return mark.n is not None and mark.n < _FEW


def _colour_strength(mark: Mark) -> float:
    """How strong a cell's colour is, from 0 to 1; of what compares words, which is no score, 0."""
    if LEXICAL in mark.y.mark:
        return 0.0
    return min(1.0, max(0.0, -mark.value / _STRONGEST if mark.signed else mark.value / 100))


def _number_with_marks(mark: Mark) -> str:
    """The number with its signs, without why it has no interval: none is shown."""
    signs = "".join(each for each in mark.y.mark if each not in MARKS)
    return (signed_number(mark.value, 0) if mark.signed else f"{mark.value:.0f}") + signs


def _describe_heat(title: str, heads: Sequence[str], rows: Mapping[str, Sequence[Mark]]) -> str:
    """The three cells with the strongest colour, those over few questions apart."""
    cells = [
        (mark, f"{said}, {head} {_number_with_marks(mark)}")
        for said, row in rows.items()
        for head, mark in zip(heads, row, strict=False)
        if mark.number is not None and not _is_few(mark) and not mark.is_published
    ]
    strongest = sorted(cells, key=lambda cell: -_colour_strength(cell[0]))[:3]
    most = f" Strongest: {first_listed([said for _, said in strongest])}." if strongest else ""
    return f"{title}. {len(rows)} rows, {len(heads)} columns.{most}"
