"""Charts of what degraded pictures cost: by degradation and level, and as curves over strength."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.charts import MODELS, Axis, Panel, Point, PointRow, Series, axis_of, plane_chart, point_chart
from lmms_medtasks.report.document import Cell, Figure
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics.confidence import LEVEL

if TYPE_CHECKING:
    from lmms_medtasks.report.degradation_loss import Loss

_CURVE = 3
"""Strengths of a degradation from which on it has a curve."""


def figures(key: str, base: str, paired: Sequence[Loss]) -> list[Figure]:
    """Of the first metric of ``paired``: its change by degradation and level, and over three strengths or more."""
    own = [each for each in paired if each.metric == paired[0].metric]
    found = [_by_level(key, base, own)]
    curves: dict[str, list[Loss]] = {}
    for each in own:
        if each.strength:
            curves.setdefault(each.degradation, []).append(each)
    curves = {name: points for name, points in curves.items() if len({each.level for each in points}) >= _CURVE}
    return [*found, _curve(key, base, curves)] if curves else found


def _by_level(key: str, base: str, own: Sequence[Loss]) -> Figure:
    """A mark for each degradation and level with its interval."""
    names = list(dict.fromkeys(each.degradation for each in own))
    levels = sorted({each.level: each.strength or 0.0 for each in own}.items(), key=lambda level: level[1])
    title = f"{base}: change of {own[0].metric} by degradation and level"
    cells = {(each.degradation, each.level): _change(each) for each in own}
    rows = [PointRow(name, tuple(cells.get((name, level), NONE) for level, _ in levels)) for name in names]
    axis = _axis(list(cells.values()), f"change of {own[0].metric}, degraded less clean")
    drawing = point_chart(title, [f"level {level}" for level, _ in levels], rows, axis, zero=0.0)
    about = f"Marks left of the line are losses where more is better. Lines are {LEVEL} intervals over images."
    return Figure(f"{key}_chart", title, about, drawing, f"{key}_loss")


def _curve(key: str, base: str, curves: dict[str, list[Loss]]) -> Figure:
    """A line for each degradation over its strengths, from the clean pictures on."""
    metric = next(iter(curves.values()))[0].metric
    title = f"{base}: change of {metric} over strength"
    series, cells = [], []
    for number, (name, own) in enumerate(curves.items()):
        points = [Point(0.0, 0.0, f"{name}: clean", size=3)]
        # Side by side where intervals would lie on each other.
        shift = 0.02 * (number - (len(curves) - 1) / 2)
        for each in sorted(own, key=lambda each: each.strength or 0.0):
            cell = _change(each)
            cells.append(cell)
            said = f"{name}, level {each.level}: {cell.value:+.3g}"
            points.append(Point(shift + (each.strength or 0.0), float(cell.value or 0), said, cell.low, cell.high))
        series.append(Series(name, tuple(points), MODELS[number % len(MODELS)], "joined-thin", True))
    strengths = sorted({each.strength or 0.0 for own in curves.values() for each in own})
    x = Axis(0.0, strengths[-1] + 0.1, (0.0, *strengths), "strength (1: mild, 2: severe)")
    gist = first_listed([f"{each.name} {each.points[-1].y:+.3g} at the strongest" for each in series])
    drawing = plane_chart(
        f"{title}: {gist}.",
        [Panel(x, _axis(cells, f"change of {metric}"), tuple(series))],
        height=max(240.0, 15.0 * len(series)),
    )
    about = (
        "Degraded less clean; below 0 are losses where more is better. All strengths of a degradation share "
        f"their draws. Bars are {LEVEL} intervals over images."
    )
    return Figure(f"{key}_curve", title, about, drawing, f"{key}_loss")


def _change(each: Loss) -> Cell:
    """The change with its interval, which the rounding of its ends must not leave."""
    value = each.degraded - each.clean
    if each.change is None or each.change.low is None or each.change.high is None:
        return Cell(value)
    return Cell(value, min(value, each.change.low), max(value, each.change.high))


def _axis(cells: Sequence[Cell], title: str) -> Axis:
    ends = [end for cell in cells for end in (cell.value, cell.low, cell.high) if isinstance(end, int | float)]
    return axis_of((0.0, *ends), title)
