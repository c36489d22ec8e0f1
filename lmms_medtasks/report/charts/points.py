"""A row a category: a point and its interval for each model, published numbers hollow, guessing dashed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmms_medtasks.report.charts.axes import Axis, percent_axis
from lmms_medtasks.report.charts.rows import NAMES, name, plot_place
from lmms_medtasks.report.charts.svg import MODELS, OTHER, PUBLISHED, Elements, Entry, Look, Svg, legend
from lmms_medtasks.report.document import Cell
from lmms_medtasks.short_texts import cut_apart, first_listed, interval_text
from lmms_medtasks.statistics import confidence

_ROW, _APART = 30, 10
MOST = len(MODELS) - 1
"""Models with a look and an interval of their own; with more the best ones have it, the others are small points."""


@dataclass(frozen=True)
class PointRow:
    """A category of :func:`point_chart`: its name, each source's number, published numbers, and what guessing gets."""

    name: str
    cells: tuple[Cell, ...]
    published: tuple[tuple[str, float], ...] = ()
    chance: float | None = None


def point_chart(
    title: str, sources: Sequence[str], rows: Sequence[PointRow], axis: str | Axis, zero: float | None = None
) -> str:
    """A row a category, in the order given: a point and interval a source, published models hollow, guessing dashed.

    ``axis``: a scale, or what one from 0 to 100 percent is. ``zero``: where a line stands, "no change". Of more than
    :data:`MOST` sources those with the highest mean are named.
    """
    scale = percent_axis(axis) if isinstance(axis, str) else axis
    named, others = _chosen(sources, rows)
    each = float(max(_ROW, _APART * len(named) + 10))
    svg = Svg(_said(title, sources, rows, scale), "points")
    cut = cut_apart([sources[place] for place in named], 28)
    shown = [cut[sources[place]] for place in named]
    entries: list[Entry] = list(zip(MODELS, shown, strict=False))
    entries = entries if len(sources) > 1 else []
    entries += [(OTHER, f"{len(others)} more")] if others else []
    entries += (
        [("interval", f"{confidence.percent()} interval")]
        if any(cell.low is not None for row in rows for cell in row.cells)
        else []
    )
    entries += [(PUBLISHED, "published")] if any(row.published for row in rows) else []
    entries += [("guess", "guessing")] if any(row.chance is not None for row in rows) else []
    top = legend(svg, entries) + 24
    height = top + each * len(rows) + (26 if scale.title else 8)
    names, plot = Elements(), Elements()
    for tick, said in scale.texts:
        plot.line(scale.place(tick), top - 6, scale.place(tick), top + each * len(rows), "grid")
        plot.text(scale.place(tick), top - 12, said, anchor="middle")
    if zero is not None:
        plot.line(scale.place(zero), top - 6, scale.place(zero), top + each * len(rows), "zero")
    if scale.title:
        plot.text(50, height - 6, scale.title, "soft", "middle")
    for number, row in enumerate(rows):
        y = top + each * (number + 0.5)
        name(names, row.name, y, "strong")
        for model, value in row.published:
            plot.mark(scale.place(value), y, PUBLISHED, f"{row.name}: {model}, published, {scale.text(value)}", 3)
        if row.chance is not None:
            guess = scale.place(row.chance)
            plot.line(guess, y - each / 2 + 3, guess, y + each / 2 - 3, "guess", f"guessing: {scale.text(row.chance)}")
        for place in others:
            _point(plot, row.cells[place], f"{row.name}: {sources[place]}", OTHER, scale, y, 3)
        for look, place in enumerate(named):
            below = _APART * (look - (len(named) - 1) / 2)
            _point(plot, row.cells[place], f"{row.name}: {sources[place]}", MODELS[look], scale, y + below)
        if len(sources) == 1:
            _value(svg, row.cells[0], scale, y)
    svg.frame(names, *NAMES, height)
    svg.frame(plot, *plot_place(int(len(sources) == 1)))
    return svg.written(height)


def _chosen(sources: Sequence[str], rows: Sequence[PointRow]) -> tuple[list[int], list[int]]:
    """The places of the sources that are named, in the order given, and of the others."""
    if len(sources) <= MOST:
        return list(range(len(sources))), []
    means = {}
    for place in range(len(sources)):
        known = [value for row in rows if isinstance(value := row.cells[place].value, int | float)]
        means[place] = sum(known) / len(known) if known else float("-inf")
    best = sorted(sorted(means, key=lambda place: -means[place])[:MOST])
    return best, [place for place in means if place not in best]


def _said(title: str, sources: Sequence[str], rows: Sequence[PointRow], scale: Axis) -> str:
    said = [
        f"{row.name} "
        + ", ".join(
            f"{source} {cell.value:.{scale.digits}f}" if len(sources) > 1 else f"{cell.value:.{scale.digits}f}"
            for source, cell in zip(sources[:3], row.cells, strict=False)
            if isinstance(cell.value, int | float)
        )
        for row in rows
        if any(cell.value is not None for cell in row.cells)
    ]
    return f"{title}{f' ({scale.title})' if scale.title else ''}. {first_listed(said, 10)}."


def _value(svg: Elements, cell: Cell, scale: Axis, y: float) -> None:
    known = isinstance(cell.value, int | float)
    svg.text(
        100, y + 4, f"{cell.value:.{scale.digits}f}{cell.mark}" if known else "–", "strong" if known else "soft", "end"
    )


def _point(plot: Elements, cell: Cell, said: str, look: Look, scale: Axis, y: float, size: float = 5) -> None:
    if not isinstance(cell.value, int | float):
        return
    interval = interval_text(cell.low, cell.high, scale.digits)
    if cell.low is not None and cell.high is not None and look is not OTHER:
        plot.interval(scale.place(cell.low), scale.place(cell.high), y)
    plot.mark(scale.place(cell.value), y, look, f"{said}, {scale.text(cell.value)}{interval}", size)
