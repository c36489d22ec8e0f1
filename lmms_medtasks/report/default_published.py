"""Published rows of a benchmark whose folder has no ``report.py``: ``reference/published.csv`` of the folder."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.suite_report import PublishedScores
from lmms_medtasks.report.views import Published
from lmms_medtasks.suites.suite import Suite

PUBLISHED = "reference/published.csv"
"""Published rows of a benchmark, in its folder."""

_TEXTS = ("model", "group", "task", "source")
"""Columns of :data:`PUBLISHED` that are no metric."""


def published_tables(suite: Suite, file: Path) -> dict[str, Published]:
    """The published rows by task; {} where the file is not there.

    The file has the columns ``model``, ``group`` (of models), ``task`` (left out: the task that is called as the
    benchmark), ``source`` (where the number stands), all but the first optional, and metrics, in the units that tables
    show: shares in percent. Raises UserError, with file and line, for another column, or a cell that is no number.
    """
    if not file.is_file():
        return {}
    with file.open(encoding="utf-8", newline="") as text:
        reader = csv.DictReader(text)
        names = list(reader.fieldnames or ())
        metrics = [name for name in names if name not in _TEXTS]
        if "model" not in names:
            raise UserError(f"{file}, line 1: no column 'model'. Its columns: {', '.join(names) or 'none'}.")
        for name in metrics:
            if name not in suite.estimates:
                raise unknown("column", name, (*_TEXTS, *suite.estimates), f"{file}, line 1")
        if len(set(names)) < len(names):
            raise UserError(f"{file}, line 1: a column stands twice. Its columns: {', '.join(names)}.")
        tasks: dict[str, None] = {}
        for row in reader:
            _check_row(row, metrics, f"{file}, line {reader.line_num}")
            tasks.setdefault(row.get("task") or suite.name)
    where = {task: {"task": task} if "task" in names else {} for task in tasks}
    note = f"Rows marked published: as {PUBLISHED} of the folder has them; these models were not run here."
    return {
        task: Published(file, {name: name for name in metrics}, _label, (note,), where=where[task], default=suite.name)
        for task in tasks
    }


def published_scores(suite: Suite, published: Published | None) -> Iterator[PublishedScores]:
    for row in published.rows() if published else ():
        cells = {name: Cell(published.value(row, name)) for name in published.columns.values()} if published else {}
        paper, kind = row.get("source") or suite.title, "human" if row.get("group") == "human" else "model"
        yield PublishedScores(paper, row["model"], ", ".join(_label(row)[1:]), cells, kind)  # type: ignore[arg-type]


def _check_row(row: Mapping[str | None, Any], metrics: Sequence[str], where: str) -> None:
    if None in row or None in row.values():
        raise UserError(f"{where}: another number of cells than the header has columns.")
    if not row["model"]:
        raise UserError(f"{where}: the model has no name.")
    for name in metrics:
        try:
            number = float(row[name] or 0)
        except ValueError:
            raise UserError(f"{where}: {name} is {row[name]!r:.40}, expected a number, or nothing.") from None
        if not np.isfinite(number):
            raise UserError(f"{where}: {name} is {row[name]!r:.40}, expected a finite number.")


def _label(row: Mapping[str, str]) -> tuple[str, ...]:
    said = [each for each in (row.get("group"), row.get("source")) if each]
    return row["model"], ", ".join(["published", *said])
