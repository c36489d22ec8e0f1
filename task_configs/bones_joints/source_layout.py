"""How the tables of a Bones and Joints release are laid out: which column holds what, and which tasks a row has.

A row is a question of the task that a column, or the file's name, says; or it is a case, with a column for each of the
answers to Tasks IV to VII. What is neither is refused, with what was wanted and what was found.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks.data import any_tables
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.releases import Release
from lmms_medtasks.data.row_reader import Row, Spellings
from lmms_medtasks.errors import UserError
from lmms_medtasks.task_configs.bones_joints import source_forms as forms

Layout = Literal["task column", "file name", "cases"]

MOST_OPTIONS = 8
CASE_TEXT = ("complaint", "history", "examination", "laboratory")
REFERENCES: Mapping[str, tuple[str, ...]] = {
    "t4": ("diagnosis",),
    "t5": ("diagnostic_reasoning", "reasoning"),
    "t6": ("treatment",),
    "t7": ("treatment_reasoning",),
}
"""Task -> the columns of a case that hold its answer."""


@dataclass(frozen=True)
class ReleaseTable:
    """A table of the release: its name, its columns, what each holds, and the tasks of its rows.

    ``used``: concept -> column. ``images``: the columns with images, ``options``: those with an option each, by letter.
    ``tasks``: task -> number of rows.
    """

    name: str
    columns: tuple[str, ...]
    used: Mapping[str, str]
    images: tuple[str, ...]
    options: tuple[str, ...]
    layout: Layout
    task_column: str
    tasks: Mapping[str, int]

    def value(self, row: Row, concept: str) -> Any:
        """What a row has of a concept; None where the table has no such column."""
        return row.get(self.used[concept]) if concept in self.used else None

    def tasks_of(self, row: Row) -> tuple[str, ...]:
        """The tasks that a row is a question of."""
        if self.layout == "task column":
            return forms.tasks_named(str(row.get(self.task_column) or ""))
        return tuple(self.tasks)

    @property
    def unused(self) -> tuple[str, ...]:
        """The columns that nothing is taken from."""
        taken = {*self.used.values(), *self.images, *self.options, self.task_column}
        return tuple(name for name in self.columns if name not in taken)


@functools.lru_cache(maxsize=4)
def survey_release(release: Release) -> tuple[ReleaseTable, ...]:
    """Every table of the release, looked through once.

    Raises:
        UserError: a table can't be read, says nothing of its tasks, or lacks columns that they need.
    """
    return tuple(_read_table_layout(release, name) for name in release.names() if any_tables.is_table(name))


def _read_table_layout(release: Release, name: str) -> ReleaseTable:
    path = release.file(name)
    columns = any_tables.read_table_columns(path)
    used, images, options = _match_columns(columns)
    layout, column, tasks = _find_layout(release, name, columns, used)
    table = ReleaseTable(name, columns, used, images, options, layout, column, tasks)
    _check_table(table, release)
    return table


def read_release_rows(release: Release, table: ReleaseTable) -> Iterator[Row | None]:
    """The records of a table; None for one that is no record."""
    return any_tables.iter_table_rows(release.file(table.name))


def _match_columns(columns: Sequence[str]) -> tuple[dict[str, str], tuple[str, ...], tuple[str, ...]]:
    """Concept -> column; the image columns; the option columns in the order of their letters."""
    by_name = {forms.fold_name(name): name for name in reversed(columns)}
    used: dict[str, str] = {}
    for concept, names in forms.column_aliases().items():
        found = next((by_name[forms.fold_name(name)] for name in names if forms.fold_name(name) in by_name), None)
        if found is not None:
            used[concept] = found
    options = []
    for letter in LETTERS[:MOST_OPTIONS]:
        spellings = [forms.fold_name(name) for name in forms.option_columns(letter)]
        place = next((by_name[spelling] for spelling in spellings if spelling in by_name), None)
        if place is None:
            break
        options.append(place)
    return used, _image_columns(columns, used.get("image")), tuple(options) if len(options) > 1 else ()


def _image_columns(columns: Sequence[str], found: str | None) -> tuple[str, ...]:
    """The image column, or image_1, image_2 ... in the order of their numbers."""
    stems = {forms.fold_name(name) for name in forms.column_aliases()["image"]}
    numbered = []
    for name in columns:
        match = re.fullmatch(r"(.*?)(\d+)", forms.fold_name(name))
        if match and match.group(1) in stems:
            numbered.append((int(match.group(2)), name))
    return (*([found] if found else []), *(name for _, name in sorted(numbered)))


def _find_layout(
    release: Release, name: str, columns: Sequence[str], used: Mapping[str, str]
) -> tuple[Layout, str, Mapping[str, int]]:
    path = release.file(name)
    if "task" in used:
        return "task column", used["task"], _tasks_in(path, used["task"], name)
    by_name = {forms.fold_name(each): each for each in columns}
    for column in (
        by_name[forms.fold_name(weak)] for weak in forms.weak_task_columns() if forms.fold_name(weak) in by_name
    ):
        if found := _tasks_in(path, column):
            return "task column", column, found
    count = sum(1 for _ in any_tables.iter_table_rows(path))
    if task := forms.task_of_file(name):
        return "file name", "", {task: count}
    tasks = [task for task, concepts in REFERENCES.items() if any(concept in used for concept in concepts)]
    if tasks and any(each in used for each in (*CASE_TEXT, "question")):
        return "cases", "", dict.fromkeys(tasks, count)
    answers = [each for some in REFERENCES.values() for each in some]
    raise UserError(
        f"{name} does not say which tasks its rows are of. Expected one of: a column with the task "
        f"({_list_aliases('task')}); a file name like task_3.csv; or a row a case, with columns for the text "
        f"({', '.join(CASE_TEXT)}) and the answers ({', '.join(answers)}). "
        f"Found columns: {', '.join(columns) or 'none'}."
    )


def _tasks_in(path: Path, column: str, certain: str = "") -> Mapping[str, int]:
    """How many rows each task has.

    ``certain``: the table's name, where the column must hold tasks: UserError for a text that is none. Of another
    column every row must name a task: otherwise it holds something else, {}.
    """
    counts: Counter[str] = Counter()
    spellings = Spellings({column: forms.tasks_read})
    for number, row in enumerate(any_tables.iter_table_rows(path), start=1):
        text = str((row or {}).get(column) or "")
        if not forms.tasks_named(text) and not certain:
            return {}
        counts.update(forms.tasks_named(text))
        spellings.look(number, {column: text})
    spellings.check(certain)
    return {task: counts[task] for task in forms.task_forms() if task in counts}


def _list_aliases(concept: str) -> str:
    return ", ".join(forms.column_aliases()[concept])


def _check_table(table: ReleaseTable, release: Release) -> None:
    """``UserError`` unless the table has the columns that its tasks need."""
    missing: dict[str, str] = {}
    for task in map(forms.task_forms().__getitem__, table.tasks):
        texts = ("question",) if task.form == "choice" else ("question", *CASE_TEXT)
        if not any(concept in table.used for concept in texts):
            missing["the text"] = "; ".join(map(_list_aliases, texts))
        if task.form == "choice" and not _has_options(table, release):
            missing["the options"] = (
                f"{_list_aliases('options')}; or A, B, ... (option A, choice A) in columns of their own"
            )
        answers = ("answer", *REFERENCES.get(task.key, ()))
        if not any(concept in table.used for concept in answers):
            missing[f"the answers of {task.title}"] = "; ".join(map(_list_aliases, answers))
        if task.images and not table.images:
            missing["the images"] = f"{_list_aliases('image')}; also with a number behind"
    if missing:
        wanted = "\n  ".join(f"{what}: {names}" for what, names in missing.items())
        raise UserError(
            f"{table.name} lacks required columns. Missing (any of the names, in any case):\n  {wanted}\n"
            f"Found: {', '.join(table.columns) or 'none'}."
        )


def _has_options(table: ReleaseTable, release: Release) -> bool:
    if "options" in table.used or table.options:
        return True
    found = (str(table.value(row, "question") or "") for row in read_release_rows(release, table) if row is not None)
    return any(len(options_in(text)[1]) > 1 for text in found)


def options_in(text: str) -> tuple[str, list[str]]:
    """A question that has its options in its own text, as lines "A. ..." at its end, taken apart.

    >>> options_in("Which bone?\\nA. femur\\nB. tibia")
    ('Which bone?', ['femur', 'tibia'])
    """
    lines = text.strip().splitlines()
    options: list[str] = []
    start = len(lines)
    for number in range(len(lines)):
        found = [re.fullmatch(rf"\s*[(]?{LETTERS[place]}[).:、．]\s*(.+)", line)
                 for place, line in enumerate(lines[number : number + MOST_OPTIONS])]  # fmt: skip
        if len(found) > 1 and len(found) == len(lines) - number and all(found):
            options, start = [match.group(1).strip() for match in found if match], number
            break
    return "\n".join(lines[:start]).strip(), options
