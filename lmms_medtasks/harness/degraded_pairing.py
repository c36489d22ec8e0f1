"""Degraded tasks and the clean ones of the same run, paired by question: what the result file tells of each metric.

Into the rows of both sample logs goes a score for each question, where a metric has one
(:mod:`lmms_medtasks.harness.paired_scores`). Into the degraded task's metadata goes how it was found, and the best
possible score where it is stated.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lmms_medtasks.harness import paired_scores
from lmms_medtasks.harness.degraded_tasks import ShownPictures
from lmms_medtasks.samples.degraded import METADATA, SCORES


def pair(results: dict[str, Any], tasks: Mapping[str, Any], shown: Mapping[str, ShownPictures]) -> None:
    """Add to the ``results`` of the harness, of the tasks in ``shown`` and their clean ones, what pairs them."""
    wanted = {each.base for each in shown.values()} | set(shown)
    metrics = {
        name: _metrics(results, name, tasks[name])
        for name in sorted(wanted & set(tasks) & set(results.get("samples", {})))
    }
    for name, each in shown.items():
        if each.base == name:
            continue  # degraded by its own YAML: there is no clean one of it
        clean = metrics.get(each.base, {})
        how: dict[str, str] = {}
        top: dict[str, float] = {}
        for key, own in metrics.get(name, {}).items():
            other = clean.get(key)
            how[key] = own.how if other is not None and other.how == own.how else paired_scores.TOTALS
            if other is not None and own.top is not None and own.top == other.top:
                top[key] = own.top
        config = results["configs"][name]
        done = {**config["metadata"][METADATA], "scores": how, "best_scores": top}
        config["metadata"] = {**config["metadata"], METADATA: done}


def _metrics(results: dict[str, Any], name: str, task: Any) -> dict[str, paired_scores.Scores]:
    """The scores of a task's metrics by their keys in the results, written into its rows too."""
    rows = results["samples"][name]
    made = {}
    for metric in task.aggregation():
        reported = {key: each for key, each in results["results"][name].items() if key.split(",")[0] == metric}
        if len(reported) != 1 or not all(metric in row for row in rows):
            continue  # of several filters a row does not say which one it is of
        [(key, value)] = reported.items()
        share = paired_scores.is_share(metric, task.config)
        made[key] = paired_scores.scores([row[metric] for row in rows], value, share=share)
        for row, score in zip(rows, made[key].values or (), strict=False):
            row.setdefault(SCORES, {})[key] = score
    return made
