"""The harness called as a function: the same model, tasks and files as its command line; the process stays unchanged.

Everything that the command line does around ``simple_evaluate`` is done here with the same values, except its log,
continuing a run that was cut off, and several processes.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import inspect
import json
import random  # noqa: TID251 (its state is kept and put back, nothing is drawn)
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError, nearest_match
from lmms_medtasks.harness import asking_progress, calls, plugin, relied_on, runners, stamps, start_checks
from lmms_medtasks.harness.replacing import replace_attribute
from lmms_medtasks.samples import result_files
from lmms_medtasks.samples.run_options import HARNESS_TAGS

REASONING_TAGS = json.dumps(HARNESS_TAGS)
"""The default of the harness's --reasoning_tags."""


def evaluate_model(
    model: Any,
    tasks: Sequence[str],
    output: Path,
    *,
    settings: Mapping[str, Any],
    include_path: Sequence[Path],
    verbose: bool,
    name: str = "",
) -> Path:
    """Evaluate a model on tasks, write results and sample logs below ``output``, and return the result file.

    ``model``: a name of the harness, one of its model objects, or a function of a prompt and a list of PIL images that
    gives a reply. ``settings``: options of ``lmms-eval`` that ``simple_evaluate`` takes too. ``verbose``: show logs and
    bars. ``name``: what results call a model that is no name. Raises UserError for an unknown model or task, settings
    that can't be read, what a task refuses, and an incomplete result.
    """
    import torch
    from loguru import logger

    # Modules of the harness put a handler of their own in place of the caller's when they are imported.
    with replace_attribute(logger, "remove", lambda *_: None), replace_attribute(logger, "add", lambda *_, **__: 0):
        from lmms_eval import evaluator, utils
        from lmms_eval.api.model import lmms
        from lmms_eval.loggers import EvaluationTracker
        from lmms_eval.tasks import TaskManager

    for option in ("model_args", "gen_kwargs"):
        start_checks.check_pairs(option, settings[option] or "")
    plugin.install_plugin(TaskManager)
    relied_on.check_harness_has(relied_on.PYTHON)
    lm = model if isinstance(model, (str, lmms)) else model_from_function(model)
    name = lm if isinstance(lm, str) else name or str(getattr(lm, "name", type(lm).__name__))
    if isinstance(lm, str) and runners.find_runner_kind(lm, False) is None:
        raise UserError(f"Unknown model {lm!r}.{nearest_match(lm, runners.names())} `lmms-eval models` lists all.")
    with _generators_kept(torch), _outside_of_a_loop(), contextlib.ExitStack() as restored:
        if verbose:
            restored.enter_context(calls.hide_harness_bars())  # full before the first question is asked
        else:
            restored.enter_context(replace_attribute(asking_progress, "is_shown", lambda lm: False))
            restored.enter_context(_hide_bars())
            for package in ("lmms_eval", "lmms_medtasks"):
                logger.disable(package)
                restored.callback(logger.enable, package)
        if not isinstance(lm, str):
            # The harness takes a model apart at the end of a run; the caller may use this one again.
            restored.enter_context(replace_attribute(lm, "clean", lambda: None))
        manager = TaskManager(
            "INFO", [*map(str, include_path)] or None, include_defaults=not plugin.are_only_ours(tasks), model_name=name
        )
        if not isinstance(lm, str):
            manager._lmms_medtasks_runner = "simple" if lm.is_simple else "chat"
        names = _match_tasks(manager, tasks)
        tracker = EvaluationTracker(output_path=str(output))
        stamps.give_own_stamp(tracker)
        date = utils.get_datetime_str(timezone="UTC")
        options = argparse.Namespace(
            tasks=",".join(tasks), **settings, output_path=str(output), log_samples=True, process_with_media=False,
            reasoning_tags=REASONING_TAGS, agentic_trace_mode="basic",
        )  # fmt: skip
        results = evaluator.simple_evaluate(
            model=lm, tasks=names, **settings, task_manager=manager, log_samples=True, cli_args=options,
            datetime_str=date,
        )  # fmt: skip
        if results is None:
            raise UserError("Only the first of several processes has results. Use lmms-medtasks run --processes.")
        # Not by simple_evaluate, with which the tracker would copy a model object.
        tracker.general_config_tracker.log_experiment_args(name, settings["model_args"], None, None, False)
        results["config"]["model"] = name
        samples = results.pop("samples")
        tracker.save_results_aggregated(results=results, samples=samples, datetime_str=date)
        for task in results["configs"]:
            tracker.save_results_samples(task_name=task, samples=samples[task])
        return _written_file(output, stamps.find_result_file(tracker), tasks)


def model_from_function(function: Any) -> Any:
    """A model of the harness that calls a function of a prompt and a list of PIL images for each reply.

    Raises UserError for an object that can't be called with two arguments.
    """
    if not callable(function):
        raise UserError(
            "A model is a name of the harness, one of its model objects, or a function of a prompt and a list of "
            f"images that gives a reply, got {type(function).__name__}."
        )
    try:
        inspect.signature(function).bind("", [])
    except (TypeError, ValueError):
        raise UserError(
            "A function that is a model takes a prompt and a list of images, and gives a reply: def "
            "model(prompt, images): ..."
        ) from None
    from lmms_medtasks.harness.own_models import FunctionModel

    return FunctionModel(function)


def _match_tasks(manager: Any, tasks: Sequence[str]) -> list[str]:
    """The tasks that names and wildcards stand for, matched as by the harness's command line."""
    names: list[str] = manager.match_tasks(list(tasks))
    for task in tasks:
        if task not in names and "*" not in task:
            hint = nearest_match(task, manager.all_tasks)
            raise UserError(f"There is no task {task!r}.{hint} list_tasks() lists ours, `lmms-eval --tasks list` all.")
    if not names:
        raise UserError(f"No task is called like {', '.join(tasks)}.")
    return names


def _written_file(output: Path, path: Path | None, tasks: Sequence[str]) -> Path:
    """``path`` if it is a complete result file; else raises UserError."""
    if path is None or not path.stat().st_size:
        raise UserError(f"The harness wrote no results to {output}. Is there room, and may you write there?")
    problems = result_files.list_missing_results([result_files.read_result_file(path)], tasks)
    if problems:
        raise UserError(f"{' '.join(problems)} What there is stands in {path}.")
    return path


def count_task_sizes(tasks: Sequence[str], folders: Sequence[Path] = ()) -> Mapping[str, tuple[int, int, int]]:
    """Task -> numbers of images (or other clusters of its questions), questions and trials; no model is loaded.

    Raises UserError for a task that is not of lmms-medtasks; errors of reading its data pass through.
    """
    from lmms_eval.tasks import TaskManager, get_task_dict
    from loguru import logger

    from lmms_medtasks.harness.evaluating import is_our_task, iter_tasks
    from lmms_medtasks.harness.subset_tasks import list_question_units

    logger.disable("lmms_eval")  # it warns of each file of the harness that is not a task
    plugin.install_plugin(TaskManager)
    manager = TaskManager(include_path=[*map(str, folders)] or None, include_defaults=not plugin.are_only_ours(tasks))
    unknown = [name for name in tasks if name not in manager.all_tasks]
    if unknown:
        raise UserError(f"Unknown task {unknown[0]!r} in --tasks. `lmms-eval --tasks list` lists all.")
    counts = {}
    for task in iter_tasks(get_task_dict(list(tasks), manager)):
        if not is_our_task(task.config):
            raise UserError(f"{task.config.task} is no task of lmms-medtasks: what its questions share is not known.")
        task_units = list_question_units(task)
        counts[str(task.config.task)] = (len(set(task_units)), len(task_units), task.config.repeats or 1)
    return counts


def _hide_bars() -> contextlib.AbstractContextManager[object]:
    """Hide every progress bar of the process: of the harness, its runners, data sets and checkpoints."""
    from tqdm.std import tqdm

    begin = tqdm.__init__
    return replace_attribute(
        tqdm, "__init__", lambda self, *args, **options: begin(self, *args, **{**options, "disable": True})
    )


@contextlib.contextmanager
def _outside_of_a_loop() -> Iterator[None]:
    """Let models that ask a server call ``asyncio.run``, which Python refuses in a loop, as in a notebook's cell."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        yield
        return
    asyncio._set_running_loop(None)  # the notebook's loop waits for this cell anyway
    try:
        yield
    finally:
        asyncio._set_running_loop(loop)
        asyncio.set_event_loop(loop)


@contextlib.contextmanager
def _generators_kept(torch: Any) -> Iterator[None]:
    """Restore the process's random generators, all of which the harness seeds."""
    states: list[tuple[Callable[[Any], Any], Any]] = [
        (random.setstate, random.getstate()),
        (np.random.set_state, np.random.get_state()),  # noqa: NPY002 (as the harness seeds it)
        (torch.set_rng_state, torch.get_rng_state()),
    ]
    if torch.cuda.is_initialized():
        states.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    try:
        yield
    finally:
        for put_back, state in states:
            put_back(state)


def run_folder_tasks(model: str, tasks: Sequence[str], folder: Path, limit: int) -> Mapping[str, Any]:
    """The harness's results by task, of one model on the CPU over the first ``limit`` questions. Writes no files.

    Errors of the harness pass through. Raises UserError if it returns no results.
    """
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.tasks import TaskManager

    plugin.install_plugin(TaskManager)
    manager = TaskManager(include_path=str(folder), include_defaults=False, model_name=model)
    done = simple_evaluate(
        model=model, tasks=list(tasks), task_manager=manager, limit=limit, bootstrap_iters=0, batch_size=1, device="cpu"
    )
    if done is None:
        raise UserError(f"{model}: the harness gave no result.")
    return done["results"]
