"""Options of the harness's command line that change what a task asks: refused if they can't, else noted.

Refused, before a model is loaded if possible: ``--apply_chat_template`` for a model without that method (no
model of lmms-eval 0.7.3 has it), examples (``--num_fewshot``, or ``num_fewshot`` in a YAML), whose pictures the harness
shows to no model, ``--system_instruction`` for a chat runner, which is not given it where a task shows pictures, and a
``max_new_tokens`` in ``--gen_kwargs`` where a task limits replies by a column of its data (``new_tokens``).

Noted in the metadata of our tasks, under :data:`lmms_medtasks.samples.run_options.METADATA`: changed settings of the
generation (``--gen_kwargs``), a system instruction, and the user's tags of reasoning.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lmms_medtasks import digests
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.run_options import (
    GENERATION,
    METADATA,
    REASONING_TAGS,
    SYSTEM_INSTRUCTION,
    TAGS_OPTION,
    parse_given_tags,
)
from lmms_medtasks.task_settings import task_settings

_OWN = "_lmms_medtasks_own_generation"
_PROMPT_FILE = "lmms-medtasks run --prompt FILE"


def check_command_options(
    model: str, tasks: Sequence[str], options: Mapping[str, Any], *, is_baseline: bool, lacks_template: bool
) -> None:
    """Raise UserError for options that a model can't be run with, before it is loaded.

    ``tasks``: ours and contributed ones that are asked for; ``options``: the known options of the harness by name;
    ``lacks_template``: whether the model's class has no method ``apply_chat_template``.
    """
    if options.get("apply_chat_template") and lacks_template:
        raise UserError(
            f"--apply_chat_template: the model {model} has no method apply_chat_template, as no model of lmms-eval "
            "0.7.3 has, so the run would end in an error. Runners of chat models apply the chat template of their "
            "checkpoint without it: leave the option out."
        )
    shots = options.get("num_fewshot") or 0
    if shots and tasks:
        raise _shows_no_examples(f"--num_fewshot {shots}", tasks[0])
    if shots and is_baseline:
        raise UserError(
            f"--num_fewshot {shots}: the baseline {model} reads one question from its prompt, and would take the "
            "examples for it. Leave the option out."
        )


def check_loaded_tasks(lm: Any, ours: Iterable[Any], others: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Raise UserError for what :func:`check_command_options` can't know before the tasks are loaded.

    ``ours``, ``others``: the run's task objects; ``options``: the arguments of the harness's ``evaluate`` by name.
    """
    is_own_model = type(lm).__module__.startswith("lmms_medtasks.")
    tasks = list(ours)
    if tasks or is_own_model:
        lacks = not callable(getattr(lm, "apply_chat_template", None))
        check_command_options(type(lm).__name__, (), options, is_baseline=False, lacks_template=lacks)
    for task in tasks:
        check_no_examples(str(task.config.task), getattr(task.config, "num_fewshot", None))
        _check_limit(task)
    check_system_instruction(
        "simple" if tasks and lm.is_simple else "chat", [task.config.task for task in tasks], options
    )
    for task in others if is_own_model else ():
        shots = getattr(task.config, "num_fewshot", None)
        if shots and not hasattr(task, "sampler"):
            raise UserError(
                f"num_fewshot {shots}: the task {task.config.task} names no examples (fewshot_config "
                "in its YAML), so the harness has none to show. Leave --num_fewshot out."
            )


def check_no_examples(task: str, shots: object) -> None:
    """Raise UserError if a task of ours is to show examples; ``shots``: their number."""
    if shots:
        raise _shows_no_examples(f"num_fewshot: {shots}", task)


def check_system_instruction(runner: str | None, tasks: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise UserError where a system instruction would not reach the model. ``runner``: "chat", "simple" or None."""
    if options.get("system_instruction") and tasks and runner == "chat":
        raise UserError(
            f"--system_instruction: the harness gives it to no chat runner where a task shows images, so {tasks[0]} "
            f"would be asked without it. Write it into a prompt file ({_PROMPT_FILE}), or take a simple runner "
            "(--force_simple, where the model has one)."
        )


def remember_generation_settings(tasks: Iterable[Any]) -> None:
    """Keep a copy of each loaded task's generation settings: options change them later in place."""
    for task in tasks:
        setattr(task, _OWN, copy.deepcopy(getattr(task.config, "generation_kwargs", None) or {}))


def note_changed_options(tasks: Iterable[Any], options: Mapping[str, Any]) -> None:
    """Write into the metadata of our tasks what options changed; ``options``: those of the harness's ``evaluate``."""
    for task in tasks:
        changed_options: dict[str, Any] = {}
        if changed := _changed_settings(task):
            changed_options[GENERATION] = changed
        if instruction := options.get("system_instruction"):
            changed_options[SYSTEM_INSTRUCTION] = digests.content_digest(str(instruction).encode())
        tags = getattr(options.get("cli_args"), "reasoning_tags", None)
        if tags_given := parse_given_tags(tags, TAGS_OPTION):
            changed_options[REASONING_TAGS] = [list(pair) for pair in tags_given]
        if changed_options:
            task.config.metadata = {**task.config.metadata, METADATA: changed_options}


def _changed_settings(task: Any) -> dict[str, list[Any]]:
    """Setting -> [the task's, the run's], None where one has none; {} for a task whose settings were not kept."""
    run_settings: Mapping[str, Any] = task.config.generation_kwargs or {}
    task_settings: Mapping[str, Any] = getattr(task, _OWN, run_settings)
    return {
        name: [task_settings.get(name), run_settings.get(name)]
        for name in sorted({*task_settings, *run_settings})
        if task_settings.get(name) != run_settings.get(name)
    }


def _check_limit(task: Any) -> None:
    """Raise UserError where an option limits replies and the task does so for each question, which would win."""
    limits = task_settings(task.config).get("new_tokens")
    if limits and "max_new_tokens" in (changed := _changed_settings(task)):
        listed = ", ".join(f"{value} {limit}" for value, limit in limits["limits"].items())
        raise UserError(
            f"--gen_kwargs max_new_tokens={changed['max_new_tokens'][1]}: {task.config.task} limits each reply by "
            f"{limits['column']} ({listed}), and these limits would count. Leave max_new_tokens out, or choose "
            "settings without such limits (leave --settings out)."
        )


def _shows_no_examples(option: str, task: str) -> UserError:
    return UserError(
        f"{option}: {task} can't show examples. The harness (lmms-eval 0.7.3) would give a simple runner their text "
        "without their images, and a chat runner nothing. Leave it out; examples in words can stand in a prompt file "
        f"({_PROMPT_FILE})."
    )
