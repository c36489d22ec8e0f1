"""CSV files that people fill in: written so that a spreadsheet runs nothing in them, read in every common form."""

from __future__ import annotations

import codecs
import csv
import io
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.csv_writer import FORMULA

_QUOTE = "'"
_DELIMITERS = (",", ";", "\t")
_BOMS = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


@dataclass(frozen=True)
class Sheet:
    """A table with a header. ``rows``: each one's line in the file (its first, from 1), and its cells by column."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[tuple[int, Mapping[str, str]], ...]


def guarded(text: str) -> str:
    """``text`` with a ``'`` before it where a spreadsheet would run it as a formula, or would take its ``'`` away."""
    return _QUOTE + text if text.startswith((*FORMULA, _QUOTE)) else text


def unguarded(text: str) -> str:
    """What :func:`guarded` was given."""
    return text[1:] if text.startswith(_QUOTE) and text[1:].startswith((*FORMULA, _QUOTE)) else text


def csv_text(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A CSV (RFC 4180), every cell guarded and without the character NUL, which Python 3.10 can neither write nor read.

    To be saved as ``utf-8-sig``, by which Excel knows the encoding.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    writer.writerows([guarded(cell.replace("\0", "")) for cell in row] for row in (columns, *rows))
    return buffer.getvalue()


def read(path: Path) -> Sheet:
    """Read a CSV: comma, semicolon or tab between cells, UTF-8 with or without a mark, or UTF-16 with one.

    Rows without any text are left out; cells lose the white space around them. Raises UserError for a file that can't
    be read, is empty, has a column twice or without a name, or a row of another width than its header.
    """
    text = _text(path)
    head = text.lstrip("\r\n").partition("\n")[0]
    if not head.strip():
        raise UserError(f"{path} is empty: expected a header and a row for each rating.")
    delimiter = max(_DELIMITERS, key=head.count)
    # Not splitlines: it would cut at characters that are no ends of lines in a CSV.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, Mapping[str, str]]] = []
    columns: tuple[str, ...] = ()
    end = 0
    try:
        for cells in reader:
            line, end = end + 1, reader.line_num
            cells = [cell.strip() for cell in cells]
            if not any(cells):
                continue
            if not columns:
                columns = _columns(path, cells)
            else:
                rows.append((line, _row(path, line, columns, cells)))
    except csv.Error as error:
        raise UserError(f"{path}, line {reader.line_num}: {error}. Is a quotation mark never closed?") from error
    return Sheet(path, columns, tuple(rows))


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"Can't read {path}: {error.strerror or error}.") from error
    encoding = next((name for mark, name in _BOMS.items() if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UserError(
            f"{path}, line {line}: not {encoding.removesuffix('-sig').upper()} (byte {data[error.start]:#04x}). "
            "Save it as 'CSV UTF-8'."
        ) from error


def _columns(path: Path, cells: Sequence[str]) -> tuple[str, ...]:
    while cells and not cells[-1]:
        cells = cells[:-1]
    twice = sorted(name for name, count in Counter(cells).items() if count > 1)
    if twice or "" in cells:
        what = f"has a column twice: {', '.join(map(repr, twice))}" if any(twice) else "has a column without a name"
        raise UserError(f"{path} {what}. Its header: {', '.join(map(repr, cells))}.")
    return tuple(cells)


def _row(path: Path, line: int, columns: Sequence[str], cells: Sequence[str]) -> Mapping[str, str]:
    rest = cells[len(columns) :]
    if len(cells) < len(columns) or any(rest):
        raise UserError(f"{path}, line {line}: {len(cells)} cells, but the header has {len(columns)} columns.")
    return dict(zip(columns, cells, strict=False))
