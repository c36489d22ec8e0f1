"""Scores of questions that pair degraded tasks with the clean ones of the same run.

The rows of both sample logs get a score for each question and metric, if the metric has one. The degraded task's
metadata gets how it was found, and the best possible score if it is known.

A metric's name does not say what is logged under it: some tasks log one record under several names. So the logged
number (or the only number in a list or a mapping) counts as a question's score only if the mean over all questions is
the value that the harness reports. Other metrics have totals only; their aggregations are not called again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.samples.degraded import METADATA, SCORES
from lmms_medtasks.suites.estimates import Mean

TOTALS = "totals only"
LOGGED = "logged"
_CLOSE = 1e-6
_KEYS = ("score", "is_correct", "correct", "acc", "accuracy", "hit", "match", "exact_match")
_SHARES = frozenset(("acc", "acc_norm", "acc_mutual_info", "exact_match", "anls"))
"""Metrics of the harness that score a question from 0 to 1, where the harness itself scores."""


class DegradedPairScores(NamedTuple):
    """``values``: a score for each record, in the unit of the reported value, or None. ``how``: LOGGED or TOTALS.

    ``top``: the best possible score if the worst is 0; known for logged truth values, for metrics that the harness
    computes, and for those that a benchmark declares, else None.
    """

    values: list[float] | None
    how: str
    top: float | None = None


def add_paired_scores(results: dict[str, Any], tasks: Mapping[str, Any], bases: Mapping[str, str]) -> None:
    """Add the scores to the ``results`` of the harness. ``bases``: degraded task -> its clean one."""
    task_names = {*bases, *bases.values()} & set(tasks) & set(results.get("samples", {}))
    metrics = {name: _score_metrics(results, name, tasks[name]) for name in sorted(task_names)}
    for name, base in bases.items():
        if base == name:
            continue  # degraded by its own YAML, without a clean task
        clean = metrics.get(base, {})
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
    """The scores of a task's metrics by their keys in the results; adds them to the rows too."""
    rows = results["samples"][name]
    scores = {}
    for metric in task.aggregation():
        reported = {key: value for key, value in results["results"][name].items() if key.split(",")[0] == metric}
        if len(reported) != 1 or not all(metric in row for row in rows):
            continue  # with several filters a row does not say to which one it belongs
        [(key, value)] = reported.items()
        scores[key] = find_question_scores([row[metric] for row in rows], value, find_best_score(metric, task.config))
        for row, score in zip(rows, scores[key].values or (), strict=False):
            row.setdefault(SCORES, {})[key] = score
    return scores


def find_best_score(metric: str, config: Any) -> float | None:
    """The best score that a question can get in a task's metric if the worst is 0 or more; None if it is not known."""
    hook = getattr(config, "process_results", None)
    if not isinstance(hook, ScoringHook):
        return 1.0 if metric in _SHARES and not callable(hook) else None
    estimate = hook.suite.metric(metric).estimate if metric in hook.suite.estimates else None
    low, high = hook.suite.measure(estimate.measure).range if isinstance(estimate, Mean) else (-1.0, 1.0)
    return high if low >= 0 else None


def find_question_scores(values: Sequence[Any], reported: Any, best: float | None = None) -> DegradedPairScores:
    """A score for each of ``values``, a metric's records of one task.

    ``reported``: the value that the harness reports. ``best``: the best score of a question, if it is known.
    """
    total = _finite_number(reported)
    logged = [_logged_number(value) for value in values]
    numbers = [number for number in map(_finite_number, logged) if number is not None]
    if total is not None and numbers and len(numbers) == len(values):
        mean = math.fsum(numbers) / len(numbers)
        for factor in (1.0, 100.0):
            if abs(mean * factor - total) <= _CLOSE * max(1.0, abs(total)):
                # The second name is that of NumPy's truth values.
                is_truth = all(type(value).__name__ in ("bool", "bool_") for value in logged)
                top = best or (1.0 if is_truth else None)
                return DegradedPairScores([factor * x for x in numbers], LOGGED, top and factor * top)
    return DegradedPairScores(None, TOTALS)


def _logged_number(value: Any) -> Any:
    """The only number in a mapping or list, in its own type; any other value unchanged, or None."""
    if isinstance(value, Mapping):
        return next((value[key] for key in _KEYS if _finite_number(value.get(key)) is not None), None)
    return value[0] if isinstance(value, list | tuple) and len(value) == 1 else value


def _finite_number(value: Any) -> float | None:
    """``value`` as a float if it is a finite number of Python, NumPy or torch, else None."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
