"""Find the names of tasks, groups and tags that the harness or this package already uses."""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from lmms_medtasks import folders

_NAME = re.compile(r"""^(?:task|group|tag):[ \t]*["']?([\w.-]+)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)

_TEXTS = ("", ".py", ".yaml", ".yml")


def name_owner(name: str, but: Path | None = None) -> str:
    """Describe the task that has ``name``; "" if there is none. ``but``: a YAML that is ignored."""
    ours = folders.task_files().get(name)
    if ours and (but is None or ours.resolve() != but.resolve()):
        return f"a task of lmms-medtasks ({ours.name})"
    built_in = harness_names().get(name)
    return f"a task of lmms-eval ({built_in}), which would run in its place" if built_in else ""


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


def is_mentioned(name: str, folder: Path | None = None) -> bool:
    """Whether a name occurs anywhere in the harness's tasks or in YAMLs below ``folder``; if not, no task has it.

    Tasks and groups have names in more ways than :func:`names_in` reads: in lists, in files without an ending, in code.
    """
    word = re.compile(rf"(?<![\w+-]){re.escape(name)}(?![\w+-])")
    paths = (path for root in harness_folders() for path in (root / "tasks").rglob("*"))
    texts = [path for path in paths if path.suffix in _TEXTS and path.is_file()]
    texts += folder.rglob("*.yaml") if folder else ()
    return any(word.search(path.read_text("utf-8", errors="replace")) for path in texts)


def names_in(folder: Path) -> dict[str, str]:
    """Name -> file of the tasks, groups and tags in the YAMLs below a folder."""
    names: dict[str, str] = {}
    for path in folder.rglob("*.yaml"):
        for name in _NAME.findall(path.read_text("utf-8", errors="replace")):
            names.setdefault(name, path.relative_to(folder).as_posix())
    return names
