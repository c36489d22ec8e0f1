"""Arrays, lists, tensors, series and data frames as plain columns."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from lmms_medtasks.errors import UserError, unknown_name_error

if TYPE_CHECKING:
    from pandas import DataFrame


def is_missing(value: Any) -> bool:
    """Whether ``value`` is None, NaN or pandas' NA or NaT."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def is_frame(values: Any) -> TypeGuard[DataFrame]:
    """Whether ``values`` is a pandas data frame; pandas is not imported for it."""
    return any(
        cls.__name__ == "DataFrame" and cls.__module__.partition(".")[0] == "pandas" for cls in type(values).__mro__
    )


def to_list(values: Any, what: str) -> list[Any]:
    """A one-dimensional list, array, tensor or Series as a list. Raises UserError for anything else."""
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable) or is_frame(values):
        raise UserError(f"The {what} must be a list, an array or a Series, got {type(values).__name__}.")
    if getattr(values, "ndim", 1) != 1:
        raise UserError(f"The {what} must have one dimension, got the shape {tuple(values.shape)}.")  # type: ignore[attr-defined]
    return list(values.tolist() if hasattr(values, "tolist") else values)


def task_names(given: Any) -> list[str]:
    """A list of names without white space around them. Raises UserError for anything else."""
    names = to_list(given, "tasks")
    for name in names:
        if not isinstance(name, str) or not name.strip():
            raise UserError(f"The tasks must be names of tasks, such as 'slake_en', got {name!r:.80}.")
    return [name.strip() for name in names]


def to_numbers(values: Any, what: str) -> np.ndarray:
    """(n,) float64 of a column of numbers or truth values; NaN for missing values.

    Raises UserError, with the index, for infinity and values that are not numbers.
    """
    column = to_list(values, what)
    floats = np.full(len(column), np.nan)
    for row, value in enumerate(column):
        if is_missing(value):
            continue
        if not isinstance(value, (bool, int, float, np.number, np.bool_)) or not math.isfinite(value):
            raise UserError(f"The {what} must be numbers; number {row} is {value!r:.40} ({type(value).__name__}).")
        floats[row] = value
    return floats


def to_labels(values: Any, what: str, count: int) -> list[str]:
    """``count`` labels as texts; if ``values`` is None, each row has its own.

    Raises UserError for another number of labels, and for a missing one.
    """
    if values is None:
        return [str(row) for row in range(count)]
    column = to_list(values, what)
    if len(column) != count:
        raise UserError(f"{len(column)} {what} for {count} values; give a label for each value.")
    for row, value in enumerate(column):
        if is_missing(value):
            raise UserError(f"The {what} must have a label for each value; number {row} has none.")
    return [str(value) for value in column]


def get_column(frame: DataFrame, name: Any, what: str) -> Any:
    """A column of a data frame by its name. Raises UserError for an unknown name."""
    if not isinstance(name, str):
        raise UserError(f"With a data frame, {what} is the name of a column, got {type(name).__name__}.")
    if name not in frame.columns:
        raise unknown_name_error("column", name, map(str, frame.columns), f"the data frame ({what})")
    return frame[name]


def check_range(values: np.ndarray, bounds: tuple[float, float], what: str) -> tuple[float, float]:
    """``bounds`` as two floats. Raises UserError for bounds that are not a finite range, and for a value outside."""
    try:
        low, high = map(float, bounds)
    except (TypeError, ValueError):
        low = high = 0.0
    if not -math.inf < low < high < math.inf:
        raise UserError(f"bounds must be the lowest and the highest value that there can be, (0, 1), got {bounds!r}.")
    with np.errstate(invalid="ignore"):
        outside = np.flatnonzero((values < low) | (values > high))
    if len(outside):
        problem = f"number {outside[0]} is {values[outside[0]]:g}, expected {low:g} to {high:g}."
        raise UserError(f"{what[0].upper()}{what[1:]}: {problem}")
    return low, high


def check_length(first: Any, second: Any, what: str) -> None:
    if len(first) != len(second):
        raise UserError(
            f"The two columns of {what} have {len(first)} and {len(second)} values; expected as many in each."
        )
