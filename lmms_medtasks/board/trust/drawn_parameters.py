"""Check recorded parameters of a degradation before they are applied: a blur of a million pixels fills the memory.

The bound is what is drawn for an image of that size at either level, times a few.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.degradations.base import LENGTHS
from lmms_medtasks.errors import UserError

_TIMES = 4
"""Draws differ by less, and so do levels up to the strongest."""
_LEAST = 64
"""Pixels beyond that for whole numbers, or the longer side of the image: positions may be anywhere in it."""
_AT_LEAST = {("low_resolution", "factor"): 1.0}
"""Smaller values enlarge the image on the way."""
_SEVERITIES = (1, 2)


def check_drawn_parameters(
    name: str, parameters: Mapping[str, Any], size: tuple[int, int], modality: str | None
) -> None:
    """Raise UserError for a number or list far beyond what is drawn for an image of ``size`` (H, W).

    Seeds may be any whole numbers from 0. Unknown names and other fields are left to the parameters' reader.
    """
    drawn = [
        degradations.sample(name, severity=level, seed=0, size=size, modality=modality, lengths=lengths).to_json()
        for level in _SEVERITIES
        for lengths in LENGTHS
    ]
    for field, value in _all_fields(parameters):
        where = f"{name!r}: the parameter {field}"
        samples = [found for each in drawn for own, found in _all_fields(each) if own == field]
        if field.endswith("seed"):
            if type(value) is not int or not 0 <= value < 2**64:
                raise UserError(f"{where} is {value!r:.80}; expected a whole number from 0.")
            continue
        most_values = _TIMES * max(map(_count_elements, samples), default=0) + _LEAST
        if _count_elements(value) > most_values:
            raise UserError(f"{where} has {_count_elements(value):,} values; at most {most_values:,} are read.")
        least = _AT_LEAST.get((degradations.canonical_name(name), field), -math.inf)
        if isinstance(value, int | float) and value < least:
            raise UserError(f"{where} is {value!r:.80}; at least {least:g} is read.")
        bounds = _largest_numbers(samples)
        for place, (largest, _) in _largest_numbers([value]).items():
            most, is_pixels = bounds.get(place, (0.0, False))
            bound = _TIMES * most + (max(*size, _LEAST) if is_pixels else 1)
            if largest > bound:
                raise UserError(f"{where} has {largest:g}; at most {bound:g} is read.")


def _all_fields(parameters: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """All fields, including those of a nested record."""
    for field, value in parameters.items():
        if isinstance(value, Mapping):
            yield from _all_fields(value)
        else:
            yield field, value


def _count_elements(value: Any) -> int:
    """Characters and elements, including nested ones."""
    if isinstance(value, list | tuple):
        return sum(map(_count_elements, value)) + len(value)
    return len(value) if isinstance(value, str) else 1


def _largest_numbers(values: list[Any]) -> dict[int | None, tuple[float, bool]]:
    """The largest absolute number (infinite for NaN) and whether all are whole; for rows by column."""
    largest: dict[int | None, tuple[float, bool]] = {}
    for value in values:
        for row in value if isinstance(value, list | tuple) else [value]:
            for column, number in enumerate(row) if isinstance(row, list | tuple) else [(None, row)]:
                if isinstance(number, int | float):
                    before, whole = largest.get(column, (0.0, True))
                    size = math.inf if math.isnan(number) else abs(number)
                    largest[column] = max(before, size), whole and isinstance(number, int)
    return largest
