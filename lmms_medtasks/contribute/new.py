"""``lmms-medtasks new``: write a task's folder, ready to be checked and run."""

from __future__ import annotations

import importlib.resources
import json
import keyword
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template as Text
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.data import text_tables
from lmms_medtasks.data.adapter import Columns, from_columns
from lmms_medtasks.data.table_cells import RowKind
from lmms_medtasks.errors import UserError, nearest_path, unknown_name_error
from lmms_medtasks.harness import taken_names
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml import settings as schema

UNFILLED = "(to be filled in)"
"""Placeholder in a new card; ``validate`` reports it."""

PROMPTS = {"yes_no": "yes_no", "several_letters": "several_letters"}
"""Parser -> built-in prompt, for parsers that the template's own prompt does not fit."""

_STATED = ("degradation", "severity", "judge", "parser", "no_image", "seed_trials")
"""Settings of a template that a new YAML repeats, since contributors may want to change them."""

_TOLD = ("question", "answer", "image")  # Columns that conversations stand for

_TASK_NAME = re.compile(r"[a-z][a-z0-9_]{1,60}")


@dataclass(frozen=True)
class NewTaskRequest:
    """Everything that ``lmms-medtasks new`` was asked for.

    ``dataset``: a table in the task's folder, a hub's ``owner/name``, or ``medtasks://suite/split``. ``columns``: our
    name -> the table's, where they differ ("options" and "image" may have several, joined by commas;
    "conversations" is one in place of question and answer). ``settings``: what goes into the YAML. ``card``: paper,
    licence, terms, deviations. ``images_in``, ``image_ending``: before and behind the names of images (of several
    endings, joined by commas, the one that gives a file). ``reader``: options of the reader (``sep``, ``sheet``).
    ``rows``: the rows of a table with both kinds of questions (:class:`lmms_medtasks.data.adapter.Columns`). ``part``:
    what the task is called in a benchmark of several, whose group then has the name. ``is_answer_named``: the user
    named the column of answers, no other one takes its place.
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
    images_in: str = ""
    image_ending: str = ""
    reader: Mapping[str, str] = field(default_factory=dict)
    rows: RowKind = ""
    part: str = ""
    is_answer_named: bool = False

    @property
    def task(self) -> str:
        """The task's name."""
        return f"{self.name}_{self.part}" if self.part else self.name

    @property
    def has_options(self) -> bool:
        """Whether its questions have options."""
        return "options" in self.columns and self.rows != "without_options"

    def part_file(self, name: str) -> str:
        """The name of a file that each task of a benchmark has, "prompt.txt": "prompt_open.txt"."""
        stem, ending = Path(name).stem, Path(name).suffix
        return f"{stem}_{self.part}{ending}" if self.part else name

    @property
    def template_file(self) -> str:
        """The name of the file with its template's lines."""
        return f"_{self.part}{templates.FILE}" if self.part else templates.FILE

    @property
    def table(self) -> Path | None:
        """The table in the folder; None for a hub's data set. Raises UserError for a table outside the folder."""
        if self.dataset.startswith("medtasks://"):
            return None
        path = Path(self.dataset)
        known = path.suffix.lower() in text_tables.LOADERS
        if not known and re.fullmatch(r"[\w.-]+/[\w.-]+", self.dataset) and not path.exists():
            return None  # on a hub
        if path.is_dir():
            tables = sorted(file.name for file in path.iterdir() if file.suffix.lower() in text_tables.LOADERS)
            raise UserError(
                f"--dataset {self.dataset!r} is a folder. Name one table in it: {', '.join(tables[:10]) or '(none)'}."
            )
        if not path.is_file():
            inside = self.folder / path
            there = f" There is {inside}: say --dataset {inside}." if inside.is_file() else nearest_path(path)
            raise UserError(
                f"--dataset {self.dataset!r}: no such file.{there} Allowed: a table in {self.folder}/ "
                f"({', '.join(text_tables.LOADERS)}), a hub's owner/name, or medtasks://suite/split."
            )
        text_tables.dataset_loader_name(path)
        if self.misplaced:
            raise UserError(self.misplaced)
        return path

    @property
    def misplaced(self) -> str:
        """What to do with a table outside the folder, which can be looked at and made no task of; "" for others."""
        path = Path(self.dataset)
        if not path.is_file() or path.resolve().is_relative_to(self.folder.resolve()):
            return ""
        return (
            f"--dataset {self.dataset!r} is not in {self.folder}/. Put the table and its images there first, so "
            f"that the task finds them wherever the folder goes (mkdir -p {self.folder}; mv {path} {self.folder}/; "
            f"then --dataset {self.folder / path.name}), or write the task beside them: --folder {path.parent}."
        )


def adapter_arguments(request: NewTaskRequest) -> dict[str, Any]:
    """The arguments of ``from_columns`` that differ from their defaults."""
    arguments: dict[str, Any] = {key: value for key, value in request.columns.items() if value != key}
    if "conversations" in request.columns:
        arguments["conversations"] = request.columns["conversations"]
    arguments |= {key: value for key in ("images_in", "image_ending") if (value := getattr(request, key))}
    for key in ("options", "image", "image_ending"):
        if "," in arguments.get(key, ""):
            arguments[key] = arguments[key].split(",")
    if arguments.get("image") == "images":
        del arguments["image"]  # the standard name stands for both
    for key in ("answer_is", "several", "lettered", "rows"):
        if getattr(request, key):
            arguments[key] = getattr(request, key)
    if request.tags:
        arguments["tags"] = list(request.tags)
    return arguments


def make_adapter(request: NewTaskRequest) -> Columns:
    """Make the adapter of the new task."""
    return from_columns(**adapter_arguments(request))


def write_task_folder(*requests: NewTaskRequest) -> list[Path]:
    """Write the folder of a task, or of the tasks of one benchmark, and return its files; nothing is overwritten.

    ``requests``: of one name and folder, and each with a part of its own if they are several.

    Raises:
        UserError: a bad name, an unknown template, column or setting, a table that is elsewhere, files in the way.
    """
    for name in {requests[0].name: None, **{request.task: None for request in requests}}:
        check_name(name)
    for request in requests:
        template = templates.get(request.template)
        schema.check_task_settings(request.settings, "new")
        schema.check_fit({**template.settings, **request.settings}, template, "new")
        _check_columns(request, template, _table_columns(request))
    folder, files = requests[0].folder, _make_files(requests)
    taken = [name for name in files if (folder / name).exists()]
    if taken:
        raise UserError(
            f"{folder / taken[0]} is there already. Nothing was written; choose another name. Several tables become "
            "one benchmark where `lmms-medtasks new` gets them together: --dataset once for each."
        )
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    return [folder / name for name in files]


def check_name(name: str) -> None:
    """Raise UserError for a name that no task can have, or that one has."""
    if not _TASK_NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UserError(f"The name {name!r}: expected small letters, digits and underscores, a letter first, 2 to 61.")
    if owner := name_owner(name):
        raise UserError(f"The name {name!r} is taken: {owner}. Nothing was written; choose another name.")


def _table_columns(request: NewTaskRequest) -> list[str] | None:
    """The table's columns; None if the data are not in the folder."""
    path = request.table
    if path is None:
        return None
    names: list[str] = text_tables.read_text_table(
        path, text_tables.dataset_loader_name(path), request.reader
    ).column_names
    return names


def _check_columns(request: NewTaskRequest, template: templates.TaskTemplate, have: Sequence[str] | None) -> None:
    if request.columns.get("answer") and request.answer_is:
        from_columns(answer_is=request.answer_is)  # type: ignore[arg-type]  # refuses what there is none of
    if have is None:
        return
    talks = "conversations" in request.columns
    reads_yes_no = request.settings.get("parser") == "yes_no"
    for ours in dict.fromkeys((*template.columns, *request.columns)):
        optional = ours == "image" and (request.settings.get("no_image") or "images" in have)
        optional |= (talks and ours in _TOLD) or (ours == "options" and reads_yes_no)
        optional &= ours not in request.columns
        for theirs in request.columns.get(ours, ours).split(","):
            if theirs in have or optional or (talks and theirs in _TOLD):
                continue
            if ours not in request.columns:
                listed = ", ".join(map(repr, have))
                raise UserError(f"{request.dataset}: which column is the {ours}? Say --{ours} COLUMN. It has {listed}.")
            where = f"{request.dataset}. Say which one is `{ours}`: --{ours} COLUMN"
            raise unknown_name_error("column", theirs, have, where)
    shift = request.settings.get("shift")
    cluster = request.settings.get("cluster")
    for name in (*request.tags, *([shift["column"]] if shift else []), *filter(None, [cluster])):
        if name not in have:
            raise unknown_name_error("column", name, have, request.dataset)


def _make_files(requests: Sequence[NewTaskRequest]) -> dict[str, str]:
    files: dict[str, str] = {}
    if len(requests) > 1:
        members = "".join(f"  - {request.task}\n" for request in requests)
        about = "# All kinds of questions in one run, one row each.\n"
        files[f"{requests[0].name}.yaml"] = (
            f"{about}group: {requests[0].name}\ntask:\n{members}metadata:\n  version: 1.0\n"
        )
    tasks: list[str] = []
    for request in requests:
        template = templates.get(request.template)
        main = {**template.settings, **request.settings}
        # Not what the task itself is already: severe, beside a task of severity 2.
        changes = {f"_{ending}": new for ending, new in template.variants.items() if {**main, **new} != main}
        variants: dict[str, Mapping[str, Any]] = {"": {}, **changes}
        files |= {
            f"{request.task}{ending}.yaml": _task_yaml(request, template, ending, new)
            for ending, new in variants.items()
        }
        tasks += [f"{request.task}{ending}" for ending in variants]
        prompt = PROMPTS.get(str(main.get("parser")), str(template.settings["prompt"]))
        files[request.template_file] = templates.template_yaml(template.name)
        files[request.part_file("prompt.txt")] = templates.builtin_prompt(prompt) + "\n"
    if lines := "".join(filter(None, map(_adapter_line, requests))):
        files["adapter.py"] = f"from lmms_medtasks.data.adapter import from_columns\n\n{lines}"
    return {**files, "README.md": _make_card(requests, tasks)}


def _task_yaml(
    request: NewTaskRequest, template: templates.TaskTemplate, ending: str, changed: Mapping[str, Any]
) -> str:
    stated = {key: value for key, value in template.settings.items() if key in _STATED}
    settings = {**stated, **request.settings, **changed, "prompt": request.part_file("prompt.txt")}
    lines = [
        f"include: {request.task}.yaml" if ending else f"include: {request.template_file}",
        f"task: {request.task}{ending}",
    ]
    if not ending:
        lines += _data_lines(request)
        documents = f"process_docs: !function adapter.{request.part_file('documents')}"
        lines += [documents] if adapter_arguments(request) else []
    lines += ["lmms_eval_specific_kwargs:", "  default:"]
    lines += [f"    {key}: {_inline_yaml(value)}" for key, value in sorted(settings.items())]
    lines += ["metadata:", f"  template: {template.name}", "  version: 1.0"]
    return "\n".join(lines) + "\n"


def _data_lines(request: NewTaskRequest) -> list[str]:
    path = request.table
    if path:
        kind = text_tables.dataset_loader_name(path)
        inside = path.resolve().relative_to(request.folder.resolve()).as_posix()
        extra = [f"  {key}: {json.dumps(value, ensure_ascii=False)}" for key, value in request.reader.items()]
        source = [f"dataset_path: {kind}", "dataset_kwargs:", *extra, "  data_files:", f"    test: {inside}"]
        return [*source, "test_split: test"]
    if request.dataset.startswith("medtasks://"):
        files = ["dataset_kwargs:", "  data_files:", f"    test: {request.dataset}"]
        return ["dataset_path: parquet", *files, "test_split: test"]
    return [f"dataset_path: {request.dataset}", f"test_split: {request.split}"]


def _adapter_line(request: NewTaskRequest) -> str:
    """The task's line of adapter.py; "" if all columns have our names."""
    arguments = ", ".join(f"{key}={_python_literal(value)}" for key, value in adapter_arguments(request).items())
    return f"{request.part_file('documents')} = from_columns({arguments})\n" if arguments else ""


def _python_literal(value: Any) -> str:
    return repr(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def _inline_yaml(value: Any) -> str:
    """A setting's value as one line of YAML (JSON is valid YAML)."""
    return value if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_.-]*", value) else json.dumps(value)


def _make_card(requests: Sequence[NewTaskRequest], tasks: Sequence[str]) -> str:
    text = importlib.resources.files(__package__).joinpath("card_template.md").read_text("utf-8")
    missing = dict.fromkeys(("paper", "licence", "terms", "deviations", "about"), UNFILLED)
    first, metrics, built_on, columns = requests[0], dict[str, None](), list[str](), list[str]()
    for request in requests:
        template = templates.get(request.template)
        listed = request.settings.get("metrics") or template.metrics
        metrics |= dict.fromkeys([listed] if isinstance(listed, str) else listed)
        of_part = f" of `{request.task}`" if request.part else ""
        built_on.append(f"Template{of_part}: `{template.name}` of lmms-medtasks. {template.about}")
        columns.append(f"Columns{of_part}: {_card_columns(request, template)}.")
    data = dict.fromkeys(Path(request.dataset).name if request.table else request.dataset for request in requests)
    return Text(text).substitute(
        {**missing, **{key: value for key, value in first.card.items() if value}},
        name=first.name,
        data=", ".join(f"`{name}`" for name in data),
        tasks="\n".join(f"- `{task}`" for task in tasks),
        templates="\n\n".join(built_on),
        metrics="\n".join(f"- `{metric}`" for metric in metrics),
        columns="\n".join(columns),
        prepare="nothing, the table lies in this folder" if first.table else "the harness loads it",
    )


def _card_columns(request: NewTaskRequest, template: templates.TaskTemplate) -> str:
    # Options that say which rows are the task's are none of its own.
    columns = {ours: theirs for ours, theirs in request.columns.items() if ours != "options" or request.has_options}
    return ", ".join([
        *(f"`{column}`" for column in template.columns if columns.get(column, column) == column),
        *(f"`{theirs}` as `{ours}`" for ours, theirs in columns.items() if ours != theirs),
        *(f"`{tag}` (kept)" for tag in request.tags),
    ])  # fmt: skip


def name_owner(name: str, but: Path | None = None) -> str:
    """Describe the task that has ``name``; "" if there is none. ``but``: a YAML that is ignored."""
    ours = folders.task_files().get(name)
    if ours and (but is None or ours.resolve() != but.resolve()):
        return f"a task of lmms-medtasks ({ours.name})"
    built_in = taken_names.harness_names().get(name)
    return f"a task of lmms-eval ({built_in}), which would run in its place" if built_in else ""
