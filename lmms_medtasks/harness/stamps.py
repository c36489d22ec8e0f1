"""A stamp of its own for each run's files: the harness names them by the second, and appends to a log that is there.

Two runs that end in one folder with one stamp lose both: one result file, and a log with the rows of two.
"""

from __future__ import annotations

import functools
import os
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from lmms_medtasks.samples import result_files

_FORM = "%Y%m%d_%H%M%S"
_MARK = "_lmms_medtasks_results"
WRITTEN = "MEDTASKS_WRITTEN"
"""The variable that names a file to which a command adds the path of each result file that it writes."""


def find_result_file(holder: Any) -> Path | None:
    """The result file that was written by this tracker or command (its options), None where none was."""
    return getattr(holder, _MARK, None)


def note_result_file(path: Path, *holders: Any) -> None:
    """Note that trackers and commands wrote this result file."""
    for holder in holders:
        if holder is not None:
            setattr(holder, _MARK, path)


def give_own_stamp(tracker: Any, options: Any = None) -> None:
    """Let the harness's ``EvaluationTracker`` write under a stamp that no other run has, and note the result file.

    ``options``: of the command that it belongs to; the path is noted there too.
    """
    original = getattr(tracker, "save_results_aggregated", None)
    if original is None or not getattr(tracker, "output_path", None):
        return

    @functools.wraps(original)
    def save_results_aggregated(results: Any, samples: Any, datetime_str: str) -> Any:
        folder = Path(tracker.output_path) / (tracker.general_config_tracker.model_name_sanitized or "")
        try:
            path = reserve_result_file(folder, datetime_str.replace(":", "-"))
        except OSError:  # which the harness says in its own words, and goes on
            return original(results=results, samples=samples, datetime_str=datetime_str)
        note_result_file(path, tracker, options)
        if name := os.environ.get(WRITTEN):
            with open(name, "a", encoding="utf-8") as written:
                written.write(f"{path.absolute()}\n")
        stamp = path.name.removesuffix(result_files.SUFFIX)
        results["date"] = stamp
        return original(results=results, samples=samples, datetime_str=stamp)

    tracker.save_results_aggregated = save_results_aggregated


def reserve_result_file(folder: Path, stamp: str) -> Path:
    """A result file of this stamp, or of the next second that is free, now there and empty: nobody else takes it.

    Raises OSError where the folder can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    while True:
        path = folder / f"{stamp}{result_files.SUFFIX}"
        try:
            if not any(folder.glob(f"{stamp}_*")):
                path.open("x").close()
                return path
        except FileExistsError:
            pass
        stamp = (datetime.strptime(stamp, _FORM) + timedelta(seconds=1)).strftime(_FORM)
