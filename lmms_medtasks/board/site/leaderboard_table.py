"""The first page's table: models by suites, and below them the published models, each with what a filter asks of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.entries import Model
from lmms_medtasks.board.model_facts import KnownModels, ModelFacts
from lmms_medtasks.board.model_names import look
from lmms_medtasks.board.site import board_tables, number_marks, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings, published
from lmms_medtasks.board.site.number_marks import HARD_TO_READ
from lmms_medtasks.board.site.ranking import SHORT
from lmms_medtasks.board.trust.levels import OWN_RUN, RECOMPUTED
from lmms_medtasks.report.cells import NONE, label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.suite import Measure

SHOWN_PUBLISHED = 10
"""Published models that stand in the table; the others are folded below it."""
_TINTS = {1: "best, or not told apart from it", 2: "second group", 3: "third and below"}


@dataclass(frozen=True)
class SuiteColumn:
    """A suite's column: its headline ``measure`` of ``task``, on the scale ``shown``, and the ``words`` for that."""

    suite: str
    title: str
    short: str
    words: str
    task: str
    measure: str
    shown: Measure
    href: str

    @property
    def unit(self) -> str:
        """The unit, where it is not percent."""
        return "" if self.shown.unit == "%" else self.shown.unit or f"{self.shown.low:g} to {self.shown.high:g}"


@dataclass(frozen=True)
class Score:
    """A model's number in a column.

    Attributes:
        cell: in the column's unit, with its interval; without a value where there is none. rank: "2 to 3", or "".
        why: where there is no number but its suite's page has something, "not ranked" or "other tasks".
        guessed: whether it has no tint as it is no better than guessing. source: where a published one is printed.
    """

    cell: Cell
    head: SuiteColumn
    rank: str = ""
    why: str = ""
    guessed: bool = False
    source: str = ""

    @property
    def sort(self) -> float | None:
        """What rows are sorted by."""
        if not isinstance(self.cell.value, int | float):
            return None
        return self.cell.value if self.head.shown.higher_is_better else -self.cell.value

    @property
    def number(self) -> str:
        """The number."""
        return "" if self.sort is None else f"{self.cell.value:.{self.head.shown.digits}f}"

    @property
    def interval(self) -> tuple[str, str] | None:
        """The interval in full and rounded; None without one."""
        low, high, digits = self.cell.low, self.cell.high, self.head.shown.digits
        if low is None or high is None:
            return None
        short = max(digits - 1, 0)
        return f"{low:.{digits}f} to {high:.{digits}f}", f"{low:.{short}f}–{high:.{short}f}"


@dataclass(frozen=True)
class ModelRow:
    """A model. ``measured``: run here, else published. ``note``: what it is. ``verified``: what was verified of it."""

    name: str
    href: str
    scores: tuple[Score, ...]
    facts: ModelFacts
    measured: bool = False
    note: str = ""
    verified: str = ""
    human: bool = False

    @property
    def places(self) -> tuple[object, ...]:
        """Sorts rows best first by the first column, then by the next ones."""
        return (*((score.sort is None, -(score.sort or 0.0)) for score in self.scores), self.name.lower())


@dataclass(frozen=True)
class Leaderboard:
    """The table: its columns, the measured rows, published ones that are shown, and those that are folded."""

    heads: tuple[SuiteColumn, ...]
    measured: tuple[ModelRow, ...]
    published: tuple[ModelRow, ...]
    folded: tuple[ModelRow, ...]

    @property
    def rows(self) -> tuple[ModelRow, ...]:
        """All rows."""
        return (*self.measured, *self.published, *self.folded)

    @property
    def signs(self) -> tuple[tuple[str, str], ...]:
        """The signs of measured numbers with their meanings."""
        return number_marks.legend(score.cell for row in self.measured for score in row.scores)

    @property
    def legend(self) -> Iterator[tuple[int, str]]:
        """What the table has to be explained: a tint, or 0, and its meaning."""
        own = [score for row in self.measured for score in row.scores]
        shown = [*own, *(score for row in self.published for score in row.scores)]
        tints = {score.cell.tier for score in own}
        yield from ((tint, meaning) for tint, meaning in _TINTS.items() if tint in tints)
        marked = any(score.rank and not score.cell.tier and score.cell.mark and not score.guessed for score in own)
        untinted = ["no better than guessing"] * any(score.guessed for score in own) + ["with a mark"] * marked
        said = {
            f"below a number: {confidence.percent()} interval": any(score.interval for score in own),
            "1–2: the model may be first or second": any(" to " in score.rank for score in own),
            f"no tint: {' or '.join(untinted)}": any(tints) and bool(untinted),
            "–: not run, or not published": any(score.sort is None and not score.why for score in shown),
            "other tasks: ranked on other tasks of the benchmark": any(score.why == "other tasks" for score in own),
            "not ranked: run, but not comparable with the ranked ones": any(score.why == "not ranked" for score in own),
        }
        yield from ((0, text) for text, there in said.items() if there)
        yield from ((0, f"{sign}: {meaning[:1].lower()}{meaning[1:].rstrip('.')}") for sign, meaning in self.signs)


def leaderboard(standings: Standings, links: Links, known: KnownModels) -> Leaderboard:
    """The table of a board; unranked entries have no number in it."""
    heads = tuple(_heads(standings, links))
    tiers = [board_tables.tiers(standings.of(head.task, head.measure)) for head in heads]
    measured = []
    for model in standings.board.models:
        scores = tuple(
            _score(standings, head, model, own.get(model.key, 0)) for head, own in zip(heads, tiers, strict=True)
        )
        levels = {entry.level for entry in standings.board.entries if entry.ranked and entry.model.key == model.key}
        title, facts = standings.titles[model.key], known.facts_of(model.name)
        href = links.model(model.key)
        measured.append(ModelRow(title, href, scores, facts, True, _about(facts), _verified(levels)))
    measured.sort(key=lambda row: row.places)
    return Leaderboard(heads, tuple(measured), *_known_first(list(_published(heads, standings, known))))


def _heads(standings: Standings, links: Links) -> Iterator[SuiteColumn]:
    board = standings.board
    for name in suite_words.order(board.suites):
        about = suite_words.about(name)
        found = about.headline_of(board.of(suite=name, ranked=True))
        if found:
            entry = next(each for each in board.of(task=found[0], ranked=True) if found[1] in each.metrics)
            title, words, shown = about.title, about.heading_of(*found), entry.scale(found[1])
            yield SuiteColumn(name, title, about.short or title, words, *found, shown, links.suite(name))


def _score(standings: Standings, head: SuiteColumn, model: Model, tier: int) -> Score:
    standing = standings.of(head.task, head.measure).get(model.key)
    number = standings.numbers(head.task, head.measure).get(model.key)
    if standing is None:
        own = [entry for entry in standings.board.of(suite=head.suite) if entry.model.key == model.key]
        ran = any(entry.task == head.task for entry in own)
        return Score(NONE, head, why="not ranked" if ran else "other tasks" if any(e.ranked for e in own) else "")
    if number is None:
        return Score(NONE, head, standing.ranks)
    untinted = number.guessing or number.by_words or HARD_TO_READ in number.cell.mark
    return Score(
        replace(number.cell, tier=0 if untinted else tier), head, standing.ranks, guessed=bool(number.guessing)
    )


def _about(facts: ModelFacts) -> str:
    """What a model is, below its name."""
    size = f"{facts.parameters_b:g} B" if facts.parameters_b else ""
    weights = {True: "open weights", False: "closed weights", None: ""}[facts.open_weights]
    return facts.about or ", ".join(filter(None, (size, weights)))


def _verified(levels: set[str]) -> str:
    """The least that was verified of all ranked entries; "" where of one only its arithmetic was."""
    if not levels or levels - {RECOMPUTED, OWN_RUN}:
        return ""
    return RECOMPUTED if RECOMPUTED in levels else OWN_RUN


def _published(heads: Sequence[SuiteColumn], standings: Standings, known: KnownModels) -> Iterator[ModelRow]:
    """The published models with a number in a column; one that several papers have is one row."""
    scores: dict[str, dict[str, Score]] = {}
    rows: dict[str, ModelRow] = {}
    for head in heads:
        for each in published(head.task, standings.board.of(task=head.task, ranked=True)[0].settings):
            cell = each.cells.get(head.measure, NONE)
            if not isinstance(cell.value, int | float):
                continue
            facts, human = known.facts_of(each.model), each.kind == "human"
            name = facts.name or each.model
            rows.setdefault(
                look(name), ModelRow(name, "", (), facts, note="people, no model" if human else "", human=human)
            )
            own = scores.setdefault(look(name), {})
            own.setdefault(head.suite, Score(Cell(float(cell.value)), head, source=each.source))
    for seen, row in rows.items():
        yield replace(row, scores=tuple(scores[seen].get(head.suite, Score(NONE, head)) for head in heads))


def _known_first(rows: list[ModelRow]) -> tuple[tuple[ModelRow, ...], tuple[ModelRow, ...]]:
    """The rows that are shown and those that are folded: each suite's best, then those of most suites."""
    best = set()
    for column in range(len(rows[0].scores) if rows else 0):
        known = [(sort, row.name) for row in rows if (sort := row.scores[column].sort) is not None]
        best |= {max(known)[1]} if known else set()
    missing = {row.name: sum(score.sort is None for score in row.scores) for row in rows}
    rows = sorted(rows, key=lambda row: (row.name not in best, missing[row.name], row.places))
    shown, folded = rows[:SHOWN_PUBLISHED], rows[SHOWN_PUBLISHED:]
    return tuple(sorted(shown, key=lambda row: row.places)), tuple(sorted(folded, key=lambda row: row.places))


def as_table(found: Leaderboard, standings: Standings) -> Frame:
    """The same as a table of files: for each suite the number with its interval and the ranks that chance leaves."""
    columns: list[FrameColumn] = [label("model"), label("source")]
    for head in found.heads:
        name = f"{head.title}: {head.task}, {head.measure}"
        columns += [replace(board_tables.column(head.measure, head.shown), name=name), label(f"rank, {name}")]
    rows = []
    for row in found.rows:
        cells: list[Cell] = [Cell(row.name, href=row.href), Cell("measured" if row.measured else "published")]
        for score in row.scores:
            cells += [score.cell, Cell(score.rank or None)]
        rows.append(FrameRow(tuple(cells), "run" if row.measured else "reference"))
    notes = (f"Numbers in brackets: {LEVEL} interval over {drawn_clusters(standings.board.entries)}.", SHORT)
    title, marks = "Models by benchmark", number_marks.MARKS
    return Frame("overview", title, tuple(columns), tuple(rows), notes, marks=marks)
