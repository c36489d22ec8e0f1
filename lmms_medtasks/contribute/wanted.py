"""What a new task is to be, as the command line says it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lmms_medtasks.data import text_tables
from lmms_medtasks.data.adapter import Columns, from_columns
from lmms_medtasks.errors import UserError


@dataclass(frozen=True)
class Wanted:
    """What a new task is to be.

    ``dataset``: a table in the task's folder, a hub's ``owner/name``, or ``medtasks://suite/split``. ``columns``: our
    name -> the table's, where they differ ("options" and "image" may have several, joined by commas;
    "conversations" is one in place of question and answer). ``settings``: what goes into the YAML. ``card``: paper,
    licence, terms, deviations. ``reader``: options of the reader of the table (``sep``, ``sheet``).
    """

    name: str
    template: str
    dataset: str
    folder: Path
    split: str = "test"
    columns: Mapping[str, str] = field(default_factory=dict)
    answer_is: str = ""
    tags: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    card: Mapping[str, str] = field(default_factory=dict)
    several: str = ""
    lettered: bool = False
    reader: Mapping[str, str] = field(default_factory=dict)

    @property
    def table(self) -> Path | None:
        """The table in the folder; None for data that lie elsewhere. Raises UserError for a table elsewhere."""
        if self.dataset.startswith("medtasks://"):
            return None
        path = Path(self.dataset)
        known = path.suffix.lower() in text_tables.LOADERS
        if not known and re.fullmatch(r"[\w.-]+/[\w.-]+", self.dataset) and not path.exists():
            return None  # on a hub
        if path.is_dir():
            tables = sorted(each.name for each in path.iterdir() if each.suffix.lower() in text_tables.LOADERS)
            raise UserError(
                f"--dataset {self.dataset!r} is a folder. Name one table in it: {', '.join(tables[:10]) or '(none)'}."
            )
        if not path.is_file():
            raise UserError(
                f"--dataset {self.dataset!r}: no such file. Allowed: a table in {self.folder}/ "
                f"({', '.join(text_tables.LOADERS)}), a hub's owner/name, or medtasks://suite/split."
            )
        text_tables.loader(path)
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise UserError(
                f"--dataset {self.dataset!r} is not in {self.folder}/. Put the table and its images there first, so "
                "that the task finds them wherever the folder goes."
            )
        return path


def adapter_arguments(wanted: Wanted) -> dict[str, Any]:
    """The arguments of ``from_columns`` that differ from what they are without being said."""
    given: dict[str, Any] = {key: value for key, value in wanted.columns.items() if value != key}
    if "conversations" in wanted.columns:
        given["conversations"] = wanted.columns["conversations"]
    for key in ("options", "image"):
        if "," in given.get(key, ""):
            given[key] = given[key].split(",")
    if given.get("image") == "images":
        del given["image"]  # the standard name stands for both
    for key in ("answer_is", "several", "lettered"):
        if getattr(wanted, key):
            given[key] = getattr(wanted, key)
    if wanted.tags:
        given["tags"] = list(wanted.tags)
    return given


def adapter_of(wanted: Wanted) -> Columns:
    """The adapter that ``wanted`` has."""
    return from_columns(**adapter_arguments(wanted))
