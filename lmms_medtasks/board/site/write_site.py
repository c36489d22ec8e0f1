"""Builds the site of a board."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.boards import Board, Reference
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import (
    board_tables,
    figures,
    file_names,
    index_page,
    published,
    questions_page,
    reports,
    suite_words,
)
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.cards import card
from lmms_medtasks.board.site.folder import Folder, writing
from lmms_medtasks.board.site.model_page import ModelPages
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.question_cards import QuestionCards
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.progress import bar
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Figure, Row, Table
from lmms_medtasks.statistics.bootstrap import RESAMPLES


@dataclass(frozen=True)
class Options:
    """What was asked of a site.

    Attributes:
        title: of all pages. resamples: as for a report; 0: no intervals. reports: whether pages of models have
            the suites' reports. questions: whether there is a question browser. stamp: a line for the foot of the
            overview (a commit, a date), "" for none: nothing else in a site says when it was built.
        shown: for which data sets texts and images were asked for. models: what is known of models. roots: folders
            whose names are left out of paths.
    """

    title: str = "lmms-medtasks leaderboard"
    resamples: int = RESAMPLES
    reports: bool = True
    questions: bool = True
    stamp: str = ""
    shown: suite_words.Shown = suite_words.Shown()
    models: KnownModels = KnownModels()
    roots: tuple[Path, ...] = ()


def build(board: Board, output: Path, options: Options | None = None) -> dict[str, int]:
    """Write the site of ``board`` to ``output`` and return its files with their sizes in bytes.

    The same board and options give the same bytes. What is in ``output`` is replaced when the new site is whole; it
    must be a site of ours or empty (UserError).
    """
    with writing(output) as folder:
        _Site(board, folder, options or Options()).write()
    return folder.files


@dataclass(frozen=True)
class Block:
    """A task on its suite's page. ``open``: not folded; ``reference``: what the ranked entries have in common."""

    task: str
    open: bool
    ranking: Table | None
    apart: Table | None
    figure: Figure | None
    reference: Reference | None


class _Site:
    def __init__(self, board: Board, folder: Folder, options: Options) -> None:
        self._board = board
        self._folder = folder
        self._options = options
        self._standings = Standings(board, options.resamples)
        self._slugs = file_names.model_slugs(board.models)
        self._suites = suite_words.order(name for name in board.suites if name == file_names.slug(name))
        self._titles = {name: suite_words.about(name).title for name in self._suites}
        self._pages = Pages(folder, options.title, list(self._titles.items()), options.questions)
        self._browsed = options.questions
        self._question_data = QuestionData(folder, options.shown)
        self._cards = QuestionCards(self._question_data, self._standings.title)
        self._reports: dict[str, dict[str, reports.Report]] = {}

    def write(self) -> None:
        self._pages.assets()
        model_pages = ModelPages(
            self._pages, self._standings, self._slugs, self._options.models, self._cards, self._options.roots
        )
        steps = 1 + len(self._board.models) + len(self._suites) * (1 + self._browsed)
        with bar(steps, "Writing pages", "pages") as step:
            self._overview()
            step(1)
            for name in self._suites:
                self._suite(name)
                step(1)
                if self._browsed:
                    found = self._board.of(suite=name)
                    models = {key: (self._standings.titles[key], slug) for key, slug in self._slugs.items()}
                    questions_page.write(self._folder, self._pages, name, found, self._question_data, models)
                    step(1)
            for model in self._board.models:
                own = self._reports.get(model.key, {})
                model_pages.write(model, self._links("../"), own, questions=self._browsed)
                step(1)
        self._folder.text(".nojekyll", "")

    def _links(self, root: str) -> Links:
        return Links(
            model=lambda key: f"{root}models/{self._slugs[key]}.html",
            suite=lambda name: f"{root}suites/{name}.html" if name in self._titles else "",
        )

    def _overview(self) -> None:
        options = self._options
        index_page.write(
            self._pages, self._standings, self._links(""), self._suites,
            known=options.models, roots=options.roots, stamp=options.stamp,
        )  # fmt: skip

    def _suite(self, name: str) -> None:
        about, entries = suite_words.about(name), self._board.of(suite=name)
        blocks = [self._block(task, about) for task in about.tasks(entries)]
        compared = reports.Report((), "")
        if self._options.reports:
            found = reports.of_suite(name, entries, self._options.resamples)
            compared = found.comparison
            for key, report in found.models.items():
                self._reports.setdefault(key, {})[name] = report
        self._pages.page(
            f"suites/{name}.html", "suite.html", f"suites/{name}",
            name=name, about=about, blocks=blocks, compared=compared, published=published.tables(name),
            card=card(name), questions=self._browsed, versions=_versions(entries),
        )  # fmt: skip

    def _block(self, task: str, about: suite_words.About) -> Block:
        links = self._links("../")
        ranking = board_tables.ranking(task, self._standings, links)
        figure = None
        if ranking:
            measures = board_tables.measures_of(self._board.of(task=task, ranked=True))
            shown = self._board.scale(task, measures[0])
            ends = shown.factor * shown.low, shown.factor * shown.high
            figure = figures.forest(ranking, measures, f"{file_names.slug(task)}-forest", ends)
        apart = board_tables.apart(task, self._standings, links)
        return Block(task, about.is_open(task), ranking, apart, figure, self._board.references.get(task))


def _versions(entries: Sequence[Entry]) -> Table:
    """What the entries of a suite are of, each kind once."""
    found = {
        (e.task, e.version, e.data, e.judge.name if e.judge else "none", board_tables.harness(e) or "not recorded")
        for e in entries
    }
    columns = tuple(map(label, ("task", "version", "data", "judge", "lmms-eval")))
    return Table("versions", "Versions", columns, tuple(Row(tuple(map(Cell, each))) for each in sorted(found)))
