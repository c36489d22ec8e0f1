"""A report as one HTML page that needs nothing else: styles, figures and data are inside."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import quote

from lmms_medtasks import __version__
from lmms_medtasks.report.csv_writer import csv_text
from lmms_medtasks.report.document import Document, Figure, Part, Section, Table
from lmms_medtasks.visible_text import visible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


def page(document: Document) -> str:
    """The page's text. All texts are escaped but the figures, which matplotlib has escaped."""
    return (
        environment()
        .get_template("page.html")
        .render(document=document, version=__version__, styles=styles(), csv_link=csv_link, drawing=drawing, link=link)
    )


def environment() -> Environment:
    """Templates of this folder; what is put into them is escaped, and nothing in it is invisible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("lmms_medtasks.report", ".")
    return Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_shown
    )


def _shown(value: object) -> object:
    """A text that is put into a page, with what can't be seen made visible; what is HTML already as it is."""
    return visible(value) if type(value) is str else value


def styles() -> Markup:
    """The style sheet of a page with ``parts.html``."""
    from markupsafe import Markup

    text = resources.files("lmms_medtasks.report").joinpath("page.css").read_text(encoding="utf-8")
    return Markup(text)  # noqa: S704 - our own file


def drawing(figure: Figure) -> Markup:
    """The figure's <svg>, as ``parts.html`` wants it."""
    from markupsafe import Markup

    return Markup(figure.svg)  # noqa: S704 - made by matplotlib's XML writer, which escapes texts


def csv_link(part: Part, table: Table) -> str:
    """A data: address with the table as CSV."""
    return f"data:text/csv;charset=utf-8,{quote(csv_text(table, part.origin))}"


def link(part: Part, section: Section | Figure | Table | None = None) -> str:
    """The id on the page of a part, or of one of its sections, figures or tables."""
    return part.key if section is None else f"{part.key}-{section.key}"
