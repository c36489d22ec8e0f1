"""The board's first page: what was found, the table of all models, a drawing beside it, the suites, and the remarks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry, Problem
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, finding_words, leaderboard_table, scatter, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.leaderboard_table import Leaderboard
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.trust.levels import LEVELS
from lmms_medtasks.data.sources import counted
from lmms_medtasks.report.document import Frame
from lmms_medtasks.report.report_page import unbroken

if TYPE_CHECKING:
    from markupsafe import Markup

MANY_ROWS = 15
"""Rows from which on a model can be looked for by its name."""
MANY_SUITES = 7
"""Suites from which on the table has the page's whole width, and may be scrolled."""


@dataclass(frozen=True)
class Card:
    """A suite below the table.

    ``questions``: of all its tasks, in words. ``models``: with a ranked entry. ``ranked``: with a rank;
    ``elsewhere``: on other tasks than that of the column only. ``apart``: set apart.
    """

    name: str
    title: str
    question: str
    finding: Markup
    questions: str
    models: int
    ranked: int
    elsewhere: int
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
        picture=scatter.picture(drawn) if drawn else "",
        numbers=scatter.as_table(drawn) if drawn else None,
        whole=drawn is None or len(found.heads) > MANY_SUITES,
        many=len(found.heads) > MANY_SUITES,
        searched=len(found.measured) + len(found.published) > MANY_ROWS,
        cards=[_card(standings, name, found) for name in suites],
        problems=problems,
        remarks=_remarks(board.problems, problems),
        stamp=stamp,
    )  # fmt: skip
    pages.page(
        "measured.html", "measured.html", "measured",
        heads=found.heads, levels=LEVELS, board=board, counts=_questions(found, standings), references=board.references,
    )  # fmt: skip


def _card(standings: Standings, name: str, found: Leaderboard) -> Card:
    entries, about = standings.board.of(suite=name), suite_words.about(name)
    ranked = {entry.model.key for entry in entries if _has_rank(entry, standings)}
    of_column = {key for head in found.heads if head.suite == name for key in standings.of(head.task, head.measure)}
    return Card(
        name,
        about.title,
        about.question,
        unbroken(finding_words.of_card(standings, name, found)),
        questions=_asked(standings.board.of_known_questions(name)),
        models=len({entry.model.key for entry in entries if entry.ranked}),
        ranked=len(ranked),
        elsewhere=len(ranked - of_column),
        apart=len({entry.model.key for entry in entries if not entry.ranked}),
    )


def _has_rank(entry: Entry, standings: Standings) -> bool:
    """Whether it has a rank on one of its main measures: one that may be ranked has none on too few images."""
    if not entry.ranked:
        return False
    found = (standings.of(entry.task, name).get(entry.model.key) for name in entry.main_metrics)
    return any(each is not None and each.rank is not None for each in found)


def _questions(found: Leaderboard, standings: Standings) -> Mapping[str, int]:
    """By suite how many questions a column of means has ranks on: those that all its models have a score for."""
    own = {
        head.suite: standings.of(head.task, head.measure).values()
        for head in found.heads
        if standings.board.of(task=head.task)[0].is_mean(head.measure)
    }
    return {suite: max(each.common for each in standing) for suite, standing in own.items()}


def _asked(entries: Iterable[Entry]) -> str:
    """How many questions there are, and how often they are asked where several tasks ask the same ones.

    Data sets of one benchmark may number their questions alike: the same id on another picture is another question.
    """
    known = {(entry.task, entry.questions.digest): entry.questions for entry in entries}
    tasks: dict[str, set[tuple[str, str]]] = {}
    for (task, _), found in known.items():
        tasks.setdefault(task, set()).update(zip(found.values("id"), found.values("cluster"), strict=True))
    distinct, asked = len(set().union(*tasks.values())), sum(map(len, tasks.values()))
    if distinct == asked:
        return f"{counted(distinct, 'question')} in all tasks"
    return f"{distinct:,} different questions, asked {asked:,} times in {len(tasks)} tasks"


def _remarks(problems: Iterable[Problem], table: Frame) -> str:
    """All remarks in a line: "Remarks on the entries: 1 not ranked (limited), 25 flagged (mini data)".

    Counted are entries, a task of a model each, in the order of the ``table``, which has a row a reason.
    """
    codes: dict[str, dict[str, None]] = {}
    entries: dict[str, set[tuple[str, str, str]]] = {}
    for each in problems:
        level = board_tables.level_words(each.level)
        codes.setdefault(level, {})[each.code.replace("_", " ")] = None
        entries.setdefault(level, set()).add((each.source, each.model, each.task))
    levels = dict.fromkeys(str(row.cells[0].value) for row in table.rows)
    said = ", ".join(f"{len(entries[level])} {level} ({', '.join(codes[level])})" for level in levels)
    return f"Remarks on the entries: {said}" if said else ""


def _warnings(board: Board) -> list[tuple[str, str]]:
    """What a reader must know before the numbers, a line each: the word that stands out, and what it means."""
    said = []
    ranked = [entry for entry in board.entries if entry.ranked]
    mini = [entry for entry in ranked if entry.variant == "mini"]
    if mini:
        count = (
            "All ranked entries are" if len(mini) == len(ranked) else f"{len(mini)} of {len(ranked)} ranked entries are"
        )
        said.append(
            (
                "Practice data.",
                f"{count} on drawn phantoms (mini data). They do not compare with the published rows (real data).",
            )
        )
    if refused := board.refused_count:
        what = "run or task" if refused == 1 else "runs or tasks"
        said.append(("Refused.", f"{refused} {what} refused."))
    open_tasks = sum(bool(each.unverified) for each in board.references.values())
    if open_tasks or (board.entries and not board.owned):
        parts = []
        if open_tasks:
            parts.append(f"Questions, data or judge of {open_tasks} of {len(board.references)} tasks are not pinned.")
        if not board.owned:
            parts.append("A model's name is whatever its submitter wrote.")
        said.append(("Unverified.", " ".join(parts)))
    return said
