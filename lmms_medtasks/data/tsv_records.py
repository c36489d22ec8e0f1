"""Tab-separated tables whose cells hold whole images: read record by record, never whole."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lmms_medtasks.errors import UserError

MAX_CELL = 128 * 1024 * 1024
"""Characters in a cell: an image of 96 MB as base64. More is taken for a quotation mark that is never closed."""

_FIRST = 4096

_TABLES: tuple[tuple[bytes, str, tuple[str, ...]], ...] = (
    (b"PK\x03\x04", "an Excel workbook or another zip. Call it .xlsx if it is Excel's, or save it as CSV", (".xlsx",)),
    (b"\xd0\xcf\x11\xe0", "a file of Excel before 2007 (.xls). Save it as .xlsx, or as CSV UTF-8", ()),
    (b"PAR1", "parquet. Call it .parquet", (".parquet",)),
    (b"\x1f\x8b", "compressed (gzip). Unpack it", ()),
    (b"\xff\xfe", "UTF-16 text (Excel's “Unicode text”). Save it as CSV UTF-8, or: iconv -f UTF-16 -t UTF-8", ()),
    (b"\xfe\xff", "UTF-16 text. Save it as CSV UTF-8, or: iconv -f UTF-16 -t UTF-8", ()),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file itself. Fetch it: git lfs pull", ()),
    (b"<!doctype html", "a web page, perhaps one that asks to log in. Download the file itself", ()),
    (b"<html", "a web page, perhaps one that asks to log in. Download the file itself", ()),
)


@dataclass(frozen=True)
class TsvRecord:
    """A record of a table: its number from 1 (without the header) and its cells by column.

    ``cells``: None if their number ``width`` is not the header's. ``row``: as spreadsheets count, with the header and
    empty lines; 0 if unknown.
    """

    number: int
    cells: Mapping[str, str] | None
    width: int
    row: int = 0


class TsvTable:
    """A table of text on disk, UTF-8, quoted as spreadsheets and pandas do, with a header. ``delimiter``: default tab.

    ``UserError`` if it is no text, has no readable header, or a column twice. Empty cells at the end of a line are no
    columns.
    """

    def __init__(self, path: Path, delimiter: str = "\t") -> None:
        check_table(path)
        self.path, self._delimiter = path, delimiter
        with self._open_lines() as (_, rows):
            header = [name.strip() for name in next(rows, [])]
        while header and not header[-1]:
            header.pop()
        if not header:
            raise UserError(f"{path.name} is empty: it has no header.")
        if header[0].lower().startswith("sep="):
            raise UserError(f"{path.name} starts with {header[0]!r}, a line that only Excel knows. Take that line out.")
        self.columns = tuple(header)
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise UserError(f"{path.name} has a column twice: {', '.join(map(repr, twice))}.")

    def records(self) -> Iterator[TsvRecord]:
        """Every record, in order, in memory one at a time."""
        return (record for _, record in self.placed())

    def placed(self, progress: Callable[[int], object] = lambda _: None) -> Iterator[tuple[int, TsvRecord]]:
        """Every record after its start in bytes. ``progress``: gets the bytes read since its last call."""
        number = 0
        with self._open_lines() as (lines, rows):
            next(rows)
            offset = lines.offset
            for row_number, row in enumerate(rows, start=2):
                if row:  # an empty line is no record
                    number += 1
                    yield offset, self._make_record(number, row, row_number)
                progress(lines.offset - offset)
                offset = lines.offset

    def record_at(self, offset: int) -> TsvRecord:
        """The record that starts at ``offset`` bytes; its number is given as 0."""
        with self._open_lines(offset) as (_, rows):
            return self._make_record(0, next(rows))

    def _make_record(self, number: int, row: list[str], row_number: int = 0) -> TsvRecord:
        same = len(row) >= len(self.columns) and not any(map(str.strip, row[len(self.columns) :]))
        return TsvRecord(number, dict(zip(self.columns, row, strict=False)) if same else None, len(row), row_number)

    @contextmanager
    def _open_lines(self, offset: int = 0) -> Iterator[tuple[_Lines, Iterator[list[str]]]]:
        try:
            with self.path.open("rb") as handle:
                lines = _Lines(handle, self.path.name, offset)
                yield lines, _iter_rows(lines, self.path.name, self._delimiter)
        except OSError as error:
            raise UserError(f"{self.path} cannot be read: {error.strerror or error}.") from error


class _Lines:
    """The lines of a UTF-8 file as text; ``offset`` is the number of bytes handed out so far."""

    def __init__(self, handle: BinaryIO, name: str, offset: int) -> None:
        handle.seek(offset)
        self._handle, self._name, self.offset, self._number = handle, name, offset, 0

    def __iter__(self) -> _Lines:
        return self

    def __next__(self) -> str:
        line = self._handle.readline()
        if not line:
            raise StopIteration
        first = self.offset == 0
        self.offset += len(line)
        self._number += 1
        try:
            return line.decode("utf-8-sig" if first else "utf-8")
        except UnicodeDecodeError as error:
            raise UserError(
                f"{self._name} is not UTF-8 text (line {self._number}): {error.reason}. Latin-1 or Windows-1252, as "
                f"Excel's plain CSV? Save it as CSV UTF-8, or: iconv -f WINDOWS-1252 -t UTF-8 {self._name}."
            ) from error


def _repair_hint(error: csv.Error) -> str:
    message = str(error)
    if "new-line character" in message:
        return "Its lines end in a carriage return alone, as on old Macs: save it again, or: tr '\\r' '\\n'."
    if "expected after" in message:
        return 'Inside a cell in quotation marks, a quotation mark is written twice (""), not after a backslash.'
    return "Is a quotation mark never closed?"


def _iter_rows(lines: _Lines, name: str, delimiter: str) -> Iterator[list[str]]:
    # Strict: a quotation mark that is never closed would otherwise swallow every row up to the end of the file.
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    number = 0
    while True:
        # The limit belongs to the csv module, not to a reader: set for each record, and put back.
        before = csv.field_size_limit(MAX_CELL)
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise UserError(
                f"{name} cannot be read after record {max(number - 1, 0)}: {error}. {_repair_hint(error)}"
            ) from error
        finally:
            csv.field_size_limit(before)
        if row is None:
            return
        number += 1
        yield row


def check_table(path: Path, *, allowed: tuple[str, ...] = ()) -> None:
    """Raise UserError if a file has a known form that is no text, unless it is that of an ``allowed`` ending."""
    try:
        with path.open("rb") as file:
            start = file.read(_FIRST)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}.") from error
    if not start.strip():
        raise UserError(f"{path.name} is empty.")
    for sign, form, endings in _TABLES:
        if start.lstrip().lower().startswith(sign.lower()) and not set(endings) & set(allowed):
            raise UserError(f"{path.name} is {form}.")
    if b"\0" in start[:2]:
        raise UserError(f"{path.name} is UTF-16 text without its mark, or no text. Save it as CSV UTF-8.")
