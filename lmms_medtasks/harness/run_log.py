"""What a run prints that ``lmms-medtasks run`` started: few lines, each warning once, no colour codes.

The harness's command prints its whole log otherwise, coloured also in a file, and bars for each task.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from pathlib import Path
from typing import Any

from lmms_medtasks.harness import calls, runners
from lmms_medtasks.progress import RUN_LOG, print_message

VERBOSE = "MEDTASKS_RUN_VERBOSE"
"""Environment variable: 1 for all lines of the harness and its bars."""

_EARLY = "lmms_eval.__main__"  # tells its verbosity before there is a task manager
_CHATTER = (" --limit SHOULD ONLY BE USED FOR TESTING", "task.build_requests() ")
"""Beginnings of the harness's warnings that the report says better, or that mean nothing to a user."""


def is_verbose() -> bool:
    return os.environ.get(VERBOSE) == "1"


def silence_early_lines() -> None:
    """Drop what the harness's command logs before :func:`take_log_over`."""
    from loguru import logger

    logger.disable(_EARLY)


def take_log_over() -> None:
    """Print the log of this process, the harness's command, by the rules of this module."""
    import datasets
    from loguru import logger

    logger.enable(_EARLY)
    logger.remove()
    logger.add(_print_record, level="DEBUG", format="{message}", filter=_is_printed)
    if not is_verbose():
        datasets.disable_progress_bars()


def brief_output(model: Any) -> contextlib.AbstractContextManager[None]:
    """Say that the model is loaded, and hide the harness's bars until the end."""
    from loguru import logger

    if isinstance(model, str) and model not in runners.BASELINES:
        logger.info(f"Loading the model: {model}")
    return contextlib.nullcontext() if is_verbose() else calls.hide_harness_bars()


def _is_printed(record: Any) -> bool:
    from loguru import logger

    number, message = record["level"].no, record["message"]
    warning, least = (logger.level(name).no for name in ("WARNING", os.environ.get("VERBOSITY", "INFO")))
    is_ours = (record["name"] or "").startswith("lmms_medtasks.")
    if is_verbose():
        return bool(is_ours or number >= least)
    if number < least or (number < warning and (not is_ours or os.environ.get("RANK", "0") != "0")):
        return False
    return not message.startswith(_CHATTER) and (number != warning or _is_new(message))


def _is_new(message: str) -> bool:
    """Whether none of the run's processes has printed a message."""
    name = hashlib.sha256(message.encode("utf-8", "replace")).hexdigest()
    try:
        (Path(os.environ[RUN_LOG]) / name).touch(exist_ok=False)
    except FileExistsError:
        return False
    except OSError:  # a full disk, say
        return True
    return True


def _print_record(message: Any) -> None:
    record = message.record
    mark = "" if record["level"].name in ("DEBUG", "INFO") else f"{record['level'].name.lower()}: "
    print_message(f"{record['time']:%H:%M:%S} {mark}{str(message).strip()}")
