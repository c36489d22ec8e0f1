"""Questions that are stored as conversations: LLaVA's ``conversations``, and ``messages`` as chat models get them."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from datasets import Dataset

_UNSHOWN = ("system", "developer")
_ASKING = ("human", "user")
_ANSWERING = ("gpt", "assistant", "model", "bot")
_SPEAKER_KEYS = ("from", "role")
_CONTENT_KEYS = ("value", "content")
_TEXT_KEYS = ("text", "content", "value")
_PICTURE_KEYS = ("image", "image_url", "url", "path", "source", "data", "bytes")
"""Keys of a part of a turn, or of a mapping in it, under which an image stands."""
_TEXT_TYPES = ("text", "input_text", "output_text")
_PICTURE_TYPES = ("image", "image_url", "input_image", "image_path")
PLACEHOLDERS = re.compile(r"^\s*(?:<image>\s*)+|(?:\s*<image>)+\s*$")
"""``<image>`` at either end of a question, which is left out: the harness puts images."""


class AskedTurn(NamedTuple):
    """What a conversation asks, its answer (None if it has none), and the images in its turns."""

    question: str
    answer: str | None
    pictures: list[Any]


def holds_conversation(value: Any) -> bool:
    """Whether a cell holds turns: a list of mappings, also as text, that say who speaks."""
    try:
        turns = _list_turns(value, "")
    except UserError:
        return False
    return bool(turns) and all(turn.keys() & set(_SPEAKER_KEYS) and turn.keys() & set(_CONTENT_KEYS) for turn in turns)


def questions_from_conversations(dataset: Dataset, column: str, picture_columns: bool = False) -> Dataset:
    """``dataset`` with the columns ``question`` and ``answer`` made of the conversations in ``column``.

    A turn is a text, or a list of parts: texts and images. The images become the column ``image``, unless the data has
    ``picture_columns``; where they stood the question has ``<image>``. A conversation without an answer leaves the
    answer to a column of the data.

    Raises:
        UserError: There is no such column, a conversation has more than one question, some have answers and others
            not, or a part is neither text nor image.
    """
    if column not in dataset.column_names:
        raise UserError(f"The data has no column {column!r}. It has: {', '.join(dataset.column_names)}.")
    turns = [_read_conversation(value, f"Column {column!r}, row {row}") for row, value in enumerate(dataset[column], 1)]
    made: dict[str, list[Any]] = {"question": [turn.question for turn in turns]}
    answers = [turn.answer for turn in turns]
    if any(answer is not None for answer in answers):
        if None in answers:
            raise UserError(f"Column {column!r}, row {answers.index(None) + 1}: no turn of the model, others have one.")
        made["answer"] = answers
    if not picture_columns and any(turn.pictures for turn in turns):
        made["image"] = [turn.pictures for turn in turns]
    dataset = dataset.remove_columns([name for name in made if name in dataset.column_names])
    for name, values in made.items():
        dataset = dataset.add_column(name, values)
    return dataset


def unshown_texts(value: Any) -> list[str]:
    """The texts of a conversation's turns that are not shown to a model: the system's."""
    turns = _list_speakers(value, "")
    return [_read_content(content, "")[0] for speaker, content in turns if speaker in _UNSHOWN]


def _list_speakers(value: Any, where: str) -> list[tuple[str, Any]]:
    return [
        (str(_first_value(turn, _SPEAKER_KEYS)).lower(), _first_value(turn, _CONTENT_KEYS))
        for turn in _list_turns(value, where)
    ]


def _read_conversation(value: Any, where: str) -> AskedTurn:
    turns = _list_speakers(value, where)
    turns = [(speaker, content) for speaker, content in turns if speaker not in _UNSHOWN]
    speakers = [speaker for speaker, _ in turns]
    if not (1 <= len(turns) <= 2 and speakers[0] in _ASKING and set(speakers[1:]) <= set(_ANSWERING)):
        raise UserError(
            f"{where}: expected one turn of human and one of gpt, got {', '.join(speakers) or 'nothing'}. Write one "
            "row for each question: each is asked by itself."
        )
    question, pictures = _read_content(turns[0][1], where)
    answer, drawn = _read_content(turns[1][1], where) if len(turns) > 1 else (None, [])
    if drawn or "<image>" in (answer or ""):
        raise UserError(f"{where}: the answer holds an image, expected a text.")
    return AskedTurn(question, answer, pictures)


def _list_turns(value: Any, where: str) -> list[Mapping[str, Any]]:
    value = _parse_written(value, where) if isinstance(value, str) else value
    if isinstance(value, Mapping) and all(isinstance(each, list) for each in value.values()):
        # A list of mappings, as some versions of `datasets` turn it round
        value = [dict(zip(value, each, strict=False)) for each in zip(*value.values(), strict=False)]
    return [turn for turn in value if isinstance(turn, Mapping)] if isinstance(value, list) else []


def _parse_written(text: str, where: str) -> Any:
    for parse in (json.loads, ast.literal_eval):
        try:
            return parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    raise UserError(f"{where}: expected a list of turns, got {text[:80]!r}.")


def _read_content(content: Any, where: str) -> tuple[str, list[Any]]:
    """The text of a turn with ``<image>`` for each image, and those images that it holds or names."""
    texts, pictures = [], []
    for part in content if isinstance(content, list) else [content]:
        kind = part.get("type") if isinstance(part, Mapping) else None
        text = part if isinstance(part, str) else _first_value(part, _TEXT_KEYS) if isinstance(part, Mapping) else None
        if isinstance(text, str) and (kind is None or kind in _TEXT_TYPES):
            texts.append(text)
        elif isinstance(part, Mapping) and (
            kind in _PICTURE_TYPES or (kind is None and _first_value(part, _PICTURE_KEYS))
        ):
            texts.append("<image>")
            pictures += [picture] if (picture := _picture_in(part)) else []
        else:
            raise UserError(
                f"{where}: a part of a turn is {str(part)[:80]!r}. Only texts and images are shown to a model: "
                '{"type": "text", "text": "..."}, {"type": "image", "image": "a.png"}. Take the others out.'
            )
    return "\n".join(texts), pictures


def _picture_in(part: Mapping[str, Any]) -> Any:
    """The image of a part: a name, an address, base64, or a mapping with bytes; None for a mere placeholder."""
    value = _first_value(part, _PICTURE_KEYS)
    if isinstance(value, Mapping) and not isinstance(value.get("bytes"), bytes):
        return _picture_in(value)
    return value.removeprefix("file://") if isinstance(value, str) else value


def _first_value(mapping: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((mapping[key] for key in keys if mapping.get(key) is not None), None)
