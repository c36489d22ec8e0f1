"""How a caller in Python names runs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Union

from lmms_medtasks.errors import UserError

RunPaths = Union[str, "os.PathLike[str]", Iterable[Union[str, "os.PathLike[str]"]], Any]
"""A result file or a folder with some below, what ``evaluate`` gave (it has a ``folder``), or several of these."""


def paths_of(given: RunPaths) -> list[Path]:
    """Paths as a list; of something with a ``folder`` that.

    Raises UserError for what is no path.
    """
    single = isinstance(given, (str, os.PathLike)) or hasattr(given, "folder")
    each_one = [given] if single or not isinstance(given, Iterable) else list(given)
    paths = [getattr(each, "folder", each) for each in each_one]
    for each in paths:
        if not isinstance(each, (str, os.PathLike)):
            raise UserError(f"A run is named by the path of its folder or result file, got {type(each).__name__}.")
    return [Path(each).expanduser() for each in paths]
