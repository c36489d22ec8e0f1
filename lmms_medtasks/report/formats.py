"""Documents as texts, in the formats that commands name."""

from __future__ import annotations

import io

from lmms_medtasks.report.document import Document

_WIDE = 240
"""Columns where a text has no width of its own: wide enough that no table of a comparison is cut."""


def text(document: Document, form: str) -> str:
    """The document as "md", "csv", "html", or "terminal": all of it, without colours."""
    if form == "md":
        from lmms_medtasks.report.markdown import markdown

        return markdown(document)
    if form == "csv":
        from lmms_medtasks.report.csv_writer import all_csv

        return all_csv(document)
    if form == "html":
        from lmms_medtasks.report.report_page import page

        return page(document)
    from rich.console import Console

    from lmms_medtasks.report.terminal import show

    buffer = io.StringIO()
    show(document, Console(file=buffer, width=_WIDE), everything=True)
    return buffer.getvalue()
