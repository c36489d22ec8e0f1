"""The pages of a site, from templates that escape every text."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from lmms_medtasks.board.site.file_names import file_name
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.report import report_page
from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.document import Frame, ReportChapter
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.rank_intervals import LEAST_CLUSTERS

if TYPE_CHECKING:
    from jinja2 import Environment

POLICY = (
    # file: too, because browsers differ in what 'self' means for a page opened as a file.
    "default-src 'none'; script-src 'self' file:; style-src 'self' 'unsafe-inline' file:; img-src 'self' file: data:; "
    "base-uri 'none'; form-action 'none'"
)
"""Scripts and images of the site only. Styles also inside a page, for the widths of bars."""

_OWN = ReportChapter("", "", (), (), ())
"""The part of the site's own tables."""
SCRIPTS = ("site.js", "index.js", "questions.js")
STYLES = ("site.css", "index.css", "suite.css", "model.css", "questions.css")
"""Joined to one style sheet: for all pages, then for each kind of page."""


@dataclass(frozen=True)
class PageBody:
    """A part of a report as HTML with escaped texts. ``files``: the CSV of its tables, by path."""

    html: str
    files: Mapping[str, str]


class PageWriter:
    """Writes pages into a folder; all have the same head, with links to all suites."""

    def __init__(
        self,
        folder: SiteFolder,
        title: str,
        suites: Sequence[tuple[str, str]],
        *,
        questions: bool,
        guide: bool = False,
    ) -> None:
        """``suites``: name and title of each suite with pages. ``questions``: whether there is a question browser.

        ``guide``: whether there is a page that says how to submit a model.
        """
        self._folder = folder
        self._title = title
        self._suites = tuple(suites)
        self._questions = questions
        self._guide = guide

    def assets(self) -> None:
        """Write style sheet and scripts."""
        own = "".join(map(_read_asset, STYLES))
        self._folder.text("assets/site.css", f"{report_page.page_styles()}{own}")
        for name in report_page.SCRIPTS:
            self._folder.text(f"assets/{name}", report_page.page_script(name))
        for name in SCRIPTS:
            self._folder.text(f"assets/{name}", _read_asset(name))

    def page(self, path: str, template: str, data: str, **values: Any) -> None:
        """Write a page; its tables go to ``data/<data>/`` as CSV."""
        root = _path_to_root(path)
        files: dict[str, str] = {}
        text = _page_environment().get_template(template).render(
            **values,
            part=_OWN,
            root=root,
            site_title=self._title,
            suites=self._suites,
            here=path,
            browser=self._browser(path),
            has_guide=self._guide,
            policy=POLICY,
            version=metadata.version("lmms-medtasks"),
            csv_link=_csv_links(root, data, files),
            link=_section_anchor,
            error_rate=confidence.fill_in_level(confidence.ERROR), least_images=LEAST_CLUSTERS,
        )  # fmt: skip
        self._folder.text(path, text)
        self._folder.new_texts(files)

    def body(self, path: str, part: ReportChapter) -> PageBody:
        """A report's part for the page ``path``; its files are not written."""
        files: dict[str, str] = {}
        csv_link = _csv_links(_path_to_root(path), path.removesuffix(".html"), files)
        values = {"link": _section_anchor, "csv_link": csv_link}
        made: Any = _page_environment().get_template("parts.html").make_module(values)
        return PageBody(str(made.article(part)), files)

    def _browser(self, path: str) -> str:
        """The question browser that a page links to: of its suite, else of the first; "" without one."""
        names = [name for name, _ in self._suites]
        own = PurePosixPath(path).stem
        name = own if own in names else next(iter(names), "")
        return f"questions/{name}.html" if self._questions and name else ""


def _path_to_root(path: str) -> str:
    return "../" * (len(PurePosixPath(path).parts) - 1)


def _csv_links(root: str, data: str, files: dict[str, str]) -> Callable[[ReportChapter, Frame], str]:
    """A function that gives the address of a table's CSV and adds it to ``files``."""

    def link(part: ReportChapter, table: Frame) -> str:
        place = f"data/{data}/{file_name(_section_anchor(part, table))}.csv"
        if place not in files:
            files[place] = render_csv(table, part.origin)
        return f"{root}{place}"

    return link


def _section_anchor(part: ReportChapter, section: Any = None) -> str:
    if section is None:
        return part.key
    return f"{part.key}-{section.key}" if part.key else section.key


@functools.cache
def _page_environment() -> Environment:
    from jinja2 import ChoiceLoader, PackageLoader

    environment = report_page.jinja_environment()
    templates = PackageLoader("lmms_medtasks.board.site", "templates")
    return environment.overlay(loader=ChoiceLoader([templates, environment.loader or templates]))


def _read_asset(name: str) -> str:
    return Path(__file__).with_name("assets").joinpath(name).read_text("utf-8")
