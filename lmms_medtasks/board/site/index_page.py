"""The board's first page: what was found, the table of all models, a drawing beside it, the suites, and the remarks."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, finding_words, leaderboard_table, scatter, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.trust.levels import LEVELS
from lmms_medtasks.report.report_page import unbroken

MANY_SUITES = 5
"""Suites above which the table has the page's whole width, and may be scrolled."""


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
    filters = {
        "open": any(row.facts.open_weights for row in found.rows),
        "size": any(row.facts.parameters_b for row in found.rows),
        "verified": any(row.verified for row in found.rows),
    }
    pages.page(
        "index.html", "index.html", "overview",
        headline=unbroken(finding_words.of_board(standings, found)),
        warnings=_warnings(board),
        found=found,
        table=leaderboard_table.as_table(found, standings),
        drawn=drawn,
        whole=drawn is None or len(found.heads) > MANY_SUITES,
        many=len(found.heads) > MANY_SUITES,
        filters=[name for name, there in filters.items() if there],
        ranks_of=found.heads[0].title if any(score.rank for row in found.measured for score in row.scores) else "",
        cards=[(suite_words.about(name), unbroken(finding_words.of_card(standings, name, found))) for name in suites],
        problems=board_tables.problems(board.problems, roots),
        stamp=stamp,
    )  # fmt: skip
    pages.page(
        "measured.html", "measured.html", "measured",
        heads=found.heads, levels=LEVELS, board=board, references=board.references,
    )  # fmt: skip


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
