"""A score a question, of any task's metric, so that a degraded task can be paired with its clean one.

A metric's name says nothing of what is logged under it: some tasks log a record under several names, of which each
aggregation takes its part. So a number counts as a question's score only where the mean of all of them is the value
that the harness reports:

1. the number that is logged, if it is one (or the one number in a list or a mapping);
2. else the metric has no score a question: it has totals only. Aggregations of others are not called again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

TOTALS = "totals only"
LOGGED = "logged"
_CLOSE = 1e-6
_KEYS = ("score", "is_correct", "correct", "acc", "accuracy", "hit", "match", "exact_match")
_SHARES = frozenset(("acc", "acc_norm", "acc_mutual_info", "exact_match", "anls"))
"""Metrics of the harness that score a question from 0 to 1, where the harness itself scores."""


class Scores(NamedTuple):
    """``values``: a score for each record, in the unit of what is reported, or None. ``how`` they were found.

    ``top``: the best possible score, where 0 is the worst, if that is stated: what is logged is true or false, or the
    metric is one that the harness computes. None where it is not: no range is read off the scores.
    """

    values: list[float] | None
    how: str
    top: float | None = None


def is_share(metric: str, config: Any) -> bool:
    """Whether a task's metric scores each question from 0 to 1, as the harness itself defines it."""
    return metric in _SHARES and not callable(getattr(config, "process_results", None))


def scores(values: Sequence[Any], reported: Any, *, share: bool = False) -> Scores:
    """A score for each of ``values``, a metric's records of one task.

    ``reported``: what the harness reports of them. ``share``: the metric is known to score from 0 to 1.
    """
    total = _number(reported)
    if total is None or not values:
        return Scores(None, TOTALS)
    logged = [_logged(each) for each in values]
    if (factor := _factor([_number(each) for each in logged], total)) is not None:
        stated = share or all(_is_truth(each) for each in logged)
        return Scores([factor * float(each) for each in logged], LOGGED, factor if stated else None)
    return Scores(None, TOTALS)


def _factor(values: Sequence[float | None], total: float) -> float | None:
    """1 or 100, by which the mean of the values is ``total``; None if it is not."""
    known = [each for each in values if each is not None]
    if len(known) < len(values):
        return None
    mean = math.fsum(known) / len(known)
    return next((each for each in (1.0, 100.0) if abs(mean * each - total) <= _CLOSE * max(1.0, abs(total))), None)


def _logged(value: Any) -> Any:
    """The number in a record, as it is; anything else, or None, where there is no one number."""
    if isinstance(value, Mapping):
        return next((value[key] for key in _KEYS if _number(value.get(key)) is not None), None)
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _number(value: Any) -> float | None:
    """``value`` as a float if it is a finite number, of Python, NumPy or torch; None for anything else."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError):
        return None
    return found if math.isfinite(found) else None
