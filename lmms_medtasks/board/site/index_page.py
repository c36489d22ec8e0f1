"""The board's first page: what was found, the table of all models, a drawing beside it, the suites, and the remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, finding_words, leaderboard_table, scatter, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.leaderboard_table import Leaderboard
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.board.trust.levels import LEVELS
from lmms_medtasks.data.sources import counted
from lmms_medtasks.report.report_page import unbroken

if TYPE_CHECKING:
    from markupsafe import Markup

MANY_ROWS = 15
"""Rows from which on a model can be looked for by its name."""
MANY_SUITES = 5
"""Suites above which the table has the page's whole width, and may be scrolled."""


@dataclass(frozen=True)
class Card:
    """A suite below the table.

    ``questions``: of all its tasks, in words. ``models``: with a ranked entry. ``ranked``: with a rank. ``apart``: with
    one that is set apart.
    """

    about: About
    finding: Markup
    questions: str
    models: int
    ranked: int
    apart: int


def write(
    pages: Pages,
    standings: Standings,
    links: Links,
    suites: Sequence[str],
    *,
    known: KnownModels,
    roots: Sequence[Path],
    stamp: str,
) -> None:
    """Write the first page, and the one that says how it is measured."""
    board = standings.board
    found = leaderboard_table.leaderboard(standings, links, known)
    drawn = scatter.drawn(standings, known)
    problems = board_tables.problems(board.problems, roots)
    pages.page(
        "index.html", "index.html", "overview",
        headline=unbroken(finding_words.of_board(standings, found)),
        warnings=_warnings(board),
        found=found,
        table=leaderboard_table.as_table(found, standings),
        drawn=drawn,
        whole=drawn is None or len(found.heads) > MANY_SUITES,
        many=len(found.heads) > MANY_SUITES,
        searched=len(found.measured) + len(found.published) > MANY_ROWS,
        cards=[_card(standings, name, found) for name in suites],
        problems=problems,
        stamp=stamp,
    )  # fmt: skip
    pages.page(
        "measured.html", "measured.html", "measured",
        heads=found.heads, levels=LEVELS, board=board, references=board.references,
    )  # fmt: skip


def _card(standings: Standings, name: str, found: Leaderboard) -> Card:
    entries = standings.board.of(suite=name)
    # Data sets of one benchmark may number their questions alike: the same id on another picture is another question.
    asked = {
        (entry.task, entry.questions.digest): entry.questions for entry in standings.board.of_known_questions(name)
    }
    distinct = {each for own in asked.values() for each in zip(own.values("id"), own.values("cluster"), strict=True)}
    return Card(
        suite_words.about(name),
        unbroken(finding_words.of_card(standings, name, found)),
        questions=counted(len(distinct), "different question"),
        models=len({entry.model.key for entry in entries if entry.ranked}),
        ranked=len({entry.model.key for entry in entries if _has_rank(entry, standings)}),
        apart=len({entry.model.key for entry in entries if not entry.ranked}),
    )


def _has_rank(entry: Entry, standings: Standings) -> bool:
    """Whether it has a rank on one of its main measures: one that may be ranked has none on too few images."""
    if not entry.ranked:
        return False
    found = (standings.of(entry.task, name).get(entry.model.key) for name in entry.main_metrics)
    return any(each is not None and each.rank is not None for each in found)


def _warnings(board: Board) -> list[tuple[str, str]]:
    """What a reader must know before the numbers, a line each: the word that stands out, and what it means."""
    said = []
    ranked = [entry for entry in board.entries if entry.ranked]
    if mini := sum(entry.variant == "mini" for entry in ranked):
        count = "All" if mini == len(ranked) else f"{mini} of {len(ranked)}"
        text = f"{count} ranked entries are on drawn phantoms (mini data), and do not compare with the published rows."
        said.append(("Practice data.", text))
    if refused := board.refused_count:
        said.append(("Refused.", f"{refused} {'run or task' if refused == 1 else 'runs or tasks'} refused."))
    tasks = sum(bool(each.unverified) for each in board.references.values())
    parts = [f"Questions, data or judge of {tasks} of {len(board.references)} tasks are not pinned."] if tasks else []
    if board.entries and not board.owned:
        parts.append("A model's name is whatever its submitter wrote.")
    return [*said, *([("Unverified.", " ".join(parts))] if parts else [])]
