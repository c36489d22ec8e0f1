"""The values of metrics that the harness gets for a scored question, and their aggregation over all questions.

A scoring hook makes a :class:`~lmms_medtasks.record.QuestionRecord` and returns :func:`metric_values` of it; that of a
declared benchmark is a :class:`ScoringHook`. Every metric has :func:`aggregate` as its aggregation: each value knows
its metric. The metrics of a task are declared (:mod:`lmms_medtasks.suites.suite`), and the plugin puts them in where a
YAML says ``metric_list: !function lmms_medtasks.harness.scoring.DECLARED``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import KEY, QuestionRecord
from lmms_medtasks.samples.table import FIELDS, QuestionTable, record_to_row
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Metric, Suite

CLUSTER = "cluster"
"""The ``cluster_key`` of all tasks: the harness clusters its standard errors by it."""


class MetricValue(dict[str, Any]):
    """A question's value of a metric: a mapping for the log, with the whole record as an attribute.

    The mapping has ``score`` and ``cluster`` if the harness is to print a standard error (with bounds and counts of a
    judged measure), is the record itself under :data:`~lmms_medtasks.record.KEY`, and otherwise is empty.
    """

    __slots__ = ("metric", "record", "suite")

    def __init__(self, shown: dict[str, Any], suite: str, metric: str, record: QuestionRecord) -> None:
        super().__init__(shown)
        self.suite, self.metric, self.record = suite, metric, record

    def __reduce__(self) -> tuple[Any, ...]:
        return MetricValue, (dict(self), self.suite, self.metric, self.record)


def metric_values(suite: Suite, kind: str, record: QuestionRecord) -> dict[str, MetricValue]:
    """The values of all metrics of a task of this kind (a key of ``suite.tasks``), the record first."""
    return make_metric_values(suite, suite.tasks[kind], record)


class ScoringHook:
    """The scoring hook of a kind of tasks of a declared benchmark: question and replies -> values of its metrics.

    Attributes:
        suite, kind: whose metrics (a key of ``suite.tasks``). record: makes a question's record of its replies.
        metrics_of: for judged replies, logged record -> values.
    """

    metrics_of: Callable[[QuestionRecord], dict[str, MetricValue]]

    def __init__(
        self,
        suite: Suite,
        kind: str,
        record: Callable[[Any, Any], QuestionRecord],
        remeasured: Callable[[QuestionRecord], QuestionRecord] | None = None,
    ) -> None:
        """``remeasured``: recomputes the measures of a record from its judgement."""
        self.suite, self.kind, self.record = suite, kind, record
        # The key of the harness's response cache has these.
        self.__module__ = getattr(record, "func", record).__module__
        self.__qualname__ = f"scoring of {suite.name}, {kind}"
        if remeasured is not None:
            self.metrics_of = lambda logged: metric_values(suite, kind, remeasured(logged))

    def __call__(self, doc: Any, results: Sequence[Any]) -> dict[str, MetricValue]:
        return metric_values(self.suite, self.kind, self.record(doc, results))

    def __repr__(self) -> str:
        return f"{self.__module__}: {self.__qualname__}"

    def __deepcopy__(self, memo: object) -> ScoringHook:
        return self  # the harness copies a task's configuration for the result file


class _DeclaredMetrics:
    """Placeholder for a task's metrics in its YAML; without the plugin it ends the run, before data are read."""

    def __iter__(self) -> Iterator[NoReturn]:
        raise UserError(
            "This task's metrics are declared in Python, and the plugin of lmms-medtasks puts them in, which is not at "
            "work here: the harness would print other numbers under this task's name. lmms-medtasks must be installed "
            "in the environment of lmms-eval (pip install lmms-medtasks). In Python: lmms_medtasks.evaluate, or import "
            "lmms_eval.models before the first TaskManager is made."
        )


DECLARED = _DeclaredMetrics()
"""What a YAML says in place of a list of metrics."""


def metric_entry(metric: Metric) -> dict[str, Any]:
    """A metric's entry in a ``metric_list`` of the harness."""
    return {"metric": metric.name, "aggregation": aggregate, "higher_is_better": metric.higher_is_better}


def with_declared_metrics(config: dict[str, Any]) -> dict[str, Any]:
    """``config`` with :data:`DECLARED` replaced by metrics; UserError if the task's scoring hook declares none."""
    if config.get("metric_list") is not DECLARED:
        return config
    hook = config.get("process_results")
    if not isinstance(hook, ScoringHook):
        raise UserError(
            f"Task {config.get('task')!r}: its metric_list says that its metrics are declared, and process_results is "
            "not a hook that declares any: expected process_results = ScoringHook(SUITE, KIND, record), of "
            "lmms_medtasks.harness.scoring."
        )
    return {**config, "metric_list": [metric_entry(hook.suite.metric(name)) for name in hook.suite.tasks[hook.kind]]}


def make_metric_values(suite: Suite, metrics: Iterable[str], record: QuestionRecord) -> dict[str, MetricValue]:
    """The values of these metrics of ``suite``, the record first."""
    row = record_to_row(record)
    values = {KEY: MetricValue(record.to_json(), suite.name, KEY, record)}
    for name in metrics:
        if name != KEY:
            values[name] = MetricValue(_logged_value(suite.metric(name), record, row), suite.name, name, record)
    return values


def _logged_value(metric: Metric, record: QuestionRecord, row: dict[str, Any]) -> dict[str, Any]:
    estimate = metric.estimate
    if not isinstance(estimate, Mean) or not metric.standard_error:
        return {}
    value = record.measures.get(estimate.measure)
    if value is None or not all(_is_fulfilled(row.get(name), expected) for name, expected in estimate.where.items()):
        return {}
    known = {name: field for name in FIELDS if (field := getattr(value, name)) is not None}
    if record.judgement and value.requested is not None:
        known["status"] = record.judgement.status
    return {**known, CLUSTER: record.cluster} if known else {}


def _is_fulfilled(value: object, expected: object) -> bool:
    return value in expected if isinstance(expected, tuple) else value == expected


def name_tasks_in_notices(tasks: Iterable[Any]) -> None:
    """Let notices of these tasks' metrics begin with the task's name, which :func:`aggregate` is not told."""
    for task in tasks:
        task.aggregation = functools.partial(_with_task_name, task.aggregation, str(task.config.task))


def _with_task_name(aggregations: Callable[[], dict[str, Callable[..., Any]]], task: str) -> dict[str, Any]:
    return {
        metric: functools.partial(aggregate, task=task) if function is aggregate else function
        for metric, function in aggregations().items()
    }


def aggregate(values: Sequence[MetricValue], task: str = "") -> float | int | None:
    """The metric over all questions, independent of their spread over processes; None if undefined.

    ``task``: which its notice names.
    """
    if not values:
        return None
    first = values[0]
    metric = registry.get(first.suite).metric(first.metric)
    rows = _question_table(_Records(value.record for value in values))
    number = metric.estimate.value(rows)
    notice = metric.notice(rows, number)
    if notice:
        from loguru import logger  # the harness's log

        logger.warning(f"{task}: {notice}" if task else notice)
    return number


def group_mean(metrics: Sequence[float | None], sizes: Sequence[int], weight_by_size: bool) -> float | None:
    """Aggregation of a group of tasks: the mean of their values, weighted by their numbers of questions or not.

    The harness's ``mean`` raises TypeError for a task without a value; here it is left out. None without any value.
    """
    known = [
        (value, size if weight_by_size else 1) for value, size in zip(metrics, sizes, strict=True) if value is not None
    ]
    total = sum(weight for _, weight in known)
    return math.fsum(value * weight for value, weight in known) / total if total else None


class _Records(tuple[QuestionRecord, ...]):
    """Records as a cache key, hashed by identity; the cache keeps them alive, so that no id is used again."""

    __slots__ = ()

    def __hash__(self) -> int:
        return hash(tuple(map(id, self)))


@functools.lru_cache(maxsize=1)
def _question_table(records: _Records) -> QuestionTable:
    """Cached: the metrics of a task are aggregated one after the other, from the same records."""
    return QuestionTable.of_records(records)
