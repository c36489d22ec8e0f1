"""Columns of few distinct values, a byte or two a row."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Scalar = str | int | float | bool | None


@dataclass(frozen=True)
class Coded:
    """A column of few distinct values: ``values[codes]``.

    Attributes:
        values: the distinct values; ``values[0]`` is always None, "there is none".
        codes: (n,) unsigned integers.
    """

    values: tuple[Scalar, ...]
    codes: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def floats(self) -> np.ndarray:
        """(n,) float64, NaN where there is none. Only for columns of numbers."""
        table = np.array([math.nan if value is None else value for value in self.values], dtype=float)
        return table[self.codes]

    def labels(self) -> list[Scalar]:
        """The n values, None where there is none."""
        return [self.values[code] for code in self.codes.tolist()]

    def where(self, value: Scalar) -> np.ndarray:
        """(n,) booleans: the rows that have this value (None: those that have none)."""
        if value not in self.values:
            return np.zeros(len(self.codes), dtype=bool)
        return self.codes == self.values.index(value)

    def taken(self, rows: np.ndarray) -> Coded:
        """The column with these rows only, in their order."""
        return Coded(self.values, self.codes[rows])


def mean_of(column: Coded) -> float | None:
    """Mean of a column of numbers, None without any: each distinct value times its count, summed exactly."""
    counts = np.bincount(column.codes, minlength=len(column.values)).tolist()
    total = sum(counts[1:])
    if not total:
        return None
    return math.fsum(value * count for value, count in zip(column.values[1:], counts[1:], strict=True)) / total


def coded(values: Sequence[Any]) -> Coded:
    """A column from a list of scalars. Codes take the smallest unsigned type that holds them."""
    table: dict[Any, int] = {None: 0}
    codes = [table.setdefault(value, len(table)) for value in values]
    return Coded(tuple(table), np.array(codes, dtype=code_type(len(table))))


def code_type(count: int) -> np.dtype:
    """The smallest unsigned integer type for ``count`` different codes."""
    return np.min_scalar_type(max(count - 1, 0))
