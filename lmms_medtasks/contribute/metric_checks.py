"""Whether metrics of someone's own have a value of right, wrong, unread and missing answers, and tell them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.contribute.loaded import Loaded
from lmms_medtasks.record import KEY, Record
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.contributions import contributions
from lmms_medtasks.suites.estimates import Contrast
from lmms_medtasks.suites.own_metrics import OwnMetric
from lmms_medtasks.suites.templates.measures import Own, own_of
from lmms_medtasks.task_yaml.problems import Findings

FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"
Say = Callable[[Mapping[str, Any]], str]
"""A reply to a document."""


def metrics_of(task: Loaded) -> list[OwnMetric]:
    """The metrics of a task that are not ours."""
    settings = getattr(task.config.get("process_results"), "keywords", {}).get("settings") or {}
    return own_of(settings.get("own") or Own())


def check(task: Loaded, docs: Sequence[Mapping[str, Any]], replies: Mapping[str, Say], found: Findings) -> bool:
    """Score ``docs`` with each kind of reply, also such that say nothing or failed; tell what metrics make of it.

    ``replies``: by their kind. False where one could not be scored.
    """
    own = metrics_of(task)
    if not own:
        return True
    kinds: dict[str, Say] = {
        **replies,
        "unread replies": lambda doc: "I don't know.",
        "empty replies": lambda doc: "",
        "failed requests": lambda doc: FAILED,
    }
    got: dict[str, dict[str, Any]] = {}
    records: list[Record] = []
    for kind, say in kinds.items():
        values = []
        for row, doc in enumerate(docs, start=1):
            scored = task.attempt(
                task.score,
                doc,
                [say(doc)] * task.repeats,
                what=f"can't be scored with {kind}",
                found=found,
                key=f"row {row}, question {doc['id']!r}",
            )
            if scored is None:
                return False
            values.append(scored)
        records += [each[KEY].record for each in values]
        got[kind] = _aggregated(task, own, values, kind, found)
    rows = Samples.of_records(records)
    for each in own:
        name = each.metric.name
        if each.metric.main:
            task.attempt(contributions, [lambda: rows], each.metric.estimate, name, what=each.where, found=found,
                         key="metrics")  # fmt: skip
        said = {kind: values.get(name) for kind, values in got.items()}
        if all(value is None for value in said.values()):
            found.add(task.path, f"{each.where} has no value, whatever is replied.{_restriction(task, each)}",
                      key="metrics", level="warning")  # fmt: skip
        elif len({said[kind] for kind in replies}) == 1 and len(replies) > 1 and not _is_change(each):
            message = f"{each.where} is {next(iter(said.values()))} for {' and for '.join(replies)}: it tells nothing"
            found.add(task.path, message, key="metrics", level="warning")
        shown = ", ".join(f"{kind} {'–' if value is None else f'{value:.3f}'}" for kind, value in said.items())
        found.told.append(f"{task.name}: {name}: {shown}")
    return True


def _is_change(own: OwnMetric) -> bool:
    """Whether the metric is a change between two parts: replies that are all alike change nothing."""
    return isinstance(own.metric.estimate, Contrast)


def _aggregated(
    task: Loaded, own: Sequence[OwnMetric], values: Sequence[Mapping[str, Any]], kind: str, found: Findings
) -> dict[str, Any]:
    listed = {each["metric"]: each["aggregation"] for each in task.config["metric_list"]}
    got = {}
    for each in own:
        name = each.metric.name
        got[name] = task.attempt(
            listed[name], [scored[name] for scored in values], what=f"{each.where} raises on {kind}", found=found,
            key="metrics",
        )  # fmt: skip
    return got


def _restriction(task: Loaded, own: OwnMetric) -> str:
    """Which values the columns have by which an estimate is restricted."""
    names = [name for name in own.metric.estimate.columns if name in task.scored.column_names]
    return "".join(
        f" {name} is {', '.join(sorted(set(map(str, task.scored[name])))[:9])} in the questions." for name in names
    )
