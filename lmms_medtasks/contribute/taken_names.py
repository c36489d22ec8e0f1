"""Which names of tasks, groups and tags are taken: by the harness's built-in tasks, and by ours."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

_NAME = re.compile(r"""^(?:task|group|tag):[ \t]*["']?([\w.-]+)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)


def owner(name: str, but: Path | None = None) -> str:
    """Who has ``name`` already, "" if nobody has; ``but``: the YAML that asks."""
    from lmms_medtasks import folders

    ours = folders.task_files().get(name)
    if ours and (but is None or ours.resolve() != but.resolve()):
        return f"a task of lmms-medtasks ({ours.name})"
    built_in = harness().get(name)
    return f"a task of lmms-eval ({built_in}), which would run in its place" if built_in else ""


@functools.cache
def harness() -> dict[str, str]:
    """The names of the harness's own tasks, groups and tags, each with a file that has it; read, not parsed."""
    spec = importlib.util.find_spec("lmms_eval")
    folders = [Path(each) / "tasks" for each in (spec.submodule_search_locations if spec else None) or ()]
    found: dict[str, str] = {}
    for folder in folders:
        found = {**names_in(folder), **found}
    return found


def names_in(folder: Path) -> dict[str, str]:
    """The names of tasks, groups and tags in the YAMLs below a folder, each with a file that has it."""
    found: dict[str, str] = {}
    for path in folder.rglob("*.yaml"):
        for name in _NAME.findall(path.read_text("utf-8", errors="replace")):
            found.setdefault(name, path.relative_to(folder).as_posix())
    return found
