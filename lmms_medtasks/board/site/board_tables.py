"""The board's tables: a task's ranking, and problems; and the numbers of its models with their signs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lmms_medtasks.board import installed
from lmms_medtasks.board.boards import Leaderboard, drawn_clusters, told_once
from lmms_medtasks.board.entries import EntryProblem, LeaderboardEntry
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.file_names import model_titles, without_folders_above, without_roots
from lmms_medtasks.board.site.ranking import SHORT, ModelRanking, ModelStanding, rank_models
from lmms_medtasks.report.cells import NONE, count_column, label_column, percent_column, percent_of, scaled_cell
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import Number, chance_of_options
from lmms_medtasks.report.judged_tables import LEXICAL, MEANINGS
from lmms_medtasks.report.published import PublishedScores, published_scores
from lmms_medtasks.report.reported_suites import report_of
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites import common_metrics
from lmms_medtasks.suites.suite import Measure

TaskMeasure = tuple[str, str]
"""A task and a measure of it."""

# --- Signs beside a number --------------------------------------------------------------------------------------------

READABLE = 0.9
"""Numbers with a smaller share of readable replies are marked."""
HARD_TO_READ = "†"
UNREAD = f"under {READABLE:.0%} of the replies could be read".replace("%", " %")
"""Replaces a claim about a model whose number :data:`HARD_TO_READ` marks."""
BY_WORDS = "judged by lexical: words compared, no score"
"""The badge of numbers that :data:`LEXICAL` marks."""
MARKS = {HARD_TO_READ: f"{UNREAD[:1].upper()}{UNREAD[1:]}; the others count as wrong.", LEXICAL: MEANINGS[LEXICAL]}
"""Meanings of the signs beside a number."""
_FEWER = "‡"
RANK_MARKS = {
    **MARKS,
    _FEWER: "Ranked on fewer questions than the number is of: on those that all models of the table have a score for.",
}


def number_signs(entry: LeaderboardEntry, metric: str) -> str:
    """The signs of an entry's number, "" for none."""
    return HARD_TO_READ * _is_hard_to_read(entry, metric) + LEXICAL * entry.is_lexical(metric)


def _is_hard_to_read(entry: LeaderboardEntry, metric: str) -> bool:
    """Whether too few replies to this metric's questions could be read; a task may have other questions too."""
    if entry.declaration is None or entry.counts.parsed == entry.counts.replies:
        return False
    parsed, replies = entry.declaration.read_replies(entry.scored(metric))
    return replies > 0 and parsed / replies < READABLE


def sign_legend(cells: Iterable[Cell]) -> tuple[tuple[str, str], ...]:
    """Each sign of these cells, with its meaning."""
    used = {sign for cell in cells for sign in cell.mark}
    return tuple((sign, meaning) for sign, meaning in MARKS.items() if sign in used)


def guessing_score(entry: LeaderboardEntry, metric: str) -> float | None:
    """The mean score of a uniform guess on the metric's questions, in its measure's unit.

    The benchmark's report declares it (``guessing``), else the questions do. None for other numbers than means of the
    benchmark's first measure, and for questions without options.
    """
    suite, shown = entry.declaration, entry.scale(metric)
    if suite is None or not entry.is_mean(metric) or shown.unit != "%":
        return None
    if shown.name != next((entry.scale(each).name for each in entry.main_means), None):
        return None
    if shown.name in (declared := report_of(suite).guessing):
        return declared[shown.name]
    rows = entry.scored(metric)
    if "chance.score" in rows.columns:
        known = rows.column("chance.score").astype(float)
        return float(known.mean()) if len(known) and not np.isnan(known).any() else None
    return chance_of_options(rows) if "option_count" in rows.columns else None


# --- Standings --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PageLinks:
    """Addresses of pages, relative to the current one."""

    model: Callable[[str], str]
    suite: Callable[[str], str]


class BoardStandings:
    """The standings of a board's ranked entries, each computed once."""

    def __init__(
        self, board: Leaderboard, resamples: int, known: KnownModels | None = None, roots: Sequence[Path] = ()
    ) -> None:
        """``roots``: folders whose names are left out of paths."""
        self.board, self.resamples, self.known, self.roots = board, resamples, known or KnownModels(), roots
        arguments = {entry.model.key: entry.settings.get("arguments", "") for entry in board.entries}
        self.titles = model_titles(board.models, arguments)
        self.ranking = functools.cache(self._ranking)
        self.of = functools.cache(self._of)
        self.numbers = functools.cache(self._numbers)
        self.published = functools.cache(self._published)
        self._signs: dict[tuple[int, str], str] = {}

    def _entries(self, task: str, measure: str) -> list[LeaderboardEntry]:
        return [entry for entry in self.board.of(task=task, ranked=True) if measure in entry.metrics]

    def _ranking(self, task: str, measure: str) -> tuple[list[str], ModelRanking]:
        """The keys of the models, and their ranking in this order."""
        entries = self._entries(task, measure)
        return [entry.model.key for entry in entries], rank_models(entries, measure, resamples=self.resamples)

    def _of(self, task: str, measure: str) -> dict[str, ModelStanding]:
        keys, found = self.ranking(task, measure)
        return dict(zip(keys, found.standings, strict=True))

    def alike(self, task: str, measure: str, best: str) -> list[str]:
        """The other models that ``best`` is not significantly better than, by the test of the ranks, in its order.

        Ranks do not show this: a model can differ from another one and not from the best.
        """
        keys, found = self.ranking(task, measure)
        if found.pairs is None:
            return []
        place = keys.index(best)
        return [key for row, key in enumerate(keys) if row != place and not found.pairs.better[place, row]]

    def marked(self, cell: Cell, entry: LeaderboardEntry, metric: str) -> Cell:
        """The cell of an entry's number with its signs before its mark; unchanged without a number."""
        key = id(entry), metric
        if key not in self._signs:
            self._signs[key] = number_signs(entry, metric)
        return cell if cell.value is None else replace(cell, mark=self._signs[key] + cell.mark)

    def number(self, entry: LeaderboardEntry, metric: str) -> Number | None:
        """An entry's number with its signs, in its measure's unit; None if no question has a score.

        If too few replies could be read it has no guessing level, so that no sentence judges the model by it.
        """
        standing = self.of(entry.task, metric).get(entry.model.key) if entry.ranked else None
        mean = standing.mean if standing else entry.interval(metric, with_interval=self.resamples > 0)
        if mean.estimate is None:
            return None
        about, shown = suite_words.suite_texts(entry.suite), entry.scale(metric)
        cell = self.marked(replace(scaled_cell(mean, shown.factor), mark=""), entry, metric)
        chance = None if HARD_TO_READ in cell.mark else guessing_score(entry, metric)
        # A ratio may be beyond the scale.
        top = max(shown.high, math.ceil(10 * (mean.high or mean.estimate) - 1e-6) / 10)
        return Number(
            about.heading_of(entry.task, metric),
            about.words_of(entry.task, metric),
            unit=shown.unit,
            bottom=shown.factor * shown.low,
            top=shown.factor * top,
            chance=None if chance is None else shown.factor * chance,
            higher_is_better=shown.higher_is_better,
            cell=cell,
            decimals=shown.digits,
        )

    def _numbers(self, task: str, measure: str) -> dict[str, Number]:
        """Key of each ranked model -> its number, best first."""
        entries = self._entries(task, measure)
        made = {entry.model.key: number for entry in entries if (number := self.number(entry, measure))}
        ranks = {key: each.rank or 0 for key, each in self.of(task, measure).items()}
        ordered = sorted(made, key=lambda key: (ranks[key], -made[key].worth, self.titles[key].lower()))
        return {key: made[key] for key in ordered}

    def places(self, task: str, measure: str) -> dict[str, int]:
        """Key of each ranked model of the task -> its index on all pages; those without a number come last."""
        best = dict.fromkeys(self.numbers(task, measure))
        others = {entry.model.key for entry in self.board.of(task=task, ranked=True)} - best.keys()
        rest = sorted(others, key=lambda key: self.titles[key])
        return {key: place for place, key in enumerate([*best, *rest])}

    def _published(self, task: str) -> list[tuple[str, PublishedScores]]:
        """A task's published rows, each with the name that all pages give its model."""
        entries = self.board.of(task=task, ranked=True) or self.board.of(task=task)
        rows = published_scores_of_task(task, entries[0].settings) if entries else []
        return [(self.known.facts_of(row.model).name or row.model, row) for row in rows]

    def title(self, entry: LeaderboardEntry) -> str:
        """The model's name, unique on the board."""
        return self.titles[entry.model.key]


# --- Tables -----------------------------------------------------------------------------------------------------------

_COUNTS = (
    count_column("questions"),
    percent_column("answers read"),
    label_column("without an answer"),
    percent_column("judged"),
    label_column("verified"),
)
_PUBLISHED = (
    "Rows marked published are as {paper} prints them: these models were not run here, and have no rank and no "
    "interval. They are of the whole benchmark; the benchmark's card says what else differs."
)


def intervals_note(entries: Iterable[LeaderboardEntry]) -> str:
    """The meaning of the brackets of these entries' numbers."""
    return f"Numbers in brackets: {LEVEL} interval over {drawn_clusters(entries)}."


def published_scores_of_task(task: str, told: Mapping[str, str]) -> list[PublishedScores]:
    """The published rows with numbers of the task's measures, in the paper's order.

    Returns [] if the folder of the task is unknown. ``told``: an entry's settings.
    """
    suite = installed.task_declaration(task, told)
    return [] if suite is None else list(published_scores(suite, task))


def ranking_table(task: str, standings: BoardStandings, links: PageLinks) -> Frame | None:
    """A task's ranked models, best first, above the published ones; None without a ranked one."""
    entries = standings.board.of(task=task, ranked=True)
    if not entries:
        return None
    measures = list(dict.fromkeys(name for entry in entries for name in entry.main_metrics))
    columns: list[FrameColumn] = []
    for name in measures:
        columns += [metric_column(name, entries[0].scale(name)), FrameColumn(f"rank, {name}")]
    best, rows = standings.places(task, measures[0]), []
    for entry in sorted(entries, key=lambda each: best[each.model.key]):
        cells: list[Cell] = []
        for name in measures:
            standing = standings.of(task, name).get(entry.model.key)
            number, rank = standing_cells(standing, entry.scale(name)) if standing else (NONE, NONE)
            cells += [standings.marked(number, entry, name), rank]
        said = [entry.source.kind, *([] if entry.data == "full" else [f"{entry.data} data"])]
        model = Cell(standings.title(entry), href=links.model(entry.model.key))
        read, judged = percent_of(entry.counts.parse_rate), percent_of(entry.counts.coverage)
        unanswered = Cell(common_metrics.describe_outcomes(entry.outcomes, common_metrics.READINGS) or None)
        counted = (Cell(len(entry.questions)), read, unanswered, judged, Cell(entry.level or None))
        rows.append(FrameRow((model, Cell(", ".join(said)), *cells, *counted, problem_codes(entry))))
    published = standings.published(task)
    for called, row in published:
        cells = [cell for name in measures for cell in (row.cells.get(name, NONE), NONE)]
        rows.append(FrameRow((Cell(called), Cell(row.source), *cells, *[NONE] * (len(_COUNTS) + 1)), "reference"))
    first = {name: next(iter(standings.of(task, name).values()), None) for name in measures}
    without = (f"No ranks by {name}: {each.reason}." for name, each in first.items() if each and each.rank is None)
    notes = (intervals_note(entries), *without, SHORT)
    printed = (_PUBLISHED.format(paper=published[0][1].paper),) if published else ()
    heads = (label_column("model"), label_column("source"), *columns, *_COUNTS, label_column("notes"))
    return Frame(f"{task}-ranking", f"{task}: ranking", heads, tuple(rows), notes, printed, RANK_MARKS)


def problems_table(problems: Iterable[EntryProblem], roots: Sequence[Path]) -> Frame:
    """Problems as a table: status, location, reason; the same problem in several tasks of a run is one row."""
    rows, without = [], without_folders_above if len(roots) > 1 else without_roots
    for problem, of_tasks in told_once(problems):
        level = "copy" if problem.code == "duplicate" and problem.level == "flag" else _LEVELS[problem.level]
        texts = (level, shown_name(problem.model), ", ".join(of_tasks), problem.source, problem.reason)
        rows.append(FrameRow(tuple(Cell(without(text, roots) or None) for text in texts)))
    columns = tuple(map(label_column, ("status", "model", "tasks", "file", "reason")))
    return Frame("problems", "Refused, not ranked, and flagged", columns, tuple(rows))


def metric_column(metric: str, shown: Measure) -> FrameColumn:
    return FrameColumn(metric, digits=shown.digits, unit=shown.unit, fewer=not shown.higher_is_better)


_LEVELS = {"refused": "refused", "unranked": "not ranked", "flag": "flagged"}


def problem_codes(entry: LeaderboardEntry) -> Cell:
    """The codes; the reasons in full are on the overview and on the model's page."""
    return Cell(", ".join(dict.fromkeys(problem.code.replace("_", " ") for problem in entry.problems)) or None)


def standing_cells(standing: ModelStanding, shown: Measure) -> tuple[Cell, Cell]:
    """A mean and its rank."""
    mark = _FEWER if standing.rank is not None and standing.common < standing.mean.n else ""
    rank = Cell(standing.rank, standing.low, standing.high, mark) if standing.rank else NONE
    return scaled_cell(standing.mean, shown.factor), rank
