"""A report as one HTML page that needs nothing else: styles, figures and data are inside."""

from __future__ import annotations

from importlib import resources
from urllib.parse import quote

from lmms_medtasks import __version__
from lmms_medtasks.report.csv_text import csv_text
from lmms_medtasks.report.document import Document, Figure, Part, Section, Table


def page(document: Document) -> str:
    """The page's text. All texts are escaped but the figures, which matplotlib has escaped."""
    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    template = resources.files("lmms_medtasks.report").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(template).render(
        document=document,
        version=__version__,
        csv_link=csv_link,
        drawing=lambda figure: Markup(figure.svg),  # noqa: S704 - made by matplotlib's XML writer, which escapes texts
        link=_link,
    )


def csv_link(part: Part, table: Table) -> str:
    """A data: address with the table as CSV."""
    return f"data:text/csv;charset=utf-8,{quote(csv_text(table, part.origin))}"


def _link(part: Part, section: Section | Figure | Table | None = None) -> str:
    return part.key if section is None else f"{part.key}-{section.key}"
