"""Tables of where the variance of scores comes from, and means over several judges or wordings with their intervals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from lmms_medtasks.judges import identity, records
from lmms_medtasks.record import FAILED, Judgement, Record
from lmms_medtasks.report.cells import NONE, count, label, number, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.views import Source, View
from lmms_medtasks.samples import runs as logs
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.variance_components import CrossedMean, crossed_mean, nested_components


class JudgedBy(NamedTuple):
    """What is measured of a record's judgements: the measure, what it is times, and the kind of answer on its scale."""

    measure: records.Measure
    factor: float = 1.0
    kind: str = ""


MeasureOf = Callable[[Record], JudgedBy | None]
"""From a record with a judgement to what is measured of it; None where it is of no interest."""


@dataclass
class Scores:
    """Single scores with the units that each is of.

    ``levels``: by name, outermost first. ``last``: what each score is one of. ``questions``: the level that weighs
    alike in the mean.
    """

    levels: dict[str, list[Hashable]]
    last: str
    questions: str = "question"
    values: list[float] = field(default_factory=list)

    def add(self, value: float, *units: Hashable) -> None:
        """One score, with its unit at each level."""
        self.values.append(value)
        for units_of_level, unit in zip(self.levels.values(), units, strict=True):
            units_of_level.append(unit)


# --- Nested -----------------------------------------------------------------------------------------------------------


def scores_of_trials(rows: Samples, *, form: str = "", cluster: str = "image") -> Scores:
    """1 or 0 for each reply to multiple-choice questions, in percent; failed requests are left out.

    ``form``: what the forms of a question (degradations, rotations) are called where it has several. ``cluster``: what
    a cluster is.
    """
    names = {cluster: "cluster", "question": "pair", **({form: "id"} if form else {})}
    found = Scores({name: [] for name in names}, "trial")
    columns = zip(*(rows.column(name) for name in (*names.values(), "trials", "expected")), strict=True)
    for *units, trials, expected in columns:
        for trial in trials:
            if trial != FAILED and expected is not None:
                found.add(100.0 * (trial == expected), *units)
    return found


def scores_of_judgements(source: Source, measure_of: MeasureOf) -> dict[str, Scores]:
    """Every judgement of the source's answers, by task and kind; missing ones are left out."""
    found: dict[str, Scores] = {}
    judged = _judged_tasks(source)
    for run, tasks in source.asked:
        for name, record, chosen in _judged(run, [task for task in tasks if task in judged], measure_of):
            own = found.setdefault(name, Scores({"image": [], "question": [], "reply": []}, "judgement"))
            for reply, numbers in enumerate(_by_reply(record, chosen)):
                for value in numbers:
                    if value is not None:
                        own.add(value, record.cluster, record.id, reply)
    return found


def components_table(key: str, title: str, head: str, found: Mapping[str, Scores], unit: str) -> Table | None:
    """A row for each level of each group of scores; None where there are fewer than two scores."""
    rows = []
    for name, scores in found.items():
        if len(scores.values) < 2:
            continue
        parts = nested_components(scores.values, scores.levels, scores.last, scores.questions)
        known = [part for part in parts if part.variance is not None and part.of_mean is not None]
        single = sum(max(part.variance or 0.0, 0.0) for part in known)
        whole = sum(part.of_mean or 0.0 for part in known)
        for part in parts:
            if part.variance is None or part.of_mean is None:
                cells = (NONE, NONE, NONE)
            else:
                size = max(part.variance, 0.0)
                cells = (
                    Cell(size**0.5),
                    Cell(100 * size / single) if single else NONE,
                    Cell(100 * part.of_mean / whole) if whole else NONE,
                )
            rows.append(Row((Cell(name), Cell(part.name), Cell(part.units), *cells)))
    columns = (
        label(head),
        label("level"),
        count("units"),
        Column("standard deviation", digits=2, unit=unit),
        share("of the variance of one score"),
        share("of the variance of the mean"),
    )
    notes = (
        "Random effects, each level within the one above, by the method of moments; an estimate below 0 is shown as 0. "
        "Levels joined by and can't be told apart: each unit of one has one unit of the other. Empty: one unit, or no "
        "variation.",
        "Of the variance of the mean: what more units of that level would reduce. The interval of the mean, which is "
        "over images, has all levels of this table in it.",
    )
    return Table(key, title, columns, tuple(rows), notes) if rows else None


# --- Crossed ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Crossed:
    """Questions that each of several judges (wordings) has a score of: (questions, judges) scores, and their images.

    ``bounds``: the lowest and the highest that a score can be.
    """

    label: str
    names: tuple[str, ...]
    scores: np.ndarray
    images: tuple[Hashable, ...]
    bounds: tuple[float, float]


def judges_of_same_answers(source: Source, measure_of: MeasureOf) -> Iterator[Crossed]:
    """Where the same answers of a model were judged by several judges, in other runs: their scores side by side.

    A run of the same model in which a task has the same answers (``lmms-medtasks judge RUN --judge OTHER`` makes one)
    and another judge. Only questions with a score by all of them count.
    """
    own_runs = [id(run) for run, _ in source.asked]
    found: dict[str, dict[str, dict[str, _Scored]]] = {}
    tasks = _judged_tasks(source)
    asked = [*source.asked, *((run, tasks) for run in source.runs_of_model.values() if id(run) not in own_runs)]
    if not tasks or len(asked) < 2:
        return
    for run, names in asked:
        for task in (each for each in names if each in tasks and each in (run.content.get("configs") or {})):
            judged = list(_judged(run, (task,), measure_of))
            judge = _judge_name([record for _, record, _ in judged])
            for name, record, chosen in judged:
                scored = _scored(record, chosen)
                if scored:
                    found.setdefault(name, {}).setdefault(judge, {}).setdefault(record.id, scored)
    for group, by_judge in found.items():
        if len(by_judge) < 2:
            continue
        first, *others = by_judge.values()
        keys = [
            key
            for key, scored in first.items()
            if all(key in other and other[key].answers == scored.answers for other in others)
        ]
        if keys:
            table = np.array([[each[key].score for each in by_judge.values()] for key in keys])
            images = tuple(first[key].image for key in keys)
            yield Crossed(group, tuple(by_judge), table, images, first[keys[0]].bounds)


def crossed_table(
    key: str, title: str, head: str, what: str, found: Sequence[Crossed], digits: int = 2
) -> Table | None:
    """Means over several judges, or whatever ``what`` names, with intervals; None without any."""
    rows = []
    for each in found:
        mean = crossed_mean(each.scores, each.images, bounds=each.bounds)
        names = "; ".join(
            f"{printable(name)} {value:.{digits}f}" for name, value in zip(each.names, mean.by_judge, strict=True)
        )
        rows.append(Row((Cell(each.label), Cell(len(each.scores)), Cell(mean.images), Cell(names), *_crossed(mean))))
    columns = (
        label(head),
        count("questions"),
        count("images"),
        label(f"mean by {what}"),
        Column(f"mean over {what}s", digits=digits),
        Column(f"standard deviation between {what}s", digits=digits),
        share(f"of the mean's variance from {what}s"),
    )
    notes = (
        f"The interval is for other images and other {what}s: both are taken as samples (crossed random effects, by "
        f"moments, joined by Howe's method). All other intervals of this report take the {what} as "
        f"given. With two {what}s who differ it is wide: two say little of a third.",
    )
    return Table(key, title, columns, tuple(rows), notes) if rows else None


def _crossed(mean: CrossedMean) -> tuple[Cell, ...]:
    if mean.of_images is None or mean.of_judges is None or mean.judge_variance is None:
        return Cell(mean.mean), NONE, NONE
    shown = number(Interval(mean.mean, mean.low, mean.high, 0, mean.images, reason=mean.reason))
    whole = mean.of_images + mean.of_judges
    part = Cell(100 * mean.of_judges / whole) if whole else NONE
    return shown, Cell(max(mean.judge_variance, 0.0) ** 0.5), part


def judged_view(measure_of: MeasureOf, unit: str = "") -> View:
    """The section of a benchmark with judged answers: images, questions, replies and judgements; and several judges."""

    def components(sources: Sequence[Source]) -> Table | None:
        found = scores_of_judgements(sources[0], measure_of)
        return components_table("variance", "Where the variance of judged scores comes from", "answers", found, unit)

    def judges(sources: Sequence[Source]) -> Table | None:
        found = list(judges_of_same_answers(sources[0], measure_of))
        title = "The same answers by several judges: the judge as a sample"
        return crossed_table("judge_variance", title, "answers", "judge", found)

    return View("variance", "Images, questions, judgements and judges", (components, judges))


# --- Logs -------------------------------------------------------------------------------------------------------------


class _Scored(NamedTuple):
    score: float
    image: str
    answers: object
    bounds: tuple[float, float]


def _judged_tasks(source: Source) -> tuple[str, ...]:
    judged = np.array([each is not None for each in source.rows.column("judge")], dtype=bool)
    return tuple(source.rows.take(judged).values("task"))


def _judged(run: Run, tasks: Sequence[str], measure_of: MeasureOf) -> Iterator[tuple[str, Record, JudgedBy]]:
    for task in tasks:
        for record, _ in logs.records(run, task):
            chosen = measure_of(record) if record.judgement and record.judgement.verdicts else None
            if chosen:
                yield f"{printable(task)}{chosen.kind and ', '}{chosen.kind}", record, chosen


def _by_reply(record: Record, chosen: JudgedBy) -> Iterator[list[float | None]]:
    judgement = record.judgement
    if judgement is None:
        return
    numbers = [None if each is None else chosen.factor * each for each in records.scores(judgement, chosen.measure)]
    start = 0
    for verdicts in judgement.verdicts:
        yield numbers[start : start + len(verdicts)]
        start += len(verdicts)


def _scored(record: Record, chosen: JudgedBy) -> _Scored | None:
    """A question's mean over its judgements; None where one is missing."""
    numbers = [number for reply in _by_reply(record, chosen) for number in reply]
    known = [number for number in numbers if number is not None]
    if record.judgement is None or not known or len(known) < len(numbers):
        return None
    ends = [chosen.factor * end for end in records.bounds(records.protocol_of(record.judgement), chosen.measure)]
    return _Scored(sum(known) / len(known), record.cluster, _answers(record.judgement), (min(ends), max(ends)))


def _answers(judgement: Judgement) -> object:
    """What was judged: the answers, or where no log may hold them their digests."""
    return judgement.replies if isinstance(judgement.items, str) else judgement.items


def _judge_name(judged: Sequence[Record]) -> str:
    """Who judged a task's answers, in full: with the model that answered, which rules' verdicts don't have."""
    judgements = [record.judgement for record in judged if record.judgement]
    models = {
        str(verdict["model"])
        for judgement in judgements
        for verdicts in judgement.verdicts
        for verdict in verdicts
        if verdict["status"] == "judged" and verdict.get("model") is not None
    }
    described = judgements[0].judge if judgements else {}
    return identity.full_name(described, ", ".join(sorted(models)) if models else None)
