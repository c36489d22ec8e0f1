"""A table as JSON, beside its CSV."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lmms_medtasks.report.document import Cell, Column, Table


def json_text(table: Table, origin: Sequence[tuple[str, str]] = ()) -> str:
    """The table as JSON: title, columns, rows of cells (value, and low, high, sd, mark where there are), notes.

    ASCII only, and without a ``<``, so that it is harmless inside a page too.
    """
    found = {
        "title": table.title,
        "about": dict(origin),
        "columns": [{"name": each.name, "unit": each.unit, "kind": each.kind} for each in table.columns],
        "rows": [
            {"kind": row.kind, "cells": [_cell(*each) for each in zip(table.columns, row.cells, strict=True)]}
            for row in table.rows
        ],
        "notes": list(table.all_notes),
    }
    return harmless(found, indent=1) + "\n"


def harmless(value: Any, indent: int | None = None) -> str:
    """JSON that neither ends a script element nor starts one, whatever its texts say."""
    separators = (",", ":") if indent is None else None
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=True, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _cell(column: Column, cell: Cell) -> dict[str, Any]:
    found: dict[str, Any] = {"value": _rounded(column, cell.value)}
    for name in ("low", "high", "sd"):
        value = getattr(cell, name)
        if value is not None:
            found[name] = _rounded(column, value)
    return {**found, "mark": cell.mark} if cell.mark else found


def _rounded(column: Column, value: str | int | float | None) -> str | int | float | None:
    return round(value, column.digits + 3) + 0.0 if isinstance(value, float) else value
