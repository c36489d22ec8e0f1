"""Rows of a comparison that are over other questions than most rows: they are marked, and a flag names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any

from lmms_medtasks.report.document import Flag, Frame, FrameRow, Part

OTHER_QUESTIONS = "≠"
_MEANING = "Over other questions than most rows here: does not compare with them (the flags say how many)."
_MOST = 3
"""Tests of a row that the flag names."""

Asked = Mapping[Any, Mapping[str, frozenset[str]]]
"""Row -> the tests that its numbers are of, by name -> the ids of the questions that were asked in each.

A row that is a tuple is a model's (its first part) under a condition (the rest), such as a shift: tests of one name
under two conditions are two tests.
"""


def first_cell(table: Frame, row: FrameRow) -> Hashable:
    """The row's name, where the first cell of a row has it."""
    return row.cells[0].value


def with_marks(part: Part, asked: Asked, row_of: Callable[[Frame, FrameRow], Hashable] = first_cell) -> Part:
    """The comparison with :data:`OTHER_QUESTIONS` at each row that :func:`differing` finds, and a flag that names them.

    ``row_of`` gives the key that a table's row has in ``asked``; published rows, and rows of no such key, stay as they
    are.
    """
    found = differing(asked)
    if not found:
        return part
    sections = tuple(
        replace(section, tables=tuple(_marked(table, found, row_of) for table in section.tables))
        for section in part.sections
    )
    said = "; ".join(f"{' '.join(map(str, row)) if isinstance(row, tuple) else row}: {text}"
                     for row, text in found.items())  # fmt: skip
    text = f"Not all rows are over the same questions, and those marked {OTHER_QUESTIONS} do not compare. {said}."
    return replace(part, flags=(Flag("warning", text), *part.flags), sections=sections)


def differing(asked: Asked) -> dict[Hashable, str]:
    """The rows that were asked other questions in a test than most rows that have it, and what they were asked.

    Where as many rows were asked one set of questions as another, the larger set is that of most.
    """
    tests: dict[tuple[Hashable, str], Counter[frozenset[str]]] = {}
    for row, own in asked.items():
        for test, ids in own.items():
            tests.setdefault((_condition(row), test), Counter())[ids] += 1
    usual = {test: max(counts, key=lambda ids: (counts[ids], len(ids), sorted(ids))) for test, counts in tests.items()}
    found = {}
    for row, own in asked.items():
        most = {test: usual[_condition(row), test] for test in own}
        other = [_said(test, ids, most[test]) for test, ids in own.items() if ids != most[test]]
        if other:
            more = [f"{len(other) - _MOST} more tests"] if len(other) > _MOST else []
            found[row] = ", ".join([*other[:_MOST], *more])
    return found


def _condition(row: Hashable) -> Hashable:
    return row[1:] if isinstance(row, tuple) else None


def _said(test: str, ids: frozenset[str], usual: frozenset[str]) -> str:
    shared = len(ids & usual)
    apart = f", {len(ids) - shared:,} of them others" if shared < len(ids) else ""
    return f"{test} {len(ids):,} questions{apart} (most rows: {len(usual):,})"


def _marked(table: Frame, found: Mapping[Hashable, str], row_of: Callable[[Frame, FrameRow], Hashable]) -> Frame:
    rows = tuple(
        replace(row, cells=(replace(row.cells[0], mark=OTHER_QUESTIONS), *row.cells[1:]))
        if row.kind == "run" and row_of(table, row) in found
        else row
        for row in table.rows
    )
    if rows == table.rows:
        return table
    return replace(table, rows=rows, marks={**table.marks, OTHER_QUESTIONS: _MEANING})
