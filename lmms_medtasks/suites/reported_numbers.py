"""The numbers of a result file against those that the benchmark's estimates give of the questions in its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.own_parts import NotFound
from lmms_medtasks.suites.suite import Suite

_TOLERANCE = 1e-9


def numbers_of(result: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a task's result; names without the filter's, no standard errors."""
    return {
        name.partition(",")[0]: float(value)
        for name, value in result.items()
        if "_stderr" not in name and isinstance(value, int | float) and not isinstance(value, bool)
    }


def differences(suite: Suite, rows: Samples, said: Mapping[str, float]) -> Iterator[str]:
    """A sentence for each number that is ``said`` of a task and is another one over its ``rows``.

    Names that no metric of the benchmark has are left out, and metrics whose code is not here.
    """
    estimates = {name: each for name, each in suite.estimates.items() if not isinstance(each, NotFound)}
    for name, value in said.items():
        number = estimates[name].value(rows) if name in estimates else value
        if not same(value, number):
            got = "none" if number is None else f"{number:.6g}"
            yield f"{name} is {value:.6g} in the result file; its samples give {got}."


def same(said: Any, number: float | int | None) -> bool:
    """Whether two numbers are the same but for rounding; None is the same as None alone."""
    if said is None or number is None:
        return said is None and number is None
    is_number = isinstance(said, int | float) and not isinstance(said, bool)
    return is_number and abs(said - number) <= _TOLERANCE * max(1.0, abs(number))
