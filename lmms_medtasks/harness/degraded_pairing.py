"""Degraded tasks and the clean ones of the same run, paired by question: what the result file tells of each metric.

Into the rows of both sample logs goes a score for each question, where a metric has one
(:mod:`lmms_medtasks.harness.paired_scores`). Into the degraded task's metadata goes how it was found, the best possible
score where it is stated, and of the other metrics the interval and test by resampling
(:mod:`lmms_medtasks.harness.resampled_scores`), which need the task's own aggregation and so can't be made later.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from lmms_medtasks.harness import paired_scores, resampled_scores
from lmms_medtasks.harness.degraded_tasks import ShownPictures
from lmms_medtasks.progress import say
from lmms_medtasks.samples.degraded import METADATA, PICTURES, SCORES, units


class _Metric(NamedTuple):
    """A metric of a task in this run: its key in the results, its value there, each question's record by number."""

    key: str
    aggregation: Any
    value: Any
    records: dict[int, Any]
    scores: paired_scores.Scores


def pair(results: dict[str, Any], tasks: Mapping[str, Any], shown: Mapping[str, ShownPictures]) -> None:
    """Add to the ``results`` of the harness, of the tasks in ``shown`` and their clean ones, what pairs them."""
    wanted = {each.base for each in shown.values()} | set(shown)
    metrics = {
        name: {each.key: each for each in _metrics(results, name, tasks[name])}
        for name in sorted(wanted & set(tasks) & set(results.get("samples", {})))
    }
    left: list[tuple[str, _Metric, _Metric]] = []
    for name, each in shown.items():
        if each.base == name:
            continue  # degraded by its own YAML: there is no clean one of it
        clean = metrics.get(each.base, {})
        has_direction = results.get("higher_is_better", {}).get(name) or {}
        how: dict[str, str] = {}
        top: dict[str, float] = {}
        for key, own in metrics.get(name, {}).items():
            other = clean.get(key)
            alike = other is not None and other.scores.how == own.scores.how
            how[key] = own.scores.how if alike else paired_scores.TOTALS
            if other is None:
                continue
            if how[key] == paired_scores.TOTALS and has_direction.get(key.partition(",")[0]) is not None:
                left.append((name, other, own))
            elif own.scores.top is not None and own.scores.top == other.scores.top:
                top[key] = own.scores.top
        _note(results, name, scores=how, best_scores=top)
    _resample(results, left)


def _metrics(results: dict[str, Any], name: str, task: Any) -> Iterator[_Metric]:
    """A task's metrics, their scores written into its rows."""
    rows = results["samples"][name]
    for metric, aggregation in task.aggregation().items():
        reported = {key: each for key, each in results["results"][name].items() if key.split(",")[0] == metric}
        if len(reported) != 1 or not all(metric in row for row in rows):
            continue  # of several filters a row does not say which one it is of
        [(key, value)] = reported.items()
        share = paired_scores.is_share(metric, task.config)
        found = paired_scores.scores([row[metric] for row in rows], aggregation, value, share=share)
        for row, score in zip(rows, found.values or (), strict=False):
            row.setdefault(SCORES, {})[key] = score
        yield _Metric(key, aggregation, value, {row["doc_id"]: row[metric] for row in rows}, found)


def _resample(results: dict[str, Any], left: list[tuple[str, _Metric, _Metric]]) -> None:
    """Of metrics without a score for each question: interval and test, as far as the aggregation and the time allow."""
    if not left:
        return
    end = time.monotonic() + resampled_scores.SECONDS
    say(
        f"lmms-medtasks: {len(left)} metrics of degraded tasks are no means over questions: images are resampled, "
        f"for {resampled_scores.SECONDS:.0f} seconds at most."
    )
    # The first metric of each task first.
    place = {key: number for number, key in enumerate(dict.fromkeys(own.key for _, _, own in left))}
    for number, (name, clean, own) in enumerate(sorted(left, key=lambda each: place[each[2].key])):
        if (seconds := (end - time.monotonic()) / (len(left) - number)) <= 0:
            say(f"lmms-medtasks: the time is up, {len(left) - number} of these metrics have totals only.")
            break
        numbers = sorted(own.records)
        if numbers != sorted(clean.records):
            continue
        pictures = {row["doc_id"]: [each["picture"] for each in row.get(PICTURES) or ()]
                    for row in results["samples"][name]}  # fmt: skip
        found = resampled_scores.resampled(
            own.aggregation,
            [clean.records[each] for each in numbers],
            [own.records[each] for each in numbers],
            units([pictures[each] for each in numbers]),
            (clean.value, own.value),
            seed=own.key,
            seconds=min(resampled_scores.SECONDS_EACH, seconds),
        )
        if found is not None:
            told = results["configs"][name]["metadata"][METADATA]
            how, resampled = {**told["scores"], own.key: paired_scores.RESAMPLED}, told.get("resampled", {})
            _note(results, name, scores=how, resampled={**resampled, own.key: found})


def _note(results: dict[str, Any], name: str, **told: Any) -> None:
    config = results["configs"][name]
    done = {**config["metadata"][METADATA], **told}
    config["metadata"] = {**config["metadata"], METADATA: done}
