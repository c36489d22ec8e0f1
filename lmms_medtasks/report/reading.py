"""From the files of a run to MedQ-Deg's records by level: which tasks belong together, and which model answered."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from lmms_medtasks import degradations, results
from lmms_medtasks.errors import UserError
from lmms_medtasks.metrics.votes import FAILED, NO_ANSWER
from lmms_medtasks.task_configs.medq_deg import taxonomy

Family = Literal["simulated", "release"]
Record = Mapping[str, Any]

LEVELS = (0, 1, 2)
_SUITE = "medq_deg"
_ONE_LEVEL = re.compile(r"_l[012]$")
_STEMS = (_SUITE, f"{_SUITE}_calib", f"{_SUITE}_release")
_MODEL_ARGUMENTS = ("pretrained", "model_version", "model", "model_name")
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


def runs(paths: Iterable[Path]) -> list[results.Run]:
    """The result files that ``paths`` (files, or folders with files somewhere below) are or hold, each once, sorted.

    Raises UserError when a path is not there or holds no result file.
    """
    found: dict[Path, results.Run] = {}
    for path in paths:
        files = sorted(results.files(path)) if path.is_dir() else [path]
        if not path.exists():
            raise UserError(f"{path} is not there. Give a result folder of a run, or its *_results.json.")
        if not files:
            raise UserError(f"No *_results.json in {path}. Give the --output_path of a run.")
        for file in files:
            found.setdefault(file.resolve(), results.read(file))
    return list(found.values())


def task_sets(run: results.Run) -> list[TaskSet]:
    """The task sets of MedQ-Deg in a run, read from its sample logs.

    Tasks of one level each (``medq_deg_l0``, ``medq_deg_l1`` …) make one set; a task of all levels is a set of its
    own. Clean questions asked beside the release's images are the L0 of those too. Raises UserError when the run has
    none of the suite's tasks, or a log can't be read.
    """
    tasks = [task for task in run.content.get("configs", {}) if is_ours(run, task)]
    if not tasks:
        others = ", ".join(map(repr, run.tasks)) or "none"
        raise UserError(f"No task of MedQ-Deg in {run.path}. Its tasks: {others}.")
    stems: dict[tuple[str, int], dict[int, tuple[str, tuple[Record, ...]]]] = {}
    whole: list[TaskSet] = []
    for task in tasks:
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
    files = str((run.content["configs"][task].get("dataset_kwargs") or {}).get("data_files", ""))
    return task.startswith(_SUITE) or f"medtasks://{_SUITE}/" in files


def model_name(content: Mapping[str, Any]) -> str:
    """The checkpoint that was run if the model's arguments name one, else the harness's name of the model.

    Other arguments are not shown: they may hold keys.
    """
    config = content.get("config") or {}
    arguments = config.get("model_args") or {}
    if isinstance(arguments, str):
        arguments = dict(part.partition("=")[::2] for part in arguments.split(","))
    named = [arguments[name] for name in _MODEL_ARGUMENTS if arguments.get(name)]
    return printable(str((named or [config.get("model")])[0] or content.get("model_source") or "unnamed model"))


# The same few texts stand in all records: each is looked at once.
@functools.lru_cache(maxsize=4096)
def printable(text: str) -> str:
    """``text`` with every character that can't be printed (escape sequences, line breaks) replaced by U+FFFD."""
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


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
    settings = run.content["configs"][task].get("lmms_eval_specific_kwargs") or {}
    return bool(settings.get("rendered") or (settings.get("default") or {}).get("rendered"))


def _by_level(run: results.Run, task: str) -> tuple[dict[int, tuple[Record, ...]], int]:
    """The task's records by level, and T."""
    levels: dict[int, dict[str, Record]] = {}
    path, trials = run.samples_file(task), 0
    for sample in run.samples(task):
        record = _slim(sample, f"{path}, line {sample.line}")
        rows = levels.setdefault(record["severity"], {})
        if record["id"] in rows:
            raise UserError(
                f"{path}, line {sample.line}: question {record['id']!r} is there a second time. The harness appends "
                "to a log that is there already; give each run its own --output_path."
            )
        rows[record["id"]] = record
        trials = max(trials, len(record["trials"]))
    if not levels:
        raise UserError(f"{path} holds no sample.")
    return {level: tuple(rows.values()) for level, rows in sorted(levels.items())}, trials


def _slim(sample: results.Sample, where: str) -> Record:
    """What the report needs of a record. Texts are shared: the same few stand in every record."""
    record, share = sample.record, sys.intern
    missing = [name for name in _REQUIRED if record.get(name) is None]
    if missing:
        raise UserError(f"{where}: the record has no {', '.join(missing)}. The log is not of a MedQ-Deg task of ours.")
    if record["severity"] not in LEVELS:
        raise UserError(f"{where}: severity is {record['severity']!r}, allowed are 0, 1 and 2.")
    _check_types(record, where)
    trials = tuple([share(str(trial)) for trial in record["trials"]])
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
        "option_count": record["option_count"],
        "trials": trials,
        "replies": len(trials) - failed,
        "parsed": len(trials) - failed - sum(map(trials.count, NO_ANSWER)),
        "failed": failed,
        "identical": _identical(sample.replies, trials),
    }
    return {**slim, "score": record["score"]} if "score" in record else slim


def _check_types(record: Record, where: str) -> None:
    trials, options, score = record["trials"], record["option_count"], record.get("score", 0.0)
    if not isinstance(trials, list) or not trials:
        raise UserError(f"{where}: trials is {trials!r}, wanted a list with what was read from each reply.")
    if not isinstance(options, int) or isinstance(options, bool) or options < 1:
        raise UserError(f"{where}: option_count is {options!r}, wanted a number of options, 1 at least.")
    if not isinstance(score, (int, float)) or not 0 <= score <= 1:
        raise UserError(f"{where}: score is {score!r}, wanted a number from 0 to 1.")


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
