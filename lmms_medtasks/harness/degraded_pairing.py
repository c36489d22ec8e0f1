"""Degraded tasks and the clean ones of the same run, paired by question: what the result file tells of each metric.

Into the rows of both sample logs goes a score for each question, where a metric has one. Into the degraded task's
metadata goes how it was found, and the best possible score where it is stated.

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

from lmms_medtasks.harness.degraded_tasks import ShownImages
from lmms_medtasks.samples.degraded import METADATA, SCORES

TOTALS = "totals only"
LOGGED = "logged"
_CLOSE = 1e-6
_KEYS = ("score", "is_correct", "correct", "acc", "accuracy", "hit", "match", "exact_match")
_SHARES = frozenset(("acc", "acc_norm", "acc_mutual_info", "exact_match", "anls"))
"""Metrics of the harness that score a question from 0 to 1, where the harness itself scores."""


class DegradedPairScores(NamedTuple):
    """``values``: a score for each record, in the unit of what is reported, or None. ``how`` they were found.

    ``top``: the best possible score, where 0 is the worst, if that is stated: what is logged is true or false, or the
    metric is one that the harness computes. None where it is not: no range is read off the scores.
    """

    values: list[float] | None
    how: str
    top: float | None = None


def add_paired_scores(results: dict[str, Any], tasks: Mapping[str, Any], shown: Mapping[str, ShownImages]) -> None:
    """Add to the ``results`` of the harness, of the tasks in ``shown`` and their clean ones, what pairs them."""
    task_names = {each.base for each in shown.values()} | set(shown)
    metrics = {
        name: _score_metrics(results, name, tasks[name])
        for name in sorted(task_names & set(tasks) & set(results.get("samples", {})))
    }
    for name, each in shown.items():
        if each.base == name:
            continue  # degraded by its own YAML: there is no clean one of it
        clean = metrics.get(each.base, {})
        methods: dict[str, str] = {}
        top: dict[str, float] = {}
        for key, degraded_scores in metrics.get(name, {}).items():
            clean_scores = clean.get(key)
            is_alike = clean_scores is not None and clean_scores.how == degraded_scores.how
            methods[key] = degraded_scores.how if is_alike else TOTALS
            if clean_scores is not None and degraded_scores.top is not None and degraded_scores.top == clean_scores.top:
                top[key] = degraded_scores.top
        config = results["configs"][name]
        done = {**config["metadata"][METADATA], "scores": methods, "best_scores": top}
        config["metadata"] = {**config["metadata"], METADATA: done}


def _score_metrics(results: dict[str, Any], name: str, task: Any) -> dict[str, DegradedPairScores]:
    """The scores of a task's metrics by their keys in the results, written into its rows too."""
    rows = results["samples"][name]
    made = {}
    for metric in task.aggregation():
        reported = {key: each for key, each in results["results"][name].items() if key.split(",")[0] == metric}
        if len(reported) != 1 or not all(metric in row for row in rows):
            continue  # of several filters a row does not say which one it is of
        [(key, value)] = reported.items()
        is_a_share = is_score_share(metric, task.config)
        made[key] = find_question_scores([row[metric] for row in rows], value, share=is_a_share)
        for row, score in zip(rows, made[key].values or (), strict=False):
            row.setdefault(SCORES, {})[key] = score
    return made


def is_score_share(metric: str, config: Any) -> bool:
    """Whether a task's metric scores each question from 0 to 1, as the harness itself defines it."""
    return metric in _SHARES and not callable(getattr(config, "process_results", None))


def find_question_scores(values: Sequence[Any], reported: Any, *, share: bool = False) -> DegradedPairScores:
    """A score for each of ``values``, a metric's records of one task.

    ``reported``: what the harness reports of them. ``share``: the metric is known to score from 0 to 1.
    """
    total = _finite_number(reported)
    if total is None or not values:
        return DegradedPairScores(None, TOTALS)
    logged = [_logged_number(value) for value in values]
    if (factor := _find_factor([_finite_number(each) for each in logged], total)) is not None:
        stated = share or all(_is_truth(each) for each in logged)
        return DegradedPairScores([factor * float(each) for each in logged], LOGGED, factor if stated else None)
    return DegradedPairScores(None, TOTALS)


def _find_factor(values: Sequence[float | None], total: float) -> float | None:
    """1 or 100, by which the mean of the values is ``total``; None if it is not."""
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    mean = math.fsum(known) / len(known)
    return next((each for each in (1.0, 100.0) if abs(mean * each - total) <= _CLOSE * max(1.0, abs(total))), None)


def _logged_number(value: Any) -> Any:
    """The number in a record, as it is; anything else, or None, where there is no one number."""
    if isinstance(value, Mapping):
        return next((value[key] for key in _KEYS if _finite_number(value.get(key)) is not None), None)
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _is_truth(value: Any) -> bool:
    return isinstance(value, bool) or type(value).__name__ in ("bool_", "bool")


def _finite_number(value: Any) -> float | None:
    """``value`` as a float if it is a finite number, of Python, NumPy or torch; None for anything else."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
