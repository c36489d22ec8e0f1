"""The installed tasks as people choose among them: what each asks, how many questions, whether its data is there."""

from __future__ import annotations

import contextlib
import fnmatch
import functools
import importlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.board.site.suite_words import sort_suites, suite_texts
from lmms_medtasks.data.locating import find_split
from lmms_medtasks.data.store import LocatedSplit, chosen_data
from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.progress import progress_bar
from lmms_medtasks.suites.registry import PROTOCOL
from lmms_medtasks.task_yaml.chain import IncludeChain, read_include_chain
from lmms_medtasks.task_yaml.problems import ValidationLog

COMMAND = "lmms-medtasks tasks"
"""What lists all names."""
NOT_PREPARED = "not prepared"
_UNUSABLE = "unusable"
_IMAGES = ("image", "images")


@dataclass(frozen=True)
class ListedTask:
    """An installed task, or a group of tasks.

    Attributes:
        name: As ``--tasks`` takes it. benchmark: Its benchmark's folder.
        title, asks: The benchmark's name for people, and what the benchmark asks.
        about: What it asks, in a few words; "" where the board has none for it. members: Of a group, its tasks.
        questions: How many a run asks; where the data is not prepared, how many of the mini data. None: not known.
        trials: Replies to each question; None where a group's tasks differ.
        judge: Whether a judge scores replies.
        data: What a run reads: full, sample or mini; "not prepared"; "unusable"; "" of data that is not ours. Of a
            group with several, all of them.
        data_sets: As ``lmms-medtasks data prepare`` takes them.
        file: Its YAML.
    """

    name: str
    benchmark: str
    title: str
    asks: str
    about: str
    members: tuple[str, ...]
    questions: int | None
    trials: int | None
    judge: bool
    data: str
    data_sets: tuple[str, ...]
    file: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def list_installed_tasks(names: Iterable[str] = (), *, variants: bool = True) -> list[ListedTask]:
    """The installed tasks by benchmark, groups first; ``names``: only these benchmarks, tasks, groups and patterns.

    ``variants``: those too that the board has no words for, as a rule another way to ask a task that is listed.
    Counts questions by making each task's documents without their images. Raises UserError for an unknown name, and
    where MEDTASKS_DATA is misspelt.
    """
    chosen_data()
    chains = {
        name: chain
        for name, path in folders.task_files().items()
        if (chain := read_include_chain(path, path.parent, ValidationLog())) is not None
    }
    wanted = [
        name
        for name in _chosen_names(chains, list(names))
        if variants or chains[name].is_group or _words(chains[name])["about"]
    ]
    needed = {leaf for name in wanted for leaf in _leaves(chains, name)}
    with progress_bar(len(needed), "Counting questions", "tasks") as step, _silent_hooks():
        tasks = {}
        for name in sorted(needed):
            tasks[name] = _describe_task(chains[name])
            step(1)
    listed = [tasks[name] if name in tasks else _describe_group(chains, name, tasks) for name in wanted]
    order = sort_suites({task.benchmark for task in listed})
    return sorted(listed, key=lambda task: (order.index(task.benchmark), not task.members, task.name))


def _chosen_names(chains: dict[str, IncludeChain], names: Sequence[str]) -> list[str]:
    benchmarks = {name: chain.path.parent.name for name, chain in chains.items()}
    chosen: dict[str, None] = {}
    for asked in names:
        fitting = [name for name in chains if asked == benchmarks[name] or fnmatch.fnmatchcase(name, asked)]
        if not fitting:
            raise unknown_name_error("task", asked, {*chains, *benchmarks.values()}, listed_by=COMMAND)
        chosen |= dict.fromkeys(fitting)
    return list(chosen if names else chains)


def _leaves(chains: dict[str, IncludeChain], name: str) -> list[str]:
    """The tasks of a group, through groups in it; of a task itself."""
    if not chains[name].is_group:
        return [name]
    members = [member for member in chains[name].value("task") if member in chains]
    return [leaf for member in members for leaf in _leaves(chains, member)]


def _describe_group(chains: dict[str, IncludeChain], name: str, tasks: dict[str, ListedTask]) -> ListedTask:
    members = [tasks[leaf] for leaf in _leaves(chains, name)]
    counts = [member.questions for member in members]
    trials = {member.trials for member in members}
    return ListedTask(
        **_words(chains[name]),
        members=tuple(member.name for member in members),
        questions=None if None in counts else sum(map(int, filter(None, counts))),
        trials=trials.pop() if len(trials) == 1 else None,
        judge=any(member.judge for member in members),
        data=", ".join(dict.fromkeys(member.data for member in members)),
        data_sets=tuple(dict.fromkeys(name for member in members for name in member.data_sets)),
    )


def _describe_task(chain: IncludeChain) -> ListedTask:
    files = ((chain.value("dataset_kwargs") or {}).get("data_files") or {}).get(chain.value("test_split"))
    urls = [files] if isinstance(files, str) else files or []
    settings = (chain.value("lmms_eval_specific_kwargs") or {}).get("default") or {}
    data, questions = "", None
    splits = [url.removeprefix(PROTOCOL).split("/") for url in urls if url.startswith(PROTOCOL)]
    if splits and len(splits) == len(urls):
        data, located = _locate_splits(splits)
        with contextlib.suppress(UserError):  # what the data lacks for this task is said by a run
            questions = _count_questions(located, str(chain.value("process_docs", ""))) if located else None
    return ListedTask(
        **_words(chain),
        members=(),
        questions=questions,
        trials=int(chain.value("repeats") or 1),
        judge=bool(settings.get("judge")),
        data=data,
        data_sets=tuple(dict.fromkeys(suite for suite, _ in splits)),
    )


def _words(chain: IncludeChain) -> dict[str, str]:
    name, benchmark = chain.path.stem, chain.path.parent.name
    texts = suite_texts(benchmark)
    return {
        "name": name,
        "benchmark": benchmark,
        "title": texts.title,
        "asks": texts.question,
        "about": next((words for task, words in texts.names.items() if fnmatch.fnmatchcase(name, task)), ""),
        "file": str(chain.path),
    }


def _locate_splits(splits: Sequence[Sequence[str]]) -> tuple[str, tuple[LocatedSplit, ...]]:
    """What a run would read, and the files; those of the mini data where a split is not prepared."""
    try:
        located = [find_split(suite, split, chosen_data()) for suite, split in splits]
        state = ", ".join(dict.fromkeys(each.data for each in located if each))
        if None in located:
            state, located = NOT_PREPARED, [find_split(suite, split, "mini") for suite, split in splits]
    except UserError:  # `lmms-medtasks data list` says why
        return _UNUSABLE, ()
    there = tuple(filter(None, located))
    return state, there if len(there) == len(splits) else ()


@functools.lru_cache(maxsize=256)
def _count_questions(located: tuple[LocatedSplit, ...], hook: str) -> int:
    """The documents that the hook of a task makes of the rows of these files. No image is read."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from datasets import Dataset

    tables = []
    for split in located:
        with pq.ParquetFile(split.path) as file:
            schema = file.schema_arrow
            table = file.read(columns=[name for name in schema.names if name not in _IMAGES])
        for name in filter(schema.names.__contains__, _IMAGES):
            table = table.append_column(schema.field(name), pa.nulls(len(table), schema.field(name).type))
        tables.append(table)
    documents = Dataset(pa.concat_tables(tables))
    if hook:
        module, _, function = hook.rpartition(".")
        documents = getattr(importlib.import_module(module), function)(documents)
    return len(documents)


@contextlib.contextmanager
def _silent_hooks() -> Iterator[None]:
    """Keep hooks from showing bars, and from warning of what a run will warn of."""
    import datasets
    from loguru import logger

    were_shown = not datasets.are_progress_bars_disabled()
    datasets.disable_progress_bars()
    logger.disable(folders.PACKAGE)
    try:
        yield
    finally:
        logger.enable(folders.PACKAGE)
        if were_shown:
            datasets.enable_progress_bars()
