"""The board's own tables: a task's ranking, what is shown apart from it, the overview, problems."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from lmms_medtasks.board import installed
from lmms_medtasks.board.boards import Board, drawn_clusters, told_once
from lmms_medtasks.board.entries import Entry, Problem
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.board.site import number_marks, suite_words
from lmms_medtasks.board.site.file_names import model_titles, without_roots
from lmms_medtasks.board.site.guessing import guessing
from lmms_medtasks.board.site.ranking import SHORT, Ranking, Standing, rank
from lmms_medtasks.board.trust.levels import LEVELS
from lmms_medtasks.report.cells import NONE, count, label, percent_of, scaled, share
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import Number
from lmms_medtasks.report.published import PublishedScores, scores
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites import outcomes
from lmms_medtasks.suites.suite import Measure

_FEWER = "‡"
RANK_MARKS = {
    **number_marks.MARKS,
    _FEWER: "Ranked on fewer questions than the number is of: on those that all models of the table have a score for.",
}
_PUBLISHED = (
    "Rows marked published are as {paper} prints them: these models were not run here, and have no rank and no "
    "interval. They are of the whole benchmark; the benchmark's card says what else differs."
)


def intervals_note(entries: Iterable[Entry]) -> str:
    """What the brackets of these entries' numbers are."""
    return f"Numbers in brackets: {LEVEL} interval over {drawn_clusters(entries)} (docs/intervals_and_tests.md)."


@dataclass(frozen=True)
class Links:
    """Where pages are, seen from the page that a table stands on."""

    model: Callable[[str], str]
    suite: Callable[[str], str]


class Standings:
    """The standings of a board's ranked entries, each computed once."""

    def __init__(self, board: Board, resamples: int) -> None:
        self.board = board
        self.resamples = resamples
        arguments = {entry.model.key: entry.settings.get("arguments", "") for entry in board.entries}
        self.titles = model_titles(board.models, arguments)
        self.ranking = functools.cache(self._ranking)
        self.of = functools.cache(self._of)
        self.numbers = functools.cache(self._numbers)
        self._signs: dict[tuple[int, str], str] = {}

    def _entries(self, task: str, measure: str) -> list[Entry]:
        return [entry for entry in self.board.of(task=task, ranked=True) if measure in entry.metrics]

    def _ranking(self, task: str, measure: str) -> tuple[list[str], Ranking]:
        """The keys of the models, and how they stand in this order, with what is said of each two of them."""
        entries = self._entries(task, measure)
        return [entry.model.key for entry in entries], rank(entries, measure, resamples=self.resamples)

    def _of(self, task: str, measure: str) -> dict[str, Standing]:
        """By the key of the model."""
        keys, found = self.ranking(task, measure)
        return dict(zip(keys, found.standings, strict=True))

    def alike(self, task: str, measure: str, best: str) -> list[str]:
        """The other models that ``best`` is not better than beyond chance, by the test of the ranks, in its order.

        A model can be told apart from another one and not from the best: its rank alone does not say it.
        """
        keys, found = self.ranking(task, measure)
        if found.pairs is None:
            return []
        place = keys.index(best)
        return [key for row, key in enumerate(keys) if row != place and not found.pairs.better[place, row]]

    def marked(self, found: Cell, entry: Entry, metric: str) -> Cell:
        """The cell of an entry's number with its signs (:mod:`lmms_medtasks.board.site.number_marks`)."""
        key = id(entry), metric
        if key not in self._signs:
            self._signs[key] = number_marks.signs(entry, metric)
        return number_marks.with_signs(found, self._signs[key])

    def number(self, entry: Entry, metric: str) -> Number | None:
        """An entry's number with its signs, in its measure's unit; None where no question has a score.

        Where too few replies could be read it has no level of guessing: nothing is said of the model.
        """
        standing = self.of(entry.task, metric).get(entry.model.key) if entry.ranked else None
        mean = standing.mean if standing else entry.interval(metric, self.resamples > 0)
        if mean.estimate is None:
            return None
        about, shown = suite_words.about(entry.suite), entry.scale(metric)
        found = self.marked(replace(cell(mean, shown), mark=""), entry, metric)
        chance = None if number_marks.HARD_TO_READ in found.mark else guessing(entry, metric)
        # A ratio may be beyond the scale.
        top = max(shown.high, math.ceil(10 * (mean.high or mean.estimate) - 1e-6) / 10)
        return Number(
            about.heading_of(entry.task, metric),
            about.phrase_of(entry.task, metric),
            unit=shown.unit,
            bottom=shown.factor * shown.low,
            top=shown.factor * top,
            chance=None if chance is None else shown.factor * chance,
            higher_is_better=shown.higher_is_better,
            cell=found,
            decimals=shown.digits,
        )

    def _numbers(self, task: str, measure: str) -> dict[str, Number]:
        """The ranked models' numbers, best first, by the key of the model."""
        entries = self._entries(task, measure)
        made = {each.model.key: number for each in entries if (number := self.number(each, measure))}
        ranks = {key: each.rank or 0 for key, each in self.of(task, measure).items()}
        return dict(
            sorted(made.items(), key=lambda each: (ranks[each[0]], -each[1].worth, self.titles[each[0]].lower()))
        )

    def title(self, entry: Entry) -> str:
        """The model's name, no two alike on the board."""
        return self.titles[entry.model.key]


def measures_of(entries: Iterable[Entry]) -> list[str]:
    """The measures that stand in a task's table, in the order of the logs."""
    return list(dict.fromkeys(name for entry in entries for name in entry.main_metrics))


def published(task: str, told: Mapping[str, str]) -> list[PublishedScores]:
    """The published rows that have numbers of the task's measures, in the paper's order.

    None for a task whose folder is neither installed nor given: who knows what it is. ``told``: an entry's settings.
    """
    suite = installed.declaration(task, told)
    return [] if suite is None else list(scores(suite, task))


def ranking(task: str, standings: Standings, links: Links) -> Frame | None:
    """A task's ranked models, best first, above the published ones; None without a ranked one."""
    entries = standings.board.of(task=task, ranked=True)
    if not entries:
        return None
    measures = measures_of(entries)
    columns: list[FrameColumn] = []
    for name in measures:
        columns += [column(name, entries[0].scale(name)), FrameColumn(f"rank, {name}")]
    rows = []
    for entry in sorted(entries, key=lambda entry: _place(entry, measures, standings)):
        cells: list[Cell] = []
        for name in measures:
            found = standings.of(task, name).get(entry.model.key)
            own, rank = standing_cells(found, entry.scale(name)) if found else (NONE, NONE)
            cells += [standings.marked(own, entry, name), rank]
        rows.append(_row(entry, cells, standings, links))
    below = published(task, entries[0].settings)
    for row in below:
        cells = [cell for name in measures for cell in (row.cells.get(name, NONE), NONE)]
        rows.append(FrameRow((Cell(row.model), Cell(row.source), *cells, *[NONE] * (len(_COUNTS) + 1)), "reference"))
    without = {name: found for name in measures if (found := next(iter(standings.of(task, name).values()), None))}
    present = {entry.level for entry in entries}
    notes = (
        intervals_note(entries),
        *(f"No ranks by {name}: {found.reason}." for name, found in without.items() if found.rank is None),
        SHORT,
        *(f"{level.capitalize()}: {meaning}" for level, meaning in LEVELS.items() if level in present),
    )
    said = (_PUBLISHED.format(paper=below[0].paper),) if below else ()
    heads = (label("model"), label("source"), *columns, *_COUNTS, label("notes"))
    return Frame(f"{task}-ranking", f"{task}: ranking", heads, tuple(rows), notes, said, RANK_MARKS)


def apart(task: str, standings: Standings, links: Links) -> Frame | None:
    """A task's entries that do not compare with the ranked ones, and why; None without one."""
    entries = standings.board.of(task=task, ranked=False)
    if not entries:
        return None
    measures = measures_of(entries)
    rows = []
    for entry in sorted(entries, key=lambda each: (standings.title(each).lower(), each.source.date, each.version)):
        means = {name: entry.interval(name, standings.resamples > 0) for name in measures if name in entry.metrics}
        shown = {name: standings.marked(cell(mean, entry.scale(name)), entry, name) for name, mean in means.items()}
        rows.append(_row(entry, [shown.get(name, NONE) for name in measures], standings, links, "counts"))
    columns = (column(name, entries[0].scale(name)) for name in measures)
    heads = (label("model"), label("source"), *columns, *_COUNTS, label("why not ranked"))
    notes = (intervals_note(entries),)
    return Frame(f"{task}-apart", f"{task}: not ranked", heads, tuple(rows), notes, marks=number_marks.MARKS)


def tiers(found: Mapping[str, Standing]) -> dict[str, int]:
    """By model: 1 where nobody is better beyond chance, 2 for the next group, 3 for all others."""
    lows = sorted({each.low for each in found.values() if each.low is not None})
    return {model: min(3, 1 + lows.index(each.low)) for model, each in found.items() if each.low is not None}


def harness(entry: Entry) -> str | None:
    """The version of the harness, None where it is not recorded."""
    return None if entry.harness.startswith(("unknown", "?")) else entry.harness


def problems(found: Iterable[Problem], roots: Sequence[Path]) -> Frame:
    """Problems as a table: status, where, and why; the same of several tasks of a run stands once."""
    rows = []
    for each, own in told_once(found):
        texts = (_LEVELS[each.level], shown_name(each.model), ", ".join(own), each.source, each.reason)
        rows.append(FrameRow(tuple(Cell(without_roots(text, roots) or None) for text in texts)))
    columns = tuple(map(label, ("status", "model", "tasks", "file", "reason")))
    return Frame("problems", "Refused, not ranked, and flagged", columns, tuple(rows))


def column(metric: str, shown: Measure) -> FrameColumn:
    """A metric's column."""
    return FrameColumn(metric, digits=shown.digits, unit=shown.unit, fewer=not shown.higher_is_better)


def cell(interval: Interval | None, shown: Measure) -> Cell:
    """A mean as it is shown."""
    return scaled(interval, shown.factor)


_COUNTS = (count("questions"), share("answers read"), label("without an answer"), share("judged"), label("verified"))
_LEVELS = {"refused": "refused", "unranked": "not ranked", "flag": "flagged"}


def _place(entry: Entry, measures: Sequence[str], standings: Standings) -> tuple[float, float, str]:
    found = standings.of(entry.task, measures[0]).get(entry.model.key)
    if found is None or found.mean.estimate is None:
        return float("inf"), 0.0, standings.title(entry)
    sign = -1 if entry.scale(measures[0]).higher_is_better else 1
    return found.rank or float("inf"), sign * found.mean.estimate, standings.title(entry)


def _row(
    entry: Entry, cells: Iterable[Cell], standings: Standings, links: Links, kind: Literal["run", "counts"] = "run"
) -> FrameRow:
    """An entry's row: whose it is, its numbers, what became of its replies."""
    said = [entry.source.kind, *([] if entry.data == "full" else [f"{entry.data} data"])]
    model = Cell(standings.title(entry), href=links.model(entry.model.key))
    read, judged = percent_of(entry.counts.parse_rate), percent_of(entry.counts.coverage)
    without = Cell(outcomes.said(entry.outcomes, outcomes.READINGS) or None)
    counted = (Cell(len(entry.questions)), read, without, judged, Cell(entry.level or None))
    return FrameRow((model, Cell(", ".join(said)), *cells, *counted, problem_codes(entry)), kind)


def problem_codes(entry: Entry) -> Cell:
    """In short: the reasons in full stand in the overview's table of problems, and on the model's page."""
    return Cell(", ".join(dict.fromkeys(each.code.replace("_", " ") for each in entry.problems)) or None)


def standing_cells(found: Standing, shown: Measure) -> tuple[Cell, Cell]:
    """A mean and its rank."""
    mark = _FEWER if found.rank is not None and found.common < found.mean.n else ""
    return cell(found.mean, shown), Cell(found.rank, found.low, found.high, mark) if found.rank else NONE
