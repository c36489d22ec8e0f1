"""The eight tasks, seven sites and the diseases of Bones and Joints, and their spellings in a release."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError

Form = Literal["choice", "open", "chain", "contradiction"]


@dataclass(frozen=True, kw_only=True)
class PathwayTask:
    """One of the eight tasks. ``form``: multiple choice, an open answer, a chain of reasoning, a contradiction to find.

    ``split`` holds its questions. ``paper``: their number in the paper. ``images``: whether each question needs one.
    ``asked``: what the model was asked for, as its judge is told. ``also``: other spellings of its name.
    """

    key: str
    numeral: str
    name: str
    form: Form
    split: str
    paper: int
    also: tuple[str, ...]
    images: bool = False
    asked: str = ""

    @property
    def title(self) -> str:
        """``Task IV, Diagnosis Generation``."""
        return f"Task {self.numeral}, {self.name}"


def forms_table() -> Mapping[str, Any]:
    """The content of ``forms.yml``."""
    return folders.read_yaml(Path(__file__).with_name("forms.yml"))


@functools.cache
def task_forms() -> Mapping[str, PathwayTask]:
    """The tasks by their keys, "t1" to "t8"."""
    rows = forms_table()["tasks"]
    return {key: PathwayTask(key=key, **{**row, "also": tuple(row["also"])}) for key, row in rows.items()}


def site_names() -> tuple[str, ...]:
    """The seven sites, the most frequent first."""
    return tuple(forms_table()["sites"])


def fold_name(text: str) -> str:
    """The letters and digits of a name, of any script, without case.

    >>> fold_name("Task_III (Images)")
    'taskiiiimages'
    """
    return re.sub(r"[\W_]", "", text.casefold())


@functools.cache
def _task_spellings() -> Mapping[str, str]:
    spellings = {}
    for number, (key, task) in enumerate(task_forms().items(), start=1):
        numbered = [prefix + mark for mark in (task.numeral, str(number)) for prefix in ("", "t", "task")]
        spellings.update({fold_name(name): key for name in (task.name, *task.also, *numbered)})
    return spellings


def tasks_named(text: str) -> tuple[str, ...]:
    """The tasks that a cell names: one, or several joined ("IV & V"); () if a part of it names none.

    >>> tasks_named("Task III: Radiological Image Interpretation"), tasks_named("IV & V"), tasks_named("quiz")
    (('t3',), ('t4', 't5'), ())
    """
    if whole := _one_task(text):
        return (whole,)
    parts = [_one_task(part) for part in re.split(r"[,;/+&]|\band\b", text, flags=re.IGNORECASE)]
    return tuple(dict.fromkeys(part for part in parts if part)) if parts and all(parts) else ()


def tasks_read(text: str) -> tuple[str, ...]:
    """As :func:`tasks_named`; raises UserError for a text that names no task."""
    if not (tasks := tasks_named(text)):
        allowed = ", ".join(f"{task.numeral} ({task.name})" for task in task_forms().values())
        raise UserError(f"Unknown task {text!r}. Allowed, by number or name: {allowed}.")
    return tasks


def _one_task(text: str) -> str:
    """The task that a text names, by number, name, or both; "" if it names none."""
    spellings = _task_spellings()
    if fold_name(text) in spellings:
        return spellings[fold_name(text)]
    # "Task III: Radiological Image Interpretation", "Diagnosis Generation (Task IV)"
    parts = [fold_name(part) for part in re.split(r"[:()\-\u2013\u2014]|\.\s|_", text) if fold_name(part)]
    tasks = {spellings.get(part, "") for part in parts}
    return tasks.pop() if len(parts) > 1 and len(tasks) == 1 else ""


def task_of_file(name: str) -> str:
    """The task that a file's name or a folder above it names, the file's first; "" if none does.

    >>> task_of_file("data/task_3.csv"), task_of_file("Knowledge Recall/test.jsonl"), task_of_file("data/test.csv")
    ('t3', 't1', '')
    """
    for part in reversed(re.sub(r"\.\w+$", "", name).split("/")):
        # A plain number or a letter does not name a task here: "data/1.csv".
        plain = re.sub(r"[-_](?:test|train|\d{5}of\d{5}|\d{5})+.*$", "", part)
        if len(fold_name(plain)) > 1 and (task := _one_task(plain)) and not fold_name(plain).isdigit():
            return task
    return ""


@functools.cache
def _site_spellings() -> Mapping[str, str]:
    return {fold_name(name): site for site, row in forms_table()["sites"].items() for name in (site, *row["also"])}


def site_named(text: str) -> str:
    """The site that a text names ("Knee joint", "left knee"), "" if it names none of the seven.

    >>> site_named("Left knee joint"), site_named("skull")
    ('knee', '')
    """
    bare = re.sub(r"\b(?:left|right|both|bilateral|the)\b|[左右双]侧?", "", text, flags=re.IGNORECASE)
    return _site_spellings().get(fold_name(bare), "")


def is_listed(disease: str) -> bool:
    """Whether the paper's text names a disease."""
    return fold_name(disease) in map(fold_name, forms_table()["diseases"]["known"])
