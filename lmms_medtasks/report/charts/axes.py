"""Scales of charts: from a number to its place, in percent of the axis."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Mark

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_SAME = 1e-9


@dataclass(frozen=True)
class Axis:
    """A scale.

    Attributes:
        low, high: its ends. ticks: numbers that have a line. title: what it is.
        labels: texts of the ticks; the numbers by default. unit, digits: how a number is written in a
            tooltip.
    """

    low: float
    high: float
    ticks: tuple[float, ...] = ()
    title: str = ""
    labels: tuple[str, ...] = ()
    unit: str = ""
    digits: int = 1

    def place(self, value: float) -> float:
        """Percent of the axis from its lower end; not beyond its ends."""
        return min(100.0, max(0.0, 100 * (value - self.low) / (self.high - self.low)))

    def text(self, value: float) -> str:
        """A number of this axis."""
        return f"{value:.{self.digits}f}{self.unit}"

    @property
    def texts(self) -> tuple[tuple[float, str], ...]:
        """Ticks with their texts."""
        return tuple(
            zip(self.ticks, self.labels or tuple(f"{each:g}".replace("-", "−") for each in self.ticks), strict=True)
        )


def percent_axis(title: str = "") -> Axis:
    """From 0 to 100 percent."""
    return quarters_axis(0, 100, title, unit=" %")


def quarters_axis(low: float, high: float, title: str = "", *, unit: str = "", digits: int = 1) -> Axis:
    """A whole scale, with a tick each quarter."""
    return Axis(low, high, tuple(low + (high - low) * part / 4 for part in range(5)), title, unit=unit, digits=digits)


def places_axis(labels: Sequence[str], title: str = "") -> Axis:
    """A place for each label, from 0 on, with half a place of room at the ends."""
    return Axis(-0.5, len(labels) - 0.5, tuple(map(float, range(len(labels)))), title, tuple(labels))


def axis_of(values: Iterable[float | None], title: str = "", *, most: int = 5) -> Axis:
    """An axis with round ticks around all values; None are left out."""
    known = [value for value in values if value is not None and math.isfinite(value)] or [0.0, 1.0]
    low, high = min(known), max(known)
    if high - low < _SAME * max(1.0, abs(low), abs(high)):
        # Of a difference that rounding left in place of 0 a tenth is no scale.
        room = abs(low) / 10 if abs(low) > _SAME else 0.5
        low, high = low - room, high + room
    step = step_of(high - low, most)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    ticks = tuple(round(step * number, 2 - math.floor(math.log10(step))) + 0.0 for number in range(first, last + 1))
    return Axis(ticks[0], ticks[-1], ticks, title, digits=max(1, 1 - math.floor(math.log10(step))))


def axis_around(marks: Sequence[Mark], title: str = "", most: int = 5) -> Axis:
    """An axis with round ticks around the numbers of marks and their intervals; of changes with 0."""
    zero = [0.0] if any(each.signed for each in marks) else []
    ends = (end for each in marks for end in (each.number, each.y.low, each.y.high))
    return axis_of([*zero, *ends], title, most=most)


def step_of(width: float, most: int) -> float:
    """The round step that makes at most so many parts of a width."""
    base = 10.0 ** math.floor(math.log10(width / most))
    return next((base * each for each in _STEPS if width / (base * each) <= most + 1e-9), 10 * base)
