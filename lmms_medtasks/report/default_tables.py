"""The tables of a benchmark whose folder has no ``report.py``, each from what its suite declares."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.report import document, printed_metrics
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.image_benefit import Comparison, benefit_table, rows_without_image
from lmms_medtasks.report.suite_report import extent
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import FIELDS, OWN_COLUMNS, Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.estimates import Contrast, Count, Estimate, Mean
from lmms_medtasks.suites.image_benefit import LostBenefit, floor_of
from lmms_medtasks.suites.outcomes import ANSWERED, OUTCOMES, READINGS, outcome_of
from lmms_medtasks.suites.rotated_options import ROTATED
from lmms_medtasks.suites.suite import Measure, Metric, Suite

MOST_VALUES = 20
"""A tag with more distinct values is no breakdown."""

_NO_BREAKDOWNS = OWN_COLUMNS | {"data"}
_OUTCOMES = ("right", "wrong", *OUTCOMES)
_NO_IMAGE = "no image"
_TESTS = ({"set": "iid"}, {"set": "ood"})


class DeclaredTables:
    """The tables, each from what ``suite`` declares and the sources have."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.intervals = (f"In brackets: {LEVEL} interval over {suite.cluster}s.",)
        self.together = (f"In brackets: {LEVEL} interval over {suite.cluster}s, of a change between the same ones.",)

    @property
    def question(self) -> tuple[str, ...]:
        """The columns in which a question's forms at several levels, or without its image, agree."""
        return tuple(name for name in self.suite.paired if name != "severity") or ("pair",)

    def column(self, metric: Metric) -> Column:
        unit = self.suite.unit(metric)
        measure = self._measure_of(metric.estimate)
        digits = measure.digits if measure and unit == measure.unit else 1 if unit in ("%", "points") else 3
        return Column(metric.name, metric.estimate, unit, digits)

    def _measure_of(self, estimate: Estimate) -> Measure | None:
        name = getattr(estimate, "measure", None)
        return self.suite.measure(name) if name else None

    def main_measures(self, sources: Sequence[Source]) -> list[Measure]:
        """The measures behind the main metrics that a question of the sources belongs to."""
        found = dict.fromkeys(getattr(each.estimate, "measure", None) for each in self.suite.main_metrics)
        return [
            self.suite.measure(name)
            for name in found
            if name and any(len(source.rows.of_measure(name)) for source in sources)
        ]

    def mean(self, measure: Measure) -> Column:
        return Column(measure.name, Mean(measure=measure.name, bounds=measure.range), measure.unit, measure.digits)

    # --- A source's own -----------------------------------------------------------------------------------------------

    def results(self) -> Table:
        """A row a task with the numbers that the harness prints, each with its interval."""

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            named = dict.fromkeys(
                name for source in sources for task in source.tasks for name in _metrics_of(source, task)
            )
            return tuple(self.column(self.suite.metric(name)) for name in named if name in self.suite.estimates)

        return Table("results", "Metrics of the tasks", ("task",), self._task_rows, columns, self.intervals)

    def _task_rows(self, sources: Sequence[Source]) -> Iterator[Row]:
        for source in sources:
            for task in source.tasks:
                named = _metrics_of(source, task)
                left_out = {metric.name: None for metric in self.suite.metrics if metric.name not in named}
                estimates = {**left_out, **printed_metrics.printed(self.suite, source, task)}
                yield Row((task,), {"task": task}, estimates=estimates, source=source)

    def shift(self) -> Table:
        """Both tests of a shift pair, and what is kept of one on the other."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            for task, measure in itertools.product(sources[0].tasks, self.main_measures(sources)):
                here = sources[0].rows.where({"task": task})
                if all(len(here.where(side).of_measure(measure.name)) for side in _TESTS):
                    robust = Contrast(
                        main="ratio",
                        measure=measure.name,
                        bounds=measure.range,
                        first=_TESTS[0],
                        second=_TESTS[1],
                        ratio=True,
                    )
                    means = {f"n {side['set']}": Mean(side, measure=measure.name) for side in _TESTS}
                    yield Row((task, measure.name), {"task": task}, estimates={
                        **means, **dict.fromkeys(("iid", "ood", "change", "relative robustness"), robust)
                    })  # fmt: skip

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            unit, digits = self._unit(sources)
            return (
                Column("n iid", unit="n"),
                Column("iid", unit=unit, digits=digits, statistic="first"),
                Column("n ood", unit="n"),
                Column("ood", unit=unit, digits=digits, statistic="second"),
                Column("change", unit=_difference(unit), digits=digits, statistic="change"),
                Column("relative robustness", unit="", digits=3, statistic="ratio"),
            )

        notes = ("Relative robustness: the mean out of distribution over that i.i.d. (SURE-VQA, section 3.2).",)
        return Table("shift", "Both tests", ("task", "measure"), rows, columns, (*notes, *self.together))

    def levels(self) -> Table:
        """Degraded pictures against the same questions on clean ones."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            found = [level for level in sources[0].rows.values("severity") if level is not None]
            if 0 not in found:
                return
            for level, measure in itertools.product(sorted(set(found) - {0}), self.main_measures(sources)):
                change = Contrast(
                    measure=measure.name,
                    bounds=measure.range,
                    first={"severity": 0},
                    second={"severity": level},
                    pair=self.question,
                )
                yield Row((str(level), measure.name), estimates=dict.fromkeys(_PAIRED, change))

        return Table("levels", "Against level 0", ("level", "measure"), rows, self._paired_columns("level 0", "level"),
                     ("Pairs of the same question at both levels, both with a score.", *self.together))  # fmt: skip

    def benefit(self, sources: Sequence[Source]) -> document.Frame | None:
        """What degraded pictures, or a test out of distribution, lose of the image's benefit."""
        source = sources[0]
        blind = rows_without_image(source, {"condition": _NO_IMAGE})
        if source.condition or not len(blind):
            return None
        found = []
        on = self.question
        for measure in self.main_measures(sources):
            floor = floor_of(blind, measure.name, on)
            scaled = "%" if measure.unit == "%" else ""
            levels = sorted({level for level in source.rows.values("severity") if level is not None})
            for level in levels[1:] if 0 in levels else ():
                lost = LostBenefit(measure=measure.name, bounds=measure.range, floor=floor, first={"severity": 0},
                                   second={"severity": level}, pair=on, question=on)  # fmt: skip
                found.append(Comparison((f"level {level}", measure.name), lost, {}, scaled))
            if set(source.rows.values("set")) >= {"iid", "ood"}:
                lost = LostBenefit(measure=measure.name, bounds=measure.range, floor=floor, first=_TESTS[0],
                                   second=_TESTS[1], question=on)  # fmt: skip
                found.append(Comparison(("out of distribution", measure.name), lost, {}, scaled))
        title = "What is lost of the image's benefit"
        heads, names = ("under", "measure"), ("clean or i.i.d.", "degraded or out of distribution")
        return benefit_table("benefit_lost", title, heads, names, source, found, self.suite.cluster)

    def tags(self) -> Table:
        """Each main measure by each tag with few values."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            for task in sources[0].tasks:
                here = sources[0].rows.where({"task": task})
                for tag in _breakdowns(here):
                    for (value,) in here.by([tag]):
                        yield Row((task, tag, "none" if value is None else str(value)), {"task": task, tag: value})

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            found: list[Column] = [Column("questions", Count(), "count")]
            for measure in self.main_measures(sources):
                found += [self.mean(measure), *self._bounds(measure, sources)]
            known = (each for each in self.suite.metrics if isinstance(each.estimate, Mean) and each.estimate.exact)
            return (*found, *(self.column(each) for each in known if self._has(each, sources)))

        return Table("tags", "By tag", ("task", "tag", "value"), rows, columns, self.intervals, long=True)

    def _has(self, metric: Metric, sources: Sequence[Source]) -> bool:
        return any(len(each.rows.of_measure(metric.estimate.measure)) for each in sources)  # type: ignore[attr-defined]

    def _bounds(self, measure: Measure, sources: Sequence[Source]) -> list[Column]:
        if not any(judged_measures.judgement_counts(each.rows, measure.name)[1] for each in sources):
            return []
        names = {"missing as worst": "low", "missing as best": "high"}
        bounds = (
            Column(
                head,
                judged_measures.bound(measure.name, which),
                measure.unit,
                measure.digits,
                key=f"{measure.name} {which}",
            )
            for head, which in names.items()
        )
        return [Column("judged", judged_measures.coverage(measure.name), "%", key=f"{measure.name} judged"), *bounds]

    def judgements(self) -> Table:
        """By what the judgements were settled, and the mean with its bounds."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            for task in sources[0].tasks:
                if any(sources[0].rows.where({"task": task}).column("verdict_statuses")):
                    yield Row((task,), {"task": task})

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            heads = {"exact": "by a rule", "judged": "by the judge", "missing": "missing"}
            counts = [Column(head, Count(function=functools.partial(_verdicts, status=status)), "count")
                      for status, head in heads.items()]  # fmt: skip
            found = []
            for measure in self.main_measures(sources):
                if bounds := self._bounds(measure, sources):
                    found += [self.mean(measure), *bounds]
            return (*counts, *found)

        notes = ("A missing judgement is no zero. The mean is over the answers that were judged; were all missing ones "
                 "the worst, or the best, it would be as the last columns say.",)  # fmt: skip
        return Table("judgements", "Judgements", ("task",), rows, columns, (*notes, *self.intervals))

    def outcomes(self) -> Table:
        """What became of the replies."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            yield from (Row((task,), {"task": task}) for task in sources[0].tasks)

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            there = _outcomes(sources[0].rows) if sources else Counter()
            return tuple(
                Column(name, Count(function=functools.partial(_outcome, name=name)), "count")
                for name in _OUTCOMES
                if there[name] or name in READINGS
            )

        notes = (
            "Number of replies; each trial of a question is one. Answered: with a text that a judge scores. "
            "Unreadable: words without one answer, or with several. Cut: cut off before an answer. A reply without an "
            "answer counts as wrong, of judged answers as the worst. A failed request counts in no mean.",
        )
        return Table("replies", "What became of the replies", ("task",), rows, columns, notes, folded=True)

    # --- Several sources ----------------------------------------------------------------------------------------------

    def models(self) -> Table:
        """A row a source and task with the main metrics."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            for row in self._task_rows(sources):
                if row.source is not None:
                    yield Row((row.source.name, *row.labels), row.where, "run", row.estimates, row.source)

        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            named = {name for source in sources for task in source.tasks for name in _metrics_of(source, task)}
            shown = (self.column(metric) for metric in self.suite.main_metrics if metric.name in named)
            data = Column("data", lambda source, row, rows: Cell(extent(source)), "text")
            return (Column("questions", Count(), "count"), *shown, data)

        return Table("models", "Main metrics", ("run", "task"), rows, columns, self.intervals)

    def differences(self) -> Table:
        """The same questions of two runs."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            for (one, other), measure in itertools.product(
                itertools.combinations(sources, 2), self.main_measures(sources)
            ):
                if one.condition != other.condition:
                    continue
                for task in (each for each in one.tasks if each in other.tasks):
                    sides = [{"run": int(each.rows.column("run")[0]), "condition": each.condition}
                             for each in (one, other)]  # fmt: skip
                    change = Contrast({"task": task}, measure=measure.name, bounds=measure.range, first=sides[0],
                                      second=sides[1], pair=("id",))  # fmt: skip
                    labels = (other.name, f"against {one.name}", task, measure.name)
                    yield Row(labels, estimates=dict.fromkeys(_PAIRED, change), source=_every(one))

        return Table("differences", "Paired differences", ("run", "", "task", "measure"), rows,
                     self._paired_columns("the other", "the run"),
                     ("Questions with a score in both runs.", *self.together), long=True)  # fmt: skip

    def ways(self) -> Table:
        """A run's questions asked otherwise, against the same run as released."""

        def rows(sources: Sequence[Source]) -> Iterator[Row]:
            # Copies with rotated options have other right letters: they have a section of their own.
            for other in (each for each in sources if each.condition and ROTATED not in each.condition):
                base = next((each for each in sources if each.run is other.run and not each.condition), None)
                if base is None:
                    continue
                for measure in self.main_measures(sources):
                    run = int(other.rows.column("run")[0])
                    change = Contrast({"run": run}, measure=measure.name, bounds=measure.range, first={"condition": ""},
                                      second={"condition": other.condition}, pair=self.suite.paired)  # fmt: skip
                    labels = (base.name, printable(other.condition), measure.name)
                    yield Row(labels, estimates=dict.fromkeys(_PAIRED, change), source=_every(base))

        return Table("ways", "As released and otherwise", ("run", "asked", "measure"), rows,
                     self._paired_columns("as released", "otherwise"),
                     ("Question by question. What a model still gets without the image, it has from the words.",
                      *self.together))  # fmt: skip

    def _paired_columns(self, first: str, second: str) -> Any:
        def columns(sources: Sequence[Source]) -> tuple[Column, ...]:
            unit, digits = self._unit(sources)
            return (
                Column("pairs", unit="n", statistic="second"),
                Column(first, unit=unit, digits=digits, statistic="first", key="first"),
                Column(second, unit=unit, digits=digits, statistic="second", key="second"),
                Column("difference", unit=_difference(unit), digits=digits, statistic="change"),
            )

        return columns

    def _unit(self, sources: Sequence[Source]) -> tuple[str, int]:
        """Unit and digits of the main measures; as they are where they have several units."""
        found = {(each.unit, each.digits) for each in self.main_measures(sources)}
        return found.pop() if len(found) == 1 else ("", 3)


_PAIRED = ("pairs", "first", "second", "difference")


def _difference(unit: str) -> str:
    return "points" if unit == "%" else unit


def _every(source: Source) -> Source:
    """All questions of all sources, each once a run and condition."""
    return Source("", source.every.where({"repeated": False}), source.every, source.resamples)


def _metrics_of(source: Source, task: str) -> tuple[str, ...]:
    """The metrics that the harness printed of a task."""
    for run, tasks in source.asked:
        if task in tasks:
            listed = run.content["configs"][task].get("metric_list") or []
            return tuple(str(each.get("metric")) for each in listed if isinstance(each, Mapping))
    return ()


def _breakdowns(rows: Samples) -> Iterator[str]:
    """The tags that tell these questions apart in a few groups."""
    for name in rows.columns:
        if name in _NO_BREAKDOWNS or name.rpartition(".")[2] in (*FIELDS, "asked"):
            continue
        values = rows.values(name)
        if 2 <= len(values) <= MOST_VALUES and 2 * len(values) <= len(rows):
            yield name


def _verdicts(rows: Samples, status: str) -> int:
    return sum(each.count(status) for each in rows.column("verdict_statuses") if each)


def _outcomes(rows: Samples) -> Counter[str]:
    found: Counter[str] = Counter()
    for trials, expected, judge in zip(*(rows.column(name) for name in ("trials", "expected", "judge")), strict=True):
        for trial in trials:
            outcome = outcome_of(trial)
            if outcome == ANSWERED and not judge:
                outcome = "right" if trial == expected else "wrong"
            found[outcome] += 1
    return found


def _outcome(rows: Samples, name: str) -> int:
    return _outcomes(rows)[name]
