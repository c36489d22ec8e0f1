"""Tables of labels: CSV, JSONL and parquet, the latter also with the pictures in it."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError

COLUMNS = ("image", "modality", "anatomy", "view", "finding", "laterality", "up")
"""The columns that are read; ``image`` and ``modality`` must be there."""

REQUIRED = ("image", "modality")
WANTED = ("modality", "anatomy", "view")
"""Labels that a picture must have where the table has the column; a finding, a laterality or ``up`` may be empty."""

_OURS = ("id", "images", "question", "options", "answer", "image_id", "data")
"""Further columns of this package's documents, which say nothing about a picture's category."""


@dataclass(frozen=True)
class Labelled:
    """One row: a name for the manifest, the labels as text, which wanted ones are missing, and the picture."""

    id: str
    values: Mapping[str, str]
    missing: tuple[str, ...] = ()
    path: Path | None = None
    data: bytes | None = field(default=None, repr=False)


def read_table(path: Path, folder: Path) -> tuple[list[Labelled], tuple[str, ...]]:
    """The rows of a table whose image paths are relative to ``folder``, and the columns that are not used.

    Rows of this package's documents that share an ``image_id`` are one picture. Raises UserError for a table that
    cannot be read, that lacks a required column, or that has no rows.
    """
    readers = {".csv": _csv, ".jsonl": _jsonl}
    rows = list(readers.get(path.suffix.lower(), _parquet)(path))
    columns = list(dict.fromkeys(name for row in rows for name in row))
    if not rows:
        raise UserError(f"{path} has no rows.")
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise UserError(
            f"{path} lacks the column {' and '.join(map(repr, missing))}. Required: image, modality and, if there are "
            f"such labels, {', '.join(COLUMNS[2:])}. Found: {', '.join(map(str, columns)) or '(none)'}."
        )
    labelled: dict[str, Labelled] = {}
    for number, row in enumerate(rows, start=1):
        entry = _labelled(row, number, path, folder, columns)
        labelled.setdefault(entry.id, entry)
    ignored = tuple(sorted(str(name) for name in columns if name not in (*COLUMNS, *_OURS)))
    return list(labelled.values()), ignored


def _labelled(row: Mapping[str, Any], number: int, path: Path, folder: Path, columns: list[str]) -> Labelled:
    values = {name: _text(row.get(name)) for name in COLUMNS[1:]}
    missing = tuple(name for name in WANTED if name in columns and not values[name].strip())
    image = row.get("image")
    if isinstance(image, Mapping) or isinstance(image, bytes):
        data = image.get("bytes") if isinstance(image, Mapping) else image
        name = _text(row.get("image_id")) or _text(row.get("id")) or f"row {number}"
        if isinstance(data, bytes):
            return Labelled(name, values, missing, data=data)
        image = image.get("path") if isinstance(image, Mapping) else None
    if not isinstance(image, str) or not image.strip():
        raise UserError(f"{path}, row {number}: the column image is {str(image)[:60]!r}, expected a path or an image.")
    return Labelled(image, values, missing, path=folder / image)


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _csv(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as handle:
            reader = csv.DictReader(handle, strict=True)
            for row in reader:
                if None in row or None in row.values():
                    wanted = len(reader.fieldnames or ())
                    raise UserError(f"{path}, line {reader.line_num}: not {wanted} cells, as the header has.")
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path} cannot be read as CSV: {error}.") from error


def _jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read as JSONL: {error}.") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: not JSON ({error}).") from error
        if not isinstance(row, dict):
            raise UserError(f"{path}, line {number}: expected an object, got {line[:60]!r}.")
        yield row


def _parquet(path: Path) -> Iterator[Mapping[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            left = ("question", "options", "images", "answer")
            chosen = [name for name in file.schema_arrow.names if name not in left]
            for batch in file.iter_batches(batch_size=256, columns=chosen):
                yield from batch.to_pylist()
    except (OSError, pa.ArrowInvalid) as error:
        raise UserError(f"{path} cannot be read as parquet: {error}.") from error
