"""The board's first page: finding, table of all models, chart, suites, and remarks.

The table has models by suites, and below them the published models, each with the facts for filters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.entries import EntryModel
from lmms_medtasks.board.model_facts import ModelFacts
from lmms_medtasks.board.model_names import confusable_form
from lmms_medtasks.board.site import board_tables, finding_words, suite_words
from lmms_medtasks.board.site.board_tables import HARD_TO_READ, BoardStandings, PageLinks
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.ranking import SHORT, ModelStanding
from lmms_medtasks.board.site.suite_charts import suite_chart
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.board.trust.levels import LEVELS, SCORES_ONLY
from lmms_medtasks.report.cells import NONE, label_column
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.report_page import no_break_markup
from lmms_medtasks.statistics import confidence
from lmms_medtasks.suites.suite import Measure

MANY_SUITES = 5
"""Suites above which the table has the page's whole width, and may be scrolled."""
_TINTS = {1: "best, or not told apart from it", 2: "second group", 3: "third and below"}


@dataclass(frozen=True)
class SuiteColumn:
    """A suite's column: its headline ``measure`` of ``task``, on the scale ``shown``."""

    about: SuiteTexts
    task: str
    measure: str
    shown: Measure


@dataclass(frozen=True)
class LeaderboardScore:
    """A model's number in a column.

    Attributes:
        cell: in the column's unit, with its interval; without a value for none. rank: "2–3", or "".
        why: "not ranked" or "other tasks" if there is no number but the suite's page has something.
        guessed: whether it has no tint because it is no better than guessing. source: of a published number.
    """

    cell: Cell
    head: SuiteColumn
    rank: str = ""
    why: str = ""
    guessed: bool = False
    source: str = ""

    @property
    def sort(self) -> float | None:
        """The sort key of rows."""
        if not isinstance(self.cell.value, int | float):
            return None
        return self.cell.value if self.head.shown.higher_is_better else -self.cell.value

    @property
    def number(self) -> str:
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
    """A model. ``measured``: run here, else published. ``note``: a description. ``level``: of trust."""

    name: str
    href: str
    scores: tuple[LeaderboardScore, ...]
    facts: ModelFacts
    measured: bool = False
    note: str = ""
    level: str = ""

    @property
    def verified(self) -> bool:
        """Whether the board verified more than the arithmetic."""
        return self.level not in ("", SCORES_ONLY)

    @property
    def places(self) -> tuple[object, ...]:
        """The sort key: best first by the first column, then by the next ones."""
        return (*((score.sort is None, -(score.sort or 0.0)) for score in self.scores), self.name.lower())


@dataclass(frozen=True)
class LeaderboardTable:
    """The columns, the measured rows, the best published ones of each suite, and the others, folded."""

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
        return board_tables.sign_legend(score.cell for row in self.measured for score in row.scores)

    @property
    def legend(self) -> Iterator[tuple[int, str]]:
        """Each tint of the table, or 0, with its meaning."""
        own = [score for row in self.measured for score in row.scores]
        shown = [*own, *(score for row in self.published for score in row.scores)]
        tints = {score.cell.tier for score in own}
        yield from ((tint, meaning) for tint, meaning in _TINTS.items() if tint in tints)
        marked = any(score.rank and not score.cell.tier and score.cell.mark and not score.guessed for score in own)
        untinted = ["no better than guessing"] * any(score.guessed for score in own) + ["with a mark"] * marked
        said = {
            f"below a number: {confidence.format_current_level()} interval": any(score.interval for score in own),
            "1–2: the model may be first or second": any("–" in score.rank for score in own),
            f"no tint: {' or '.join(untinted)}": any(tints) and bool(untinted),
            "–: not run, or not published": any(score.sort is None and not score.why for score in shown),
            "other tasks: ranked on other tasks of the benchmark": any(score.why == "other tasks" for score in own),
            "not ranked: run, but not comparable with the ranked ones": any(score.why == "not ranked" for score in own),
        }
        yield from ((0, text) for text, there in said.items() if there)
        yield from ((0, f"{sign}: {meaning[:1].lower()}{meaning[1:].rstrip('.')}") for sign, meaning in self.signs)


def write_index_page(
    pages: PageWriter, standings: BoardStandings, links: PageLinks, suites: Sequence[str], stamp: str
) -> None:
    """Write the first page, and the one on how models are measured."""
    board, table = standings.board, leaderboard_table(standings, links)
    heads = [(head.about, (head.task, head.measure)) for head in table.heads]
    filters = {
        "open": any(row.facts.open_weights for row in table.rows),
        "size": any(row.facts.parameters_b for row in table.rows),
        "verified": any(row.verified for row in table.rows),
    }
    many = len(table.heads) > MANY_SUITES
    has_ranks = any(score.rank for row in table.measured for score in row.scores)
    pages.page(
        "index.html", "index.html", "overview",
        headline=no_break_markup(finding_words.of_board(standings, heads)),
        warnings=_board_warnings(board), found=table, links=links, table=leaderboard_export(table, standings),
        drawn=suite_chart(heads[0][0], standings, links, heads[0][1]) if heads else None, many=many,
        filters=[name for name, there in filters.items() if there],
        ranks_of=table.heads[0].about.title if has_ranks else "",
        cards=[suite_words.suite_texts(name) for name in suites],
        problems=board_tables.problems_table(board.problems, standings.roots), stamp=stamp,
    )  # fmt: skip
    pages.page(
        "measured.html", "measured.html", "measured",
        heads=table.heads, levels=LEVELS, has_verified=filters["verified"], board=board, references=board.references,
    )  # fmt: skip


def _board_warnings(board: Leaderboard) -> list[tuple[str, str]]:
    """Warnings before the numbers: a word that stands out, and its meaning."""
    warnings = []
    ranked = [entry for entry in board.entries if entry.ranked]
    if mini := sum(entry.variant == "mini" for entry in ranked):
        count = "All" if mini == len(ranked) else f"{mini} of {len(ranked)}"
        text = f"{count} ranked entries are on drawn phantoms (mini data), and do not compare with the published rows."
        warnings.append(("Practice data.", text))
    if refused := board.refused_count:
        warnings.append(("Refused.", f"{refused} {'run or task' if refused == 1 else 'runs or tasks'} refused."))
    tasks = sum(bool(reference.unverified) for reference in board.references.values())
    parts = [f"Questions, data or judge of {tasks} of {len(board.references)} tasks are not pinned."] if tasks else []
    if board.entries and not board.owned:
        parts.append("A model's name is whatever its submitter wrote.")
    return [*warnings, *([("Unverified.", " ".join(parts))] if parts else [])]


def leaderboard_table(standings: BoardStandings, links: PageLinks) -> LeaderboardTable:
    """The table of a board; unranked entries have no number in it."""
    board, heads = standings.board, tuple(_suite_columns(standings.board))
    tints = [_rank_tiers(standings.of(head.task, head.measure)) for head in heads]
    measured = []
    for model in board.models:
        found = zip(heads, tints, strict=True)
        scores = tuple(_model_score(standings, head, model, own.get(model.key, 0)) for head, own in found)
        title, facts = standings.titles[model.key], standings.known.facts_of(model.name)
        href = links.model(model.key)
        level, note = least_verified(model.key, board), _model_summary(facts)
        row = ModelRow(title, href, scores, facts, measured=True, note=note, level=level)
        measured.append(row)
    measured.sort(key=lambda row: row.places)
    printed = sorted(_published_rows(heads, standings), key=lambda row: row.places)
    best = set()
    for column in range(len(heads)):
        known = [(sort, row.name) for row in printed if (sort := row.scores[column].sort) is not None]
        best |= {max(known)[1]} if known else set()
    shown, folded = (tuple(row for row in printed if (row.name in best) is wanted) for wanted in (True, False))
    return LeaderboardTable(heads, tuple(measured), shown, folded)


def _suite_columns(board: Leaderboard) -> Iterator[SuiteColumn]:
    for name in suite_words.sort_suites(board.suites):
        about = suite_words.suite_texts(name)
        if found := about.headline_of(board.of(suite=name, ranked=True)):
            yield SuiteColumn(about, *found, board.scale(*found))


def _rank_tiers(found: Mapping[str, ModelStanding]) -> dict[str, int]:
    """Model -> 1 if none is significantly better, 2 for the next group, 3 for all others."""
    lows = sorted({each.low for each in found.values() if each.low is not None})
    return {model: min(3, 1 + lows.index(each.low)) for model, each in found.items() if each.low is not None}


def _model_score(standings: BoardStandings, head: SuiteColumn, model: EntryModel, tier: int) -> LeaderboardScore:
    standing = standings.of(head.task, head.measure).get(model.key)
    number = standings.numbers(head.task, head.measure).get(model.key)
    if standing is None:
        own = [entry for entry in standings.board.of(suite=head.about.name) if entry.model.key == model.key]
        ran = any(entry.task == head.task for entry in own)
        why = "not ranked" if ran else "other tasks" if any(entry.ranked for entry in own) else ""
        return LeaderboardScore(NONE, head, why=why)
    if number is None:
        return LeaderboardScore(NONE, head, standing.ranks)
    untinted = number.guessing or number.by_words or HARD_TO_READ in number.cell.mark
    tinted = replace(number.cell, tier=0 if untinted else tier)
    return LeaderboardScore(tinted, head, standing.ranks, guessed=bool(number.guessing))


def _model_summary(facts: ModelFacts) -> str:
    size = f"{facts.parameters_b:g} B" if facts.parameters_b else ""
    weights = {True: "open weights", False: "closed weights", None: ""}[facts.open_weights]
    return facts.about or ", ".join(filter(None, (size, weights)))


def least_verified(model: str, board: Leaderboard) -> str:
    """The lowest trust level of a model's ranked entries; "" without one, and of what nobody submitted."""
    levels = {entry.level for entry in board.entries if entry.ranked and entry.model.key == model}
    lowest = next((level for level in LEVELS if level in levels), "")
    return lowest if board.owned or lowest != SCORES_ONLY else ""


def _published_rows(heads: Sequence[SuiteColumn], standings: BoardStandings) -> Iterator[ModelRow]:
    """The published models with a number in a column; one row for a model of several papers."""
    rows: dict[str, ModelRow] = {}
    for head in heads:
        for name, each in standings.published(head.task):
            cell = each.cells.get(head.measure, NONE)
            if isinstance(cell.value, int | float):
                note = "people, no model" if each.kind == "human" else ""
                made = ModelRow(name, "", (), standings.known.facts_of(each.model), note=note)
                row = rows.setdefault(confusable_form(name), made)
                score = LeaderboardScore(Cell(float(cell.value)), head, source=each.source)
                rows[confusable_form(name)] = replace(row, scores=(*row.scores, score))
    for row in rows.values():
        # Of several rows of one name in a paper the first counts.
        scores = {score.head.task: score for score in reversed(row.scores)}
        yield replace(row, scores=tuple(scores.get(head.task, LeaderboardScore(NONE, head)) for head in heads))


def leaderboard_export(table: LeaderboardTable, standings: BoardStandings) -> Frame:
    """The table for files: for each suite the number with its interval, and the ranks that chance leaves open."""
    columns: list[FrameColumn] = [label_column("model"), label_column("source")]
    for head in table.heads:
        name = f"{head.about.title}: {head.task}, {head.measure}"
        columns += [board_tables.metric_column(name, head.shown), label_column(f"rank, {name}")]
    rows = []
    for row in table.rows:
        cells: list[Cell] = [Cell(row.name, href=row.href), Cell("measured" if row.measured else "published")]
        for score in row.scores:
            cells += [score.cell, Cell(score.rank or None)]
        rows.append(FrameRow(tuple(cells), "run" if row.measured else "reference"))
    notes = (board_tables.intervals_note(standings.board.entries), SHORT)
    return Frame("overview", "Models by benchmark", tuple(columns), tuple(rows), notes, marks=board_tables.MARKS)
