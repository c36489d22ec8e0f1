"""A report as Markdown (GitHub's, with tables)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lmms_medtasks.report.document import Document, Frame, FrameRow, Part
from lmms_medtasks.report.first_screen import BEST_MEANING, FirstScreen
from lmms_medtasks.visible_text import visible

# What Markdown or HTML in it could take for markup, wherever it stands.
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#~$!&])")


def escaped(text: str) -> str:
    """``text`` so that Markdown shows it as it is, on one line."""
    return _SPECIAL.sub(r"\\\1", visible(text).replace("\n", " "))


def markdown(document: Document) -> str:
    """The whole report; figures are left out, their numbers are in the tables. What has no title gets no heading."""
    unread = (line for text in document.unread for line in ("", f"> **Warning:** Left out: {escaped(text)}"))
    first = _first_screen(document.first) if document.first else ()
    parts = (line for part in document.parts for line in _part(part))
    # A summary, without parts of its own, stands on a page of others: GitHub's of a workflow.
    heading = "#" if any(part.title for part in document.parts) else "##"
    return "\n".join([f"{heading} {escaped(document.title)}", *unread, *first, *parts]) + "\n"


_SIGNS = {"yes": "✓", "unknown": "?", "partly": "~", "no": "✕"}


def _first_screen(first: FirstScreen) -> Iterator[str]:
    if first.no_finding:
        yield from ("", first.no_finding)
    for model in first.models:
        yield from ("", f"**{escaped(model.model)}** {escaped(model.sentence)}", "")
        for finding in model.findings:
            yield f"- {escaped(finding.suite)}: {escaped(finding.sentence)}"
    for suite, why in first.empty.items():
        yield from ("", f"{escaped(suite)}: {escaped(why)}")
    if first.best:
        yield from ("", f"**Who is best** ({BEST_MEANING})", "")
    for suite, said in first.best.items():
        yield f"- {escaped(suite)}: {escaped(said)}"
    for text in first.others:
        yield from ("", f"> **Warning:** {escaped(text)}")
    if first.checks:
        yield from ("", f"**May these numbers be quoted?** {escaped(first.verdict)}", "")
    for check in first.checks:
        mend = f" ({escaped(check.mend)})" if check.mend else ""
        yield f"- {_SIGNS[check.state]} {escaped(check.title)}: {escaped(check.reason)}{mend}"


def _part(part: Part) -> Iterator[str]:
    yield from ("", f"## {escaped(part.title)}", "") if part.title else ("",)
    for name, value in part.facts:
        yield f"- {escaped(name)}: {escaped(value)}"
    for flag in part.flags:
        yield from ("", f"> **{flag.kind.capitalize()}:** {escaped(flag.text)}")
    for section in part.sections:
        yield from ("", f"### {escaped(section.title)}") if section.title else ()
        for paragraph in section.paragraphs:
            yield from ("", escaped(paragraph))
        yield from ("", *(f"- {escaped(text)}" for text in section.items)) if section.items else ()
        for table in section.tables:
            yield from _table(table)


def _table(table: Frame) -> Iterator[str]:
    yield from ("", f"**{escaped(table.title)}**", "") if table.title else ("",)
    yield _line(escaped(column.head) for column in table.columns)
    yield _line("---" if column.kind == "text" else "---:" for column in table.columns)
    for row in table.rows:
        yield _line(_cells(table, row))
    for note in table.all_notes:
        yield from ("", escaped(note))


def _cells(table: Frame, row: FrameRow) -> Iterator[str]:
    for number, (column, cell) in enumerate(zip(table.columns, row.cells, strict=True)):
        text = escaped(column.text(cell))
        # This model's row must be found among the published ones.
        yield f"**{text}**" if number == 0 and row.kind == "run" and text else text


def _line(cells: Iterator[str]) -> str:
    return f"| {' | '.join(cells)} |"
