"""What ``lmms-medtasks run`` checks of the harness's arguments before it starts the harness, which takes seconds."""

from __future__ import annotations

import ast
import glob
import importlib.util
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError, nearest_match, unknown_name_error
from lmms_medtasks.harness import runners, start_checks
from lmms_medtasks.harness.start_checks import find_option_value
from lmms_medtasks.samples.degraded import is_degraded_name

_SETTINGS = "lmms_eval_specific_kwargs"
_TEXTS = ("", ".py", ".yaml", ".yml")
"""Endings of files in which the harness or a folder may name a task."""


def checked_tasks(arguments: list[str]) -> list[str]:
    """The tasks asked for. Raises UserError for options that the harness would silently misunderstand."""
    if find_option_value(arguments, "--config") is not None:
        return []  # the tasks stand in lmms-eval's own configuration file
    tasks = find_option_value(arguments, "--tasks")
    if not tasks or find_option_value(arguments, "--model") is None:
        cut = next((argument for argument in arguments if argument.partition("=")[0] == "--task"), None)
        if cut:
            raise unknown_name_error("option", "--task", ["--tasks"])
        raise UserError(
            "Name a model and tasks: lmms-medtasks run --model MODEL --tasks TASK,TASK. "
            "`lmms-medtasks tasks` lists ours, `lmms-eval --tasks list` all; `lmms-eval models` lists models."
        )
    limit = find_option_value(arguments, "--limit")
    if limit is not None and _is_zero(limit):
        raise UserError(
            f"--limit {limit} asks for no question. Give a number above 0, a share below 1, or leave it out for all."
        )
    names = [task.strip() for task in tasks.split(",") if task.strip()]
    start_checks.check_start_options(arguments, names, os.environ)
    bases = _base_tasks(names)
    model = str(find_option_value(arguments, "--model"))
    included = find_option_value(arguments, "--include_path")
    if included is not None:
        check_included(Path(included), bases)
    check_there(bases, included)
    if model.startswith("medtasks_") and model not in runners.OWN_MODELS:
        raise unknown_name_error("model", model, runners.OWN_MODELS, "--model")
    _check_options(bases, model, arguments)
    return names


def is_mentioned(name: str, folder: Path | None = None) -> bool:
    """Whether a name occurs anywhere in the harness's tasks or in YAMLs below ``folder``; if not, no task has it.

    Tasks and groups have names in more ways than ``names_in`` reads: in lists, in files without an ending, in code.
    """
    from lmms_medtasks.harness import taken_names

    word = re.compile(rf"(?<![\w+-]){re.escape(name)}(?![\w+-])")
    paths = (path for root in taken_names.harness_folders() for path in (root / "tasks").rglob("*"))
    texts = [path for path in paths if path.suffix in _TEXTS and path.is_file()]
    texts += folder.rglob("*.yaml") if folder else ()
    return any(word.search(path.read_text("utf-8", errors="replace")) for path in texts)


def check_there(tasks: Sequence[str], included: str | None) -> None:
    """Raise UserError for a task name that occurs neither in the harness, nor here, nor in the included folder.

    The harness says so after 12 s, below a traceback. Patterns, paths, lists and other plugins' names are not checked.
    """
    from lmms_medtasks.harness import taken_names

    ours, folder = folders.task_files(), Path(included) if included else None
    if os.environ.get("LMMS_EVAL_PLUGINS") or importlib.util.find_spec("lmms_eval") is None:
        return
    for task in tasks:
        is_elsewhere = task in ours or task.startswith("list") or set(task) & set("*?[/\\") or Path(task).exists()
        if is_elsewhere or is_mentioned(task, folder):
            continue
        names = {*ours, *(taken_names.names_in(folder) if folder else ())}
        sentence = unknown_name_error(
            "task", task, names, "--tasks", "lmms-medtasks tasks (ours), lmms-eval --tasks list (all)"
        )
        raise UserError(
            f"{sentence}. A task of your own needs --include_path FOLDER, the folder that holds its folder."
        )


def check_included(folder: Path, tasks: Sequence[str]) -> None:
    """Raise UserError, with file and line, if --include_path or a named task's YAML or data file is unreadable."""
    from lmms_medtasks.contribute import references
    from lmms_medtasks.task_yaml.chain import read_include_chain
    from lmms_medtasks.task_yaml.problems import ValidationLog

    if not folder.is_dir():
        there = [path.name for path in folder.parent.glob("*/")] if folder.parent.is_dir() else []
        raise UserError(f"--include_path {folder} is no folder.{nearest_match(folder.name, there)}")
    for task in tasks:
        for path in folder.glob(f"**/{glob.escape(task)}.yaml"):
            findings = ValidationLog()
            chain = read_include_chain(path, path.parent, findings)
            problem = "" if chain else " ".join(map(str, findings.errors))
            if chain and (missing := references.missing_data_files(chain)):
                problem = f"{path}: the data file {missing[0]} is not there, neither in {path.parent} nor here."
            if problem:
                raise UserError(f"{problem} All of it is checked by: lmms-medtasks validate {path.parent}")


def check_known(arguments: Sequence[str], own_options: Sequence[str]) -> None:
    """Raise UserError for an option that neither the harness nor this command (``own_options``) has."""
    known = _harness_options()
    for argument in arguments if known else ():
        name = argument.partition("=")[0]
        # A value may begin with "-" too: a number, or a text with white space.
        if not name.startswith("-") or not name.strip("-")[:1].isalpha() or any(map(str.isspace, name)):
            continue
        is_known = (
            any(option.startswith(name) for option in known)  # argparse takes the beginning of a long name for the name
            if name.startswith("--")
            else name[:2] in known  # a short one may have its value behind it: -b4
        )
        if not is_known:
            listed_by = "lmms-medtasks run --help; lmms-eval --help"
            raise unknown_name_error("option", name, {*known, *own_options}, listed_by=listed_by)


def _harness_options() -> set[str]:
    """The names of the harness's options, read from its source: to import it takes seconds. Empty where not found."""
    from lmms_medtasks.harness import taken_names

    sources = [folder / "__main__.py" for folder in taken_names.harness_folders()]
    calls = [
        node
        for source in sources
        if source.is_file()
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument"
    ]
    names = [argument.value for call in calls for argument in call.args if isinstance(argument, ast.Constant)]
    options = {name for name in names if isinstance(name, str) and name.startswith("-")}
    return {*options, "-h", "--help"} if options else set()


def _check_options(tasks: list[str], model: str, arguments: list[str]) -> None:
    """Raises UserError for options of the harness that our models or tasks can't be run with."""
    from lmms_medtasks.harness import run_options
    from lmms_medtasks.samples.run_options import TAGS_OPTION, parse_given_tags

    parse_given_tags(find_option_value(arguments, TAGS_OPTION), TAGS_OPTION)
    shots = find_option_value(arguments, "--num_fewshot") or "0"
    options = {
        "apply_chat_template": "--apply_chat_template" in arguments,
        "num_fewshot": int(shots) if shots.isdecimal() else 0,  # the harness reports what is no number
    }
    ours = folders.task_files()
    run_options.check_command_options(
        model,
        [task for task in tasks if task in ours],
        options,
        is_baseline=model in runners.BASELINES,
        lacks_template=model in runners.OWN_MODELS,
    )


def _base_tasks(tasks: list[str]) -> list[str]:
    """The tasks, of degraded ones their bases; raises UserError for names of such that can't be read."""
    if not any("@" in task for task in tasks):
        return tasks  # to read names takes importing the degradations
    from lmms_medtasks.harness import degraded_names

    return [degraded_names.parse_degraded_name(task)[0] if is_degraded_name(task) else task for task in tasks]


def _is_zero(limit: str) -> bool:
    try:
        return float(limit) == 0
    except ValueError:
        return False  # the harness reports what is no number


def check_prompts(tasks: Sequence[str], variables: Mapping[str, str]) -> None:
    """Raises UserError where a file that stands in place of a prompt can be none: the harness takes 10 s to say it."""
    from lmms_medtasks.harness import chosen_settings

    if not any(variables.get(name) for name in (chosen_settings.PROMPT, chosen_settings.JUDGE_PROMPT)):
        return
    from lmms_medtasks.task_yaml import chain

    configs = [
        {"task": included.path.stem, _SETTINGS: included.value(_SETTINGS) or {}}
        for included in chain.installed_chains(_base_tasks(list(tasks)))
    ]
    chosen_settings.check_prompt_files(tasks, configs, variables)
