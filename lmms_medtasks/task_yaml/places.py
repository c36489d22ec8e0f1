"""Files that a folder must not hold: reading them would leave the folder, or never end."""

from __future__ import annotations

import os
from pathlib import Path

from lmms_medtasks.task_yaml.problems import Findings


def check(folder: Path, found: Findings) -> set[Path]:
    """Report links out of ``folder``, pipes and devices; these paths, which nobody should open."""
    strange = set()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not inside(path, folder):
            found.add(name, "a link that leads out of the task's folder")
        elif not path.is_dir() and not path.is_file():
            found.add(name, "is no file, but a pipe, a device or a link to nothing")
        else:
            continue
        strange.add(path)
    return strange


def inside(path: Path, folder: Path) -> bool:
    """Whether ``path`` lies in ``folder`` once links are followed; a ring of links stays where it is."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except ValueError:  # a zero byte, which no path has
        return False


def is_file(path: Path) -> bool:
    """Whether there is such a file. None is where no file can be: ``Path.is_file`` fails on a name that is too long."""
    return os.path.isfile(path)
