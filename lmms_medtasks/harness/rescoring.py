"""Compute a run's results again from its records, as the harness does, with errors and groups, and write them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import QuestionRecord
from lmms_medtasks.samples import degraded
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.writing import write_bytes_atomically

_BOOTSTRAP = 100_000  # the harness's default
_BY_TASK = ("results", "groups", "group_subtasks", "configs", "versions", "n-shot", "higher_is_better", "n-samples")


class TaskDefinitions:
    """Our tasks and groups, and those of ``include_path``, as their YAMLs define them now, with hooks."""

    def __init__(self, include_path: str | list[str] | None = None) -> None:
        from lmms_eval.tasks import TaskManager

        from lmms_medtasks.harness import relied_on
        from lmms_medtasks.harness.plugin import install_plugin

        for part in (relied_on.TASKS, relied_on.RESCORING):
            relied_on.check_harness_has(part)
        install_plugin(TaskManager)  # then it has our own tasks
        self.manager = TaskManager(include_path=include_path, include_defaults=False)
        self._loaded: dict[str, Any] = {}

    def load_task(self, name: str) -> Any:
        """Load a task with its data, once; for a degraded task its clean one, which scores alike.

        Raises UserError for an unknown task and missing data.
        """
        base = self._clean_name(name)
        if base not in self._loaded:
            self.get_definition(base)
            try:
                self._loaded[base] = self.manager.load_task_or_group(base)[base]
            except UserError:
                raise
            except Exception as error:  # a loader of data may raise anything
                raise UserError(f"The data of task {base!r} can't be read here: {error!r:.300}") from error
        return self._loaded[base]

    def _clean_name(self, name: str) -> str:
        """The clean task or group of one that was degraded at run time; any other name unchanged."""
        if name in self.manager.task_index or not degraded.is_degraded_name(name):
            return name
        return name.partition(degraded.MARK)[0]

    def get_definition(self, name: str) -> dict[str, Any]:
        """The configuration of a task or group with its hooks resolved; for a degraded one that of its clean one.

        Raises UserError for an unknown name and a wrong declaration.
        """
        name = self._clean_name(name)
        if name not in self.manager.task_index:
            raise UserError(f"There is no task {name!r} here to score by. If it is not ours: --include-path FOLDER.")
        from lmms_medtasks.harness import template_hooks
        from lmms_medtasks.harness.plugin import read_config

        # The plugin's wrapper would require the task's data.
        config = read_config(self.manager, name)
        path = self.manager.task_index[name]["yaml_path"]
        return template_hooks.bind_hooks(config, path if isinstance(path, str) else None)

    def metrics_of(self, name: str) -> Callable[[QuestionRecord], dict[str, Any]]:
        """The pure function that makes a task's metrics of a record."""
        return record_scorer(name, self.get_definition(name).get("process_results"))


def record_scorer(task: str, hook: Any) -> Callable[[QuestionRecord], dict[str, Any]]:
    """The pure function that makes a task's metrics of a record. Raises UserError if its ``hook`` has none."""
    scorer: Callable[[QuestionRecord], dict[str, Any]] | None = getattr(hook, "metrics_of", None)
    if scorer is None:
        raise UserError(f"Task {task!r} can't be scored from its log: its hook is not marked with records.scored_by.")
    return scorer


class RemadeRun:
    """New result file and logs of a run of which ``tasks`` get new results.

    ``alone``: the new result file holds no other tasks.
    """

    def __init__(self, run: ResultFile, definitions: TaskDefinitions, tasks: Collection[str], *, alone: bool) -> None:
        self.run = run
        self.content: dict[str, Any] = copy.deepcopy(run.content)
        self._definitions, self._tasks = definitions, {*tasks}
        self._rows: dict[str, Sequence[Mapping[str, Any]]] = {}
        if alone:
            keep_only_tasks(self.content, self._tasks)

    def put_task(
        self, task: str, rows: Sequence[Mapping[str, Any]], results: Mapping[str, Any], alias: str | None = None
    ) -> None:
        """Replace a task's log and results, and its alias if ``alias`` is given."""
        self._rows[task] = rows
        old_alias = self.content["results"][task].get("alias", task)
        self.content["results"][task] = {"alias": old_alias if alias is None else alias, **results}

    def update_groups(self) -> None:
        """Compute the groups that hold the tasks again, from the results of all their tasks.

        Other groups stay unchanged. A group's own standard error is pooled by the harness.
        """
        from lmms_eval.api.group import ConfigurableGroup
        from lmms_eval.evaluator_utils import consolidate_group_results

        content = self.content
        sizes = {task: self.run.sample_count(task) or 0 for task in {*content["results"]} - self._rows.keys()}
        sizes |= {task: len(rows) for task, rows in self._rows.items()}
        members = content.get("group_subtasks", {})
        for group in members:
            entry, tasks = content["results"].get(group), _leaf_tasks(group, members)
            has_numbers = entry is not None and any("," in key for key in entry)
            if group in tasks or not has_numbers or self._tasks.isdisjoint(tasks):
                continue
            definition = self._definitions.get_definition(group)
            config = {**{key: value for key, value in definition.items() if key != "include"}, "group": group}
            results = copy.deepcopy(content["results"])
            results[group] = {}
            for task in tasks:
                results[task]["samples"] = sizes.get(task, 0)
            tree = {ConfigurableGroup(config=config): {task: _stub_task(task, {}) for task in tasks}}
            consolidate_group_results(results, {}, tree)
            fresh = {key: value for key, value in results[group].items() if key != "samples"}
            for table in ("results", "groups"):
                if group in content.get(table, {}):
                    content[table][group] = {"alias": content[table][group].get("alias", group), **fresh}

    def log_texts(self, folder: Path) -> dict[Path, str]:
        """The new logs by their paths in ``folder``."""
        return {
            folder / self.run.samples_file(task).name: "".join(map(json_line, rows))
            for task, rows in self._rows.items()
        }

    def write_files(self, folder: Path) -> Path:
        """Write the logs, then the result file, whose path is returned. Raises UnwritableFile.

        Each file is written whole or not at all; if the command is stopped between two, give it again.
        """
        path = folder / self.run.path.name
        files = {**self.log_texts(folder), path: json_line(self.content, indent=2)}
        for file, text in files.items():
            write_bytes_atomically(file, text.encode("utf-8", "surrogatepass"))
        return path


def logged_results(
    run: ResultFile, task: str, definitions: TaskDefinitions, metrics: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The entry of ``results`` for a task of ``run``, from the metrics of each row of its log."""
    config = run.content["configs"][task]
    return compute_task_results(task, definitions.get_definition(task), config, metrics, get_filter_name(run, task))


def compute_task_results(
    name: str,
    definition: Mapping[str, Any],
    config: Mapping[str, Any],
    metrics: Sequence[Mapping[str, Any]],
    filter_name: str,
) -> dict[str, Any]:
    """The entry of ``results`` in a result file for a task, from the metrics of each document.

    ``definition`` has the aggregations, ``config`` is the task's configuration in the result file.
    """
    from lmms_eval.evaluator_utils import TaskOutput, consolidate_results

    task = _stub_task(name, _get_aggregations(definition))
    output = TaskOutput(task=task, task_name=name, task_config=dict(config), version=0, n_shot=0)
    for document_metrics in metrics:
        for metric, value in document_metrics.items():
            output.sample_metrics[(metric, filter_name)].append(value)
    # Only aggregations of the harness, named by a word, have a bootstrap error, which takes seconds.
    has_named_aggregation = any(
        isinstance(metric.get("aggregation", ""), str) for metric in definition.get("metric_list") or []
    )
    output.calculate_aggregate_metric(bootstrap_iters=_BOOTSTRAP if has_named_aggregation else 0)
    output.calculate_clt_aggregate_metric()
    entry = dict(consolidate_results([output])[0][name])
    return {key: value for key, value in entry.items() if key not in ("alias", "samples")}


def _get_aggregations(definition: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    from lmms_eval.api.registry import get_aggregation

    aggregations = {}
    for metric in definition.get("metric_list") or []:
        aggregation = metric.get("aggregation", "mean")
        aggregations[metric["metric"]] = get_aggregation(aggregation) if isinstance(aggregation, str) else aggregation
    return aggregations


def _leaf_tasks(name: str, members: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks of a group and of the groups in it; for a task the task itself."""
    if not members.get(name):
        return [name]
    return list(dict.fromkeys(leaf for member in members[name] for leaf in _leaf_tasks(member, members)))


def _stub_task(name: str, aggregations: Mapping[str, Callable[..., Any]]) -> Any:
    """A task with a name and aggregations only, which is all that the harness's functions need here."""
    from lmms_eval.api.task import Task

    unused = {method: None for method in Task.__abstractmethods__}
    attributes = {
        "task_name": name,
        "args": None,
        "aggregation": lambda self: dict(aggregations),
        "higher_is_better": lambda self: {},
    }
    cls: Any = type("Stub", (Task,), {**unused, **attributes})
    return cls.__new__(cls)  # __init__ requires data


def json_line(content: Mapping[str, Any], indent: int | None = None) -> str:
    """JSON as in the harness's files, with a line break at the end."""
    from lmms_eval.utils import handle_non_serializable

    return json.dumps(content, default=handle_non_serializable, ensure_ascii=False, indent=indent) + "\n"


def keep_only_tasks(content: dict[str, Any], tasks: Collection[str]) -> None:
    """Leave only ``tasks`` in a result file's content; groups that hold others go with them."""
    left = {*tasks}
    left |= {name for name, members in content.get("group_subtasks", {}).items() if members and {*members} <= {*tasks}}
    for key in _BY_TASK:
        if isinstance(content.get(key), dict):
            content[key] = {name: value for name, value in content[key].items() if name in left}


def get_filter_name(run: ResultFile, task: str) -> str:
    """The name of the task's filter in the keys of the results. Raises UserError if there are several."""
    entry = run.content["results"].get(task, {})
    names = {key.partition(",")[2] for key in entry if "," in key and "_stderr" not in key}
    if len(names) != 1:
        raise UserError(
            f"{run.path}: task {task!r} has results of the filters {sorted(names)}; expected one, since the sample log "
            "does not say which row is of which."
        )
    return names.pop()
