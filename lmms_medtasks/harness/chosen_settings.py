"""Settings that a user chose for a run: those of the papers, and custom prompts in place of ours.

``lmms-medtasks run`` has options for them, plain lmms-eval the environment variables. They are checked when a task's
configuration is read, before a model is loaded, and recorded in the task's metadata: ``settings`` (name and changes),
``own_prompt`` (name and digest of the file). The digest of a judge's prompt is part of the judge's description.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.harness import judged
from lmms_medtasks.prompt_files import prompt_text
from lmms_medtasks.samples import degraded
from lmms_medtasks.suites import paper, registry
from lmms_medtasks.task_settings import task_settings

PROMPT, JUDGE_PROMPT = "MEDTASKS_PROMPT", "MEDTASKS_JUDGE_PROMPT"
"""``FILE``, or ``NAME=FILE`` several times with ``;`` between; NAME: a task's name or pattern, or a protocol's."""

VARIABLES = (paper.VARIABLE, PROMPT, JUDGE_PROMPT)
"""Two commands with different values of these are different runs."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")


def apply_chosen_settings(config: dict[str, Any], folder: Path | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the task's configuration as it is run, and the chosen settings for its metadata.

    ``folder``: of the task's YAML, where a ``judge_prompt`` that it names may lie. Raises UserError for settings that
    the task's benchmark does not have, and for a prompt file that is missing, no UTF-8 text, or lacks a placeholder.
    """
    metadata: dict[str, Any] = {}
    config = _with_prompt(_with_settings(config, metadata), metadata, os.environ)
    return _with_judge_prompt(config, folder, os.environ), metadata


def check_prompt_files(names: Sequence[str], configs: Sequence[dict[str, Any]], variables: Mapping[str, str]) -> None:
    """Raise UserError if a prompt file in ``variables`` can't replace the prompt of a task.

    Called before the harness starts. ``names``: the known ones of the tasks asked for; ``configs``: ``task`` and
    ``lmms_eval_specific_kwargs`` of those that are ours.
    """
    for config in configs:
        judged.find_judge_protocols(_with_judge_prompt(_with_prompt(config, {}, variables), None, variables))
    for name, file in parse_prompt_files(variables.get(PROMPT, "")).items():
        if not any(not name or fnmatch.fnmatchcase(config["task"], name) for config in configs):
            _checked_prompt(file, name or ", ".join(names) or "any task", "")


def format_prompt_files(given: Sequence[str]) -> str:
    """The value of :data:`PROMPT` or :data:`JUDGE_PROMPT`, with absolute paths; UserError for a missing file."""
    entries = []
    for option in given:
        name, separator, file = option.rpartition("=")
        if not Path(file).is_file():
            raise UserError(f"No prompt file {file!r}. Give FILE, or NAME=FILE.")
        entries.append(f"{name}{separator}{Path(file).resolve()}")
    return ";".join(entries)


def check_chosen_names(names: Iterable[str], configs: Sequence[Mapping[str, Any]]) -> None:
    """Raise UserError for a name in the variables that is neither one of the tasks (``names``) nor of their protocols.

    ``configs``: of those tasks that are ours.
    """
    tasks = list(names)
    for name in parse_prompt_files(os.environ.get(PROMPT, "")):
        if name and not any(fnmatch.fnmatchcase(task, name) for task in tasks):
            raise unknown_name_error("task", name, tasks, PROMPT)
    protocols = sorted({protocol.name for config in configs for protocol in judged.find_judge_protocols(config)})
    for name in parse_prompt_files(os.environ.get(JUDGE_PROMPT, "")):
        if name and name not in protocols:
            raise unknown_name_error(
                "judge protocol", name, protocols, f"{JUDGE_PROMPT}; the tasks asked for have the allowed"
            )
        if not name and len(protocols) != 1:
            listed = ", ".join(protocols) or "none"
            raise UserError(
                f"{JUDGE_PROMPT} names one file, the tasks' judge protocols are: {listed}. Give PROTOCOL=FILE."
            )


def check_only_our_tasks(strange: Sequence[str]) -> None:
    """Raise UserError if settings were chosen and ``strange``, tasks that are not ours, are run too."""
    chosen = [name for name in VARIABLES if os.environ.get(name, "").strip() not in ("", paper.OURS)]
    if chosen and strange:
        raise UserError(
            f"{chosen[0]} applies only to lmms-medtasks tasks, not to {', '.join(strange)}. Run those in a separate "
            "command."
        )


def parse_prompt_files(given: str) -> dict[str, str]:
    """Protocol or task ("" for all) -> file, of the form that :data:`PROMPT` and :data:`JUDGE_PROMPT` have."""
    parts = [part.strip() for part in given.split(";") if part.strip()]
    return {name: file for name, _, file in (part.rpartition("=") for part in parts)}


def _with_settings(config: dict[str, Any], metadata: dict[str, Any]) -> dict[str, Any]:
    name = paper.requested_settings()
    suite = registry.find_suite(str(config["task"]), config) if name else None
    if suite is None:
        return config
    paper_settings = paper.find_paper_protocol(suite.name)
    known = paper_settings.settings if paper_settings else paper.OF_ALL
    if name not in known:
        if paper_settings is None and not suite.data:
            return config  # a contributed task, of no paper that is known
        raise unknown_name_error("settings", name, known, f"{suite.title}, task {config['task']!r}")
    chosen = known[name]
    generation = {**(config.get("generation_kwargs") or {}), **chosen.generation}
    if name == paper.THINKING and not thinking_raises_reply_limit(
        config, (config.get("generation_kwargs") or {}).get("max_new_tokens")
    ):
        chosen = dataclasses.replace(chosen, generation={})
    metadata["settings"] = {"name": name, "changes": {**chosen.default, **chosen.generation}}
    if not metadata["settings"]["changes"]:
        from loguru import logger

        logger.info(f"{config['task']}: {name} settings: {chosen.about}")
        return config
    return {**_with_default(config, chosen.default), "generation_kwargs": generation}


def thinking_raises_reply_limit(config: Mapping[str, Any], limit: int | None) -> bool:
    """Whether ``--settings thinking`` raises ``limit``, the limit of new tokens of a task (or of its base)."""
    metadata = {name: value for name, value in (config.get("metadata") or {}).items() if name != degraded.METADATA}
    suite = registry.find_suite(str(config["task"]).partition("@")[0], {**config, "metadata": metadata})
    paper_settings = paper.find_paper_protocol(suite.name) if suite else None
    settings = paper_settings.settings if paper_settings else paper.OF_ALL
    raised = settings[paper.THINKING].generation.get("max_new_tokens")
    return suite is not None and raised is not None and (limit is None or limit < raised)


def _with_prompt(config: dict[str, Any], metadata: dict[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    given = config.get("lmms_eval_specific_kwargs") or {}
    ours = str((given.get("default") or {}).get("prompt") or "")
    prompt_files = parse_prompt_files(variables.get(PROMPT, ""))
    chosen = [file for name, file in prompt_files.items() if not name or fnmatch.fnmatchcase(config["task"], name)]
    # The last one counts, as with options given twice.
    file = chosen[-1] if chosen else ours if Path(ours).is_absolute() and "{question}" not in ours else ""
    if not file:
        return config
    if not ours:
        raise UserError(f"{config['task']} names no prompt of its own: {PROMPT} has nothing to stand in place of.")
    text = _checked_prompt(file, str(config["task"]), ours if chosen else "")
    metadata["own_prompt"] = {"name": Path(file).name, "digest": digests.content_digest(text.encode())}
    return _with_default(config, {"prompt": file})


def _checked_prompt(file: str, task: str, ours: str) -> str:
    """The text of a prompt's file. Raises UserError if ``task`` can't use it.

    ``ours``: the prompt that it replaces, as the task names it; "" if the task's YAML names the file.
    """
    text = prompt_text(file)
    placeholders = set(_PLACEHOLDER.findall(text))
    known = {"question", *(_PLACEHOLDER.findall(prompt_text(ours)) if ours else ("options",))} & {"question", "options"}
    # Prompts for several forms of question in one file: some need no options.
    needed = known if ours and not ours.endswith(".yml") else {"question"}
    for name in sorted(needed - placeholders):
        raise UserError(f"The prompt {file} has no place {{{name}}}, which {task} needs.")
    for name in sorted(placeholders - known):
        listed = " and ".join(f"{{{placeholder}}}" for placeholder in sorted(known))
        raise UserError(
            f"The prompt {file} has the place {{{name}}}; {task} fills in {listed}. Give TASK=FILE for others."
        )
    return text


def _with_judge_prompt(config: dict[str, Any], folder: Path | None, variables: Mapping[str, str]) -> dict[str, Any]:
    default = task_settings(config)
    if not default.get("judge"):
        return config
    task_prompts = default.get("judge_prompt") or {}
    if not isinstance(task_prompts, str | Mapping):
        expected = "expected a file's name, or a mapping from protocol to file"
        raise UserError(f"{config.get('task')}: judge_prompt: {task_prompts!r}: {expected}.")
    files = {"": task_prompts} if isinstance(task_prompts, str) else dict(task_prompts)
    protocols = default["judge"] if isinstance(default["judge"], list | tuple) else [default["judge"]]
    chosen = parse_prompt_files(variables.get(JUDGE_PROMPT, ""))
    files |= {name: file for name, file in chosen.items() if not name or name in protocols}
    for name, file in files.items():
        beside = (folder or Path()) / str(file)
        files[name] = str(beside.resolve() if beside.is_file() else file)
    return _with_default(config, {"judge_prompt": files}) if files else config


def _with_default(config: dict[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    given = config.get("lmms_eval_specific_kwargs") or {}
    return {**config, "lmms_eval_specific_kwargs": {**given, "default": {**(given.get("default") or {}), **changed}}}
