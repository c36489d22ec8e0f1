"""``lmms-medtasks compare``: the numbers, a comparison a task and measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.compared_entries import Side
from lmms_medtasks.board.comparison.paired import Difference, difference, most_telling, pairs
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.shown_answers import SampleLogs, Shown
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import first_listed
from lmms_medtasks.statistics import power
from lmms_medtasks.statistics.power import Detectable
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.suites.suite import Measure

TELLING = 20


@dataclass(frozen=True)
class Telling:
    """A question on which the two differ much. The texts are None where they may not be shown, or are not there."""

    task: str
    measure: str
    id: str
    first: float
    second: float
    first_answer: Shown | None
    second_answer: Shown | None


@dataclass(frozen=True)
class Comparison:
    """A task's measure in both. ``adjusted``: p after Holm's correction over all comparisons of the call.

    ``detectable``: the smallest true difference that these questions would have shown with 80 % probability, corrected
    for all comparisons of the call.
    """

    first: Entry
    second: Entry
    measure: str
    scale: Measure
    found: Difference
    adjusted: float | None
    detectable: Detectable | None = None

    @property
    def task(self) -> str:
        """The task's name."""
        return self.first.task

    @property
    def alike(self) -> bool:
        """Whether both are of the same thing: of one version of the task, one data set, and asked and judged alike."""
        return not any(compared_entries.differing(self.first, self.second))

    @property
    def by_words(self) -> tuple[bool, bool]:
        """Whether A's number, and B's, is of the judge that compares words."""
        if self.found.first is None:  # then B has none as well: no question has a score in both
            return False, False
        return is_by_words(self.first, self.measure), is_by_words(self.second, self.measure)


@dataclass(frozen=True)
class Compared:
    """Everything about two sides. ``only_first``, ``only_second``: tasks of one side alone.

    ``warnings``: what must be known before any number, a sentence each: that both are not of the same thing, were not
    asked all questions, or are the same run. ``notes``: what else differs.
    """

    sides: tuple[Side, Side]
    comparisons: tuple[Comparison, ...]
    telling: tuple[Telling, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]


def compare(first: Side, second: Side, *, telling: int = TELLING) -> Compared:
    """Compare two sides of one model each on every task that both have.

    Raises UserError when a side has several entries on a task, or they have no task in common.
    """
    for side in (first, second):
        compared_entries.one_model(side)
    ones, others = ({entry.task: entry for entry in side.board.entries} for side in (first, second))
    shared = [task for task in ones if task in others]
    if not shared:
        raise UserError(
            f"No task in common: {first.path} has {', '.join(ones)}; {second.path} has {', '.join(others)}."
        )
    matched = [(ones[task], others[task]) for task in shared]
    comparisons = _comparisons(matched)
    return Compared(
        sides=(first, second),
        comparisons=comparisons,
        telling=tuple(each for pair in matched for each in _telling(pair, comparisons, telling)),
        only_first=tuple(task for task in ones if task not in others),
        only_second=tuple(task for task in others if task not in ones),
        warnings=tuple(_warnings(matched)),
        notes=tuple(said for pair in matched for said in _notes(*pair)),
    )


def _notes(one: Entry, other: Entry) -> Iterator[str]:
    if found := list(compared_entries.changed(one, other)):
        yield f"{one.task}: Also differs: {'; '.join(found)}."
    for name, own, its in (("B", one, other), ("A", other, one)):
        if lacks := [metric for metric in own.main_metrics if metric not in its.metrics]:
            yield f"{one.task}: {name} has no number of {', '.join(lacks)}: not compared."


def _warnings(matched: Sequence[tuple[Entry, Entry]]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for one, other in matched:
        if said := "; ".join(compared_entries.differing(one, other)):
            reasons.setdefault(said, []).append(one.task)
    if reasons:
        count = sum(map(len, reasons.values()))
        where = "" if count == len(matched) else f" in {count} of {len(matched)} tasks"
        named = list(reasons) if len(reasons) == 1 and not where else [
            f"{said} ({first_listed(tasks, 4)})" for said, tasks in reasons.items()
        ]  # fmt: skip
        yield f"A and B are not of the same thing{where}: {'; '.join(named)}."
    if all(compared_entries.same_run(*pair) for pair in matched):
        yield "A and B are the same run, from the same files."
    for name, entries in zip("AB", zip(*matched, strict=True), strict=True):
        yield from compared_entries.asked_in_part(name, entries)


def _comparisons(matched: Sequence[tuple[Entry, Entry]]) -> tuple[Comparison, ...]:
    found = []
    for one, other in matched:
        for name in one.main_metrics:
            if name in other.metrics:
                shown = one.scale(name)
                joined = pairs(one, other, name)
                share = shown.range == (0.0, 1.0)
                more = shown.higher_is_better
                of = difference(joined, higher_is_better=more, share=share)
                found.append(Comparison(one, other, name, shown, of, None))
    tested = [row for row, each in enumerate(found) if each.found.p is not None]
    criterion = power.Criterion(comparisons=max(1, len(tested)))
    adjusted = dict(zip(tested, adjust([found[row].found.p or 0.0 for row in tested]), strict=True))
    return tuple(
        Comparison(
            each.first,
            each.second,
            each.measure,
            each.scale,
            each.found,
            adjusted.get(row),
            power.detectable(
                each.found.pairs.clusters.tolist(),
                each.found.pairs.differences,
                criterion,
                largest=each.scale.high - each.scale.low,
            ),
        )  # fmt: skip
        for row, each in enumerate(found)
    )


def _telling(pair: tuple[Entry, Entry], comparisons: Sequence[Comparison], count: int) -> list[Telling]:
    """The questions of a task that differ most, over its measures by their share of the scale, each question once."""
    chosen: dict[str, tuple[float, Comparison, int]] = {}
    for each in (each for each in comparisons if each.first is pair[0] and each.found.pairs.of_questions):
        rows, found = most_telling(each.found.pairs, count, each.task), each.found.pairs
        width = each.scale.high - each.scale.low
        for row in rows:
            away, name = abs(float(found.differences[row])) / width, str(found.ids[row])
            if name not in chosen or chosen[name][0] < away:
                chosen[name] = (away, each, row)
    # Stable: questions that differ alike stay in the order in which they were drawn.
    best = sorted(chosen.items(), key=lambda item: -round(item[1][0], 9))[:count]
    logs = SampleLogs()
    shown = [logs.of(entry, [name for name, _ in best]) for entry in pair]
    if any(entry.credentialed for entry in pair):
        shown = [{}, {}]
    return [
        Telling(each.task, each.measure, name, float(each.found.pairs.first[row]), float(each.found.pairs.second[row]),
                shown[0].get(name), shown[1].get(name))
        for name, (_, each, row) in best
    ]  # fmt: skip
