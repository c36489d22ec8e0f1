"""Find the names of tasks, groups and tags that the harness uses."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

_NAME = re.compile(r"""^(?:task|group|tag):[ \t]*["']?([\w.-]+)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)


@functools.cache
def harness_names() -> dict[str, str]:
    """Name -> file of the harness's own tasks, groups and tags, found by a pattern without parsing YAML."""
    names: dict[str, str] = {}
    for folder in harness_folders():
        names = {**names_in(folder / "tasks"), **names}
    return names


def harness_folders() -> list[Path]:
    """The folders of the harness's package; [] if it is not installed."""
    spec = importlib.util.find_spec("lmms_eval")
    return [Path(location) for location in (spec.submodule_search_locations if spec else None) or ()]


def names_in(folder: Path) -> dict[str, str]:
    """Name -> file of the tasks, groups and tags in the YAMLs below a folder."""
    names: dict[str, str] = {}
    for path in folder.rglob("*.yaml"):
        for name in _NAME.findall(path.read_text("utf-8", errors="replace")):
            names.setdefault(name, path.relative_to(folder).as_posix())
    return names
