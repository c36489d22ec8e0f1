"""Build the site of a board."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import file_names, index_page, model_page, questions, submit_page, suite_page, suite_words
from lmms_medtasks.board.site.board_tables import BoardStandings, PageLinks
from lmms_medtasks.board.site.folder import SiteFolder, replace_folder
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.question_cards import QuestionCards
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.reports import ModelReport, SuiteReports
from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.report.report_options import RESAMPLES


@dataclass(frozen=True)
class SiteOptions:
    """The options of a site.

    Attributes:
        title: of all pages. resamples: as for a report; 0: no intervals. reports: whether each model has a report and
            each suite a comparison. questions: whether there is a question browser. stamp: a line at the foot of the
            overview (a commit, a date), "" for none; nothing else in a site depends on the time.
        guide: how to submit a model, a page of the site; None for none.
        roots: folders whose names are left out of paths. cache: keeps images and models' reports for the next build; it
            changes no byte.
    """

    title: str = "lmms-medtasks leaderboard"
    resamples: int = RESAMPLES
    reports: bool = True
    questions: bool = True
    stamp: str = ""
    guide: submit_page.SubmissionGuide | None = None
    shown: suite_words.AllowedData = suite_words.AllowedData()
    models: KnownModels = KnownModels()
    roots: tuple[Path, ...] = ()
    cache: BuildCache = NO_CACHE


def build_site(board: Leaderboard, output: Path, options: SiteOptions | None = None) -> dict[str, int]:
    """Write the site of ``board`` to ``output`` and return its files with their sizes in bytes.

    The same board and options give the same bytes. The old site in ``output`` is replaced when the new one is complete;
    other content raises UserError.
    """
    with replace_folder(output) as folder:
        _write_pages(board, folder, options or SiteOptions())
    return folder.files


def _write_pages(board: Leaderboard, folder: SiteFolder, options: SiteOptions) -> None:
    standings = BoardStandings(board, options.resamples, options.models, options.roots)
    slugs = file_names.model_slugs(board.models)
    suites = suite_words.sort_suites(name for name in board.suites if name == file_names.slugify(name))
    titled = [(name, suite_words.suite_texts(name).title) for name in suites]
    guide = options.guide
    pages = PageWriter(folder, options.title, titled, questions=options.questions, guide=guide is not None)
    asked = QuestionData(folder, options.shown, options.cache, owned=board.owned)
    reports = SuiteReports(standings.titles, options.resamples, options.roots, options.cache)

    def links(root: str) -> PageLinks:
        return PageLinks(
            model=lambda key: f"{root}models/{slugs[key]}.html",
            suite=lambda name: f"{root}suites/{name}.html" if name in suites else "",
        )

    pages.assets()
    if guide:
        submit_page.write_submit_page(pages, guide)
    with progress_bar(1 + len(board.models) + len(suites) * (1 + options.questions), "Writing pages", "pages") as step:
        index_page.write_index_page(pages, standings, links(""), suites, options.stamp)
        step(1)
        for name in suites:
            body = functools.partial(pages.body, f"suites/{name}.html")
            compared = reports.comparison(name, board.of(suite=name), body) if options.reports else ModelReport()
            for part in compared.parts:
                folder.new_texts(part.files)
            cards = QuestionCards(asked, standings.title) if options.questions else None
            suite_page.write_suite_page(pages, standings, links("../"), cards, name, compared)
            step(1)
            if options.questions:
                titles = {key: (standings.titles[key], slug) for key, slug in slugs.items()}
                entries = board.of_known_questions(name)
                for path, make in questions.write_question_pages(pages, name, entries, asked, titles):
                    folder.texts(path, make())
                step(1)
        for model in board.models:
            slug, report, no_report = slugs[model.key], "", ""
            if options.reports:
                try:
                    text = reports.page(model_page.entries_of(model.key, board), f"../models/{slug}.html")
                except UserError as error:
                    no_report = str(error)
                else:
                    folder.text(report := f"reports/{slug}.html", text)
            model_page.write_model_page(pages, standings, model, links("../"), slug, report, no_report)
            step(1)
    folder.text(".nojekyll", "")
