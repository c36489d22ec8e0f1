"""What columns a table has, without loading it."""

from __future__ import annotations

import json
from pathlib import Path

from lmms_medtasks.data.tsv_records import Table
from lmms_medtasks.errors import UserError

BUILDERS = {".csv": "csv", ".tsv": "csv", ".json": "json", ".jsonl": "json", ".parquet": "parquet"}
"""File ending -> the loader of ``datasets`` (and of the harness's ``dataset_path``)."""


def builder(path: Path) -> str:
    """The loader for a file; UserError for an ending that has none."""
    if path.suffix not in BUILDERS:
        raise UserError(f"The table {str(path)!r} ends in {path.suffix!r}. Allowed: {', '.join(BUILDERS)}.")
    return BUILDERS[path.suffix]


def columns(path: Path) -> list[str]:
    """The names of a table's columns; UserError where the file has none to read."""
    kind = builder(path)
    if kind == "csv":
        return list(Table(path, "\t" if path.suffix == ".tsv" else ",").columns)
    try:
        if kind == "parquet":
            import pyarrow.parquet as parquet

            return list(parquet.read_schema(path).names)
        with path.open(encoding="utf-8", newline="") as file:
            return list(_first(file.read(), path))
    except (OSError, ValueError, StopIteration) as error:  # pyarrow's errors are ValueErrors or OSErrors
        raise UserError(f"The table {str(path)!r} can't be read: {error}") from error


def _first(text: str, path: Path) -> dict[str, object]:
    """The first record of JSON lines, or of a JSON list."""
    if text.lstrip().startswith("["):
        rows = json.loads(text)
    else:
        rows = [json.loads(line) for line in text.splitlines()[:1] if line.strip()]
    if not rows or not isinstance(rows[0], dict):
        raise UserError(f"The table {str(path)!r} holds no records: wanted one JSON object a line, or a list of them.")
    return rows[0]
