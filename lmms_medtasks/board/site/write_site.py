"""Builds the site of a board."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Model
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import file_names, index_page, model_page, questions, suite_page, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.folder import Folder, writing
from lmms_medtasks.board.site.model_page import ModelPages
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.question_cards import QuestionCards
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.reports import Report, Reports
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import bar
from lmms_medtasks.report.report_options import RESAMPLES


@dataclass(frozen=True)
class Options:
    """What was asked of a site.

    Attributes:
        title: of all pages. resamples: as for a report; 0: no intervals. reports: whether each model has a report and
            each suite a comparison. questions: whether there is a question browser. stamp: a line for the foot of the
            overview (a commit, a date), "" for none: nothing else in a site says when it was built.
        shown: for which data sets texts and images were asked for. models: what is known of models. roots: folders
            whose names are left out of paths. cache: where images, and what is of one model alone, may be kept for
            the next build; it changes no byte.
    """

    title: str = "lmms-medtasks leaderboard"
    resamples: int = RESAMPLES
    reports: bool = True
    questions: bool = True
    stamp: str = ""
    shown: suite_words.AllowedData = suite_words.AllowedData()
    models: KnownModels = KnownModels()
    roots: tuple[Path, ...] = ()
    cache: BuildCache = NO_CACHE


def build(board: Board, output: Path, options: Options | None = None) -> dict[str, int]:
    """Write the site of ``board`` to ``output`` and return its files with their sizes in bytes.

    The same board and options give the same bytes. What is in ``output`` is replaced when the new site is whole; it
    must be a site of ours or empty (UserError).
    """
    with writing(output) as folder:
        _Site(board, folder, options or Options()).write()
    return folder.files


class _Site:
    def __init__(self, board: Board, folder: Folder, options: Options) -> None:
        self._board = board
        self._folder = folder
        self._options = options
        self._standings = Standings(board, options.resamples, options.models)
        self._slugs = file_names.model_slugs(board.models)
        self._suites = suite_words.order(name for name in board.suites if name == file_names.slug(name))
        self._titles = {name: suite_words.about(name).title for name in self._suites}
        self._pages = Pages(folder, options.title, list(self._titles.items()), options.questions)
        self._browsed = options.questions
        self._question_data = QuestionData(folder, options.shown, options.cache, board.owned)
        self._model_pages = ModelPages(self._pages, self._standings, self._slugs, options.models, options.roots)
        titles = self._standings.titles
        self._reports = Reports(titles, options.resamples, options.roots, options.cache) if options.reports else None

    def write(self) -> None:
        self._pages.assets()
        steps = 1 + len(self._board.models) + len(self._suites) * (1 + self._browsed)
        with bar(steps, "Writing pages", "pages") as step:
            self._overview()
            step(1)
            for name in self._suites:
                self._suite(name)
                step(1)
                if self._browsed:
                    found = self._board.of_known_questions(name)
                    titles = {key: (self._standings.titles[key], slug) for key, slug in self._slugs.items()}
                    for path, make in questions.write(self._pages, name, found, self._question_data, titles):
                        self._folder.texts(path, make())
                    step(1)
            for model in self._board.models:
                self._model(model)
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
            roots=options.roots, stamp=options.stamp,
        )  # fmt: skip

    def _suite(self, name: str) -> None:
        entries, compared = self._board.of(suite=name), Report()
        if self._reports:
            compared = self._reports.comparison(
                name, entries, lambda part: self._pages.body(f"suites/{name}.html", part)
            )
        for part in compared.parts:
            self._pages.write_files(part)
        cards = QuestionCards(self._question_data, self._standings.title) if self._browsed else None
        suite_page.write(self._pages, self._standings, self._links("../"), cards, name, compared)

    def _model(self, model: Model) -> None:
        page, report, no_report = f"{self._slugs[model.key]}.html", "", ""
        if self._reports:
            own = model_page.entries_of(model.key, self._board)
            try:
                text = self._reports.page(own, f"../models/{page}")
            except UserError as error:
                no_report = str(error)
            else:
                self._folder.text(report := f"reports/{page}", text)
        self._model_pages.write(model, self._links("../"), report, no_report)
