"""From the files of runs to samples, for every suite: which runs there are, whose they are, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import record as records_form
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import Run, Sample

Record = Mapping[str, Any]

_MODEL_ARGUMENTS = ("pretrained", "model_version", "model", "model_name")


class Located(NamedTuple):
    """A row of a sample log, and where it stands: ``FILE, line N``."""

    sample: Sample
    where: str


def find(paths: Iterable[Path]) -> list[Run]:
    """The result files that ``paths`` (files, or folders with files somewhere below) are or hold, each once, sorted.

    Raises UserError when a path is not there or holds no result file.
    """
    found: dict[Path, Run] = {}
    for path in paths:
        files = sorted(results.files(path)) if path.is_dir() else [path]
        if not path.exists():
            raise UserError(f"{path} is not there. Give a result folder of a run, or its *_results.json.")
        if not files:
            raise UserError(f"No *_results.json in {path}. Give the --output_path of a run.")
        for file in files:
            found.setdefault(file.resolve(), results.read(file))
    return list(found.values())


def tasks_of(run: Run, is_ours: Callable[[Run, str], bool]) -> list[str]:
    """The tasks of a run that a suite says are its own, in the run's order."""
    return [task for task in run.content.get("configs", {}) if is_ours(run, task)]


def settings_of(run: Run, task: str) -> Mapping[str, Any]:
    """The task's ``lmms_eval_specific_kwargs``, those of ``default`` over the others."""
    settings = run.content["configs"][task].get("lmms_eval_specific_kwargs") or {}
    return {**settings, **(settings.get("default") or {})}


def samples(run: Run, task: str, key: Callable[[Record], Hashable] = lambda record: record["id"]) -> Iterator[Located]:
    """The rows of the task's sample log, one after the other.

    Raises UserError, with the file and the line, where a row can't be read or two have the same ``key``, and when there
    is no row at all.
    """
    path, seen = run.samples_file(task), set()
    for sample in run.samples(task):
        where, name = f"{path}, line {sample.line}", key(sample.record)
        if name in seen:
            raise UserError(
                f"{where}: question {sample.record['id']!r} is there a second time. The harness appends to a log that "
                "is there already; give each run its own --output_path."
            )
        seen.add(name)
        yield Located(sample, where)
    if not seen:
        raise UserError(f"{path} holds no sample.")


def records(run: Run, task: str) -> Iterator[tuple[records_form.Record, int]]:
    """The records of the task's sample log and the lines that they stand on.

    Raises UserError, with the file and the line, where a record can't be read, is of another version, or has the id of
    another, and when there is none at all.
    """
    path, seen = run.samples_file(task), set()
    for line, row in run.rows(task):
        where = f"{path}, line {line}"
        if records_form.KEY not in row:
            raise UserError(f"{where}: no record of ours (no {records_form.KEY!r}) in this row.")
        record = records_form.from_json(row[records_form.KEY], where)
        if record.id in seen:
            raise UserError(
                f"{where}: question {record.id!r} is there a second time. The harness appends to a log that is there "
                "already; give each run its own --output_path."
            )
        seen.add(record.id)
        yield record, line
    if not seen:
        raise UserError(f"{path} holds no sample.")


def required(record: Record, names: Sequence[str], where: str, suite: str) -> None:
    """Raise UserError when a record lacks one of these, or has null there."""
    missing = [name for name in names if record.get(name) is None]
    if missing:
        raise UserError(f"{where}: the record has no {', '.join(missing)}. The log is not of a {suite} task of ours.")


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


def printable(text: str) -> str:
    """``text`` with every character that can't be printed (escape sequences, line breaks) replaced by U+FFFD."""
    # Most texts are printable as a whole, which is quickly seen.
    if text.isprintable():
        return text
    return "".join(character if character.isprintable() else "\ufffd" for character in text)


def distinct_names(runs: Sequence[Run], kinds: Sequence[Hashable]) -> list[str]:
    """A name for each run: its model's, with the run's date and then a number where two of a kind share it.

    ``kinds``: what was run, for each of ``runs``; only runs of one kind need be told apart.
    """
    models = [model_name(run.content) for run in runs]
    dated = [f"{model} [{run.content.get('date') or '?'}]" for model, run in zip(models, runs, strict=True)]
    plain = list(zip(models, kinds, strict=True))
    names = [dated[row] if plain.count(plain[row]) > 1 else model for row, model in enumerate(models)]
    keys = list(zip(names, kinds, strict=True))
    return [
        f"{name} #{keys[:row].count(keys[row]) + 1}" if keys.count(keys[row]) > 1 else name
        for row, name in enumerate(names)
    ]
