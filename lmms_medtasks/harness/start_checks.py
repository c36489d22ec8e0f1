"""Check the harness's own options and the environment before anything is loaded or asked.

The harness reports these mistakes below a traceback with status 0, or after all replies. ``lmms-medtasks run`` calls
this before it starts the harness, the plugin for plain ``lmms-eval`` with tasks of ours.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from lmms_medtasks.errors import UnwritableFile, UserError, nearest_path

_NAMING = ("peft", "delta", "pretrained", "model", "model_version", "model_name", "model_id", "path", "engine")
"""The first of these model arguments that is given names the folder of results."""
_LOADED = ("pretrained", "peft", "delta", "base")
_FOR_SAMPLES = "YYYYMMDD_HHMMSS_samples_.jsonl"
_CACHE_VARIABLES = (("LMMS_EVAL_DATASETS_CACHE", ""), ("HF_DATASETS_CACHE", ""), ("HF_HOME", "datasets"))
_MOST = 255  # bytes of a file's name, on all common file systems


def find_option_value(arguments: Sequence[str], name: str) -> str | None:
    """The value of an option given as ``--name value`` or ``--name=value``, the last one if it is given twice."""
    value = None
    for number, argument in enumerate(arguments):
        if argument == name and number + 1 < len(arguments):
            value = arguments[number + 1]
        elif argument.startswith(f"{name}="):
            value = argument.partition("=")[2]
    return value


def check_start_options(arguments: Sequence[str], tasks: Sequence[str], variables: Mapping[str, str]) -> None:
    """Raise UserError for arguments of the harness by which the run would fail, late or without a message.

    ``tasks``: the names of those asked for; ``variables``: of the environment.
    """
    for option in ("--model_args", "--gen_kwargs"):
        check_pairs(option, find_option_value(arguments, option) or "")
    model_args = parse_model_arguments(find_option_value(arguments, "--model_args") or "")
    _check_limit(find_option_value(arguments, "--limit"))
    _check_output(find_option_value(arguments, "--output_path"))
    _check_names(model_args, tasks)
    _check_checkpoint(model_args)
    _check_cache(variables)


def check_pairs(option: str, given: str) -> None:
    """Raise UserError for arguments in which the harness finds no names and values: it says so with a traceback."""
    if not all("=" in part for part in _split_pairs(given) if part.strip()):
        raise UserError(
            f"{option} must be NAME=VALUE,NAME=VALUE, got {given!r:.80}. Write as in temperature=0,max_new_tokens=64."
        )


def _split_pairs(given: str) -> list[str]:
    """As the harness splits: not at a comma within quotes or brackets, which need not be closed."""
    parts, depth, quote = [""], 0, ""
    for before, character in zip(f" {given}", given, strict=False):
        if character in "\"'" and before != "\\":
            quote = "" if character == quote else quote or character
        elif not quote and character == "," and not depth:
            parts.append("")
            continue
        elif not quote:
            depth += (character in "{[") - (character in "}]")
        parts[-1] += character
    return parts


def _check_limit(given: str | None) -> None:
    try:
        limit = float(given or 0)
    except ValueError:
        return  # the harness reports it
    if limit < 0 and limit != -1:
        raise UserError(
            f"--limit {given} is below 0. Give a number of questions, a share below 1, or leave it out for all."
        )
    if limit > 1 and not limit.is_integer():
        raise UserError(f"--limit {given} is neither a whole number of questions nor a share below 1.")


def _check_output(given: str | None) -> None:
    if given is not None and "," in given:
        raise UserError(
            f"--output_path {given}: lmms-eval takes a comma for the end of the path. Name a folder without a comma."
        )
    if given is not None and re.fullmatch(r"[-+]?\d+(\.\d*)?|true|false", given, re.IGNORECASE):
        raise UserError(f"--output_path {given}: lmms-eval takes it for no text. Write ./{given}")


def _check_names(model_args: Mapping[str, str], tasks: Sequence[str]) -> None:
    """Refuse model and task names too long for file names: all would be asked, and nothing written."""
    given = next((model_args[name] for name in _NAMING if name in model_args), "")
    name = re.sub(r'["<>:/|\\?*\[\]]+', "__", "/".join(given.split("/")[-2:]))
    if (length := len(name.encode())) > _MOST:
        raise UserError(
            f"The model's name {name[:40]}… is {length} bytes long; its results lie in a folder of that name, which "
            f"may have {_MOST}. Serve it under a shorter name, or name it by a link with a shorter path."
        )
    for task in tasks:
        if (length := len(f"{_FOR_SAMPLES}{task}".encode())) > _MOST:
            raise UserError(
                f"The task's name {task[:40]}… makes the name of its sample log {length} bytes long, which may have "
                f"{_MOST}. Ask for fewer degradations in one name."
            )


def _check_checkpoint(model_args: Mapping[str, str]) -> None:
    for name in _LOADED:
        given = model_args.get(name, "")
        is_path = given.startswith(("/", "./", "../", "~"))
        if not is_path or Path(given).exists():
            continue
        path = Path(given).expanduser()
        hint = f" Write {path}: nothing replaces the ~ there." if path.exists() else nearest_path(path)
        raise UserError(f"--model_args {name}={given}: there is no such file or folder.{hint}")


def _check_cache(variables: Mapping[str, str]) -> None:
    """Refuse an unwritable folder for data sets: the harness would name it only after all its retries."""
    for name, below in _CACHE_VARIABLES:
        if not variables.get(name, "").strip():
            continue
        folder = Path(os.path.expandvars(variables[name])).expanduser() / below
        from lmms_medtasks.writing import check_folder

        try:
            check_folder(folder)
        except UnwritableFile as error:
            raise UserError(
                f"{name}={variables[name]}: {folder} can't be written ({error.strerror}), and lmms-eval keeps the "
                f"tables of data sets there. Set {name} to a folder that can."
            ) from error
        return


def parse_model_arguments(given: str) -> dict[str, str]:
    """Parse ``--model_args`` of the form ``name=value,name=value``."""
    return {name.strip(): value.strip() for name, _, value in (part.partition("=") for part in given.split(","))}
