"""What a table's answers are, told from their values: letters, texts, counts, several of these."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lmms_medtasks import parsing
from lmms_medtasks.contribute.column_names import candidates, option_columns, plain
from lmms_medtasks.contribute.wanted import Wanted, adapter_of
from lmms_medtasks.data import adapter, table_cells
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset


@dataclass
class Look:
    """What was found: the task as it would be written, what is said of it, and why it can't be written, if so."""

    wanted: Wanted
    said: list[str] = field(default_factory=list)
    problem: str = ""


def tell_answers(found: Look, table: Dataset) -> None:
    """Which column has the answers, and what they are, where exactly one reading fits."""
    wanted = found.wanted
    if "conversations" in wanted.columns or "answer" not in wanted.columns:
        return
    if "options" not in wanted.columns:
        _tell_references(found, table)
        return
    _tell_letters(found, table)
    start = found.wanted
    named = [wanted.columns["answer"]]
    named += [each for each in candidates(table.column_names, "answer") if each not in named]
    for column in named:
        letters = _read_as(found, column, table)
        if letters:
            others = [each for each in named if each != column]
            _tell_disagreement(found, start, table, others, letters)
            return
        if column == named[0] and not (wanted.answer_is or wanted.several):
            unclear = _unclear(found.wanted, column, table)
            if unclear:
                found.said.append(unclear)
                return


def _read_as(found: Look, column: str, table: Dataset) -> list[str]:
    """The answers of a column as letters in the first way that fits, which ``found`` then has; [] where none does."""
    for tried in _readings(replace(found.wanted, columns={**found.wanted.columns, "answer": column}), table):
        with contextlib.suppress(UserError):
            letters = _letters(tried, table)
            if tried.several and not found.wanted.several and all(len(each) == 1 for each in letters):
                continue  # no cell has several: that nothing else fits is no sign of it
            found.wanted = tried
            return letters
    return []


def _unclear(wanted: Wanted, column: str, table: Dataset) -> str:
    """What has to be said before the answers of a column can be read, "" if nothing would help."""
    values = table[column][:]
    if _whole(values):
        if _are_texts(wanted, column, table):
            return (
                f"`{column}` holds numbers that are options' texts, and could count options too. Say --answer-is text, "
                "index or number"
            )
        return (
            f"`{column}` counts options, from 0 or from 1: no answer tells (none is 0, none is the last option's "
            "number). Say --answer-is index or --answer-is number"
        )
    if _are_texts(wanted, column, table):
        return f"`{column}` holds letters that are options' texts too. Say --answer-is letter or --answer-is text"
    if _form_of_several(values) == "unclear":
        return (
            f"`{column}` names several options, and not whether all of them must be named or any of them is right. Say "
            "--several all or --several any"
        )
    return ""


def _tell_disagreement(
    found: Look, start: Wanted, table: Dataset, others: Sequence[str], letters: Sequence[str]
) -> None:
    """Say which other columns could be the answers, and have others."""
    chosen = found.wanted.columns["answer"]
    for other in others:
        read = _read_as(Look(start), other, table)
        rows = [row for row, (one, two) in enumerate(zip(letters, read, strict=False), start=1) if one != two]
        if rows:
            found.said.append(
                f"`{other}` could be the answers too, and differs from `{chosen}` in {len(rows)} of {len(letters)} "
                f"rows, the first is row {rows[0]}: look which of them is right (--answer COLUMN)"
            )


def _tell_references(found: Look, table: Dataset) -> None:
    """Whether an open question has several references."""
    values = table[found.wanted.columns["answer"]][:]
    if not found.wanted.several and any(len(table_cells.references(value)) > 1 for value in values):
        found.wanted = replace(found.wanted, several="any")
        found.said.append("questions have several references, each of which is right: the nearest counts")


def _tell_letters(found: Look, table: Dataset) -> None:
    """Whether all options begin with their letters."""
    try:
        rows = adapter.options_of(adapter_of(found.wanted), table)
    except UserError:
        return
    if all(table_cells.lettered(row) == list(parsing.option_letters(len(row))) for row in rows):
        found.wanted = replace(found.wanted, lettered=True)
        found.said.append("options begin with their letters, which are taken off (the prompt puts letters)")


def _readings(wanted: Wanted, table: Dataset) -> Iterator[Wanted]:
    """The ways in which the answers may be read, the plain one first."""
    if wanted.answer_is or wanted.several:
        yield wanted
        return
    values = table[wanted.columns["answer"]][:]
    letters = option_columns(table.column_names) and plain(wanted.columns.get("id", "")) == "index"
    if letters:  # VLMEvalKit's form: answers are letters, also where options' texts are letters
        yield replace(wanted, answer_is="letter")
    yield wanted
    whole = _whole(values)
    for kind, sign in (("index", 0), ("number", None)):
        tried = replace(wanted, answer_is=kind)
        if whole and _decides(tried, table, sign):
            yield tried
    form = _form_of_several(values)
    for kind in ("", "letter") if form != "unclear" else ():
        yield replace(wanted, several=form or "all", answer_is=kind)


def _form_of_several(values: Any) -> str:
    """What several letters in a cell mean by how they are written: "any" ("A or B"), "all" ("A, B"), "unclear".

    "" where no cell has several with a sign between them.
    """
    texts = [str(value).strip() for value in values]
    if any(table_cells.SAYS_OR.fullmatch(text) for text in texts):
        together = re.compile(r"[A-Za-z]\s*(?:&|\+|\band\b)\s*[A-Za-z]", re.IGNORECASE)
        return "unclear" if any(together.fullmatch(text) for text in texts) else "any"
    return "unclear" if any(table_cells.SAYS_NEITHER.fullmatch(text) for text in texts) else ""


def _whole(values: Any) -> bool:
    return all(re.fullmatch(r"\s*[0-9]+\s*", str(value)) for value in values)


def _decides(wanted: Wanted, table: Dataset, sign: int | None) -> bool:
    """Whether a value is there that only this way of counting has: 0, or the number of the last option."""
    if _are_texts(wanted, wanted.columns["answer"], table):
        return False  # not ours to choose
    values = [int(str(value)) for value in table[wanted.columns["answer"]][:]]
    if sign == 0:
        return 0 in values
    counts = [len(row) for row in adapter.options_of(adapter_of(wanted), table)]
    return 0 not in values and any(value == count for value, count in zip(values, counts, strict=True))


def _are_texts(wanted: Wanted, column: str, table: Dataset) -> bool:
    """Whether each answer is the text of one of its options."""
    try:
        rows = adapter.options_of(adapter_of(wanted), table)
    except UserError:
        return False
    return all(str(value).strip() in row for value, row in zip(table[column][:], rows, strict=True))


def _letters(wanted: Wanted, table: Dataset) -> list[str]:
    return list(replace(adapter_of(wanted), image=None)(table)["answer"])
