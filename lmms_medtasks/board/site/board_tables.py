"""The board's own tables: a task's ranking, what is shown apart from it, the overview, a model's scores, problems."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmms_medtasks.board.boards import Board, drawn_clusters
from lmms_medtasks.board.entries import Entry, Problem
from lmms_medtasks.board.model_names import shown_name
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.file_names import model_titles, without_roots
from lmms_medtasks.board.site.ranking import SHORT, Standing, standings
from lmms_medtasks.board.site.rows import published
from lmms_medtasks.board.trust.levels import LEVELS
from lmms_medtasks.report.cells import NONE, count, label, percent_of, scaled, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.rank_intervals import LEAST_CLUSTERS
from lmms_medtasks.suites.suite import Measure

_FEWER = "‡"
_MARKS = {
    _FEWER: "Ranked on fewer questions than the mean is of: on those that all models of the table have a score for.",
}
_PUBLISHED = (
    "Rows marked published are as {paper} prints them: these models were not run here, and have no rank and no "
    "interval. They are of the whole benchmark; the suite's card says what else differs."
)
_INTERVALS = "Numbers in brackets: 95 % interval over {clusters} (docs/intervals_and_tests.md)."


def _intervals(entries: Iterable[Entry]) -> str:
    return _INTERVALS.format(clusters=drawn_clusters(entries))


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
        self.titles = model_titles(board.models)
        self.of = functools.cache(self._of)

    def _of(self, task: str, measure: str) -> dict[str, Standing]:
        """By the key of the model."""
        entries = [entry for entry in self.board.of(task=task, ranked=True) if measure in entry.metrics]
        found = standings(entries, measure, resamples=self.resamples)
        return {entry.model.key: each for entry, each in zip(entries, found, strict=True)}

    def title(self, entry: Entry) -> str:
        """The model's name, no two alike on the board."""
        return self.titles[entry.model.key]


def measures_of(entries: Iterable[Entry]) -> list[str]:
    """The measures that stand in a task's table, in the order of the logs."""
    return list(dict.fromkeys(name for entry in entries for name in entry.main_metrics))


def ranking(task: str, standings: Standings, links: Links) -> Table | None:
    """A task's ranked models, best first, above the published ones; None without a ranked one."""
    entries = standings.board.of(task=task, ranked=True)
    if not entries:
        return None
    measures = measures_of(entries)
    ordered = sorted(entries, key=lambda entry: _place(entry, measures, standings))
    rows = [Row(_own(entry, measures, standings, links)) for entry in ordered]
    below = published(task, entries[0].settings)
    rows += [Row(_published(each.model, each.source, each.cells, measures), "reference") for each in below]
    columns: list[Column] = [label("model"), label("source")]
    for name in measures:
        columns += [column(name, entries[0].scale(name)), Column(f"rank, {name}")]
    columns += [*_COUNTS, label("notes")]
    notes = (_intervals(entries), *_without_ranks(task, measures, standings), SHORT, *_verified(entries))
    said = (_PUBLISHED.format(paper=below[0].paper),) if below else ()
    return Table(f"{task}-ranking", f"{task}: ranking", tuple(columns), tuple(rows), notes, said, _MARKS)


def _verified(entries: Iterable[Entry]) -> list[str]:
    """What the levels of these entries mean."""
    present = {entry.level for entry in entries}
    return [f"{level.capitalize()}: {meaning}" for level, meaning in LEVELS.items() if level in present]


def _without_ranks(task: str, measures: Sequence[str], standings: Standings) -> list[str]:
    """Why a measure's column of ranks is empty."""
    reasons = []
    for name in measures:
        found = next(iter(standings.of(task, name).values()), None)
        if found is not None and found.rank is None:
            images = "1 image" if found.images == 1 else f"{found.images} images"
            said = f"only {images} with a score of every model; ranks are given from {LEAST_CLUSTERS} on"
            reasons.append(f"No ranks by {name}: {said}.")
    return reasons


def apart(task: str, standings: Standings, links: Links) -> Table | None:
    """A task's entries that do not compare with the ranked ones, and why; None without one."""
    entries = standings.board.of(task=task, ranked=False)
    if not entries:
        return None
    measures = measures_of(entries)
    ordered = sorted(entries, key=lambda entry: (standings.title(entry).lower(), entry.source.date, entry.version))
    rows = []
    for entry in ordered:
        cells = [
            cell(entry.interval(name, standings.resamples > 0), entry.scale(name)) if name in entry.metrics else NONE
            for name in measures
        ]
        rows.append(Row((*_head(entry, standings, links), *cells, *_counted(entry), _notes(entry)), "counts"))
    shown = [column(name, entries[0].scale(name)) for name in measures]
    columns = (label("model"), label("source"), *shown, *_COUNTS, label("why apart"))
    return Table(f"{task}-apart", f"{task}: shown apart, not ranked", columns, tuple(rows), (_intervals(entries),))


def overview(standings: Standings, links: Links) -> Table:
    """A row a model, for each suite its headline with the rank; unranked entries stay out of it."""
    board = standings.board
    heads = {name: each for name in suite_words.order(board.suites) if (each := _headline(board, name))}
    columns: list[Column] = [label("model")]
    for name, (task, measure) in heads.items():
        head = f"{suite_words.about(name).title}: {task}, {measure}"
        columns += [replace(column(measure, board.scale(task, measure)), name=head), Column("rank")]
    columns.append(label("notes"))
    tiers = {name: _tiers(standings.of(*head)) for name, head in heads.items()}
    rows = []
    for model in sorted(board.models, key=lambda model: _best_first(model.key, heads.values(), standings)):
        cells: list[Cell] = [Cell(standings.titles[model.key], href=links.model(model.key))]
        for name, (task, measure) in heads.items():
            standing = standings.of(task, measure).get(model.key)
            own_cells = _standing(standing, board.scale(task, measure)) if standing else [NONE, NONE]
            cells += [replace(each, tier=tiers[name].get(model.key, 0)) for each in own_cells]
        own = [entry for entry in board.entries if entry.model.key == model.key]
        rows.append(Row((*cells, Cell(_model_notes(own)))))
    notes = (_intervals(board.entries), SHORT)
    return Table("overview", "Models by suite", tuple(columns), tuple(rows), notes, marks=_MARKS)


def _best_first(model: str, heads: Iterable[tuple[str, str]], standings: Standings) -> tuple[Any, ...]:
    """Sorts models by their rank on the first suite's headline, then on the next ones; those without one stand last."""
    ranks = []
    for head in heads:
        standing = standings.of(*head).get(model)
        ranks.append(standing.rank if standing and standing.rank else 10**9)
    return *ranks, standings.titles[model].lower()


def _tiers(found: Mapping[str, Standing]) -> dict[str, int]:
    """By model: 1 where nobody is better beyond chance, 2 for the next group, 3 for all others."""
    lows = sorted({each.low for each in found.values() if each.low is not None})
    return {model: min(3, 1 + lows.index(each.low)) for model, each in found.items() if each.low is not None}


def findings(standings: Standings) -> list[tuple[str, str]]:
    """Of each suite in a sentence who is best by its headline, and who is not told apart: (suite's name, sentence)."""
    board = standings.board
    said = []
    for name in suite_words.order(board.suites):
        head = _headline(board, name)
        found = standings.of(*head) if head else {}
        ranked = {model: each for model, each in found.items() if each.rank is not None}
        if head is None or not ranked:
            continue
        shown = board.scale(*head)
        best = min(ranked, key=lambda model: (ranked[model].rank or 0, standings.titles[model]))
        value = column("", shown).text(cell(ranked[best].mean, shown))
        unit = f" {shown.unit}" if shown.unit else ""
        number, _, interval = value.partition(" ")
        text = f"{standings.titles[best]} {number}{unit}{f' {interval}' if interval else ''}"
        alike = [standings.titles[model] for model, each in ranked.items() if each.low == 1 and model != best]
        if len(ranked) == 1:
            text += ", the only one ranked"
        elif alike:
            text += f", not told apart from {', '.join(alike) if len(alike) < _NAMED else f'{len(alike)} others'}"
        elif ranked[best].low is not None:
            others = [standings.titles[model] for model in ranked if model != best]
            text += f", ahead of {others[0] if len(others) == 1 else f'all {len(others)} others'} beyond chance"
        said.append((name, f"{text} ({head[0]}, {head[1]})."))
    return said


_NAMED = 4
"""Models from which on only their number is said."""


def scores(model: str, standings: Standings, links: Links) -> Table:
    """All measures of a model, those that stand in a ranking with their ranks."""
    rows = []
    for entry in _of_model(model, standings.board):
        for name in entry.metrics:
            shown = entry.scale(name)
            ranked = standings.of(entry.task, name) if entry.ranked and name in entry.main_metrics else {}
            standing = ranked.get(model)
            mean = standing.mean if standing else entry.interval(name, standings.resamples > 0)
            value, rank = _standing(standing, shown) if standing else (cell(mean, shown), NONE)
            rows.append(
                Row((Cell(entry.task, href=links.suite(entry.suite)), Cell(name), value, Cell(shown.unit), rank,
                     Cell(len(ranked)) if ranked else NONE, Cell(mean.n)))
            )  # fmt: skip
    columns = (label("task"), label("measure"), Column("score", digits=2), label("unit"), count("rank"), count("of"),
               count("questions"))  # fmt: skip
    notes = (_intervals(_of_model(model, standings.board)), SHORT)
    return Table("scores", "Scores", columns, tuple(rows), notes, marks=_MARKS)


def facts(model: str, board: Board) -> Table:
    """What each entry of a model is of: data, version, judge, harness."""
    rows = []
    for entry in _of_model(model, board):
        judge = entry.judge.name if entry.judge else None
        told = (judge, harness(entry), entry.source.kind, entry.level or None, entry.source.date)
        texts = (entry.task, entry.version, entry.data, *told)
        rows.append(Row((*map(Cell, texts), Cell(entry.counts.rows), _notes(entry))))
    heads = ("task", "version", "data", "judge", "lmms-eval", "from a", "verified", "run")
    columns = (*map(label, heads), count("questions"), label("notes"))
    return Table("entries", "What was run", columns, tuple(rows))


def _of_model(model: str, board: Board) -> list[Entry]:
    """A model's entries, suites in the order of their pages."""
    places = suite_words.order(board.suites)
    return sorted(
        (entry for entry in board.entries if entry.model.key == model), key=lambda entry: places.index(entry.suite)
    )


def harness(entry: Entry) -> str | None:
    """The version of the harness, None where it is not recorded."""
    return None if entry.harness.startswith(("unknown", "?")) else entry.harness


def problems(found: Iterable[Problem], roots: Sequence[Path]) -> Table:
    """Problems as a table: status, where, and why; the same of several tasks of a run stands once."""
    tasks: dict[tuple[int, str, str, str], set[str]] = {}
    for each in found:
        kind = list(_LEVELS).index(each.level), each.model, each.source, each.reason
        tasks.setdefault(kind, set()).add(each.task)
    rows = []
    for (level, model, source, reason), own in sorted(tasks.items()):
        texts = (list(_LEVELS.values())[level], shown_name(model), ", ".join(sorted(own)), source, reason)
        rows.append(Row(tuple(Cell(without_roots(text, roots) or None) for text in texts)))
    columns = tuple(map(label, ("status", "model", "tasks", "file", "reason")))
    return Table("problems", "Refused, shown apart, and flagged", columns, tuple(rows))


def column(metric: str, shown: Measure) -> Column:
    """A metric's column."""
    return Column(metric, digits=shown.digits, unit=shown.unit)


def cell(interval: Interval | None, shown: Measure) -> Cell:
    """A mean as it is shown."""
    return scaled(interval, shown.factor)


_COUNTS = (count("questions"), share("answers read"), share("judged"), label("verified"))
_LEVELS = {"refused": "refused", "unranked": "shown apart", "flag": "flagged"}


def _headline(board: Board, suite: str) -> tuple[str, str] | None:
    return suite_words.about(suite).headline_of(board.of(suite=suite, ranked=True))


def _place(entry: Entry, measures: Sequence[str], standings: Standings) -> tuple[float, float, str]:
    found = standings.of(entry.task, measures[0]).get(entry.model.key)
    if found is None or found.mean.estimate is None:
        return float("inf"), 0.0, standings.title(entry)
    sign = -1 if entry.scale(measures[0]).higher_is_better else 1
    return found.rank or float("inf"), sign * found.mean.estimate, standings.title(entry)


def _own(entry: Entry, measures: Sequence[str], standings: Standings, links: Links) -> tuple[Cell, ...]:
    cells: list[Cell] = [*_head(entry, standings, links)]
    for name in measures:
        found = standings.of(entry.task, name).get(entry.model.key)
        cells += _standing(found, entry.scale(name)) if found else [NONE, NONE]
    return (*cells, *_counted(entry), _notes(entry))


def _head(entry: Entry, standings: Standings, links: Links) -> tuple[Cell, Cell]:
    said = [entry.source.kind, *([] if entry.data == "full" else [f"{entry.data} data"])]
    return Cell(standings.title(entry), href=links.model(entry.model.key)), Cell(", ".join(said))


def _counted(entry: Entry) -> tuple[Cell, ...]:
    rates = percent_of(entry.counts.parse_rate), percent_of(entry.counts.coverage)
    return Cell(len(entry.questions)), *rates, Cell(entry.level or None)


def _notes(entry: Entry) -> Cell:
    """In short: the reasons in full stand in the overview's table of problems, and on the model's page."""
    return Cell(", ".join(dict.fromkeys(each.code.replace("_", " ") for each in entry.problems)) or None)


def _model_notes(entries: Sequence[Entry]) -> str | None:
    """In short: the model's page has the reasons."""
    away = [entry.task for entry in entries if not entry.ranked]
    flagged = [entry.task for entry in entries if entry.ranked and entry.problems]
    said = [f"{len(away)} of {len(entries)} tasks shown apart"] if away else []
    said += [f"{len(flagged)} flagged"] if flagged else []
    data = sorted({entry.data for entry in entries} - {"full"})
    return "; ".join([*(f"{each} data" for each in data), *said]) or None


def _standing(found: Standing, shown: Measure) -> list[Cell]:
    mark = _FEWER if found.rank is not None and found.common < found.mean.n else ""
    return [cell(found.mean, shown), Cell(found.rank, found.low, found.high, mark) if found.rank else NONE]


def _published(model: str, source: str, cells: Mapping[str, Cell], measures: Sequence[str]) -> tuple[Cell, ...]:
    found: list[Cell] = [Cell(model), Cell(source)]
    for name in measures:
        found += [cells.get(name, NONE), NONE]
    return (*found, *[NONE] * (len(_COUNTS) + 1))
