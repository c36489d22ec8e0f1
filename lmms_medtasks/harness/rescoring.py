"""A task's results from its records, as the harness computes them: its own aggregation, standard errors, groups."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import Record
from lmms_medtasks.samples import degraded

Metrics = Mapping[str, Any]

_BOOTSTRAP = 100_000  # the harness's default


class Definitions:
    """Our tasks and groups as their YAMLs define them now, with hooks; those of ``include_path`` too."""

    def __init__(self, include_path: str | list[str] | None = None) -> None:
        from lmms_eval.tasks import TaskManager

        from lmms_medtasks.harness import relied_on
        from lmms_medtasks.harness.plugin import join

        for part in (relied_on.TASKS, relied_on.RESCORING):
            relied_on.check(part)
        join(TaskManager)  # then it has our own tasks
        self.manager = TaskManager(include_path=include_path, include_defaults=False)
        self._loaded: dict[str, Any] = {}

    def loaded(self, name: str) -> Any:
        """A task as the harness loads it, with its data, once; of a degraded one its clean task, which scores alike.

        Raises UserError where there is no such task, or its data are not here.
        """
        base = self._base(name)
        if base not in self._loaded:
            self.of(base)
            try:
                self._loaded[base] = self.manager.load_task_or_group(base)[base]
            except UserError:
                raise
            except Exception as error:  # whatever a loader of data fails with
                raise UserError(f"The data of task {base!r} can't be read here: {error!r:.300}") from error
        return self._loaded[base]

    def _base(self, name: str) -> str:
        """What a degraded task or group was made of, at run time; any other name itself."""
        if name in self.manager.task_index or not degraded.is_name(name):
            return name
        return name.partition(degraded.MARK)[0]

    def of(self, name: str) -> dict[str, Any]:
        """The configuration of a task or group, its hooks resolved; of a degraded one that of its clean one.

        Raises UserError where there is none, or where its declaration is wrong.
        """
        name = self._base(name)
        if name not in self.manager.task_index:
            raise UserError(f"There is no task {name!r} here to score by. If it is not ours: --include-path FOLDER.")
        from lmms_medtasks.harness import template_hooks
        from lmms_medtasks.harness.plugin import read_config

        # The plugin's wrapper would look for the task's data, which are not needed here.
        config = read_config(self.manager, name)
        path = self.manager.task_index[name]["yaml_path"]
        return template_hooks.bound(config, path if isinstance(path, str) else None)

    def metrics_of(self, name: str) -> Callable[[Record], dict[str, Any]]:
        """The pure function that makes a task's metrics of a record."""
        found = getattr(self.of(name).get("process_results"), "metrics_of", None)
        if found is None:
            raise UserError(
                f"Task {name!r} can't be scored from its log: its hook is not marked with records.scored_by."
            )
        return found


def results_of(
    name: str, definition: Mapping[str, Any], config: Mapping[str, Any], metrics: Sequence[Metrics], filter_name: str
) -> dict[str, Any]:
    """The entry of ``results`` in a result file for a task, from what its hook gives for each document.

    ``definition`` has the aggregations, ``config`` is what the result file says of the task.
    """
    from lmms_eval.evaluator_utils import TaskOutput, consolidate_results

    task = _stub(name, _aggregations(definition))
    output = TaskOutput(task=task, task_name=name, task_config=dict(config), version=0, n_shot=0)
    for each in metrics:
        for metric, value in each.items():
            output.sample_metrics[(metric, filter_name)].append(value)
    # Only an aggregation of the harness's own, named by a word, gets more than "N/A" here; asking costs seconds.
    named = any(isinstance(each.get("aggregation", ""), str) for each in definition.get("metric_list") or [])
    output.calculate_aggregate_metric(bootstrap_iters=_BOOTSTRAP if named else 0)
    output.calculate_clt_aggregate_metric()
    found = dict(consolidate_results([output])[0][name])
    return {key: value for key, value in found.items() if key not in ("alias", "samples")}


def _aggregations(definition: Mapping[str, Any]) -> dict[str, Callable[..., Any]]:
    from lmms_eval.api.registry import get_aggregation

    found = {}
    for each in definition.get("metric_list") or []:
        aggregation = each.get("aggregation", "mean")
        found[each["metric"]] = get_aggregation(aggregation) if isinstance(aggregation, str) else aggregation
    return found


def update_groups(
    content: dict[str, Any], definitions: Definitions, sizes: Mapping[str, int], changed_tasks: Collection[str]
) -> list[str]:
    """Compute the groups' entries of a result file anew from those of their tasks; the groups that were.

    ``sizes``: documents by task. Groups that hold none of ``changed_tasks`` stay as they are: they may be of others. A
    group's own standard error is as the harness pools it.
    """
    from lmms_eval.api.group import ConfigurableGroup
    from lmms_eval.evaluator_utils import consolidate_group_results

    changed = []
    members = content.get("group_subtasks", {})
    for group in members:
        held, tasks = content["results"].get(group), _leaves(group, members)
        if group in tasks or held is None or not any("," in key for key in held) or not {*tasks} & {*changed_tasks}:
            continue
        config = {key: value for key, value in definitions.of(group).items() if key != "include"} | {"group": group}
        results = copy.deepcopy(content["results"])
        results[group] = {}
        for task in tasks:
            results[task]["samples"] = sizes.get(task, 0)
        tree = {ConfigurableGroup(config=config): {task: _stub(task, {}) for task in tasks}}
        consolidate_group_results(results, {}, tree)
        fresh = {key: value for key, value in results[group].items() if key != "samples"}
        for table in ("results", "groups"):
            if group in content.get(table, {}):
                content[table][group] = {"alias": content[table][group].get("alias", group), **fresh}
        changed.append(group)
    return changed


def _leaves(name: str, members: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks of a group, those of its groups among them; of a task itself."""
    if not members.get(name):
        return [name]
    return list(dict.fromkeys(leaf for each in members[name] for leaf in _leaves(each, members)))


def _stub(name: str, aggregations: Mapping[str, Callable[..., Any]]) -> Any:
    """What the harness's functions want of a task here: its name and aggregations, no data."""
    from lmms_eval.api.task import Task

    unused = {each: None for each in Task.__abstractmethods__}
    given = {
        "task_name": name,
        "args": None,
        "aggregation": lambda self: dict(aggregations),
        "higher_is_better": lambda self: {},
    }
    cls: Any = type("Stub", (Task,), {**unused, **given})
    return cls.__new__(cls)  # not made by its own __init__, which wants data
