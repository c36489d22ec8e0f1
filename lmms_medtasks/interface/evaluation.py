"""The installed tasks, and an evaluation as a call: the harness in this process, its results as an object."""

from __future__ import annotations

import html
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks.errors import UserError, check_count
from lmms_medtasks.interface.columns import task_names
from lmms_medtasks.samples import result_files
from lmms_medtasks.samples.degraded import find_base_task
from lmms_medtasks.samples.runs import RunPaths, list_run_paths, new_folder
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.suite_rows import numbers_of

if TYPE_CHECKING:
    from pandas import DataFrame

    from lmms_medtasks.report.run_report import RunReport


def list_tasks(names: str | Iterable[str] = ()) -> DataFrame:
    """The installed benchmarks' tasks and groups, a row each: what ``lmms-medtasks tasks`` prints.

    The harness's own tasks are listed by ``lmms-eval --tasks list``.

    Args:
        names: Only these: a benchmark, task, group or pattern ("*_noimage"), or several.

    Returns:
        Columns ``name`` (as :func:`evaluate` takes it), ``about`` (what the task asks, "" of variants), ``questions``
        and ``trials`` (replies to each question; missing where not known, or where a group's tasks differ), ``judge``
        (whether a judge scores replies), ``data`` (what a run reads: full, sample or mini; "not prepared": the
        questions are those of the mini data), ``group`` (True for a group of tasks), ``benchmark`` (its folder),
        ``title`` (the benchmark's name for people).

    Raises:
        UserError: An unknown name; MEDTASKS_DATA names no data.

    Example:
        >>> tasks = list_tasks()
        >>> tasks[~tasks.judge & (tasks.data == "full")].name  # doctest: +SKIP
        >>> tasks.columns.tolist()
        ['name', 'about', 'questions', 'trials', 'judge', 'data', 'group', 'benchmark', 'title']
    """
    import pandas as pd

    from lmms_medtasks.board.listed_tasks import list_installed_tasks

    listed = list_installed_tasks(task_names([names] if isinstance(names, str) else names))
    rows = [{**task.to_json(), "group": bool(task.members)} for task in listed]
    columns = ["name", "about", "questions", "trials", "judge", "data", "group", "benchmark", "title"]
    return pd.DataFrame(rows, columns=columns).astype({"questions": "Int64", "trials": "Int64"})


@dataclass(frozen=True)
class EvaluationResult:
    """A finished run. :func:`read_runs`, :func:`report` and :func:`compare` take it in place of its path,
    :func:`accuracy`, :func:`mean` and :func:`difference` in place of its ``samples``. It prints as its main numbers.

    Attributes:
        result_file: The run's ``*_results.json``; its sample logs lie beside it.
    """

    result_file: Path

    @property
    def results(self) -> Mapping[str, Mapping[str, float]]:
        """Task -> metric -> value, as the harness printed them."""
        return {
            task: numbers_of(values) for task, values in result_files.read_result_file(self.result_file).tasks.items()
        }

    @property
    def table(self) -> DataFrame:
        """The same as a data frame: ``task``, ``metric``, ``value``."""
        import pandas as pd

        rows = [(task, name, value) for task, values in self.results.items() for name, value in values.items()]
        return pd.DataFrame(rows, columns=["task", "metric", "value"])

    @property
    def samples(self) -> DataFrame:
        """Its questions, see :func:`read_runs`."""
        from lmms_medtasks.interface.runs import read_runs

        return read_runs(self.result_file)

    def report(self, **options: Any) -> RunReport:
        """Its report; options as of :func:`report`."""
        from lmms_medtasks.report.run_report import report

        return report(self.result_file, **options)

    @property
    def main(self) -> dict[str, dict[str, float]]:
        """As ``results``, of each task its main metrics alone: {} where no judge has scored its replies yet."""
        configs = result_files.read_result_file(self.result_file).content.get("configs") or {}
        numbers = {}
        for task, values in self.results.items():
            config = configs.get(task)
            suite = None if config is None else registry.find_suite(find_base_task(task, config) or task, config)
            names = [metric.name for metric in suite.main_metrics] if suite else list(values)
            if config is not None:  # a group's tasks stand there themselves
                numbers[task] = {name: values[name] for name in names if name in values}
        return numbers

    def __repr__(self) -> str:
        return "\n".join([f"EvaluationResult({self.result_file})", *(f"  {line}" for line in self._main_lines())])

    def _repr_html_(self) -> str:
        lines = "".join(f"<li>{html.escape(line)}</li>" for line in self._main_lines())
        return f"<ul>{lines}</ul><p><code>{html.escape(str(self.result_file))}</code></p>"

    def _main_lines(self) -> list[str]:
        return [
            f"{task}: " + (", ".join(f"{name} {value:.4g}" for name, value in values.items()) or "not judged yet")
            for task, values in self.main.items()
        ]


def evaluate(
    model: str | Callable[[str, list[Any]], str] | Any,
    tasks: str | Sequence[str],
    *,
    model_args: str | Mapping[str, Any] = "",
    limit: int | float | None = None,
    batch_size: int | str = 1,
    device: str | None = None,
    num_fewshot: int | None = None,
    gen_kwargs: str | Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    include_path: RunPaths = (),
    use_cache: str | os.PathLike[str] | None = None,
    name: str = "",
    verbose: bool = False,
) -> EvaluationResult:
    """Evaluate a model on tasks in this process: the results and files are those of ``lmms-medtasks run``.

    Args:
        model: A model's name in the harness, such as "medtasks_observer" or "qwen2_5_vl"; a model object of the harness
            (``lmms_eval.api.model.lmms``), which can be used again afterwards; or a function of a prompt and a list of
            RGB PIL images that gives a reply. Where an object or a function sends images, we can't see: data whose
            terms forbid third parties are then yours to keep.
        tasks: Names of tasks, groups or tags; wildcards and degraded tasks ("slake_en@gaussian_noise.2") as well.
        model_args: For a name: the model's arguments, a mapping or a text "name=value,name=value".
        limit: The first questions of each task, or a share below 1. Such numbers are for trying out.
        batch_size, device, num_fewshot: As of ``lmms-eval``.
        gen_kwargs: Settings of generation in place of the tasks', a mapping or a text.
        output: Folder for results and sample logs; a new one in ``runs/`` by default.
        include_path: Folders with tasks that are not installed.
        use_cache: Folder or file of the harness's response cache; replies in it are not asked again.
        name: What results call an object or a function. Default: the function's own name, "function" of a lambda.
        verbose: Show progress bars, the harness's log and ours. Else only a warning that the numbers may be wrong is
            printed, which :func:`report` gives too.

    Returns:
        An :class:`~lmms_medtasks.interface.evaluation.EvaluationResult`.

    Raises:
        UserError: An unknown model or task, data that are not there, what a task refuses, no question, a run whose
            results are not complete.

    Note:
        One process, no settings of the environment changed, the process's random generators as they were. A call that
        is interrupted starts anew; ``lmms-medtasks run`` goes on where it stopped.

    Example:
        >>> found = evaluate("medtasks_random", ["slake_en"], limit=20)  # doctest: +SKIP
        >>> found.results["slake_en"]["accuracy"], found.samples, found.report()  # doctest: +SKIP
    """
    from lmms_medtasks.harness import in_process

    names = task_names(tasks.split(",") if isinstance(tasks, str) else tasks)
    if not names:
        raise UserError("tasks must be names of tasks, such as ['slake_en'], got none.")
    if limit is not None and not _is_limit(limit):
        raise UserError(f"limit must be a whole number of questions above 0, or a share below 1, got {limit!r}.")
    if num_fewshot is not None:
        check_count(num_fewshot, "num_fewshot")
    for option, path in (("output", output), ("use_cache", use_cache)):
        if not isinstance(path, str | os.PathLike | None):
            raise UserError(f"{option} must be a path, got {path!r:.80} ({type(path).__name__}).")
    arguments = _format_arguments(model_args, "model_args")
    if arguments and not isinstance(model, str):
        raise UserError("model_args are for a model's name; an object or a function has its own.")
    if name and isinstance(model, str):
        raise UserError(f"name is for an object or a function; {model!r} has one.")
    folder = new_folder() if output is None else Path(output).expanduser()
    if folder.exists() and not folder.is_dir():
        raise UserError(f"output={str(output)!r} is a file. Name a folder.")
    included = list_run_paths(include_path)
    registry.add_suite_folders(included)
    settings = {
        "model_args": arguments,
        "limit": limit,
        "batch_size": batch_size,
        "device": device,
        "num_fewshot": num_fewshot,
        "gen_kwargs": _format_arguments(gen_kwargs, "gen_kwargs") or None,
        "use_cache": None if use_cache is None else os.fspath(use_cache),
    }
    return EvaluationResult(
        in_process.evaluate_model(
            model, names, folder, settings=settings, include_path=included, verbose=verbose, name=name
        )
    )


def _is_limit(limit: Any) -> bool:
    """Whether ``limit`` is a whole number of questions above 0, or a share of them below 1."""
    is_number = isinstance(limit, (int, float)) and not isinstance(limit, bool)
    return is_number and limit > 0 and limit % 1 in (0, limit)


def _format_arguments(given: str | Mapping[str, Any] | None, what: str) -> str:
    """Arguments in the form of the harness's command line.

    Raises UserError for neither a text nor a mapping, and for a comma in a value of a mapping, NaN or infinity.
    """
    if given is None or isinstance(given, str):
        return given or ""
    if not isinstance(given, Mapping):
        raise UserError(f"{what} must be NAME=VALUE,NAME=VALUE or a mapping, got {type(given).__name__}.")
    for name, value in given.items():
        if "," in str(value) or (isinstance(value, float) and not math.isfinite(value)):
            raise UserError(
                f"{what}: {name}={value!r} can't be given to the harness, which reads NAME=VALUE,NAME=VALUE."
            )
    return ",".join(f"{name}={value}" for name, value in given.items())
