"""Whether a group's row can have values: its ``aggregate_metric_list`` names metrics that a task of it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lmms_medtasks.errors import nearest
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.templates.including import SETTINGS
from lmms_medtasks.task_yaml import chain as chains_of
from lmms_medtasks.task_yaml import keys
from lmms_medtasks.task_yaml.chain import Chain
from lmms_medtasks.task_yaml.nodes import Function
from lmms_medtasks.task_yaml.problems import Findings


def check(chains: Sequence[Chain], found: Findings) -> None:
    """Tell of each metric that no task of its group has: the harness leaves the row empty, and says nothing.

    ``chains``: all of the folder. A group with a task that is neither there nor installed is not looked at.
    """
    named = [(chain.value("group" if _is_group(chain) else "task"), chain) for chain in chains]
    by_name = {name: chain for name, chain in named if isinstance(name, str)}
    for group in filter(_is_group, chains):
        listed = group.value("aggregate_metric_list")
        members = list(_tasks(group, by_name, set()))
        metrics = [each and _metrics(each) for each in members]
        if not isinstance(listed, list) or None in metrics:
            continue
        names = tuple(sorted({name for each in metrics for name in each or ()}))
        entry = group.entries["aggregate_metric_list"]
        for row in listed:
            metric = str(row.get("metric") if isinstance(row, Mapping) else row)
            # As the harness matches them: "accuracy" takes "accuracy_iid" too.
            if not any(metric in name for name in names):
                found.add(
                    entry.file, "no task of the group has this metric: its row would stay empty", line=entry.line,
                    key="aggregate_metric_list", value=metric, allowed=names, near=nearest(metric, names),
                )  # fmt: skip


def _is_group(chain: Chain) -> bool:
    return isinstance(chain.value("task"), list)


def _tasks(group: Chain, by_name: Mapping[str, Chain], above: set[str]) -> Iterator[Chain | None]:
    """The tasks of a group, those of groups in it too; None for one that is not known here."""
    above = above | {str(group.value("group"))}
    for member in group.value("task"):
        name = member.get("task") if isinstance(member, Mapping) else member
        chain = by_name.get(name) if isinstance(name, str) else None
        if chain is not None and _is_group(chain):
            yield from _tasks(chain, by_name, above) if name not in above else ()
        elif chain is not None:
            yield chain
        else:
            installed = chains_of.installed([name]) if isinstance(name, str) else []
            yield from installed or (None,)


def _metrics(chain: Chain) -> set[str] | None:
    """The metrics that a task's table has; None where a declaration says them that is not installed.

    They are those that its settings choose, else those of its list, its template or its benchmark's declaration.
    """
    settings = chain.value(SETTINGS)
    default = settings.get("default") if isinstance(settings, Mapping) else None
    chosen = default.get("metrics") if isinstance(default, Mapping) else None
    listed = chain.value("metric_list")
    if isinstance(listed, Function):
        template = keys.template_of(chain)
        listed = template.metrics if template else registry.metrics_of(str(chain.value("process_results")))
        if listed is None:
            return None
    rows = [chosen] if isinstance(chosen, str) else chosen or listed or []
    names = [each.get("metric") if isinstance(each, Mapping) else each for each in rows]
    return {name for name in names if isinstance(name, str)}
