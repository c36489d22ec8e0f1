"""Where names stand in a chart, so that they touch neither marks nor each other, on a wide page and on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lmms_medtasks.report.charts.svg import text_width

Box = tuple[float, float, float, float]
Place = tuple[float, float, str]
"""dx, dy and anchor of a name, from its mark."""
_PLACES = (
    (8, 4, "start"), (-8, 4, "end"), (6, -6, "start"), (-6, -6, "end"), (6, 14, "start"), (-6, 14, "end"),
    (0, -9, "middle"), (0, 18, "middle"), (14, -16, "start"), (-14, -16, "end"), (14, 24, "start"), (-14, 24, "end"),
    (0, -22, "middle"), (0, 31, "middle"), (24, -28, "start"), (-24, -28, "end"), (24, 36, "start"), (-24, 36, "end"),
    (10, -40, "start"), (-10, -40, "end"), (10, 48, "start"), (-10, 48, "end"), (0, -55, "middle"), (0, 62, "middle"),
    (30, -70, "start"), (-30, -70, "end"), (30, 78, "start"), (-30, 78, "end"),
)  # fmt: skip
"""Where a name may stand from its mark, in pixels, down is positive: to its right, to its left, and so on."""
_BESIDE = 8
_LED = 16.0
"""Pixels below or above its mark from which on a name has a line that leads to it."""
_PASSES = 7.0
"""Pixels from a mark within which a leading line seems to lead to it."""
_CLOSE = 9.0
"""Pixels from another mark within which a name with a leading line seems to be that one's."""
_MARK = 5.0
"""Pixels from its middle that a mark takes."""
_ABOVE, _BELOW, _MARGIN = 11.0, 4.0, 6.0
"""Pixels above and below its first baseline that a name takes, and around it that no mark should be in."""
_WEIGHT, _REFUSED = 20, 1e6
"""How many places of bars a name would rather hide than a mark; the cost of a place that no name has."""
LINE = 15.0
"""Pixels from one line of a name to the next."""


def name_places(
    named: Sequence[tuple[str, float, float]],
    points: Sequence[tuple[float, float]],
    bars: Sequence[tuple[float, float]],
    widths: Sequence[float],
    height: float,
    kept: Sequence[tuple[str, float, float, Place]] = (),
) -> list[Place | None]:
    """For each name its dx, dy and anchor, where it touches the fewest marks and names, in plots of all ``widths``.

    None for one that would lie on another name, on a mark, outside, or nearer to another mark than to its own: a reader
    would take it for that one's.

    ``named``: names, of one line or several, with their places; ``points``: those of all marks; ``bars``: places on
    intervals and lines, which a name rather hides. x in percent of the width, y in pixels from the top.
    ``height``: the plot's. ``kept``: names that have their place already.
    """
    taken = [[box_of(name, width * x / 100, y, place) for name, x, y, place in kept] for width in widths]
    found: list[Place | None] = []
    for name, x, y in named:
        more = LINE * name.count("\n")

        def cost(place: Place, name: str = name, x: float = x, y: float = y) -> float:
            total = 0.0
            for width, others in zip(widths, taken, strict=True):
                box = box_of(name, width * x / 100, y, place)
                total += _WEIGHT * _covered(box, width, points, _MARGIN) + _covered(box, width, bars, _MARGIN)
                outside = box[0] < 0 or box[2] > width or box[1] < 0 or box[3] > height
                hides = outside or any(touch(box, each) for each in others)
                hides = (
                    hides
                    or _covered(box, width, points, _MARK) > 0
                    or _misleads(box, (x, y), leader(place) is None, width, points)
                )
                total += _REFUSED * (hides or _passes((width * x / 100, y), place, width, points))
            return total

        best = min((_lifted(place, more) for place in _PLACES), key=cost)
        fits = cost(best) < _REFUSED
        found.append(best if fits else None)
        for own, width in zip(taken, widths, strict=True):
            own += [box_of(name, width * x / 100, y, best)] if fits else []
    return found


def leader(place: Place) -> tuple[float, float] | None:
    """Where the line ends that leads from a mark to its name, in pixels from the mark; None where the name is near."""
    dx, dy, _ = place
    return None if abs(dy) <= _LED else (dx, dy - 4 if dy > 0 else dy + 3)


def _lifted(place: Place, more: float) -> Place:
    """Where a name with ``more`` pixels of further lines begins: above its mark it ends there, beside it is halved."""
    dx, dy, anchor = place
    return dx, dy - (more if dy < 0 else more / 2 if abs(dx) == _BESIDE else 0.0), anchor


def box_of(name: str, x: float, y: float, place: Place) -> Box:
    """Left, top, right and bottom of a name at a place from its mark."""
    dx, dy, anchor = place
    lines = name.split("\n")
    width = max(map(text_width, lines))
    left = x + dx - {"start": 0.0, "end": width, "middle": width / 2}[anchor]
    return left, y + dy - _ABOVE, left + width, y + dy + _BELOW + LINE * (len(lines) - 1)


def touch(one: Box, other: Box) -> bool:
    """Whether two names have a place in common."""
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _covered(box: Box, width: float, places: Sequence[tuple[float, float]], margin: float) -> int:
    """How many places a name lies on, or within so many pixels of."""
    left, top, right, bottom = box
    return sum(
        left - margin < width * x / 100 < right + margin and top - margin < y < bottom + margin for x, y in places
    )


def _misleads(
    box: Box, own: tuple[float, float], near: bool, width: float, marked: Sequence[tuple[float, float]]
) -> bool:
    """Whether a name seems to be another mark's: nearer than to its own, or close where it has a line to its own."""

    def distance(x: float, y: float) -> float:
        x *= width / 100
        return math.hypot(max(box[0] - x, x - box[2], 0.0), max(box[1] - y, y - box[3], 0.0))

    nearest = distance(*own) if near else _CLOSE
    return any(distance(*each) < nearest for each in marked if each != own)


def _passes(start: tuple[float, float], place: Place, width: float, marked: Sequence[tuple[float, float]]) -> bool:
    """Whether the name's leading line seems to lead to another mark."""
    end = leader(place)
    if end is None:
        return False
    length = math.hypot(*end)
    for x, y in marked:
        right, down = width * x / 100 - start[0], y - start[1]
        along = (right * end[0] + down * end[1]) / length
        aside = abs(right * end[1] - down * end[0]) / length
        if math.hypot(right, down) > _PASSES and 0 < along < length and aside < _PASSES:
            return True
    return False


def spread(places: Sequence[float], apart: float, low: float, high: float) -> list[float]:
    """The places moved apart, in their order, between ``low`` and ``high``; closer where there is no room."""
    order = sorted(range(len(places)), key=lambda number: places[number])
    room = min(apart, (high - low) / max(1, len(places) - 1)) if len(places) > 1 else apart
    moved = [min(max(places[number], low), high) for number in order]
    for number in range(1, len(moved)):
        moved[number] = max(moved[number], moved[number - 1] + room)
    beyond = moved[-1] - high if moved else 0.0
    if beyond > 0:
        moved[-1] = high
        for number in range(len(moved) - 2, -1, -1):
            moved[number] = min(moved[number], moved[number + 1] - room)
    found = [0.0] * len(places)
    for place, number in zip(moved, order, strict=True):
        found[number] = place
    return found
