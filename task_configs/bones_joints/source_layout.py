"""The layout of the tables of a Bones and Joints release: what each column holds, and the tasks of a row.

A row is a question of the task that a column or the file's name states, or a case with a column for each of the answers
to Tasks IV to VII. Any other table is refused, with the expected columns and those found.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from lmms_medtasks.data import any_tables, text_tables
from lmms_medtasks.data.documents import LETTERS
from lmms_medtasks.data.releases import Release, is_junk
from lmms_medtasks.data.row_reader import Row, Spellings
from lmms_medtasks.errors import UserError
from lmms_medtasks.progress import print_message
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


class UnknownTasksError(UserError):
    """A table that does not say which tasks its rows are of."""


@dataclass(frozen=True)
class ReleaseTable:
    """A table of the release: its file, its columns, what each holds, and the tasks of its rows.

    ``sheet``: of a workbook, else "". ``used``: concept -> column. ``images``: the columns with images, ``options``:
    those with an option each, by letter. ``tasks``: task -> number of rows.
    """

    name: str
    path: Path
    sheet: str
    columns: tuple[str, ...]
    used: Mapping[str, str]
    images: tuple[str, ...]
    options: tuple[str, ...]
    layout: Layout
    task_column: str
    tasks: Mapping[str, int]

    @property
    def title(self) -> str:
        """The table, for messages."""
        return _table_title(self.name, self.sheet)

    def iter_rows(self) -> Iterator[Row | None]:
        """The records, in order; None for what is no record."""
        return _iter_rows(self.path, self.sheet)

    def value(self, row: Row, concept: str) -> Any:
        """The cell of a concept in a row; None where the table has no such column."""
        return row.get(self.used[concept]) if concept in self.used else None

    def tasks_of(self, row: Row) -> tuple[str, ...]:
        """The tasks that a row is a question of."""
        if self.layout == "task column":
            return forms.tasks_named(str(row.get(self.task_column) or ""))
        return tuple(self.tasks)

    def content_of(self, row: Row) -> tuple[str, ...]:
        """What a row asks, however it is laid out: its tasks and its texts, without their order, names and ids.

        Images are named from the table's folder, so the same name in another folder is other content.
        """
        concepts = [column for concept, column in self.used.items() if concept not in ("id", "task")]
        columns = dict.fromkeys((*concepts, *self.images, *self.options))
        folder = str(PurePosixPath(self.name).parent) if any(row.get(name) for name in self.images) else ""
        return (folder, *self.tasks_of(row), *sorted(text for name in columns for text in _cell_texts(row.get(name))))

    @property
    def unused(self) -> tuple[str, ...]:
        """The columns that are not read."""
        taken = {*self.used.values(), *self.images, *self.options, self.task_column}
        return tuple(name for name in self.columns if name not in taken)


@functools.lru_cache(maxsize=4)
def survey_release(release: Release) -> tuple[ReleaseTable, ...]:
    """Every table of the release, read once. Others than tables of questions, and copies, are left out with a message.

    Raises:
        UserError: a table can't be read or lacks columns that its tasks need, or no table states its tasks.
    """
    tables: list[ReleaseTable] = []
    left_out: list[UnknownTasksError] = []
    names = [name for name in release.names() if any_tables.is_table(name) and not is_junk(name)]
    for name, path in [(name, release.file(name)) for name in names]:
        for sheet in any_tables.list_sheets(path):
            try:
                tables.append(_read_table_layout(name, path, sheet))
            except UnknownTasksError as error:
                left_out.append(error)
    if left_out and not tables:
        raise left_out[0]
    for reason in left_out:
        print_message(f"Left out as no table of questions: {reason}")
    return tuple(_without_copies(tables))


def _without_copies(tables: Sequence[ReleaseTable]) -> Iterator[ReleaseTable]:
    """The tables but for those whose questions are all in another one (the first of equal ones stays)."""
    compared = tables if len(tables) > 1 else ()
    contents = [{table.content_of(row) for row in table.iter_rows() if row is not None} for table in compared]
    for index, table in enumerate(tables):
        whole = (
            other
            for place, other in enumerate(compared)
            # A table without a readable row is no copy: why it has none must be said.
            if contents[index]
            and (contents[index] < contents[place] or (contents[index] == contents[place] and place < index))
        )
        if copied := next(whole, None):
            print_message(f"Left out as a copy: the questions of {table.title} are all in {copied.title}.")
        else:
            yield table


def _cell_texts(value: Any) -> Iterator[str]:
    """The texts in a cell, which may be a list or a mapping, also as JSON."""
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _cell_texts(item)
    elif value is not None and (text := str(value).strip()):
        yield text


def _table_title(name: str, sheet: str) -> str:
    return f"{name}, sheet {sheet!r}" if sheet else name


def _separator(path: Path) -> str:
    return text_tables.separator_of(path) if path.suffix.lower() in (".csv", ".tsv") else ""


def _iter_rows(path: Path, sheet: str) -> Iterator[Row | None]:
    return any_tables.iter_table_rows(path, sheet=sheet, separator=_separator(path))


def _read_table_layout(name: str, path: Path, sheet: str) -> ReleaseTable:
    columns = any_tables.read_table_columns(path, sheet=sheet, separator=_separator(path))
    by_name = {forms.fold_name(column): column for column in reversed(columns)}
    used = {
        concept: column
        for concept, names in forms.forms_table()["columns"].items()
        if (column := _first_column(by_name, names)) is not None
    }
    layout, task_column, tasks = _find_layout(path, name, sheet, by_name, used)
    table = ReleaseTable(
        name=name,
        path=path,
        sheet=sheet,
        columns=columns,
        used=used,
        images=_image_columns(columns, used.get("image")),
        options=_option_columns(by_name),
        layout=layout,
        task_column=task_column,
        tasks=tasks,
    )
    _check_table(table)
    return table


def _first_column(by_name: Mapping[str, str], names: Sequence[str]) -> str | None:
    """The column of the first of these names that the table has; ``by_name``: folded name -> column."""
    return next((by_name[folded] for folded in map(forms.fold_name, names) if folded in by_name), None)


def _option_columns(by_name: Mapping[str, str]) -> tuple[str, ...]:
    """The option columns in the order of their letters; () for fewer than two."""
    patterns = forms.forms_table()["option_columns"]
    options = []
    for letter in LETTERS[:MOST_OPTIONS]:
        column = _first_column(by_name, [pattern.format(letter=letter) for pattern in patterns])
        if column is None:
            break
        options.append(column)
    return tuple(options) if len(options) > 1 else ()


def _image_columns(columns: Sequence[str], unnumbered: str | None) -> tuple[str, ...]:
    """The image column, or image_1, image_2 ... in the order of their numbers."""
    stems = set(map(forms.fold_name, forms.forms_table()["columns"]["image"]))
    matches = [(re.fullmatch(r"(.*?)(\d+)", forms.fold_name(name)), name) for name in columns]
    numbered = sorted((int(match[2]), name) for match, name in matches if match and match[1] in stems)
    return (*([unnumbered] if unnumbered else []), *(name for _, name in numbered))


def _find_layout(
    path: Path, name: str, sheet: str, by_name: Mapping[str, str], used: Mapping[str, str]
) -> tuple[Layout, str, Mapping[str, int]]:
    if "task" in used:
        return "task column", used["task"], _tasks_in(path, sheet, used["task"], _table_title(name, sheet))
    for weak in forms.forms_table()["weak_task_columns"]:
        column = _first_column(by_name, [weak])
        if column is not None and (counts := _tasks_in(path, sheet, column)):
            return "task column", column, counts
    count = sum(1 for _ in _iter_rows(path, sheet))
    if task := (forms.task_of_file(sheet) or forms.task_of_file(name)):
        return "file name", "", {task: count}
    tasks = [task for task, concepts in REFERENCES.items() if any(concept in used for concept in concepts)]
    if tasks and any(concept in used for concept in (*CASE_TEXT, "question")):
        return "cases", "", dict.fromkeys(tasks, count)
    answers = [concept for concepts in REFERENCES.values() for concept in concepts]
    raise UnknownTasksError(
        f"{_table_title(name, sheet)} does not say which tasks its rows are of. Expected one of: a column with the "
        f"task ({_list_aliases('task')}); a file name like task_3.csv, or a sheet like Task III; or a row a case, with "
        "columns for the text "
        f"({', '.join(CASE_TEXT)}) and the answers ({', '.join(answers)}). "
        f"Found columns: {', '.join([*by_name.values()][::-1]) or 'none'}."
    )


def _tasks_in(path: Path, sheet: str, column: str, certain: str = "") -> Mapping[str, int]:
    """The number of rows of each task.

    ``certain``: the table's name, where the column must hold tasks: UserError for a text that names none. Any other
    column holds tasks only if every row names one; otherwise {}.
    """
    counts: Counter[str] = Counter()
    spellings = Spellings({column: forms.tasks_read})
    for number, row in enumerate(_iter_rows(path, sheet), start=1):
        text = str((row or {}).get(column) or "")
        if not forms.tasks_named(text) and not certain:
            return {}
        counts.update(forms.tasks_named(text))
        spellings.look(number, {column: text})
    spellings.check(certain)
    return {task: counts[task] for task in forms.task_forms() if task in counts}


def _list_aliases(concept: str) -> str:
    return ", ".join(forms.forms_table()["columns"][concept])


def _check_table(table: ReleaseTable) -> None:
    missing: dict[str, str] = {}
    for task in map(forms.task_forms().__getitem__, table.tasks):
        texts = ("question",) if task.form == "choice" else ("question", *CASE_TEXT)
        if not any(concept in table.used for concept in texts):
            missing["the text"] = "; ".join(map(_list_aliases, texts))
        if task.form == "choice" and not _has_options(table):
            missing["the options"] = (
                f"{_list_aliases('options')}; or A, B, ... (option A, choice A) in columns of their own"
            )
        answers = ("answer", *REFERENCES.get(task.key, ()))
        if not any(concept in table.used for concept in answers):
            missing[f"the answers of {task.title}"] = "; ".join(map(_list_aliases, answers))
        if task.images and not table.images:
            missing["the images"] = f"{_list_aliases('image')}; also with a number behind"
    if missing:
        wanted = "\n  ".join(f"{field}: {names}" for field, names in missing.items())
        raise UserError(
            f"{table.title} lacks required columns. Missing (any of the names, in any case):\n  {wanted}\n"
            f"Found: {', '.join(table.columns) or 'none'}."
        )


def _has_options(table: ReleaseTable) -> bool:
    if "options" in table.used or table.options:
        return True
    texts = (str(table.value(row, "question") or "") for row in table.iter_rows() if row is not None)
    return any(len(options_in(text)[1]) > 1 for text in texts)


def options_in(text: str) -> tuple[str, list[str]]:
    """The question and the options of a text that lists these at its end, as lines "A. ...".

    >>> options_in("Which bone?\\nA. femur\\nB. tibia")
    ('Which bone?', ['femur', 'tibia'])
    """
    lines = text.strip().splitlines()
    for start in range(max(0, len(lines) - MOST_OPTIONS), len(lines) - 1):
        lettered = zip(LETTERS, lines[start:], strict=False)
        matches = [re.fullmatch(rf"\s*[(]?{letter}[).:、．]\s*(.+)", line) for letter, line in lettered]
        if all(matches):
            return "\n".join(lines[:start]).strip(), [match[1].strip() for match in matches if match]
    return "\n".join(lines), []
