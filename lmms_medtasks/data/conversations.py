"""Question and answer of a conversation as LLaVA's files have it: one turn of a human, one of a model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset

_ASKING = ("human", "user")
_ANSWERING = ("gpt", "assistant", "model")
_PICTURE = re.compile(r"^\s*(?:<image>\s*)+|(?:\s*<image>)+\s*$")


def as_questions(dataset: Dataset, column: str) -> Dataset:
    """``dataset`` with the columns ``question`` and ``answer`` in place of conversations.

    ``<image>`` at either end of a question, which says where the picture goes, is left out: the harness puts pictures.

    Raises:
        UserError: no such column, or a conversation of more than one question, with row.
    """
    if column not in dataset.column_names:
        raise UserError(f"The data has no column {column!r}. It has: {', '.join(dataset.column_names)}.")
    turns = [_turns(value, column, row) for row, value in enumerate(dataset[column])]
    for name in ("question", "answer"):
        if name in dataset.column_names:
            dataset = dataset.remove_columns([name])
    questions = dataset.remove_columns([column]).add_column("question", [asked for asked, _ in turns])
    return questions.add_column("answer", [answered for _, answered in turns])


def _turns(value: Any, column: str, row: int) -> tuple[str, str]:
    where = f"Column {column!r}, row {row + 1}"
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise UserError(f"{where}: expected a list of turns, got {value[:80]!r}.") from error
    if isinstance(value, Mapping):  # a list of mappings, as some versions of `datasets` turn it round
        value = [dict(zip(value, each, strict=True)) for each in zip(*value.values(), strict=True)]
    turns = [(str(each.get("from", each.get("role"))), each.get("value", each.get("content")))
             for each in value or () if isinstance(each, Mapping)]  # fmt: skip
    turns = [(who, said) for who, said in turns if who != "system"]
    if len(turns) != 2 or turns[0][0] not in _ASKING or turns[1][0] not in _ANSWERING:
        found = ", ".join(who for who, _ in turns) or "nothing"
        raise UserError(
            f"{where}: expected one turn of human and one of gpt, got {found}. Write one row for each question: "
            f"each is "
            "asked by itself."
        )
    if not all(isinstance(said, str) for _, said in turns):
        raise UserError(f"{where}: a turn is no text.")
    return _PICTURE.sub("", turns[0][1]), turns[1][1]
