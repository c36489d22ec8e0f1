"""What the harness gets of a scored question, and how it gets a number of all of them.

A scoring hook makes a :class:`~lmms_medtasks.record.Record` and returns :func:`metric_values` of it. Every
metric of every benchmark names :func:`aggregate` as its aggregation: the value itself knows whose it is.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from typing import Any

from lmms_medtasks.record import KEY, Record
from lmms_medtasks.samples.table import FIELDS, Samples, row_of
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Metric, Suite

CLUSTER = "cluster"
"""The ``cluster_key`` of all tasks: the harness clusters its standard errors by it."""


class MetricValue(dict[str, Any]):
    """A question's value of a metric. What the log shows is a mapping; in memory it carries the whole record.

    The mapping has ``score`` and ``cluster`` where the harness is to print a standard error (with bounds and counts of
    a judged measure), is the record itself under :data:`~lmms_medtasks.record.KEY`, and is empty elsewhere.
    """

    __slots__ = ("metric", "record", "suite")

    def __init__(self, shown: dict[str, Any], suite: str, metric: str, record: Record) -> None:
        super().__init__(shown)
        self.suite, self.metric, self.record = suite, metric, record

    def __reduce__(self) -> tuple[Any, ...]:
        return MetricValue, (dict(self), self.suite, self.metric, self.record)


def metric_values(suite: Suite, kind: str, record: Record) -> dict[str, MetricValue]:
    """The values of all metrics of a task of this kind (a key of ``suite.tasks``), the record first."""
    return values_of(suite, suite.tasks[kind], record)


def values_of(suite: Suite, metrics: Iterable[str], record: Record) -> dict[str, MetricValue]:
    """The values of these metrics of ``suite``, the record first."""
    row = row_of(record)
    found = {KEY: MetricValue(record.to_json(), suite.name, KEY, record)}
    for name in metrics:
        if name != KEY:
            found[name] = MetricValue(_shown(suite.metric(name), record, row), suite.name, name, record)
    return found


def _shown(metric: Metric, record: Record, row: dict[str, Any]) -> dict[str, Any]:
    estimate = metric.estimate
    if not isinstance(estimate, Mean) or not metric.standard_error:
        return {}
    value = record.measures.get(estimate.measure)
    if value is None or not all(_fulfils(row.get(name), wanted) for name, wanted in estimate.where.items()):
        return {}
    known = {name: each for name in FIELDS if (each := getattr(value, name)) is not None}
    if record.judgement and value.requested is not None:
        known["status"] = record.judgement.status
    return {**known, CLUSTER: record.cluster} if known else {}


def _fulfils(value: object, wanted: object) -> bool:
    return value in wanted if isinstance(wanted, tuple) else value == wanted


def aggregate(values: Sequence[MetricValue]) -> float | int | None:
    """The metric's number over all questions, however they were spread over processes; None where it has none."""
    if not values:
        return None
    first = values[0]
    metric = registry.get(first.suite).metric(first.metric)
    rows = _table(_Records(tuple(value.record for value in values)))
    found = metric.estimate.value(rows)
    notice = metric.notice(rows, found)
    if notice:
        from loguru import logger  # the harness's log

        logger.warning(notice)
    return found


def group_mean(metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool) -> float | None:
    """Aggregation of a group of tasks: the mean of their values, weighted by their numbers of questions or not.

    The harness's own ``mean`` ends the run with a TypeError where a task has no value; here that task is left out, and
    a group without any value has none.
    """
    known = [
        (value, size if weight_by_size else 1) for value, size in zip(metrics, sizes, strict=True) if value is not None
    ]
    total = sum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else None


class _Records:
    """Records as a key: two are equal if they hold the same objects. The records are held, so no id is used twice."""

    def __init__(self, records: tuple[Record, ...]) -> None:
        self.records, self._ids = records, tuple(map(id, records))

    def __hash__(self) -> int:
        return hash(self._ids)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Records) and self._ids == other._ids


@functools.lru_cache(maxsize=1)
def _table(key: _Records) -> Samples:
    """The table of a task's questions: its metrics are asked for one after the other, of the same records."""
    return Samples.of_records(key.records)
