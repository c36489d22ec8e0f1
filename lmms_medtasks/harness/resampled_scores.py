"""The change of a metric that is no mean over questions: by resampling pictures through the task's own aggregation.

An aggregation of others is a black box, so before its resamples are believed it has to show that

- it may be called again (:mod:`lmms_medtasks.harness.quiet_aggregations`);
- on all records it gives the value that the harness reported, changes no record, and gives that value again when the
  pictures come in another order (one that takes the record in the middle does not);
- a question that is drawn twice counts twice: one that keeps records by their names, or takes the largest, does not,
  and its resamples would be samples of fewer questions.

Else the metric has totals only. The number of resamples is bounded by the time that one call takes, and told.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import time
from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any

import numpy as np

from lmms_medtasks.harness.paired_scores import CLOSE
from lmms_medtasks.harness.quiet_aggregations import is_quiet, number, silenced, value_of
from lmms_medtasks.statistics.paired_resampling import (
    RESAMPLES,
    ResampledChange,
    resampled_change,
    resampled_rows,
    rows_of_units,
)

SECONDS = 120.0
"""For all metrics and degraded tasks of a run together."""
SECONDS_EACH = 10.0
_COUNTS = (RESAMPLES, 500, 200)
_CALLS = 4
"""Calls of the aggregation for a resample: both conditions, for the interval and for the test."""
_PROBES = 8


def resampled(
    aggregation: Callable[..., Any],
    clean: Sequence[Any],
    degraded: Sequence[Any],
    units: Sequence[str],
    reported: tuple[Any, Any],
    *,
    seed: str,
    seconds: float = SECONDS_EACH,
) -> dict[str, Any] | None:
    """Interval and test of the change from ``clean`` to ``degraded``, records paired by their place, JSON-safe.

    ``units``: the unit (picture) of each. ``reported``: what the harness reports of both. None where the aggregation
    is not to be called or believed, or takes too long.
    """
    if not is_quiet(aggregation) or not clean:
        return None
    with silenced(aggregation):
        found = _change(aggregation, clean, degraded, units, reported, seed, seconds)
    return None if found is None else dataclasses.asdict(found)


def _change(
    aggregation: Callable[..., Any],
    clean: Sequence[Any],
    degraded: Sequence[Any],
    units: Sequence[str],
    reported: tuple[Any, Any],
    seed: str,
    seconds: float,
) -> ResampledChange | None:
    if not all(map(_gives, (aggregation,) * 2, (clean, degraded), reported)):
        return None
    started = time.perf_counter()
    value_of(aggregation, degraded)
    call = time.perf_counter() - started
    count = next((each for each in _COUNTS if each * _CALLS * call <= seconds), None)
    own = rows_of_units(units)
    if count is None or not all(_is_believed(aggregation, each, own) for each in (clean, degraded)):
        return None

    def statistic(rows: Sequence[Any]) -> float | None:
        return value_of(aggregation, rows)

    return resampled_change(statistic, clean, degraded, units, seed=seed, resamples=count)


def _gives(aggregation: Callable[..., Any], values: Sequence[Any], reported: Any) -> bool:
    """Whether the aggregation gives the value that was reported, and leaves its records as they are."""
    total = number(reported)
    try:
        before = pickle.dumps(values)
        return total is not None and _same(value_of(aggregation, values), total) and pickle.dumps(values) == before
    except Exception:  # noqa: BLE001 (records that can't be written down can't be compared)
        return False


def _is_believed(aggregation: Callable[..., Any], values: Sequence[Any], own: Sequence[np.ndarray]) -> bool:
    """Whether the order of the pictures is of no account, and a question that is drawn twice counts twice."""
    total = value_of(aggregation, values)
    if total is None or not _same(value_of(aggregation, [values[row] for row in chain(*own[::-1])]), total):
        return False
    once, twice = [], []
    for rows in resampled_rows(own, _PROBES, "probe"):
        twice.append(value_of(aggregation, [values[row] for row in rows]))
        once.append(value_of(aggregation, [values[row] for row in dict.fromkeys(rows.tolist())]))
    known = [each for each in once if each is not None]
    varies = len(known) > 1 and not all(_same(each, known[0]) for each in known)
    return not varies or any(
        one is not None and two is not None and not _same(one, two) for one, two in zip(once, twice, strict=True)
    )


def _same(one: float | None, other: float) -> bool:
    return one is not None and math.isclose(one, other, rel_tol=CLOSE, abs_tol=CLOSE)
