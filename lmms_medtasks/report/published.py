"""Published rows of a benchmark, ours or contributed: ``reference/published.csv`` of its folder.

Columns of texts: ``model``; ``group`` (of models), ``task`` (left out: the task that is called as the folder) and
``source`` (where the numbers stand), which are optional, and those that ``texts`` of ``reference/published.yml`` names.
All others are numbers, in the units that tables show (shares in percent): metrics, or columns of the folder's own
tables. ``NAME_sd`` is the standard deviation of ``NAME``.

``reference/published.yml``, where it is there, has ``paper``; ``notes`` (by ``source``), ``marks`` (of columns whose
numbers do not compare with a run's), and ``scores``, which tell the numbers of a task's metrics: for the ``tasks``
(left out: the row's own), from the ``rows`` that have these texts, ``columns`` from a metric to its column, or to
columns with the weights of their mean, ``factors`` by metric, ``source`` and ``mark`` where they are not the row's.
``reference/discrepancies.yml`` lists the printed numbers that others do not give.
"""

from __future__ import annotations

import csv
import functools
import io
import operator
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.report.document import Cell, FrameRow
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite import Suite

PUBLISHED = "reference/published.csv"
"""Published rows of a benchmark, in its folder."""

_TEXTS = ("model", "group", "task", "source")
_SD = "_sd"


@dataclass(frozen=True)
class PublishedRow:
    """A row of the file.

    ``texts``: by column, and under "published" what the row is in words. ``numbers``: by column, as printed.
    """

    texts: Mapping[str, str]
    numbers: Mapping[str, Cell]

    def cell(self, column: str) -> Cell:
        """The cell of a column, of numbers or of texts."""
        return self.numbers.get(column) or Cell(self.texts.get(column) or None)

    def values(self, *columns: str) -> tuple[float, ...]:
        found = (self.cell(name).value for name in columns)
        return tuple(value for value in found if isinstance(value, int | float))

    def has(self, texts: Mapping[str, str]) -> bool:
        """Whether it has these texts in these columns."""
        return all(self.texts.get(name) == text for name, text in texts.items())


@dataclass(frozen=True)
class PublishedScores:
    """A published model on a task's board: the paper, its name, where the numbers stand, a cell a metric as shown.

    ``kind``: "human" for people who answered the questions; they are no model, and never called the best of them.
    """

    paper: str
    model: str
    source: str
    cells: Mapping[str, Cell]
    kind: Literal["model", "human"] = "model"


@dataclass(frozen=True)
class PublishedRowsSpec:
    """Published rows of a table.

    Attributes:
        folder: of the benchmark. where: a column of texts -> the text that the rows have there.
        labels: the columns of texts that stand before the numbers.
    """

    folder: Path
    where: Mapping[str, str] = field(default_factory=dict)
    labels: tuple[str, ...] = ("model", "published")

    def rows(self) -> list[PublishedRow]:
        """The rows of the file that ``where`` restricts to, in its order."""
        return [row for row in read_rows(self.folder) if row.has(self.where)]

    def filled(self, columns: Sequence[str]) -> tuple[FrameRow, ...]:
        """The rows as they stand in a table with these columns, the paper's averages of models first."""
        rows = [
            FrameRow(
                tuple(Cell(row.texts.get(name) or None) for name in self.labels) + tuple(map(row.cell, columns)),
                "average" if row.texts.get("kind") == "average" else "reference",
            )
            for row in self.rows()
        ]
        return tuple(sorted(rows, key=lambda row: row.kind != "average"))

    @property
    def notes(self) -> tuple[str, ...]:
        """Where the rows are from, and which of their numbers others do not give."""
        said, rows = _read_declaration(self.folder), self.rows()
        if "paper" not in said or not rows:
            return (f"Published rows: as {PUBLISHED} of the folder has them; these models were not run here.",)
        source = rows[0].texts["source"]
        where = ", ".join(filter(None, (said["paper"].rstrip(","), source)))
        first = f"Published rows: {where}, as printed; these models were not run here."
        columns = {name for row in rows for name, cell in row.numbers.items() if cell.value is not None}
        odd = [
            _discrepancy_text(discrepancy)
            for discrepancy in published_discrepancies(self.folder)
            if discrepancy.get("column") in columns and f"Table {discrepancy.get('table')}" in (source, "Table None")
        ]
        notes = said.get("notes", {}).get(source, ())
        return (first, *notes, *([f"Printed otherwise than the rest gives: {'. '.join(odd)}."] if odd else []))


def published_discrepancies(folder: Path) -> list[dict[str, Any]]:
    """The printed numbers that contradict other printed numbers or the paper's text."""
    path = folder / "reference" / "discrepancies.yml"
    return folders.read_yaml(path)["discrepancies"] if path.is_file() else []


def _discrepancy_text(each: Mapping[str, Any]) -> str:
    given = f", {each['recomputed']:g} computed" if "recomputed" in each else ""
    rounded = " (rounding may explain it)" if each.get("within_rounding") else ""
    note = f"; {each['note']}" if "note" in each else ""
    return f"{each['row']}, {each['column']}: {each['printed']:g} printed{given}{rounded}{note}"


def _read_declaration(folder: Path) -> Mapping[str, Any]:
    """The content of ``published.yml``; {} without it. Raises UserError if it is not a mapping."""
    path = folder / "reference" / "published.yml"
    found = (folders.read_yaml(path) if path.is_file() else None) or {}
    if not isinstance(found, Mapping):
        raise UserError(f"{path}: expected a mapping, such as paper: NAME; got {type(found).__name__}.")
    return found


# --- The file ---------------------------------------------------------------------------------------------------------


def read_rows(folder: Path, metrics: Collection[str] | None = None) -> list[PublishedRow]:
    """The published rows of a benchmark's folder; [] where it has none.

    Raises UserError, with file and line, for a cell that is no number, and for a column that is none of ``metrics``,
    where those are given; also for a file that is not UTF-8.
    """
    files = [file for file in (folder / PUBLISHED, folder / "reference" / "published.yml") if file.is_file()]
    if folder / PUBLISHED not in files:
        return []
    written = tuple((file.stat().st_mtime_ns, file.stat().st_size) for file in files)
    return list(_read_written_rows(folder, None if metrics is None else tuple(metrics), written))


@functools.lru_cache(maxsize=64)
def _read_written_rows(folder: Path, metrics: Sequence[str] | None, written: object) -> tuple[PublishedRow, ...]:
    """Read once while the files are as they were ``written``: a board asks for them some hundred times."""
    file, said = folder / PUBLISHED, _read_declaration(folder)
    texts = (*_TEXTS, *said.get("texts", ()))
    try:
        reader = csv.DictReader(io.StringIO(file.read_text("utf-8-sig")))
    except UnicodeDecodeError as error:
        raise UserError(f"{file} can't be read: {error}.") from None
    names = list(reader.fieldnames or ())
    numbers = [name for name in names if name not in texts]
    if "model" not in names:
        raise UserError(f"{file}, line 1: no column 'model'. Its columns: {', '.join(names) or 'none'}.")
    for name in numbers if metrics is not None else ():
        if name.removesuffix(_SD) not in (metrics or ()):
            raise unknown_name_error("column", name, (*texts, *(metrics or ())), f"{file}, line 1")
    if len(set(names)) < len(names):
        raise UserError(f"{file}, line 1: a column stands twice. Its columns: {', '.join(names)}.")
    return tuple(_parse_published_row(row, numbers, folder, said, f"{file}, line {reader.line_num}") for row in reader)


def _parse_published_row(
    row: Mapping[Any, Any], numbers: Sequence[str], folder: Path, said: Mapping[str, Any], where: str
) -> PublishedRow:
    if None in row or None in row.values():
        raise UserError(f"{where}: another number of cells than the header has columns.")
    if not row["model"]:
        raise UserError(f"{where}: the model has no name.")
    texts = {name: text for name, text in row.items() if name not in numbers}
    texts["task"], texts["source"] = texts.get("task") or folder.name, texts.get("source") or ""
    # Where a paper is named, the note below the table says the source of all its rows.
    words = ["published", texts.get("group"), "" if "paper" in said else texts["source"]]
    texts["published"] = ", ".join(filter(None, words))
    values = {name: _parse_number(row[name], name, where) for name in numbers}
    marks = said.get("marks", {})
    cells = {
        name: Cell(value, sd=values.get(f"{name}{_SD}"), mark=marks.get(name, ""))
        for name, value in values.items()
        if not name.endswith(_SD)
    }
    return PublishedRow(texts, cells)


def _parse_number(text: str, name: str, where: str) -> float | None:
    try:
        number = float(text) if text else None
    except ValueError:
        raise UserError(f"{where}: {name} is {text!r:.40}, expected a number, or nothing.") from None
    if number is not None and not np.isfinite(number):
        raise UserError(f"{where}: {name} is {text!r:.40}, expected a finite number.")
    return number


# --- Of a task's metrics ----------------------------------------------------------------------------------------------


def published_scores(suite: Suite, task: str) -> Iterator[PublishedScores]:
    """The published models with a number of a task's metrics, in the file's order."""
    folder = registry.folder_of(suite.name)
    if folder is None:
        return
    said, rows = _read_declaration(folder), read_rows(folder)
    for each in said.get("scores", [{"columns": {name: name for name in suite.estimates}}]):
        if task not in each.get("tasks", [task]):
            continue
        wanted = {**each.get("rows", {}), **({} if "tasks" in each else {"task": task})}
        for row in rows:
            cells = _metric_cells(row, each) if row.has(wanted) else {}
            if any(cell.value is not None for cell in cells.values()):
                there = ", ".join(filter(None, ("published", each.get("source") or row.texts["source"])))
                yield PublishedScores(
                    said.get("paper") or row.texts["source"] or suite.title,
                    row.texts["model"],
                    there if "paper" in said else row.texts["published"],
                    cells,
                    "human" if row.texts.get("group") == "human" else "model",
                )


def _metric_cells(row: PublishedRow, said: Mapping[str, Any]) -> dict[str, Cell]:
    found = {}
    for metric, column in said["columns"].items():
        cell = _weighted_cell(row, column) if isinstance(column, Mapping) else row.numbers.get(column)
        if cell is not None:
            factor = said.get("factors", {}).get(metric, 1)
            value, sd = (None if each is None else factor * each for each in (cell.value, cell.sd))
            found[metric] = replace(cell, value=value, sd=sd, mark=said.get("mark", cell.mark))
    return found


def _weighted_cell(row: PublishedRow, weights: Mapping[str, float]) -> Cell | None:
    values = row.values(*weights)
    if len(values) < len(weights):
        return None
    return Cell(sum(map(operator.mul, weights.values(), values)) / sum(weights.values()))


def published_span(suite: Suite, task: str, metric: str) -> tuple[float, float] | None:
    """The least and the most that published models have of a task's metric, without those that are marked.

    None where none has a number.
    """
    cells = [score.cells.get(metric) for score in published_scores(suite, task) if score.kind == "model"]
    values = [float(cell.value) for cell in cells if cell and not cell.mark and isinstance(cell.value, int | float)]
    return (min(values), max(values)) if values else None
