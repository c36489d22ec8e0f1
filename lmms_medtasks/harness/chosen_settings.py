"""What a user chose for a run beside its tasks: the papers' settings, and prompts of their own in place of ours.

``lmms-medtasks run`` has options for them, plain lmms-eval the environment variables. All is checked when a task's
configuration is read, before a model is loaded or anything is asked, and recorded in the task's metadata: ``settings``
(name and changes), ``own_prompt`` (name and digest of the file). The digest of a judge's prompt stands in the
description of the judge.
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
from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.harness import judged
from lmms_medtasks.prompt_files import prompt_text
from lmms_medtasks.samples import degraded
from lmms_medtasks.suites import paper, registry

PROMPT, JUDGE_PROMPT = "MEDTASKS_PROMPT", "MEDTASKS_JUDGE_PROMPT"
"""``FILE``, or ``NAME=FILE`` several times with ``;`` between; NAME: a task's name or pattern, or a protocol's."""

VARIABLES = (paper.VARIABLE, PROMPT, JUDGE_PROMPT)
"""What another command is another run by."""

_PLACE = re.compile(r"\{(\w+)\}")


def applied(config: dict[str, Any], folder: Path | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The task's configuration as it is run, and what its metadata say of it.

    ``folder``: of the task's YAML, where a ``judge_prompt`` that it names may lie. Raises UserError for settings that
    the task's benchmark has none of, and for a prompt's file that is not there, no UTF-8 text, or lacks a place.
    """
    told: dict[str, Any] = {}
    config = _with_settings(config, told)
    config = _with_prompt(config, told, os.environ)
    return _with_judge_prompt(config, folder, os.environ), told


def check_files(names: Sequence[str], configs: Sequence[dict[str, Any]], variables: Mapping[str, str]) -> None:
    """Raise UserError where a file in ``variables`` can't be the prompt that it stands in place of.

    That is told before the harness is started, from what YAMLs say. ``names``: the tasks that are asked for, as far as
    they are known; ``configs``: ``task`` and ``lmms_eval_specific_kwargs`` of those among them that are ours.
    """
    asked = [_with_judge_prompt(_with_prompt(each, {}, variables), None, variables) for each in configs]
    for config in asked:
        judged.protocols_of(config)
    for name, file in _named(PROMPT, variables).items():
        if not any(not name or fnmatch.fnmatchcase(config["task"], name) for config in configs):
            _checked_prompt(file, name or ", ".join(names) or "any task", "")


def written(given: Sequence[str]) -> str:
    """The form of :data:`PROMPT` and :data:`JUDGE_PROMPT`, files by their absolute paths: they may be read elsewhere.

    Raises UserError for a file that is not there.
    """
    found = []
    for each in given:
        name, _, file = each.rpartition("=")
        if not Path(file).is_file():
            raise UserError(f"No prompt file {file!r}. Give FILE, or NAME=FILE.")
        found.append(f"{name}={Path(file).resolve()}" if name else str(Path(file).resolve()))
    return ";".join(found)


def check(names: Iterable[str], configs: Sequence[Mapping[str, Any]]) -> None:
    """Raise UserError where a name in the variables is of none of the tasks (``names``), or of no protocol of theirs.

    ``configs``: of those tasks that are ours.
    """
    tasks = list(names)
    for name in _named(PROMPT, os.environ):
        if name and not any(fnmatch.fnmatchcase(task, name) for task in tasks):
            raise unknown("task", name, tasks, PROMPT)
    protocols = sorted({each.name for config in configs for each in judged.protocols_of(config)})
    for name in _named(JUDGE_PROMPT, os.environ):
        if name and name not in protocols:
            raise unknown("judge protocol", name, protocols, f"{JUDGE_PROMPT}; the tasks asked for have the allowed")
        if not name and len(protocols) != 1:
            said = ", ".join(protocols) or "none"
            raise UserError(
                f"{JUDGE_PROMPT} names one file, the tasks' judge protocols are: {said}. Give PROTOCOL=FILE."
            )


def check_ours(strange: Sequence[str]) -> None:
    """Raise UserError where something was chosen and ``strange``, names of tasks that are not ours, are run too."""
    chosen = [name for name in VARIABLES if os.environ.get(name, "").strip() not in ("", paper.OURS)]
    if chosen and strange:
        raise UserError(f"{chosen[0]} is for tasks of lmms-medtasks; {', '.join(strange)} is none. Run it apart.")


def judge_prompts(given: str) -> dict[str, str]:
    """Protocol ("" for the only one) -> file, of the form that :data:`JUDGE_PROMPT` has."""
    parts = [each.strip() for each in given.split(";") if each.strip()]
    return {name: file for name, _, file in (each.rpartition("=") for each in parts)}


def _named(variable: str, variables: Mapping[str, str]) -> dict[str, str]:
    return judge_prompts(variables.get(variable, ""))


def _with_settings(config: dict[str, Any], told: dict[str, Any]) -> dict[str, Any]:
    name = paper.chosen()
    suite = registry.find(str(config["task"]), config) if name else None
    if suite is None:
        return config
    own = paper.of(suite.name)
    known = own.settings if own else paper.OF_ALL
    if name not in known:
        if own is None and not suite.data:
            return config  # a contributed task, of no paper that is known
        raise unknown("settings", name, known, f"{suite.title}, task {config['task']!r}")
    chosen = known[name]
    generation = {**(config.get("generation_kwargs") or {}), **chosen.generation}
    if name == paper.THINKING and not gives_room(config, (config.get("generation_kwargs") or {}).get("max_new_tokens")):
        chosen = dataclasses.replace(chosen, generation={})
    told["settings"] = {"name": name, "changes": {**chosen.default, **chosen.generation}}
    if not told["settings"]["changes"]:
        from loguru import logger

        logger.info(f"{config['task']}: {name} settings: {chosen.about}")
        return config
    return {**_with_default(config, chosen.default), "generation_kwargs": generation}


def gives_room(config: Mapping[str, Any], limit: int | None) -> bool:
    """Whether ``--settings thinking`` raises a task's limit of new tokens, which is ``limit`` now.

    Of a degraded task its base decides.
    """
    metadata = {name: each for name, each in (config.get("metadata") or {}).items() if name != degraded.METADATA}
    suite = registry.find(str(config["task"]).partition("@")[0], {**config, "metadata": metadata})
    own = paper.of(suite.name) if suite else None
    raised = (own.settings if own else paper.OF_ALL)[paper.THINKING].generation.get("max_new_tokens")
    return suite is not None and raised is not None and (limit is None or limit < raised)


def _with_prompt(config: dict[str, Any], told: dict[str, Any], variables: Mapping[str, str]) -> dict[str, Any]:
    given = config.get("lmms_eval_specific_kwargs") or {}
    ours = str((given.get("default") or {}).get("prompt") or "")
    named = _named(PROMPT, variables)
    chosen = [file for name, file in named.items() if not name or fnmatch.fnmatchcase(config["task"], name)]
    # Of several the last counts, as of options given twice; a task's own name stands above a file for all.
    file = chosen[-1] if chosen else ours if Path(ours).is_absolute() and "{question}" not in ours else ""
    if not file:
        return config
    if not ours:
        raise UserError(f"{config['task']} names no prompt of its own: {PROMPT} has nothing to stand in place of.")
    text = _checked_prompt(file, str(config["task"]), ours if chosen else "")
    told["own_prompt"] = {"name": Path(file).name, "digest": digests.digest(text.encode())}
    return _with_default(config, {"prompt": file})


def _checked_prompt(file: str, task: str, ours: str) -> str:
    """The text of a prompt's file. Raises UserError where it can't be one for ``task``.

    ``ours``: the prompt that it stands in place of, as the task names it; "" where the task's YAML names the file.
    """
    text = prompt_text(file)
    places = set(_PLACE.findall(text))
    known = {"question", *(_PLACE.findall(prompt_text(ours)) if ours else ("options",))} & {"question", "options"}
    # Prompts for several forms of question in one file: some need no options.
    needed = known if ours and not ours.endswith(".yml") else {"question"}
    for name in sorted(needed - places):
        raise UserError(f"The prompt {file} has no place {{{name}}}, which {task} needs.")
    for name in sorted(places - known):
        said = " and ".join(f"{{{each}}}" for each in sorted(known))
        raise UserError(
            f"The prompt {file} has the place {{{name}}}; {task} fills in {said}. Give TASK=FILE for others."
        )
    return text


def _with_judge_prompt(config: dict[str, Any], folder: Path | None, variables: Mapping[str, str]) -> dict[str, Any]:
    default = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    if not default.get("judge"):
        return config
    own = default.get("judge_prompt") or {}
    own = {"": own} if isinstance(own, str) else dict(own)
    named = default["judge"] if isinstance(default["judge"], list | tuple) else [default["judge"]]
    # Another task's protocols are not this one's.
    own |= {name: file for name, file in _named(JUDGE_PROMPT, variables).items() if not name or name in named}
    if not own:
        return config
    return _with_default(config, {"judge_prompt": {name: _found(str(file), folder) for name, file in own.items()}})


def _found(file: str, folder: Path | None) -> str:
    beside = folder / file if folder else Path(file)
    return str(beside.resolve()) if beside.is_file() else file


def _with_default(config: dict[str, Any], changed: Mapping[str, Any]) -> dict[str, Any]:
    given = config.get("lmms_eval_specific_kwargs") or {}
    return {**config, "lmms_eval_specific_kwargs": {**given, "default": {**(given.get("default") or {}), **changed}}}
