"""The first page's table: models by suites, and below them the published models, each with what a filter asks of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.board.boards import drawn_clusters
from lmms_medtasks.board.entries import Entry, Model
from lmms_medtasks.board.model_facts import KnownModels, ModelFacts
from lmms_medtasks.board.model_names import look, without_organisations
from lmms_medtasks.board.site import board_tables, number_marks, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.number_marks import HARD_TO_READ
from lmms_medtasks.board.site.ranking import SHORT
from lmms_medtasks.board.site.rows import published
from lmms_medtasks.board.trust.levels import OWN_RUN, RECOMPUTED
from lmms_medtasks.report.cells import NONE, label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.suite import Measure

SHOWN_PUBLISHED = 10
"""Published models that stand in the table; the others are folded below it."""


@dataclass(frozen=True)
class SuiteColumn:
    """A suite's column: its headline ``measure`` of ``task``, on the scale ``shown``, and what that says."""

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
        apart: whether it was run and does not compare. elsewhere: whether other tasks of the suite rank it.
        source: of a published one, where it stands.
    """

    cell: Cell
    head: SuiteColumn
    rank: str = ""
    apart: bool = False
    elsewhere: bool = False
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
        low, high = self.cell.low, self.cell.high
        if low is None or high is None:
            return None
        digits = self.head.shown.digits
        short = max(digits - 1, 0)
        return f"{low:.{digits}f} to {high:.{digits}f}", f"{low:.{short}f}–{high:.{short}f}"


@dataclass(frozen=True)
class ModelRow:
    """A model.

    Attributes:
        name: in full; ``short``: without its organisation, where that tells it apart. measured: run here, else
            published. note: what it is, or "". verified: what was verified of it, or "". human: people, no model.
    """

    name: str
    short: str
    href: str
    scores: tuple[Score, ...]
    facts: ModelFacts
    measured: bool
    note: str = ""
    verified: str = ""
    human: bool = False

    @property
    def places(self) -> tuple[tuple[bool, float], ...]:
        """Sorts rows best first by the first column, then by the next ones."""
        return tuple((score.sort is None, -(score.sort or 0.0)) for score in self.scores)


@dataclass(frozen=True)
class Leaderboard:
    """The table: its columns, the measured rows, published ones that are shown, and those that are folded."""

    heads: tuple[SuiteColumn, ...]
    measured: tuple[ModelRow, ...]
    published: tuple[ModelRow, ...]
    folded: tuple[ModelRow, ...]
    tiers: int
    signs: tuple[tuple[str, str], ...]
    apart: bool
    elsewhere: bool

    @property
    def guessed(self) -> bool:
        """Whether a model with a rank has no tint, as it is no better than guessing."""
        return any(
            score.rank and not score.cell.tier and LEXICAL not in score.cell.mark
            for row in self.measured
            for score in row.scores
        )


def leaderboard(standings: Standings, links: Links, known: KnownModels) -> Leaderboard:
    """The table of a board; unranked entries have no number in it."""
    board = standings.board
    heads = tuple(_heads(standings, links))
    entries = {(entry.model.key, entry.task): entry for entry in board.entries if entry.ranked}
    ran = {(entry.model.key, entry.task) for entry in board.entries}
    tiers = [board_tables.tiers(standings.of(head.task, head.measure)) for head in heads]
    short = without_organisations(standings.titles.values())
    measured = []
    for model in board.models:
        scores = tuple(
            _score(standings, head, model, own_tiers, (model.key, head.task) in ran)
            for head, own_tiers in zip(heads, tiers, strict=True)
        )
        facts, levels = known.facts_of(model.name), {e.level for (key, _), e in entries.items() if key == model.key}
        title = standings.titles[model.key]
        about = _about(title.removesuffix(short[title]).rstrip("/"), facts)
        href = links.model(model.key)
        measured.append(ModelRow(title, short[title], href, scores, facts, True, about, _verified(levels)))
    measured.sort(key=lambda row: (*row.places, row.name.lower()))
    shown, folded = _known_first(list(_published(heads, entries, known)))
    every = [score for row in measured for score in row.scores]
    return Leaderboard(
        heads, tuple(measured), shown, folded,
        tiers=max((score.cell.tier for score in every), default=0),
        signs=number_marks.legend(score.cell for score in every), apart=any(score.apart for score in every),
        elsewhere=any(score.elsewhere for score in every),
    )  # fmt: skip


def _heads(standings: Standings, links: Links) -> Iterator[SuiteColumn]:
    board = standings.board
    for name in suite_words.order(board.suites):
        about = suite_words.about(name)
        found = about.headline_of(board.of(suite=name, ranked=True))
        if found:
            entry = next(each for each in board.of(task=found[0], ranked=True) if found[1] in each.metrics)
            title, words, shown = about.title, about.heading_of(*found), entry.scale(found[1])
            yield SuiteColumn(name, title, about.short or title, words, *found, shown, links.suite(name))


def _score(standings: Standings, head: SuiteColumn, model: Model, tiers: Mapping[str, int], ran: bool) -> Score:
    standing = standings.of(head.task, head.measure).get(model.key)
    number = standings.numbers(head.task, head.measure).get(model.key)
    if standing is None:
        others = any(each.model.key == model.key for each in standings.board.of(suite=head.suite, ranked=True))
        return Score(NONE, head, apart=ran, elsewhere=others and not ran)
    if number is None:
        return Score(NONE, head, standing.ranks)
    untinted = number.guessing or number.by_words or HARD_TO_READ in number.cell.mark
    return Score(replace(number.cell, tier=0 if untinted else tiers.get(model.key, 0)), head, standing.ranks)


def _about(organisation: str, facts: ModelFacts) -> str:
    """What a model is, below its name."""
    if facts.about:
        return facts.about
    size = f"{facts.parameters_b:g} B" if facts.parameters_b else ""
    weights = {True: "open weights", False: "closed weights", None: ""}[facts.open_weights]
    return ", ".join(filter(None, (organisation, size, weights)))


def _verified(levels: set[str]) -> str:
    """The least that was verified of all ranked entries; "" where of one only its arithmetic was."""
    if not levels or levels - {RECOMPUTED, OWN_RUN}:
        return ""
    return RECOMPUTED if RECOMPUTED in levels else OWN_RUN


def _published(
    heads: Sequence[SuiteColumn], entries: Mapping[tuple[str, str], Entry], known: KnownModels
) -> Iterator[ModelRow]:
    """The published models with a number in a column; one that several papers have is one row."""
    found: dict[str, dict[str, tuple[float, str]]] = {}
    names: dict[str, tuple[str, ModelFacts, bool]] = {}
    for head in heads:
        settings = next(entry.settings for (_, task), entry in entries.items() if task == head.task)
        for each in published(head.task, settings):
            cell = each.cells.get(head.measure)
            if cell is None or not isinstance(cell.value, int | float):
                continue
            facts = known.facts_of(each.model)
            name = facts.name or each.model
            names.setdefault(look(name), (name, facts, each.kind == "human"))
            found.setdefault(look(name), {}).setdefault(head.suite, (float(cell.value), each.source))
    for seen, (name, facts, human) in names.items():
        values = [found[seen].get(head.suite, (None, "")) for head in heads]
        scores = tuple(
            Score(Cell(value), head, source=source) for (value, source), head in zip(values, heads, strict=True)
        )
        yield ModelRow(name, name, "", scores, facts, False, "people, no model" if human else "", human=human)


def _known_first(rows: list[ModelRow]) -> tuple[tuple[ModelRow, ...], tuple[ModelRow, ...]]:
    """The rows that are shown and those that are folded: each suite's best, then those of most suites."""
    places: dict[str, list[int]] = {row.name: [] for row in rows}
    for column in range(len(rows[0].scores) if rows else 0):
        there = [row for row in rows if row.scores[column].sort is not None]
        for place, row in enumerate(sorted(there, key=lambda row: -(row.scores[column].sort or 0.0))):
            places[row.name].append(place)
    ordered = sorted(
        rows, key=lambda row: (min(places[row.name]) > 0, -len(places[row.name]), min(places[row.name]), row.name)
    )

    def best_first(some: list[ModelRow]) -> tuple[ModelRow, ...]:
        return tuple(sorted(some, key=lambda row: (*row.places, row.name)))

    return best_first(ordered[:SHOWN_PUBLISHED]), best_first(ordered[SHOWN_PUBLISHED:])


def as_table(found: Leaderboard, standings: Standings) -> Frame:
    """The same as a table of files: for each suite the number with its interval and the ranks that chance leaves."""
    columns: list[FrameColumn] = [label("model"), label("source")]
    for head in found.heads:
        name = f"{head.title}: {head.task}, {head.measure}"
        columns += [replace(board_tables.column(head.measure, head.shown), name=name), label(f"rank, {name}")]
    rows = []
    for row in (*found.measured, *found.published, *found.folded):
        cells: list[Cell] = [Cell(row.name, href=row.href), Cell("measured" if row.measured else "published")]
        for score in row.scores:
            cells += [score.cell, Cell(score.rank or None)]
        rows.append(FrameRow(tuple(cells), "run" if row.measured else "reference"))
    notes = (f"Numbers in brackets: {LEVEL} interval over {drawn_clusters(standings.board.entries)}.", SHORT)
    title, marks = "Models by benchmark", number_marks.MARKS
    return Frame("overview", title, tuple(columns), tuple(rows), notes, marks=marks)
