"""The first page's drawing: measured models filled, with intervals, published ones hollow and grey."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site.scatter import Drawn
from lmms_medtasks.board.site.scatter import Point as ModelPoint
from lmms_medtasks.report.charts import DISC, PUBLISHED, Axis, Guide, Panel, Point, Series, axis_of, plane_chart
from lmms_medtasks.short_texts import cut_apart
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from markupsafe import Markup

LABELLED, CROWD = 5, 12
"""Measured models that are named, of all others a tooltip has the name; from a crowd on, fewer are, and the others'
intervals are faint."""
HEIGHT = 400
"""Pixels."""
_LONGEST, _TICKS = 24, 6


def chart(found: Drawn) -> Markup:
    """The drawing; its numbers stand in a table below it."""
    from markupsafe import Markup

    said = f"{found.said.title} {found.said.x} against {found.said.y}; {len(found.points)} models."
    panel = _panel(found)
    return Markup(plane_chart(said, [panel], height=HEIGHT, entries=()))  # noqa: S704 - its texts are escaped


def _panel(found: Drawn) -> Panel:
    crowded = len(found.measured) >= CROWD
    named = found.measured[: LABELLED - 2 if crowded else LABELLED]
    printed = [point for point in found.points if not point.measured]
    # The first and two extremes of the published ones.
    extremes = [] if crowded or not printed else [printed[0], *(end(printed, key=_loss) for end in (min, max))]
    others = found.measured[len(named) :]
    names = short_names(dict.fromkeys(point.name for point in (*named, *extremes)))
    cut = cut_apart([visible(each) for each in names.values()], _LONGEST)
    labels = {name: cut[visible(each)] for name, each in names.items()}
    good, loss = _good_axis(found), _loss_axis(found)
    guides = [Guide(good.low, 0.0, good.high, 0.0, kind="zero")]
    if found.chance is not None:
        guides.append(Guide(found.chance, loss.low, found.chance, loss.high, f"guessing {found.chance:.1f}"))
    series = (
        Series(
            "published",
            tuple(_point(each, found, 3.6, labels.get(each.name, "") if each in extremes else "") for each in printed),
            PUBLISHED,
            quiet=True,
        ),
        Series("measured", tuple(_point(each, found, 4) for each in reversed(others)), DISC, faint=crowded),
        Series(
            "best",
            tuple(_point(each, found, 4 if crowded else 5.5, labels[each.name]) for each in reversed(named)),
            DISC,
        ),
    )
    return Panel(good, loss, series, guides=tuple(guides))


def _loss(point: ModelPoint) -> float:
    return point.y


def _good_axis(found: Drawn) -> Axis:
    numbers = [end for point in found.points for end in (point.x, point.good.low, point.good.high)]
    return axis_of([*numbers, found.chance], f"{found.said.x} ({found.shown.unit})", most=_TICKS)


def _loss_axis(found: Drawn) -> Axis:
    return axis_of(
        [0.0, *(end for each in found.points for end in (each.y, each.loss.low, each.loss.high))], most=_TICKS
    )


def _point(point: ModelPoint, found: Drawn, size: float, label: str = "") -> Point:
    """A model with its tooltip, and its name where there is a ``label``; the best one's numbers stand below that.

    Whose it is is said as the page's filters say it (``assets/index.js``).
    """
    kind, digits = "measured" if point.measured else "published", found.shown.digits
    numbers = f"{point.x:.{digits}f}, loses {point.y:.{digits}f}"
    label += f"\n{numbers}" if label and point is found.best else ""
    return Point(
        point.x, point.y, f"{point.name} ({kind}): {numbers}", point.loss.low, point.loss.high, point.good.low,
        point.good.high, label, size, f"{kind} {point.name.lower()}",
    )  # fmt: skip
