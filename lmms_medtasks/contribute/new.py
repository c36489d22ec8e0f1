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

from lmms_medtasks.data import text_tables
from lmms_medtasks.data.adapter import Columns, from_columns
from lmms_medtasks.errors import UserError, nearest_path, unknown_name_error
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
        if not path.resolve().is_relative_to(self.folder.resolve()):
            raise UserError(
                f"--dataset {self.dataset!r} is not in {self.folder}/. Put the table and its images there first, so "
                f"that the task finds them wherever the folder goes (mkdir -p {self.folder}; mv {path} {self.folder}/; "
                f"then --dataset {self.folder / path.name}), or write the task beside them: --folder {path.parent}."
            )
        return path


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
    for key in ("answer_is", "several", "lettered"):
        if getattr(request, key):
            arguments[key] = getattr(request, key)
    if request.tags:
        arguments["tags"] = list(request.tags)
    return arguments


def make_adapter(request: NewTaskRequest) -> Columns:
    """Make the adapter of the new task."""
    return from_columns(**adapter_arguments(request))


def write_task_folder(request: NewTaskRequest) -> list[Path]:
    """Write the task's folder and return its files; nothing is overwritten.

    Raises:
        UserError: a bad name, an unknown template, column or setting, a table that is elsewhere, files in the way.
    """
    _check_name(request.name)
    template = templates.get(request.template)
    schema.check_task_settings(request.settings, "new")
    schema.check_fit({**template.settings, **request.settings}, template, "new")
    have = _table_columns(request)
    _check_columns(request, template, have)
    files = _make_files(request, template)
    taken = [name for name in files if (request.folder / name).exists()]
    if taken:
        raise UserError(f"{request.folder / taken[0]} is there already. Nothing was written; choose another name.")
    request.folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (request.folder / name).write_text(text, "utf-8")
    return [request.folder / name for name in files]


def _check_name(name: str) -> None:
    if not _TASK_NAME.fullmatch(name) or keyword.iskeyword(name):
        raise UserError(f"The name {name!r}: expected small letters, digits and underscores, a letter first, 2 to 61.")


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
    for name in (*request.tags, *([shift["column"]] if shift else [])):
        if name not in have:
            raise unknown_name_error("column", name, have, request.dataset)


def _make_files(request: NewTaskRequest, template: templates.TaskTemplate) -> dict[str, str]:
    main = {**template.settings, **request.settings}
    variants: dict[str, Mapping[str, Any]] = {"": {}}
    # Not what the task itself is already: severe, beside a task of severity 2.
    variants |= {f"_{ending}": new for ending, new in template.variants.items() if {**main, **new} != main}
    names = {ending: f"{request.name}{ending}" for ending in variants}
    prompt = PROMPTS.get(str(main.get("parser")), str(template.settings["prompt"]))
    files = {
        **{f"{names[ending]}.yaml": _task_yaml(request, template, ending, new) for ending, new in variants.items()},
        templates.FILE: templates.template_yaml(template.name),
        "prompt.txt": templates.builtin_prompt(prompt) + "\n",
        "adapter.py": _adapter_code(request),
        "README.md": _make_card(request, template, list(names.values())),
    }
    return {name: text for name, text in files.items() if text}


def _task_yaml(
    request: NewTaskRequest, template: templates.TaskTemplate, ending: str, changed: Mapping[str, Any]
) -> str:
    stated = {key: value for key, value in template.settings.items() if key in _STATED}
    settings = {**stated, **request.settings, **changed, "prompt": "prompt.txt"}
    lines = [
        f"include: {request.name}.yaml" if ending else f"include: {templates.FILE}",
        f"task: {request.name}{ending}",
    ]
    if not ending:
        lines += _data_lines(request)
        lines += ["process_docs: !function adapter.documents"] if _adapter_code(request) else []
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


def _adapter_code(request: NewTaskRequest) -> str:
    """The code of adapter.py; "" if all columns have our names."""
    values = adapter_arguments(request)
    if not values:
        return ""
    arguments = ", ".join(f"{key}={_python_literal(value)}" for key, value in values.items())
    return f"from lmms_medtasks.data.adapter import from_columns\n\ndocuments = from_columns({arguments})\n"


def _python_literal(value: Any) -> str:
    return repr(value) if isinstance(value, bool) else json.dumps(value, ensure_ascii=False)


def _inline_yaml(value: Any) -> str:
    """A setting's value as one line of YAML (JSON is valid YAML)."""
    return value if isinstance(value, str) and re.fullmatch(r"[a-z][a-z0-9_.-]*", value) else json.dumps(value)


def _make_card(request: NewTaskRequest, template: templates.TaskTemplate, tasks: Sequence[str]) -> str:
    text = importlib.resources.files(__package__).joinpath("card_template.md").read_text("utf-8")
    missing = dict.fromkeys(("paper", "licence", "terms", "deviations", "about"), UNFILLED)
    renamed_columns = [f"`{theirs}` as `{ours}`" for ours, theirs in request.columns.items() if ours != theirs]
    same_columns = [f"`{column}`" for column in template.columns if request.columns.get(column, column) == column]
    tag_columns = [f"`{tag}` (kept)" for tag in request.tags]
    metrics = request.settings.get("metrics") or template.metrics
    return Text(text).substitute(
        {**missing, **{key: value for key, value in request.card.items() if value}},
        name=request.name,
        data=f"`{Path(request.dataset).name if request.table else request.dataset}`",
        tasks="\n".join(f"- `{task}`" for task in tasks),
        template=template.name,
        template_about=template.about,
        metrics="\n".join(f"- `{metric}`" for metric in ([metrics] if isinstance(metrics, str) else metrics)),
        columns=", ".join([*same_columns, *renamed_columns, *tag_columns]),
        prepare="nothing, the table lies in this folder" if request.table else "the harness loads it",
    )
