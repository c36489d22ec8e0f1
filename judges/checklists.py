"""A list of points that a judge ticks off beside its labels: the steps of a reference's reasoning, say.

In an item the points are the lines "1. ...", "2. ..." of one field; in a judge's reply they are a list of numbers, in a
verdict's labels the text "1, 3". Nothing is scored by a checklist unless a benchmark does so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SEPARATOR = ", "
_POINT = re.compile(r"^(\d+)\. ", re.MULTILINE)


@dataclass(frozen=True)
class PointChecklist:
    """``name``: the key in a judge's reply, and in a verdict's labels. ``field``: the item's field with the points."""

    name: str
    field: str

    def count(self, fields: Mapping[str, str]) -> int:
        """How many points an item has: its numbered lines 1, 2, 3 ... up to the first gap."""
        numbers = {int(number) for number in _POINT.findall(fields[self.field])}
        return next(number for number in range(1, len(numbers) + 2) if number not in numbers) - 1

    def share(self, labels: Mapping[str, str], fields: Mapping[str, str]) -> float | None:
        """The share of an item's points that a verdict ticks off; None if there are no points."""
        count, ticked = self.count(fields), labels[self.name]
        return len(ticked.split(_SEPARATOR) if ticked else ()) / count if count else None


def number_points(points: Sequence[str]) -> str:
    """The points as a field holds them: "1. pain at rest", "2. a gap in the cortex", a line each."""
    return "\n".join(f"{number}. {' '.join(point.split())}" for number, point in enumerate(points, start=1))


def join_point_numbers(numbers: Sequence[int]) -> str:
    """The numbers as a verdict's labels hold them, sorted: "1, 3", or "" for none."""
    return _SEPARATOR.join(map(str, sorted(numbers)))


def points_problem(value: Any, count: int | None) -> str | None:
    """Why ``value`` is no list of different numbers from 1 to ``count`` (None: any); None if it is one."""
    whole = isinstance(value, list) and all(isinstance(each, int) and not isinstance(each, bool) for each in value)
    if not whole:
        return "expected a list of whole numbers"
    if count is not None and any(not 1 <= number <= count for number in value):
        return f"expected numbers from 1 to {count}" if count else "expected [], since there are no points"
    return "a number is given twice" if len(set(value)) < len(value) else None
