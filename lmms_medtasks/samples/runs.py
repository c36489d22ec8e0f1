"""Find the result files of runs, and read the model's name, date and arguments and the question records from them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Union
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from lmms_medtasks import record as records_form
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.visible_text import replace_invisible

_WITHOUT_SCORES = "bypass"
"""The one metric that the harness leaves of a task with --predict_only."""

_DATE = "%Y%m%d_%H%M%S"
_MODEL_ARGUMENTS = ("pretrained", "model_version", "model", "model_name")
"""Arguments that name the model."""
_WORDS = ("attn_implementation", "conv_template", "device_map", "dtype", "quantization", "revision", "torch_dtype")
"""Arguments whose values may be shown if they are words: they name a setting."""
_SECRET = re.compile(
    r"key|secret|pass|pwd|auth|credential|bearer|session|cookie|account|phone|(^|_)(token|pin|pincode|pat|otp)(_|$)"
)
_KEY = re.compile(r"(ghp|gho|ghs|ghu|github_pat|hf|sk|pk|rk|xox[a-z]|glpat|AKIA)[-_A-Z0-9]")
"""Beginnings of API keys, which are never shown."""

RunPaths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]], Any]
"""A result file or a folder with some below, a result of ``evaluate``, or several of these."""


def list_run_paths(given: Any) -> list[Path]:
    """Paths as a list; an object with a ``result_file`` stands for that. Raises UserError for other objects."""
    single = isinstance(given, (str, os.PathLike)) or not isinstance(given, Iterable)
    paths = []
    for item in [given] if single else given:
        path_like = getattr(item, "result_file", item)
        if not isinstance(path_like, (str, os.PathLike)):
            raise UserError(f"A run is named by the path of its folder or result file, got {type(path_like).__name__}.")
        paths.append(Path(path_like).expanduser())
    return paths


def new_folder() -> Path:
    """A new folder for a run, in ``runs/``: the harness names files by the second and appends to a sample log that is
    there already."""
    return Path("runs") / datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")


def find_result_files(paths: Iterable[Path]) -> list[ResultFile]:
    """The result files in ``paths`` (files, or folders with files somewhere below), each once, sorted in a folder.

    Raises UserError if a path does not exist or holds no result file, or there is no path.
    """
    runs_by_path: dict[Path, ResultFile] = {}
    for path in paths:
        files = sorted(results.list_result_files(path)) if path.is_dir() else [path]
        if not path.exists():
            raise UserError(f"{path} is not there. Give a result folder of a run, or its *_results.json.")
        if not files:
            raise UserError(f"No *_results.json in {path}. Give the --output_path of a run.")
        if path.is_file() and path.suffix == ".gz":
            raise UserError(
                f"{path} is no result file of a run. A submission has scores and no sample log: `lmms-medtasks "
                "compare` and lmms_medtasks.compare take it; here give the run's folder."
            )
        for file in files:
            runs_by_path.setdefault(file.resolve(), results.read_result_file(file))
    if not runs_by_path:
        raise UserError("No run was named. Give a result folder of a run, or its *_results.json.")
    return list(runs_by_path.values())


def task_settings(run: ResultFile, task: str) -> Mapping[str, Any]:
    """The task's ``lmms_eval_specific_kwargs``, those of ``default`` over the others."""
    settings = run.content["configs"][task].get("lmms_eval_specific_kwargs") or {}
    return {**settings, **(settings.get("default") or {})}


def list_task_splits(run: ResultFile, task: str) -> list[tuple[str, str]]:
    """The data sets and splits that a task of a run reads; [] for data of others."""
    files = str((run.content["configs"][task].get("dataset_kwargs") or {}).get("data_files", ""))
    return re.findall(r"medtasks://(\w+)/(\w+)", files)


def iter_records(
    run: ResultFile,
    task: str,
    read: Callable[[object, str], records_form.QuestionRecord] = records_form.record_from_json,
) -> Iterator[tuple[records_form.QuestionRecord, int]]:
    """The records of the task's sample log with their lines. ``read`` makes a record of a row's content and location.

    Raises UserError, with file and line, for a record that can't be read, is of another version, or repeats an id, and
    for a log without records.
    """
    path, seen = run.samples_file(task), set()
    for line, row in run.rows(task):
        location = f"{path}, line {line}"
        if _WITHOUT_SCORES in row:
            raise UserError(
                f"{location}: the run was made with --predict_only, so its log has replies and no scores. Run the task "
                "again without it."
            )
        if records_form.KEY not in row:
            raise UserError(
                f"{location}: no record of a question (no {records_form.KEY!r}) in this row: the log is of an earlier "
                "version of lmms-medtasks, or the row was edited. Run the task again."
            )
        record = read(row[records_form.KEY], location)
        if record.id in seen:
            raise UserError(
                f"{location}: question {record.id!r} is there a second time. The harness appends to a log that is "
                "there already; give each run its own --output_path."
            )
        seen.add(record.id)
        yield record, line
    if not seen:
        raise UserError(f"{path} holds no sample.")


def list_logged_replies(logged: Any) -> list[Any]:
    """Replies as a list, from any of the forms in which the harness writes them."""
    while isinstance(logged, list) and len(logged) == 1 and isinstance(logged[0], list):
        logged = logged[0]
    return logged if isinstance(logged, list) else [logged]


def model_name(content: Mapping[str, Any]) -> str:
    """The checkpoint that the model's arguments name, else the harness's name of the model."""
    arguments = _model_arguments(content)
    names = [arguments[name] for name in _MODEL_ARGUMENTS if arguments.get(name)]
    of_harness = content.get("config", {}).get("model") or content.get("model_source")
    return make_printable(str((names or [of_harness])[0] or "unnamed model"))


def _model_arguments(content: Mapping[str, Any]) -> Mapping[str, Any]:
    given = content.get("config", {}).get("model_args") or {}
    return given if isinstance(given, Mapping) else dict(part.strip().partition("=")[::2] for part in given.split(","))


def shown_arguments(content: Mapping[str, Any]) -> str:
    """The arguments of the model that can't hold a key or path, sorted: ``dtype=float16,max_pixels=1024``.

    Shown are numbers, True, False and None unless the name sounds like a secret, and words of :data:`_WORDS`.
    """
    pairs = (
        (str(name), str(value)) for name, value in _model_arguments(content).items() if name not in _MODEL_ARGUMENTS
    )
    return ",".join(sorted(f"{name}={value}" for name, value in pairs if _may_be_shown(name, value)))


def read_arguments(text: str) -> dict[str, str]:
    """The arguments in a text of :func:`shown_arguments`, by name. Others, as in a forged text, are left out."""
    pairs = (part.partition("=")[::2] for part in text.split(","))
    return {name: value for name, value in pairs if _may_be_shown(name, value)}


def _may_be_shown(name: str, value: str) -> bool:
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", name) or _SECRET.search(name):
        return False
    plain = re.fullmatch(r"[+-]?[0-9]{1,8}(\.[0-9]{1,6})?|True|False|None|true|false|none", value)
    word = name in _WORDS and re.fullmatch(r"[A-Za-z0-9_.-]{1,24}", value) and not _KEY.match(value)
    return bool(plain or word)


def date_of(content: Mapping[str, Any]) -> str:
    """When the run was made, in UTC: ``20260101_120000 UTC``; "" if the result file does not say it.

    The harness writes a time in the zone of its option --timezone (default Asia/Singapore). If that is not recorded, as
    by ``simple_evaluate`` called from Python, the time is returned without a zone.
    """
    date = str(content.get("date") or "")
    zone = (content.get("config", {}).get("resolved_cli_args") or {}).get("timezone")
    if not date or not zone:
        return make_printable(date)
    try:
        time = datetime.strptime(date, _DATE).replace(tzinfo=timezone.utc if zone == "UTC" else ZoneInfo(str(zone)))
    except (ValueError, OSError, ZoneInfoNotFoundError):
        return make_printable(f"{date} {zone}")
    return f"{time.astimezone(timezone.utc).strftime(_DATE)} UTC"


def make_printable(text: str) -> str:
    """``text`` on one line, with U+FFFD for each invisible character (escape sequences, line breaks)."""
    return replace_invisible(text).replace("\n", "\ufffd").replace("\t", "\ufffd")


def distinct_names(runs: Sequence[ResultFile], kinds: Sequence[Hashable]) -> list[str]:
    """A name for each run: its model's, with the run's date and then a number if two of one kind share the name.

    ``kinds``: what was run, for each of ``runs``; names differ within a kind only.
    """
    models = [model_name(run.content) for run in runs]
    dated = [f"{model} [{date_of(run.content) or '?'}]" for model, run in zip(models, runs, strict=True)]
    plain = list(zip(models, kinds, strict=True))
    names = [dated[row] if plain.count(plain[row]) > 1 else model for row, model in enumerate(models)]
    keys = list(zip(names, kinds, strict=True))
    return [
        f"{name} #{keys[:row].count(keys[row]) + 1}" if keys.count(keys[row]) > 1 else name
        for row, name in enumerate(names)
    ]
