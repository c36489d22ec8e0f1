"""The headline of a benchmark, declared once: its numbers, what is lost, and the words that sentences have for them.

The first screen of a report, the columns and sentences of a leaderboard and a model's page are all made of it. A
benchmark declares it in ``report.py`` of its folder
(:attr:`lmms_medtasks.report.suite_report.SuiteReportSpec.headline`); one without a declaration gets the main metric of
each task (:func:`default_headline`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from lmms_medtasks.report.findings import Change, FindingChart, Number, SuiteFinding, chance_of_options
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Suite

MOST = 4
"""Numbers on the first screen where none are declared; the report's tables have them all."""

_SHIFTED = "_ood"
"""How the metrics of the shifted test end in the templates (lmms_medtasks/suites/templates/measures.py)."""


@dataclass(frozen=True)
class BoardColumn:
    """What a leaderboard calls a number: patterns (fnmatch) of its task and metric, and the words behind it.

    ``heads``: whether it may stand for the benchmark; of those the first that a model has does. ``before``: the task
    ("": the same) and the metric that it is lost from.
    """

    task: str
    metric: str
    words: str = ""
    heads: bool = True
    before: tuple[str, str] | None = None

    def fits(self, task: str, metric: str) -> bool:
        """Whether it is about this number."""
        return fnmatchcase(task, self.task) and fnmatchcase(metric, self.metric)


@dataclass(frozen=True)
class Headline:
    """A benchmark's headline.

    Attributes:
        about: what is asked, as it stands behind "no better than guessing at" ("questions about medical images"); the
            benchmark's title by default.
        numbers: those of a source, as they stand on its first screen; none where nothing of it does.
        columns: of the leaderboard, the first that a model has an entry of stands for the benchmark.
        changes: what a source loses, the one that stands for the benchmark first.
        most: numbers on the first screen; of the others it is said where they are no better than guessing.
        sketch: draws a source for the first screen of a report on one model.
        correct: whether its shares are of correct answers.
    """

    numbers: Callable[[ModelResults], Iterable[Number]]
    about: str = ""
    columns: tuple[BoardColumn, ...] = ()
    changes: Callable[[ModelResults], Iterable[Change]] = lambda source: ()
    most: int | None = None
    sketch: Callable[[ModelResults], FindingChart | None] | None = None
    correct: bool = True

    def of(self, suite: Suite, source: ModelResults) -> SuiteFinding | None:
        """What is found of a source; None where it has no number."""
        bars = tuple(bar for number in self.numbers(source) if (bar := number.measured(source)))
        if not bars:
            return None
        bars, left, sketch = bars[: self.most], bars[len(bars[: self.most]) :], self.sketch
        # Else a reader took the numbers that are shown for the worst.
        aside = [f"{each.guessing} at {each.title}" for each in left if each.guessing]
        aside += [f"{len(left)} more in the tables"] if left else []
        return SuiteFinding(
            suite.title, bars, self.about or suite.title, tuple(self.changes(source)), self.correct,
            tuple(aside), sketch=None if sketch is None else lambda: sketch(source),
            place=self.place(source.tasks),
        )  # fmt: skip

    def place(self, tasks: Iterable[str]) -> int:
        """The first place among the columns that may stand for the benchmark that has one of these tasks, from 0."""
        heads = [column for column in self.columns if column.heads]
        found = (place for place, each in enumerate(heads) if any(fnmatchcase(task, each.task) for task in tasks))
        return min(found, default=len(heads))


# --- Benchmarks that declare none -------------------------------------------------------------------------------------

# Of a task with the two tests of a shift it is the shifted one.
DEFAULT_COLUMNS = tuple(
    BoardColumn("*", metric) for metric in ("accuracy_ood", "score_ood", "accuracy", "accuracy*", "score*", "*")
)


def default_headline(suite: Suite) -> Headline:
    """The main metric of each task."""

    def numbers(source: ModelResults) -> Iterator[Number]:
        return (number for task in source.tasks for number in _default_numbers(suite, source, task))

    return Headline(numbers, columns=DEFAULT_COLUMNS, most=MOST, correct=False)


def _default_numbers(suite: Suite, source: ModelResults, task: str) -> Iterator[Number]:
    """The first main metric of a task that has a number; where the task tests a shift that of the shifted test."""
    where = {"task": task}
    rows = source.rows.where(where)
    known = [each for each in suite.main_metrics if source.interval(each.estimate, where).estimate is not None]
    shifted = [metric for metric in known if metric.name.endswith(_SHIFTED)]
    for metric in (shifted or known)[:1]:
        unit = suite.unit(metric) or ""
        bottom, top = metric.estimate.range(rows)
        factor = 100.0 if unit == "%" or (unit == "points" and top <= 1) else 1.0
        chance = None
        if unit == "%" and isinstance(metric.estimate, Mean):
            declared = any(measure.name == "chance" for measure in suite.measures)
            chance = source.interval(Mean(measure="chance", exact=True), where).estimate if declared else None
            if chance is None and "option_count" in rows.columns:
                chance = chance_of_options(rows)
        named = metric.name.removesuffix(_SHIFTED).replace("_", " ")
        title, of = (f"{named}, shifted", "shifted questions of ") if metric.name.endswith(_SHIFTED) else (named, "")
        yield Number(
            f"{task}, {title}" if len(source.tasks) > 1 else title, f"{named} on {of}{task}", metric.estimate, where,
            unit, factor, factor * bottom, factor * top, chance,
            higher_is_better=metric.higher_is_better is not False,
        )  # fmt: skip
