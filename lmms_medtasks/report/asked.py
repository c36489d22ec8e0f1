"""What one model was asked, out of several runs: which tasks belong together, and what a report says of their runs."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Protocol, TypeVar

from lmms_medtasks.report import about
from lmms_medtasks.report import flags as shared
from lmms_medtasks.report.document import Flag
from lmms_medtasks.report.judged import Judging
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.runs import model_name


class Asked(Protocol):
    """The records of a task: ``name`` is the task's, ``label`` how it was asked, and is once with a model."""

    @property
    def run(self) -> Run: ...

    @property
    def name(self) -> str: ...

    @property
    def label(self) -> str: ...

    @property
    def judging(self) -> Judging | None: ...


K = TypeVar("K", bound=Hashable)
T = TypeVar("T", bound=Asked)


def together(found: Iterable[tuple[K, T]]) -> list[tuple[K, list[T]]]:
    """Tasks by ``K``, what they must have in common; no label is twice in a group.

    The tasks of a run stay together: a run with a label that is there already begins another group.
    """
    of_runs: dict[tuple[K, int], list[list[T]]] = {}
    for key, asked in found:
        _join(of_runs.setdefault((key, id(asked.run)), []), [asked])
    groups: dict[K, list[list[T]]] = {}
    for (key, _), own in of_runs.items():
        for tasks in own:
            _join(groups.setdefault(key, []), tasks)
    return [(key, group) for key, own in groups.items() for group in own]


def _join(groups: list[list[T]], tasks: list[T]) -> None:
    """Put tasks into the first group that has none of their labels, or into one of their own."""
    labels = {each.label for each in tasks}
    free = next((group for group in groups if labels.isdisjoint(each.label for each in group)), None)
    if free is None:
        groups.append(list(tasks))
    else:
        free.extend(tasks)


def model_of(run: Run, task: str) -> tuple[str, ...]:
    """What tasks of one model have in common: the harness's model, its arguments, and the kind of data."""
    config = run.content.get("config") or {}
    return str(config.get("model")), str(config.get("model_args")), *about.data_of(run, [task])


def by_run(asked: Sequence[Asked]) -> list[tuple[Run, list[str]]]:
    """The runs that these tasks are from, each with its tasks."""
    found: dict[int, tuple[Run, list[str]]] = {}
    for each in asked:
        found.setdefault(id(each.run), (each.run, []))[1].append(each.name)
    return list(found.values())


def facts(asked: Sequence[Asked], separator: str) -> dict[str, str]:
    """The facts at the head of a part, by name; where its runs differ, all are said."""
    found: dict[str, dict[str, None]] = {}
    for run, tasks in by_run(asked):
        for name, text in about.facts(run, tasks):
            found.setdefault(name, {})[text] = None
    return {name: separator.join(texts) for name, texts in found.items()}


def extent(asked: Sequence[Asked]) -> str:
    """``mini, --limit 8``; of several runs, each if they differ."""
    return "; ".join(dict.fromkeys(about.extent(run, tasks) for run, tasks in by_run(asked)))


def origin(asked: Sequence[Asked]) -> tuple[tuple[str, str], ...]:
    """What each row of a part's CSV files says of its runs; at least one task is given."""
    judges = ", ".join(dict.fromkeys(each.judging.shown for each in asked if each.judging))
    names = ", ".join(each.name for each in asked)
    own = (("run model", model_name(asked[0].run.content)), ("run task set", names), ("run data", extent(asked)))
    return (*own, ("run judge", judges)) if judges else own


def flags(asked: Sequence[Asked]) -> Iterator[Flag]:
    """What a reader must know of the runs: their data, how much of it, and the code that made them."""
    for run, tasks in by_run(asked):
        yield from shared.data(run, tasks)
        yield from shared.extent(run, tasks)
        yield from shared.code(run, tasks)
