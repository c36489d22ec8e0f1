"""Tables as CSV: numbers in full, and what else is known of them (``MORE``) in columns of its own; empty without a
number."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

from lmms_medtasks.report.document import PUBLISHED, Frame, FrameColumn
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.statistics import confidence
from lmms_medtasks.visible_text import replace_invisible

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""What a text that a spreadsheet would run begins with."""


def render_csv(table: Frame, origin: Sequence[tuple[str, str]] = ()) -> str:
    """The table as CSV (RFC 4180, but with line feeds). Texts that a spreadsheet would run as a formula get a ``'``.
    What can't be seen is U+FFFD.

    The last columns are those of ``origin``, the field of a part, empty in published rows, and the kind of the row.
    """
    # Another level than the usual one stands beside the ends, for whoever has nothing but the file.
    level = "" if confidence.current_level() == confidence.DEFAULT else f" {confidence.format_current_level()}"
    head: list[str] = []
    columns: list[list[str]] = []
    for column, name, values in table.fields():
        head.append(f"{column.head} {name}{level if name in ('low', 'high') else ''}" if name else column.head)
        columns.append([_csv_text_of(column, value) for value in values])
    lines = [[*map(_formula_safe, head), *(_formula_safe(name) for name, _ in origin), "row"]]
    for row, *cells in zip(table.rows, *columns, strict=True):
        said = ["" if row.kind in PUBLISHED else _formula_safe(text) for _, text in origin]
        lines.append([*cells, *said, row.kind])
    return _csv_lines(lines)


def all_csv(document: ReportDocument) -> str:
    """All tables one after the other, each under a line with its part and title, an empty line between them."""
    return "\n".join(
        csv_line([part.title, table.title]) + render_csv(table, part.origin) for part, table in document.tables()
    )


def csv_line(texts: Sequence[str], *, safe: int | None = None) -> str:
    """A line of these texts; ``safe``: how many from the first may be anyone's, all by default."""
    return _csv_lines([[*map(_formula_safe, texts[:safe]), *(texts[safe:] if safe else ())]])


def number_text(value: float, digits: int) -> str:
    """A number of a column that is shown with ``digits``; "" for NaN."""
    # Three digits more than shown: enough to compute with, and no noise of binary fractions.
    return "" if math.isnan(value) else repr(round(value, digits + 3) + 0.0)


def _csv_lines(lines: Sequence[Sequence[str]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(lines)
    return buffer.getvalue()


def _csv_text_of(column: FrameColumn, value: str | int | float | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _formula_safe(value)
    return str(value) if isinstance(value, int) else number_text(value, column.digits)


def _formula_safe(text: str) -> str:
    shown = replace_invisible(text)
    return f"'{shown}" if shown.startswith(FORMULA) else shown
