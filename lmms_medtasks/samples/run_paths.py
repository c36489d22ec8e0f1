"""How a caller in Python names runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Union

from lmms_medtasks.errors import UserError

RunPaths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]], Any]
"""A result file or a folder with some below, what ``evaluate`` gave (it has a ``result_file``), or several of these."""


def paths_of(given: Any) -> list[Path]:
    """Paths as a list; of something with a ``result_file`` that.

    Raises UserError for what is no path.
    """
    single = isinstance(given, (str, os.PathLike)) or not isinstance(given, Iterable)
    every: list[Any] = [given] if single else list(given)
    named = [getattr(each, "result_file", each) for each in every]
    found = []
    for each in named:
        if not isinstance(each, (str, os.PathLike)):
            raise UserError(f"A run is named by the path of its folder or result file, got {type(each).__name__}.")
        found.append(Path(each).expanduser())
    return found


def new_folder() -> Path:
    """A new folder for a run, in ``runs/``: the harness names files by the second and appends to a sample log that is
    there already."""
    return Path("runs") / datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%S.%fZ")
