"""The declaration of a benchmark: the scores of a question and the metrics of its tasks.

It stands in the ``measures.py`` of the benchmark's folder: what it says can move a number. Tables and figures stand in
``report.py`` beside it, which can not.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.record import FAILED, NO_ANSWER, QuestionRecord
from lmms_medtasks.samples.table import FIELDS, OWN_COLUMNS, QuestionTable
from lmms_medtasks.suites.estimates import Contrast, Count, Estimate, Macro, MacroContrast, Mean


@dataclass(frozen=True)
class Measure:
    """A score that a question gets.

    Attributes:
        low, high: its range. unit: "%" for a share from 0 to 1 that is shown in percent, else a word ("stars").
        digits: decimals that are shown. about: a sentence for the documentation.
    """

    name: str
    about: str = ""
    low: float = 0.0
    high: float = 1.0
    unit: str = "%"
    digits: int = 1
    higher_is_better: bool = True

    @property
    def range(self) -> tuple[float, float]:
        """The worst and the best that a value can be, the lower first."""
        return self.low, self.high

    @property
    def factor(self) -> float:
        """What a value is multiplied by to be shown in ``unit``."""
        return 100.0 if self.unit == "%" or (self.unit == "points" and self.high <= 1) else 1.0


@dataclass(frozen=True)
class Metric:
    """A row of the harness's table.

    Attributes:
        estimate: what it is. higher_is_better: None where neither is. about: a sentence for the documentation.
        main: the leaderboard ranks by it, comparison and gate test it, whatever the estimate
            (:mod:`lmms_medtasks.suites.contributions`). What can't be one: :func:`why_not_main`.
        standard_error: whether the harness prints one; only means of a measure can have one.
        notice: what a user must be told of its value, "" for nothing.
        unit: how a report shows it: "%" of a share, "points" of a difference of shares, "" as it is, "count"; None: as
            its measure.
    """

    name: str
    estimate: Estimate
    higher_is_better: bool | None = True
    about: str = ""
    main: bool = False
    standard_error: bool = True
    notice: Callable[[QuestionTable, float | int | None], str] = lambda rows, value: ""
    unit: str | None = None


AnyDeclared = TypeVar("AnyDeclared", Measure, Metric)

_OF_QUESTION = ("id", "cluster", "pair", "expected", "task", "condition")
"""A row's own columns that do not depend on the reply."""


def why_not_main(metric: Metric, reply_tags: Collection[str] = ()) -> str:
    """Why a metric can't be main; "" if it can, or is not. ``reply_tags``: as of a :class:`Suite`.

    Replies must not decide what counts: no question is selected, grouped or paired by them.
    """
    estimate, of_reply = metric.estimate, {*reply_tags, *OWN_COLUMNS}.difference(_OF_QUESTION)
    chosen = [
        column for column in estimate.columns if column in of_reply or column.rpartition(".")[2] in (*FIELDS, "asked")
    ]
    reasons = {
        "a number that is counted has no interval and no test": isinstance(estimate, Count),
        "it is exact, a number that is known and the same for every model": estimate.exact,
        "it has no direction to rank by; declare what is better, or a distance": metric.higher_is_better is None,
        f"it chooses questions by {', '.join(chosen)}, which the reply has a say in": bool(chosen),
    }
    reason = next((reason for reason, holds in reasons.items() if holds and metric.main), "")
    return reason and f"can't be a main metric: {reason}. Change it, or leave main=True out."


def count_read_replies(rows: QuestionTable) -> tuple[int, int]:
    """Count the parsed replies, and all replies that arrived.

    A judged reply counts as parsed if it is not empty; judged questions count only if all questions are judged.
    """
    judged = np.array([status is not None for status in rows.column("judgement")], dtype=bool)
    every = bool(judged.all())
    _, trials = rows.take(judged == every).texts("trials")
    replies = trials.filter(pc.not_equal(trials, FAILED))
    unread = pc.not_equal(replies, "ok") if every else pc.is_in(replies, pa.array(NO_ANSWER))
    return len(replies) - int(np.count_nonzero(unread)), len(replies)


@dataclass(frozen=True)
class Suite:
    """A benchmark.

    Attributes:
        name: its folder's. title: for people. cluster: what a cluster is ("image", "item", "case").
        data: the names under ``medtasks://`` that its tasks read. tags: what records are broken down by.
        measures: every measure that a record may hold.
        metrics: every metric of its tasks, in the order of their tables.
        tasks: kind of task -> the names of its metrics. The scoring hook that a task's YAML names is of one.
        condition: (task, its settings) -> "" as released, or what sets the way of asking apart ("no image").
        task_tags: (task, its settings) -> tags of every question of the task.
        reply_tags: those of ``tags`` that are of the replies to a question, and not of the question.
        tag_values: tags that have only some values, and these; a log with another is refused.
        identity: columns that make a question one of a condition. What several tasks of a run ask under one condition
            counts once, with the first task's reply.
        paired: columns in which the forms of a question under two conditions agree.
        default: the folder declares none, this one is its template's.
        joined: the declarations of a benchmark's tasks, where this one is made of several.
        check: what is wrong with a record's tags, "" for nothing: a log that was edited is told by its line.
        read_replies: (replies that could be read, replies that came) of questions, for the board.
    """

    name: str
    title: str
    cluster: str
    measures: tuple[Measure, ...]
    metrics: tuple[Metric, ...]
    tasks: Mapping[str, tuple[str, ...]]
    data: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    condition: Callable[[str, Mapping[str, Any]], str] = lambda task, settings: ""
    task_tags: Callable[[str, Mapping[str, Any]], Mapping[str, Any]] = lambda task, settings: {}
    reply_tags: tuple[str, ...] = ()
    tag_values: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    identity: tuple[str, ...] = ("id",)
    paired: tuple[str, ...] = ("pair",)
    default: bool = False
    joined: tuple[Suite, ...] = ()
    check: Callable[[QuestionRecord], str] = lambda record: ""
    read_replies: Callable[[QuestionTable], tuple[int, int]] = count_read_replies
    estimates: Mapping[str, Estimate] = field(init=False)

    def __post_init__(self) -> None:
        """Raises UserError, with file and line, for a repeated or unknown name, or an invalid main metric."""
        try:
            self._check_names()
        except UserError as error:
            raise UserError(f"{_declaration_location()}: {error}") from error

    def _check_names(self) -> None:
        declared_names = {
            "measure": [measure.name for measure in self.measures],
            "metric": [metric.name for metric in self.metrics],
            "tag": list(self.tags),
        }
        for kind, names in declared_names.items():
            _check_distinct(kind, names, self.name)
        object.__setattr__(self, "metrics", tuple(map(self._with_bounds, self.metrics)))
        object.__setattr__(self, "estimates", {metric.name: metric.estimate for metric in self.metrics})
        for kind, metric_names in self.tasks.items():
            _check_distinct("metric", metric_names, f"{self.name}, {kind}")
            for name in metric_names:
                if name not in self.estimates:
                    raise unknown_name_error("metric", name, self.estimates, f"the tasks {kind!r} of {self.name}")
        declared = {each.name for each in self.measures}
        for metric in self.metrics:
            if why := why_not_main(metric, self.reply_tags):
                raise UserError(f"The metric {metric.name!r} of {self.name} {why}")
            measure = getattr(metric.estimate, "measure", None)
            if measure is not None and measure not in declared:
                raise unknown_name_error("measure", measure, declared, f"the metric {metric.name!r} of {self.name}")

    def _with_bounds(self, metric: Metric) -> Metric:
        estimate = metric.estimate
        if not isinstance(estimate, (Mean, Macro, MacroContrast, Contrast)) or estimate.bounds is not None:
            return metric
        bounds = {measure.name: measure.range for measure in self.measures}.get(estimate.measure, (0.0, 1.0))
        return metric if bounds == (0.0, 1.0) else replace(metric, estimate=replace(estimate, bounds=bounds))

    def covers(self, declaration: Suite | None) -> bool:
        """Whether a task with this declaration is of the benchmark."""
        return any(declaration is each for each in (self, *self.joined))

    def measure(self, name: str) -> Measure:
        """Get a measure by name. Raises UserError if there is none."""
        return _get_by_name("measure", name, self.measures, self.name)

    def metric(self, name: str) -> Metric:
        """Get a metric by name. Raises UserError if there is none."""
        return _get_by_name("metric", name, self.metrics, self.name)

    def unit(self, metric: Metric) -> str:
        """How a metric is shown, see :class:`Metric`; a share where neither it nor its measure says."""
        estimate = metric.estimate
        if metric.unit is not None or not (measure := getattr(estimate, "measure", None)):
            return "%" if metric.unit is None else metric.unit
        unit = self.measure(measure).unit
        if isinstance(estimate, (Contrast, MacroContrast)):
            return {"change": "points" if unit == "%" else unit, "ratio": ""}.get(estimate.main, unit)
        return unit

    @property
    def main_metrics(self) -> tuple[Metric, ...]:
        """What the leaderboard ranks by, and what comparison and gate test."""
        return tuple(metric for metric in self.metrics if metric.main)


def _get_by_name(kind: str, name: str, declared: Sequence[AnyDeclared], suite: str) -> AnyDeclared:
    by_name = {item.name: item for item in declared}
    if name not in by_name:
        raise unknown_name_error(kind, name, by_name, f"the suite {suite}")
    return by_name[name]


def _declaration_location() -> str:
    """The file and line of the ``Suite(...)`` under construction."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__") in (__name__, "dataclasses"):  # `replace` of a suite
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}" if frame else ""


def _check_distinct(kind: str, names: Iterable[str], where: str) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UserError(f"The {kind} {twice[0]!r} stands twice in the declaration of {where}. Each name stands once.")


def mean_metrics(measure: str, parts: Mapping[str, Mapping[str, Any]], **options: Any) -> tuple[Metric, ...]:
    """One metric for each part: the mean of ``measure`` over the questions of the part."""
    return tuple(Metric(name, Mean(where, measure=measure), **options) for name, where in parts.items())


def number_of_questions() -> Metric:
    """The metric for the number of questions."""
    return Metric("questions", Count(), higher_is_better=None, about="Number of questions.", unit="count")
