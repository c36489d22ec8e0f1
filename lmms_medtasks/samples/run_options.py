"""Options of the harness's command line that changed a task: a mapping in its metadata, and its description."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.parsing.reply import Tags, parse_tags

METADATA = "changed_by_options"
"""The key of the mapping in a task's metadata; missing if options changed nothing."""

GENERATION, SYSTEM_INSTRUCTION, REASONING_TAGS = "generation", "system_instruction", "reasoning_tags"
"""Keys of the mapping, with these values: setting -> [the task's, the run's]; the digest of the text; the tags."""

TAGS_OPTION = "--reasoning_tags"

HARNESS_TAGS = (("<think>", "</think>"), ("<analysis>", "</analysis>"))
"""The thoughts that the harness removes from replies by default."""

_OFF = (None, False, "", "none")


def parse_given_tags(value: object, where: str) -> Tags:
    """The tags of an option or a YAML; () for none and for :data:`HARNESS_TAGS`. ``where``: for the message.

    Raises UserError if they are not pairs of marks.
    """
    if value in _OFF:
        return ()
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            raise UserError(
                f"{where} {value!r:.60} is no JSON. Give a list of pairs, each with the mark that opens thoughts and "
                """the one that closes them: '[["<ponder>", "</ponder>"]]', or none."""
            ) from None
        if value in _OFF:
            return ()
    tags = parse_tags(value, where)
    return () if tags == HARNESS_TAGS else tags


def describe_changed_options(told: Mapping[str, Any]) -> list[str]:
    """The changes, each as ``temperature=0 instead of 0.7``; ``told``: the metadata of a task."""
    changes = told.get(METADATA)
    return list(_iter_changes(changes)) if isinstance(changes, Mapping) else []


def _iter_changes(changes: Mapping[str, Any]) -> Iterator[str]:
    generation = changes.get(GENERATION)
    for name, values in generation.items() if isinstance(generation, Mapping) else ():
        task_value, used = values if isinstance(values, list | tuple) and len(values) == 2 else (None, values)
        yield f"{name}={_format_value(used)} instead of {_format_value(task_value)}"
    if digest := changes.get(SYSTEM_INSTRUCTION):
        yield f"system instruction ({digest})"
    if REASONING_TAGS in changes:
        yield f"reasoning tags {_format_value(changes[REASONING_TAGS])}"


def _format_value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    return "none" if value is None else str(value)
