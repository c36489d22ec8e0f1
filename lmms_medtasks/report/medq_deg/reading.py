"""From the files of a run to MedQ-Deg's records by level: which tasks belong together, and which model answered."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lmms_medtasks import degradations
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.runs import (
    is_of_suite,
    model_name,
    printable,
    required,
    samples,
    score_of,
    settings_of,
    tasks_of,
    trials_of,
)
from lmms_medtasks.statistics.votes import FAILED, NO_ANSWER
from lmms_medtasks.task_configs.medq_deg import taxonomy

Family = Literal["simulated", "release"]
Record = Mapping[str, Any]

LEVELS = (0, 1, 2)
_SUITE = "medq_deg"
_ONE_LEVEL = re.compile(r"_l[012]$")
_STEMS = (_SUITE, f"{_SUITE}_calib", f"{_SUITE}_release")
_REQUIRED = ("id", "image_id", "severity", "modality", "capability", "degradation", "answer", "option_count", "trials")


@dataclass(frozen=True)
class TaskSet:
    """The records of one model on one set of tasks: the same questions at up to three levels.

    Attributes:
        model: the checkpoint's name, or the harness's name of the model. run: the file they are from.
        tasks: the harness's tasks that they are from, in the order of levels.
        family: "simulated", degraded by us when asked, or "release", the authors' own degraded images.
        variant: what else sets the tasks apart ("" for the benchmark as it is). trials: T, the most of any question.
        levels: level to its records; a level that was not run is not there.
    """

    model: str
    run: results.Run
    tasks: tuple[str, ...]
    family: Family
    variant: str
    trials: int
    levels: Mapping[int, tuple[Record, ...]]

    @property
    def kind(self) -> tuple[str, str, int]:
        """What must agree for two models to be compared."""
        return self.family, self.variant, self.trials

    @property
    def label(self) -> str:
        """``simulated, T = 3``."""
        return ", ".join(filter(None, [self.family, self.variant, f"T = {self.trials}"]))


def task_sets(run: results.Run) -> list[TaskSet]:
    """The task sets of MedQ-Deg in a run, read from its sample logs.

    Tasks of one level each (``medq_deg_l0``, ``medq_deg_l1`` …) make one set; a task of all levels is a set of its
    own. Clean questions asked beside the release's images are the L0 of those too. Raises UserError when a log can't be
    read.
    """
    stems: dict[tuple[str, int], dict[int, tuple[str, tuple[Record, ...]]]] = {}
    whole: list[TaskSet] = []
    for task in tasks_of(run, is_ours):
        levels, trials = _by_level(run, task)
        if _ONE_LEVEL.search(task):
            for level, records in levels.items():
                stems.setdefault((_ONE_LEVEL.sub("", task), trials), {})[level] = (task, records)
        else:
            whole.append(_set(run, {level: (task, records) for level, records in levels.items()}, task, trials))
    _lend_clean(stems)
    return [*(_set(run, levels, stem, trials) for (stem, trials), levels in stems.items()), *whole]


def is_ours(run: results.Run, task: str) -> bool:
    """Whether the task is one of MedQ-Deg's: by its name, or by the data that it reads."""
    return is_of_suite(run, task, _SUITE)


def _lend_clean(stems: dict[tuple[str, int], dict[int, tuple[str, tuple[Record, ...]]]]) -> None:
    for (stem, trials), levels in stems.items():
        clean = stems.get((_SUITE, trials), {}).get(0)
        if stem == f"{_SUITE}_release" and clean and 0 not in levels:
            levels[0] = clean
    # Clean questions that were only asked for the release's images are no set of their own.
    for stem, trials in list(stems):
        if stem == _SUITE and set(stems[stem, trials]) == {0} and (f"{_SUITE}_release", trials) in stems:
            del stems[stem, trials]


def _set(run: results.Run, levels: Mapping[int, tuple[str, tuple[Record, ...]]], stem: str, trials: int) -> TaskSet:
    ordered = {level: levels[level] for level in LEVELS if level in levels}
    tasks = tuple(dict.fromkeys(task for task, _ in ordered.values()))
    return TaskSet(
        model=model_name(run.content),
        run=run,
        tasks=tasks,
        family="release" if any(_is_rendered(run, task) for task in tasks) else "simulated",
        variant="" if stem in _STEMS else printable(stem),
        trials=trials,
        levels={level: records for level, (_, records) in ordered.items()},
    )


def _is_rendered(run: results.Run, task: str) -> bool:
    return bool(settings_of(run, task).get("rendered"))


def _by_level(run: results.Run, task: str) -> tuple[dict[int, tuple[Record, ...]], int]:
    """The task's records by level, and T."""
    levels: dict[int, list[Record]] = {}
    trials = 0
    for sample, where in samples(run, task, lambda record: (str(record["id"]), str(record.get("severity")))):
        record = _slim(sample, where)
        levels.setdefault(record["severity"], []).append(record)
        trials = max(trials, len(record["trials"]))
    return {level: tuple(rows) for level, rows in sorted(levels.items())}, trials


def _slim(sample: results.Sample, where: str) -> Record:
    """What the report needs of a record. Texts are shared: the same few stand in every record."""
    record, share = sample.record, sys.intern
    required(record, _REQUIRED, where, "MedQ-Deg")
    if record["severity"] not in LEVELS:
        raise UserError(f"{where}: severity is {record['severity']!r}, allowed are 0, 1 and 2.")
    trials, score = tuple(map(share, trials_of(record, where))), score_of(record, where)
    failed = trials.count(FAILED)
    degradation = str(record["degradation"])
    slim = {
        "id": share(str(record["id"])),
        "question_id": share(str(record.get("question_id") or record["id"])),
        "image_id": share(str(record["image_id"])),
        "severity": record["severity"],
        "modality": share(printable(str(record["modality"]))),
        "capability": share(printable(str(record["capability"]))),
        "mid": _mid(str(record["capability"])),
        "degradation": share(_degradation(degradation, where)) if degradation else None,
        "category": taxonomy.category_of(degradation) if degradation else None,
        "answer": share(str(record["answer"])),
        "option_count": _option_count(record, where),
        "trials": trials,
        "replies": len(trials) - failed,
        "parsed": len(trials) - failed - sum(map(trials.count, NO_ANSWER)),
        "failed": failed,
        "identical": _identical(sample.replies, trials),
    }
    return slim if score is None else {**slim, "score": score}


def _option_count(record: Record, where: str) -> int:
    options = record["option_count"]
    if not isinstance(options, int) or isinstance(options, bool) or options < 1:
        raise UserError(f"{where}: option_count is {options!r}, wanted a number of options, 1 at least.")
    return options


def _identical(replies: Sequence[object], trials: Sequence[str]) -> bool | None:
    """Whether the replies are the same to the letter; None with fewer than two, or where the log lacks them."""
    if len(replies) != len(trials):
        return None
    given = [str(reply) for reply, trial in zip(replies, trials, strict=True) if trial != FAILED]
    return len(set(given)) == 1 if len(given) > 1 else None


@functools.lru_cache(maxsize=4096)
def _mid(capability: str) -> str | None:
    return taxonomy.mid_of_name(capability)


def _degradation(name: str, where: str) -> str:
    try:
        return degradations.canonical_name(name)
    except UserError as error:
        raise UserError(f"{where}: {error}") from error
