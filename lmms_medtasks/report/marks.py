"""The marks of judged numbers in a table: whose judgements they come of, and whether all were had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.report.document import Row
from lmms_medtasks.report.judged import Judging, is_lexical

LEXICAL, OTHER, INCOMPLETE = "¶", "‡", "#"


def marks(*judgings: Judging | None) -> str:
    """The marks of a number that comes of these judgements, "" for none."""
    had = [each for each in judgings if each]
    found = LEXICAL if any(is_lexical(name) for each in had for name in each.names) else ""
    found += OTHER if any(each.others for each in had) else ""
    return found + (INCOMPLETE if any(each.statuses["missing"] for each in had) else "")


def meanings(rows: Sequence[Row], own: Mapping[str, str]) -> dict[str, str]:
    """What the marks of these rows mean, by what each means alone: those alone, and those that stand together."""
    used = {cell.mark for row in rows for cell in row.cells if cell.mark and set(cell.mark) <= own.keys()}
    return {mark: " ".join(own[each] for each in mark) for mark in sorted(used)}
