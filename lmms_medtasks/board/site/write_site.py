"""Builds the site of a board."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Model
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import file_names, index_page, model_page, questions, suite_page, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.folder import Folder, writing
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
        _write(board, folder, options or Options())
    return folder.files


def _write(board: Board, folder: Folder, options: Options) -> None:
    standings = Standings(board, options.resamples, options.models)
    slugs = file_names.model_slugs(board.models)
    suites = suite_words.order(name for name in board.suites if name == file_names.slug(name))
    pages = Pages(folder, options.title, [(name, suite_words.about(name).title) for name in suites], options.questions)
    asked = QuestionData(folder, options.shown, options.cache, board.owned)
    reports = Reports(standings.titles, options.resamples, options.roots, options.cache) if options.reports else None

    def links(root: str) -> Links:
        return Links(
            model=lambda key: f"{root}models/{slugs[key]}.html",
            suite=lambda name: f"{root}suites/{name}.html" if name in suites else "",
        )

    pages.assets()
    with bar(1 + len(board.models) + len(suites) * (1 + options.questions), "Writing pages", "pages") as step:
        index_page.write(pages, standings, links(""), suites, roots=options.roots, stamp=options.stamp)
        step(1)
        for name in suites:
            body = functools.partial(pages.body, f"suites/{name}.html")
            compared = reports.comparison(name, board.of(suite=name), body) if reports else Report()
            for part in compared.parts:
                folder.new_texts(part.files)
            cards = QuestionCards(asked, standings.title) if options.questions else None
            suite_page.write(pages, standings, links("../"), cards, name, compared)
            step(1)
            if options.questions:
                titles = {key: (standings.titles[key], slug) for key, slug in slugs.items()}
                for path, make in questions.write(pages, name, board.of_known_questions(name), asked, titles):
                    folder.texts(path, make())
                step(1)
        for model in board.models:
            _write_model(model, slugs[model.key], folder, pages, standings, links("../"), options, reports)
            step(1)
    folder.text(".nojekyll", "")


def _write_model(
    model: Model, slug: str, folder: Folder, pages: Pages, standings: Standings, links: Links, options: Options,
    reports: Reports | None,
) -> None:  # fmt: skip
    report = no_report = ""
    if reports:
        try:
            text = reports.page(model_page.entries_of(model.key, standings.board), f"../models/{slug}.html")
        except UserError as error:
            no_report = str(error)
        else:
            folder.text(report := f"reports/{slug}.html", text)
    model_page.write(pages, standings, model, links, slug, options.models, options.roots, report, no_report)
