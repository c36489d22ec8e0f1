"""The page of a suite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lmms_medtasks.board.boards import Board, Reference
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import board_tables, figures, file_names, published, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.cards import card
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.reports import Report
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Figure, Row, Table


@dataclass(frozen=True)
class Block:
    """A task on its suite's page. ``open``: not folded; ``reference``: what the ranked entries have in common."""

    task: str
    open: bool
    ranking: Table | None
    apart: Table | None
    figure: Figure | None
    reference: Reference | None


class SuitePage:
    """Writes the pages of suites."""

    def __init__(self, board: Board, standings: Standings, links: Links, pages: Pages, browsed: bool) -> None:
        """``links``: as seen from a suite's page. ``browsed``: whether there is a question browser."""
        self._board = board
        self._standings = standings
        self._links = links
        self._pages = pages
        self._browsed = browsed

    def write(self, name: str, compared: Report) -> None:
        """Write a suite's page; ``compared``: the comparison of its ranked models."""
        about, entries = suite_words.about(name), self._board.of(suite=name)
        blocks = [self._block(task, about) for task in about.tasks(entries)]
        self._pages.page(
            f"suites/{name}.html", "suite.html", f"suites/{name}",
            name=name, about=about, blocks=blocks, compared=compared, published=published.tables(name),
            card=card(name), questions=self._browsed, versions=_versions(entries),
        )  # fmt: skip

    def _block(self, task: str, about: suite_words.About) -> Block:
        ranking = board_tables.ranking(task, self._standings, self._links)
        figure = None
        if ranking:
            measures = board_tables.measures_of(self._board.of(task=task, ranked=True))
            shown = self._board.scale(task, measures[0])
            ends = shown.factor * shown.low, shown.factor * shown.high
            figure = figures.forest(ranking, measures, f"{file_names.slug(task)}-forest", ends)
        apart = board_tables.apart(task, self._standings, self._links)
        return Block(task, about.is_open(task), ranking, apart, figure, self._board.references.get(task))


def _versions(entries: Sequence[Entry]) -> Table:
    """What the entries of a suite are of, each kind once."""
    found = {
        (e.task, e.version, e.data, e.judge.name if e.judge else "none", board_tables.harness(e) or "not recorded")
        for e in entries
    }
    columns = tuple(map(label, ("task", "version", "data", "judge", "lmms-eval")))
    return Table("versions", "Versions", columns, tuple(Row(tuple(map(Cell, each))) for each in sorted(found)))
