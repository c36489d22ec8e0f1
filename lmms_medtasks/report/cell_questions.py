"""The questions behind a cell of a heat map, in a report that stands alone: ids of the wrong ones, and where they are.

A report has neither texts nor images of questions, so that it can be passed on. On a board cells lead to pages of
questions instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from lmms_medtasks.report.cells import count, label
from lmms_medtasks.report.charts import with_links
from lmms_medtasks.report.document import Cell, Frame, FrameRow, Part, Section
from lmms_medtasks.report.quotable import Asked
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.suite import Measure, Suite

IDS, FEW_IDS = 5, 1
"""Ids that a cell names, and where a page has many models."""


def with_cell_questions(part: Part, asked: Asked, most: int = IDS) -> Part:
    """The part with a last section that names the wrong questions behind each cell of its heat maps.

    ``asked``: the source that the part is of. ``most``: ids that a cell names at most. A part without such cells stays
    as it is, and so does one of credentialed data, whose report names no question.
    """
    measure, groups = _main_measure(asked.suite), _Groups(asked.source.rows)
    queries = [query for section in part.sections for figure in section.figures for query in _queries(figure.svg)]
    if not queries or measure is None or any(each.get("agreement") for _, each, _ in asked.metadata()):
        return part
    tasks = dict.fromkeys(dict(parse_qsl(query))["task"] for query in queries)
    rows = tuple(_row(query, groups, measure, most) for query in dict.fromkeys(queries))
    logs = [
        f"{printable(task)} in {run.samples_file(task).name}"
        for run, own in asked.source.asked
        for task in own
        if task in tasks
    ]
    columns = (
        label("task"),
        label("cell"),
        count("questions"),
        count("wrong"),
        label("ids of wrong ones, worst first"),
    )
    notes = (
        "Wrong: less than half of the best score, as a mean over trials. The worst are named, "
        f"{most} a cell at most. Texts and images are left out, so that a report can be passed on.",
        f"""To see a question with its replies: grep -F '"id": "ID"' FILE, with its id and, of the run's folder, """
        f"{'; '.join(logs)}.",
    )
    table = Frame("cell_questions", "Wrong questions by cell", columns, rows, notes, long=True)
    wrong = sum(int(row.cells[3].value or 0) for row in rows)
    summary = f"{wrong:,} wrong questions in {len(rows):,} cells, by their ids; no texts, no images"
    section = Section("cell-questions", "Questions behind a cell", tables=(table,), folded=True, summary=summary)
    return replace(part, sections=(*map(_with_hint, part.sections), section))


def _with_hint(section: Section) -> Section:
    """The section with charts that say where their cells lead."""
    figures = (
        replace(each, about=f"{each.about} A cell leads to its wrong questions.") if any(_queries(each.svg)) else each
        for each in section.figures
    )
    return replace(section, figures=tuple(figures))


def _main_measure(suite: Suite) -> Measure | None:
    """The measure of the first main metric that is a mean; None where there is none."""
    means = [each.estimate for each in suite.main_metrics if isinstance(each.estimate, Mean)]
    return suite.measure(means[0].measure) if means else None


def _queries(svg: str) -> Iterator[str]:
    """What the cells of a chart ask for, in their order."""
    found: list[str] = []
    with_links(svg, lambda query: found.append(query) or "")  # type: ignore[func-returns-value]
    return iter(found)


class _Groups:
    """The rows of a source by task and the values of tags, each grouping made once."""

    def __init__(self, rows: Samples) -> None:
        self._rows = rows
        self._made: dict[tuple[str, ...], Mapping[tuple[str, ...], Samples]] = {}

    def of(self, task: str, tags: Mapping[str, str]) -> Samples:
        """The rows of a task with these tags."""
        names = ("task", *tags)
        if names not in self._made:
            self._made[names] = {tuple(map(str, values)): own for values, own in self._rows.by(names, key=str).items()}
        return self._made[names].get((task, *tags.values())) or self._rows.take([])


def _row(query: str, groups: _Groups, measure: Measure, most: int) -> FrameRow:
    asked = parse_qsl(query)
    task = next(value for name, value in asked if name == "task")
    tags = dict(value.split(":", 1) for name, value in asked if name == "tag")
    rows = groups.of(task, tags).scored(measure.name)
    scores = rows.column(f"{measure.name}.score")
    worth = scores if measure.higher_is_better else measure.low + measure.high - scores
    order = np.lexsort((rows.column("id").astype(str), worth))
    wrong = [printable(str(rows.column("id")[place])) for place in order if worth[place] < sum(measure.range) / 2]
    named = ", ".join(wrong[:most]) + (f" and {len(wrong) - most} more" if len(wrong) > most else "")
    cell = ", ".join(printable(f"{name} {value}" if value.isdigit() else value) for name, value in tags.items())
    cells: tuple[Any, ...] = (printable(task), cell, len(rows), len(wrong), named or None)
    return FrameRow(tuple(map(Cell, cells)), questions=query)
