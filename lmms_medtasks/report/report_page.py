"""A report as one HTML page that needs nothing else: styles, figures, data and its script are inside."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import metadata, resources
from string import Template
from typing import TYPE_CHECKING
from urllib.parse import quote

import yaml

from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.document import MARKS, Frame, ReportChapter, ReportFigure, ReportSection
from lmms_medtasks.report.findings import FindingChart, Number, SuiteFinding, headline_titles
from lmms_medtasks.report.first_screen import ALL, BEST_MEANING, NAMED, ReportDocument
from lmms_medtasks.report.judged_tables import MEANINGS
from lmms_medtasks.report.suite_report import part_key
from lmms_medtasks.statistics import confidence
from lmms_medtasks.visible_text import replace_invisible

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup


SCRIPTS = ("page.js", "copies.js", "charts.js")
"""What shows one part at a time; what copies tables and charts; what says of a mark what it is."""
COMMON = 3
"""Tables with a note from which on it stands in the appendix, once."""


@dataclass(frozen=True)
class SuiteGroup:
    """A benchmark on the page: its parts, and each model's finding. ``alone``: the report is on one model."""

    key: str
    title: str
    parts: tuple[ReportChapter, ...]
    found: tuple[tuple[str, SuiteFinding], ...]
    alone: bool

    @functools.cached_property
    def sketches(self) -> list[FindingChart]:
        """The findings' small charts, in a report on one model and where each has one; else their bars stand there."""
        made = [finding.sketch() if self.alone and finding.sketch else None for _, finding in self.found]
        return [each for each in made if each] if all(made) else []

    @property
    def titles(self) -> list[str]:
        """The titles of the findings' numbers, see :func:`lmms_medtasks.report.findings.headline_titles`."""
        return headline_titles([finding for _, finding in self.found])

    def bars(self, title: str) -> tuple[list[tuple[str, Number]], list[tuple[str, Number]]]:
        """A number of each model, best first: those with a line of their own, and of many models the others."""
        found = [(model, bar) for model, finding in self.found for bar in finding.bars if bar.title == title]
        ranked = sorted(found, key=lambda each: -each[1].worth)
        return (ranked, []) if len(ranked) <= ALL else (ranked[:NAMED], ranked[NAMED:])


def render_html(document: ReportDocument, home: str = "") -> str:
    """The page. All texts are escaped, those of figures by the charts. ``home``: the address of its first link, or "".

    Its only script is our own, which shows one part at a time and copies tables and figures; a content security policy
    blocks all others.
    """
    from markupsafe import Markup

    own_script = "".join(map(page_script, SCRIPTS))
    notes = Counter(note for _, table in document.tables() for note in dict.fromkeys(table.all_notes))
    common = [note for note, count in notes.items() if count >= COMMON]
    numbers = {note: number for number, note in enumerate(common, start=1)}
    groups = _group_parts(document)
    models = document.first.models if document.first else ()
    return (
        jinja_environment()
        .get_template("page.html")
        .render(
            document=document,
            home=home,
            groups=groups,
            sentences=document.first.sentences if document.first else {},
            best_meaning=BEST_MEANING,
            common=common,
            marks={**MARKS, **MEANINGS},
            note_number=numbers.get,
            short_title=models[0].model if len(models) == 1 else "lmms-medtasks",
            script=Markup(own_script),  # noqa: S704 - our own file
            script_digest=base64.b64encode(hashlib.sha256(own_script.encode()).digest()).decode(),
            version=metadata.version("lmms-medtasks"),
            styles=page_styles(),
            csv_link=csv_link,
            link=page_id,
        )
    )


def _group_parts(document: ReportDocument) -> list[SuiteGroup]:
    by_suite: dict[str, list[ReportChapter]] = {}
    for part in document.parts:
        by_suite.setdefault(part.suite or document.title, []).append(part)
    models = document.first.models if document.first else ()
    return [
        SuiteGroup(
            key=f"suite-{part_key(title)}",
            title=title,
            parts=tuple(parts),
            found=tuple((each.model, one) for each in models for one in each.findings if one.suite == title),
            alone=len(models) == 1,
        )
        for title, parts in by_suite.items()
    ]


def jinja_environment() -> Environment:
    """Templates of this folder; what is put into them is escaped, and nothing in it is invisible."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("lmms_medtasks.report", ".")
    made = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible_value,
    )
    made.globals["confidence"] = confidence.format_current_level
    made.filters |= {"unbroken": no_break_markup, "breakable": breakable_markup}
    return made


def no_break_markup(text: str, intervals: bool = True) -> Markup:
    """A sentence for a page: minus signs, and no line ends before a percent sign or (``intervals``) in an interval."""
    from markupsafe import Markup, escape

    wanted = r"\[\S+ \S+\]| %" if intervals else " %"
    found = re.sub(wanted, lambda match: match[0].replace(" ", "\u00a0"), str(escape(replace_invisible(text))))
    found = re.sub(r"(?<![^\s\u00a0\[(])-(?=\d)", "\u2212", found)
    return Markup(found)  # noqa: S704 - escaped above


def breakable_markup(name: str) -> Markup:
    """A name whose lines end behind a sign, where they must end."""
    from markupsafe import Markup, escape

    found = re.sub(r"(?:[/_-]|\.(?!\d))+(?=[^/_.-])", r"\g<0><wbr>", str(escape(replace_invisible(name))))
    return Markup(found)  # noqa: S704 - escaped above


def _visible_value(value: object) -> object:
    """A text with its invisible characters shown; markup is returned unchanged."""
    return replace_invisible(value) if type(value) is str else value


def page_script(name: str) -> str:
    """One of the :data:`SCRIPTS` of a page with ``parts.html``."""
    return _own_text(name)


def page_styles() -> Markup:
    """The style sheet of a page with ``parts.html``, charts included, in light and dark."""
    from markupsafe import Markup

    colours = _read_colours()
    declared = "".join(f"--{name}: light-dark({light}, {dark}); " for name, (light, dark) in colours.items())
    charts = _chart_rules({name: f"var(--{name})" for name in colours}, font="inherit")
    text = f":root {{ color-scheme: light dark; {declared}}}\n{charts}{_own_text('page.css')}"
    return Markup(text)  # noqa: S704 - our own files


def chart_styles() -> str:
    """The rules of a chart by itself: the colours of a light page, without variables, which few programs know."""
    return _chart_rules({name: light for name, (light, _) in _read_colours().items()}, font="sans-serif")


def _chart_rules(colours: Mapping[str, str], font: str) -> str:
    # Names of a template have no hyphens.
    chosen = {name.replace("-", "_"): colour for name, colour in colours.items()}
    return Template(_own_text("charts.css")).substitute(chosen, font=font)


@functools.cache
def _read_colours() -> Mapping[str, tuple[str, str]]:
    return yaml.safe_load(_own_text("colours.yml"))  # type: ignore[no-any-return]


def _own_text(name: str) -> str:
    return resources.files("lmms_medtasks.report").joinpath(name).read_text(encoding="utf-8")


def csv_link(part: ReportChapter, table: Frame) -> str:
    """A data: address with the table as CSV."""
    return f"data:text/csv;charset=utf-8,{quote(render_csv(table, part.origin))}"


def page_id(part: ReportChapter, section: ReportSection | ReportFigure | Frame | None = None) -> str:
    """The id on the page of a part, or of one of its sections, figures or tables."""
    return part.key if section is None else f"{part.key}-{section.key}"
