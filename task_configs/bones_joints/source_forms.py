"""What Bones and Joints has: eight tasks, seven sites, its diseases, and how a release may spell them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError

Form = Literal["choice", "open", "chain", "contradiction"]


@dataclass(frozen=True)
class PathwayTask:
    """One of the eight. ``form``: multiple choice; an open answer; a chain of reasoning; or a contradiction to find.

    ``split`` holds its questions, ``paper`` is how many the paper has, ``images`` whether each needs one, ``asked``
    what its judge is told that the model was asked for.
    """

    key: str
    numeral: str
    name: str
    form: Form
    split: str
    paper: int
    images: bool
    asked: str

    @property
    def title(self) -> str:
        """``Task IV, Diagnosis Generation``."""
        return f"Task {self.numeral}, {self.name}"


def _forms_table() -> Mapping[str, Any]:
    table: dict[str, Any] = folders.read_yaml(Path(__file__).with_name("forms.yml"))
    return table


@functools.cache
def task_forms() -> Mapping[str, PathwayTask]:
    """The tasks by their keys, "t1" to "t8"."""
    return MappingProxyType(
        {
            key: PathwayTask(
                key,
                row["numeral"],
                row["name"],
                row["form"],
                row["split"],
                row["paper"],
                row.get("images", False),
                row.get("asked", ""),
            )
            for key, row in _forms_table()["tasks"].items()
        }
    )


@functools.cache
def site_names() -> tuple[str, ...]:
    """The seven sites, the most frequent first."""
    return tuple(_forms_table()["sites"])


@functools.cache
def column_aliases() -> Mapping[str, tuple[str, ...]]:
    """What is wanted of a row -> the columns that may hold it, the surest first."""
    return MappingProxyType({concept: tuple(names) for concept, names in _forms_table()["columns"].items()})


@functools.cache
def weak_task_columns() -> tuple[str, ...]:
    """Columns that hold the task only where nothing but tasks stands in them."""
    return tuple(_forms_table()["weak_task_columns"])


def option_columns(letter: str) -> list[str]:
    """The columns that may hold the option of this letter."""
    return [pattern.format(letter=letter) for pattern in _forms_table()["option_columns"]]


def fold_name(text: str) -> str:
    """What counts of a name: letters and digits of any script, without case.

    >>> folded("Task_III (Images)")
    'taskiiiimages'
    """
    return re.sub(r"[\W_]", "", text.casefold())


@functools.cache
def _task_spellings() -> Mapping[str, str]:
    found = {}
    for number, (key, row) in enumerate(_forms_table()["tasks"].items(), start=1):
        for name in (row["name"], *row["also"]):
            found[fold_name(name)] = key
        for mark in (row["numeral"], str(number)):
            for prefix in ("", "t", "task"):
                found[fold_name(prefix + mark)] = key
    return found


def tasks_named(text: str) -> tuple[str, ...]:
    """The tasks that a cell names: one, or several joined ("IV & V"); () if a part of it names none.

    >>> tasks_named("Task III: Radiological Image Interpretation"), tasks_named("IV & V"), tasks_named("quiz")
    (('t3',), ('t4', 't5'), ())
    """
    whole = _one_task(text)
    if whole:
        return (whole,)
    parts = [_one_task(part) for part in re.split(r"[,;/+&]|\band\b", text, flags=re.IGNORECASE)]
    return tuple(dict.fromkeys(part for part in parts if part)) if parts and all(parts) else ()


def tasks_read(text: str) -> tuple[str, ...]:
    """As :func:`tasks_named`; raises UserError for a text that names no task."""
    if not (found := tasks_named(text)):
        allowed = ", ".join(f"{task.numeral} ({task.name})" for task in task_forms().values())
        raise UserError(f"Unknown task {text!r}. Allowed, by number or name: {allowed}.")
    return found


def _one_task(text: str) -> str:
    """The task that a text names, by number, name, or both; "" if it names none."""
    spellings = _task_spellings()
    if fold_name(text) in spellings:
        return spellings[fold_name(text)]
    # "Task III: Radiological Image Interpretation", "Diagnosis Generation (Task IV)"
    parts = [fold_name(part) for part in re.split(r"[:()\-\u2013\u2014]|\.\s|_", text) if fold_name(part)]
    found = {spellings.get(part, "") for part in parts}
    return found.pop() if len(parts) > 1 and len(found) == 1 else ""


def task_of_file(name: str) -> str:
    """The task that a file's name or a folder above it names, the file's first; "" if none does.

    >>> task_of_file("data/task_3.csv"), task_of_file("Knowledge Recall/test.jsonl"), task_of_file("data/test.csv")
    ('t3', 't1', '')
    """
    for part in reversed(re.sub(r"\.\w+$", "", name).split("/")):
        # A plain number or a letter is no name of a task here: "data/1.csv".
        plain = re.sub(r"[-_](?:test|train|\d{5}of\d{5}|\d{5})+.*$", "", part)
        if len(fold_name(plain)) > 1 and (found := _one_task(plain)) and not fold_name(plain).isdigit():
            return found
    return ""


@functools.cache
def _site_spellings() -> Mapping[str, str]:
    return {fold_name(name): site for site, row in _forms_table()["sites"].items() for name in (site, *row["also"])}


def site_named(text: str) -> str:
    """The site that a text names ("Knee joint", "left knee"), "" if it names none of the seven.

    >>> site_named("Left knee joint"), site_named("skull")
    ('knee', '')
    """
    bare = re.sub(r"\b(?:left|right|both|bilateral|the)\b|[左右双]侧?", "", text, flags=re.IGNORECASE)
    return _site_spellings().get(fold_name(bare), "")


def is_listed(disease: str) -> bool:
    """Whether a disease is among those of the paper that we know by name."""
    return fold_name(disease) in map(fold_name, _forms_table()["diseases"]["known"])


def paper_share(site: str) -> float:
    """The share in percent of the paper's questions that are of a site."""
    return float(_forms_table()["sites"][site]["paper"])
