"""Give each run's files a stamp of its own: the harness names them by the second, and appends to an existing log.

Two runs that end in one folder with one stamp would lose both: one result file, and a log with the rows of two.
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
CALL_TIMES = "MEDTASKS_CALL_TIMES"
"""The variable that names the file of :mod:`lmms_medtasks.harness.call_times`."""
ESTIMATED = "MEDTASKS_ESTIMATED"
"""The variable with a sentence on what an earlier ``--estimate`` of the same command said."""
WRITTEN = "MEDTASKS_WRITTEN"
"""The variable that names a file to which a command adds the path of each result file that it writes."""


def find_result_file(holder: Any) -> Path | None:
    """The result file that this tracker or command (its options) wrote; None if it wrote none."""
    return getattr(holder, _MARK, None)


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
        except OSError:  # the harness reports it and goes on
            return original(results=results, samples=samples, datetime_str=datetime_str)
        for holder in filter(None, (tracker, options)):
            setattr(holder, _MARK, path)
        if name := os.environ.get(WRITTEN):
            with open(name, "a", encoding="utf-8") as written:
                written.write(f"{path.absolute()}\n")
        stamp = path.name.removesuffix(result_files.SUFFIX)
        results["date"] = stamp
        return original(results=results, samples=samples, datetime_str=stamp)

    tracker.save_results_aggregated = save_results_aggregated


def reserve_result_file(folder: Path, stamp: str) -> Path:
    """Create an empty result file with this stamp or the next free second. Raises OSError if it can't be written."""
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
