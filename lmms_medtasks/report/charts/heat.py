"""Numbers on coloured cells, and shares of a whole as bars."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode
from xml.sax.saxutils import escape, quoteattr, unescape

from lmms_medtasks.report.charts.rows import NAMES, name, plot_place
from lmms_medtasks.report.charts.svg import Elements, Svg, signed
from lmms_medtasks.short_texts import first_listed

_ROW = 24
_SMALL_NAMES, _SMALL_PLOT = (0.0, 46.0), (46.0, 54.0)
"""As :data:`lmms_medtasks.report.charts.rows.NAMES`, of a chart in a column of a page."""
_QUESTIONS = 'data-questions="'
_LINKS = re.compile('data-questions="([^"]*)"')


@dataclass(frozen=True)
class HeatCell:
    """A cell of :func:`heat_chart`: a number, over how many questions, and how strong its colour is, from 0 to 1.

    ``task``, ``tags``: which questions it is over; a board makes a link to them (:func:`with_links`). ``published``: a
    grey frame without a colour, as its number was not measured here.
    """

    value: float | None
    count: int
    strength: float
    said: str = ""
    task: str = ""
    tags: tuple[tuple[str, str], ...] = ()
    published: bool = False


@dataclass(frozen=True)
class HeatRow:
    """A row of :func:`heat_chart`; ``total`` stands behind the cells. Without cells its name is a heading."""

    name: str
    cells: tuple[HeatCell, ...]
    total: str = ""


FEW = 5
"""Questions below which a cell's number is shown as uncertain."""


def heat_chart(
    title: str,
    heads: Sequence[str],
    rows: Sequence[HeatRow],
    total: str = "",
    kind: str = "harm",
    small: bool = False,
) -> str:
    """Numbers on coloured cells; those over fewer than :data:`FEW` questions in italics, on half the colour.

    ``kind``: "harm", changes with their sign, or "score". ``small``: for a column of a page, with lower rows.
    """
    top, row_height = (22, 18) if small else (48, _ROW)
    height = top + row_height * len(rows) + 4
    width = 100 / max(len(heads), 1)
    svg, names, plot = Svg(_said(title, heads, rows, kind), "sketch" if small else "heat"), Elements(), Elements()
    for number, head in enumerate(heads):
        plot.head(width * (number + 0.5), top - 8, head)
    if total:
        svg.text(100, top - 8, total, "wide", "end")
        # On a phone the columns' heads are turned, and reach over here.
        svg.text(100, top - 8, total.partition("(")[2].rstrip(")") or total, "narrow", "end")
    for line, row in enumerate(rows):
        y = float(top + row_height * line)
        name(names, row.name, y + row_height / 2, "" if row.cells else "soft", two_lines=False)
        for number, cell in enumerate(row.cells):
            x = width * number
            if cell.value is None:
                plot.text(x + width / 2, y + row_height - 8, "·", "soft", "middle")
                continue
            few = cell.count < FEW
            opacity = 0.72 * cell.strength * (0.5 if few else 1)
            inner = Elements()
            look, opaque = ("published", 1.0) if cell.published else (kind, opacity)
            inner.box(x + 0.2, y + 1, width - 0.4, row_height - 2, look, opaque, cell.said)
            style = "soft" if cell.published else "few" if few else "value"
            inner.text(x + width / 2, y + row_height / 2 + 4, _shown(cell.value, kind), style, "middle")
            text = "".join(inner.parts)
            plot.parts.append(f'<a {_QUESTIONS}{_query(cell)}">{text}</a>' if cell.task else text)
        if row.total:
            svg.text(100, y + row_height / 2 + 4, row.total, "strong", "end")
    svg.frame(names, *(_SMALL_NAMES if small else NAMES), height)
    svg.frame(plot, *(_SMALL_PLOT if small else plot_place(int(bool(total)))))
    return svg.written(height)


def with_links(svg: str, address: Callable[[str], str]) -> str:
    """A chart whose cells lead to their questions; ``address``: from a query ("task=…&tag=…") to what a link has.

    Without that they are no links: a report on a page of its own has no pages of questions.
    """
    return _LINKS.sub(lambda found: f"href={quoteattr(address(unescape(found[1])))}", svg)


def _query(cell: HeatCell) -> str:
    chosen = [("task", cell.task), *(("tag", f"{name}:{value}") for name, value in cell.tags)]
    return escape(urlencode(chosen, quote_via=quote, safe=":"))


def _shown(value: float, kind: str) -> str:
    return signed(value, 0) if kind == "harm" else f"{value:.0f}"


def _said(title: str, heads: Sequence[str], rows: Sequence[HeatRow], kind: str) -> str:
    """The three cells with the strongest colour, those over few questions apart."""
    cells = [
        (cell, f"{row.name}, {head} {_shown(cell.value, kind)}")
        for row in rows
        for head, cell in zip(heads, row.cells, strict=False)
        if cell.value is not None and cell.count >= FEW and not cell.published
    ]
    strongest = sorted(cells, key=lambda each: -each[0].strength)[:3]
    size = f"{len(rows)} rows, {len(heads)} columns"
    most = f" Strongest: {first_listed([said for _, said in strongest])}." if strongest else ""
    return f"{title}. {size}.{most}"


@dataclass(frozen=True)
class ShareRow:
    """A row of :func:`share_chart`: percents that sum to 100, in the order of its series."""

    name: str
    values: tuple[float, ...]


SHARES = (("own", 1.0), ("published-fill", 0.35), ("harm", 1.0))
"""Style and opacity of first, second and third share: gains, neither, losses."""


def share_chart(title: str, series: Sequence[str], rows: Sequence[ShareRow]) -> str:
    """A bar of 100 percent a row, cut into the shares of three outcomes."""
    top, height_of = 46, 26
    height = top + height_of * len(rows) + 4
    said = [f"{row.name} " + ", ".join(f"{value:.0f}" for value in row.values) for row in rows]
    svg = Svg(f"{title}. Percent {', '.join(series)}: {first_listed(said)}.", "shares")
    names, plot = Elements(), Elements()
    places = ((0.0, "start"), (50.0, "middle"), (100.0, "end"))
    for (kind, opacity), label, (x, anchor) in zip(SHARES, series, places, strict=True):
        plot.text(x, 30, label, "strong", anchor)
        plot.box(x - {"start": 0, "middle": 6, "end": 12}[anchor], 34, 12, 4, kind, opacity)
    for number, row in enumerate(rows):
        y, start = float(top + height_of * number), 0.0
        name(names, row.name, y + height_of / 2, "")
        for (kind, opacity), label, value in zip(SHARES, series, row.values, strict=True):
            if value:
                plot.box(start, y + 4, value, height_of - 8, kind, opacity, f"{row.name}: {label} {value:.1f} %")
            start += value
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(0))
    return svg.written(height)
