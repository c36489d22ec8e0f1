"""A report as Markdown (GitHub's, with tables)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmms_medtasks.report.document import Frame, FrameRow, ReportChapter
from lmms_medtasks.report.first_screen import BEST_MEANING, FirstScreen, ReportDocument
from lmms_medtasks.visible_text import replace_invisible

# What Markdown or HTML in it could take for markup, wherever it stands.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$!&])")


def escape_markdown(text: str) -> str:
    """``text`` so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", replace_invisible(text).replace("\n", " "))


def render_markdown(document: ReportDocument) -> str:
    """The whole report without figures: their numbers are in the tables. A part without a title gets no heading."""
    unread = (line for text in document.unread for line in ("", f"> **Warning:** Left out: {escape_markdown(text)}"))
    first = _first_screen(document.first) if document.first else ()
    parts = (line for part in document.parts for line in _render_part(part))
    # A summary, without parts of its own, stands on a page of others: GitHub's of a workflow.
    heading = "#" if any(part.title for part in document.parts) else "##"
    return "\n".join([f"{heading} {escape_markdown(document.title)}", *unread, *first, *parts]) + "\n"


_SIGNS = {"yes": "✓", "unknown": "?", "partly": "~", "no": "✕"}


def _first_screen(first: FirstScreen) -> Iterator[str]:
    if first.no_finding:
        yield from ("", first.no_finding)
    for model in first.models:
        yield from ("", f"**{escape_markdown(model.model)}** {escape_markdown(model.sentence)}", "")
        for finding in model.findings:
            yield f"- {escape_markdown(finding.suite)}: {escape_markdown(finding.sentence)}"
    for suite, why in first.empty.items():
        yield from ("", f"{escape_markdown(suite)}: {escape_markdown(why)}")
    for text in first.losses:
        yield from ("", f"**On degraded images** {escape_markdown(text)}")
    if first.best:
        yield from ("", f"**Who is best** ({BEST_MEANING})", "")
    for suite, said in first.best.items():
        yield f"- {escape_markdown(suite)}: {escape_markdown(said)}"
    for text in first.others:
        yield from ("", f"> **Warning:** {escape_markdown(text)}")
    if first.checks:
        yield from ("", f"**May these numbers be quoted?** {escape_markdown(first.verdict)}", "")
    for check in first.checks:
        mend = f" ({escape_markdown(check.mend)})" if check.mend else ""
        yield f"- {_SIGNS[check.state]} {escape_markdown(check.title)}: {escape_markdown(check.reason)}{mend}"


def _render_part(part: ReportChapter) -> Iterator[str]:
    yield from ("", f"## {escape_markdown(part.title)}", "") if part.title else ("",)
    for name, value in part.facts:
        yield f"- {escape_markdown(name)}: {escape_markdown(value)}"
    for flag in part.flags:
        yield from ("", f"> **{flag.kind.capitalize()}:** {escape_markdown(flag.text)}")
    for section in part.sections:
        yield from ("", f"### {escape_markdown(section.title)}") if section.title else ()
        for paragraph in section.paragraphs:
            yield from ("", escape_markdown(paragraph))
        yield from ("", *(f"- {escape_markdown(text)}" for text in section.items)) if section.items else ()
        for table in section.tables:
            yield from _table_lines(table)


def _table_lines(table: Frame) -> Iterator[str]:
    yield from ("", f"**{escape_markdown(table.title)}**", "") if table.title else ("",)
    yield _render_line(escape_markdown(column.head) for column in table.columns)
    yield _render_line("---" if column.kind == "text" else "---:" for column in table.columns)
    for row in table.rows:
        yield _render_line(_render_cells(table, row))
    for note in table.all_notes:
        yield from ("", escape_markdown(note))


def _render_cells(table: Frame, row: FrameRow) -> Iterator[str]:
    for number, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True)):
        text = escape_markdown(column.text(cell))
        # This model's row must be found among the published ones.
        yield f"**{text}**" if number == 0 and row.kind == "run" and text else text


def _render_line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
