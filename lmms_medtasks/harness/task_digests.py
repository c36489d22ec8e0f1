"""Short digests of what decides a task's numbers besides its YAML, for its metadata.

The harness's response cache keys on the YAML's text and the names of hooks only; it would serve old replies after a
change of pictures or parser. With these digests in the task's metadata it does not.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import digests, extensions

LIBRARIES = ("numba", "numpy", "pillow", "scipy")
"""Packages of others that can move a pixel or a score."""

_PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_DIGITS = 12


def of_task(config: Mapping[str, Any], folder: Path | None = None) -> dict[str, str]:
    """Digests of a task's ``prompt``, of the ``package``, its ``degradations`` and ``own_code``; each where it has it.

    ``config`` is the task's configuration with its hooks resolved, as the harness's task manager gives it. ``own_code``
    is over parts of someone's own and all Python files in ``folder``, a contributed task's; ``report.py`` is left out,
    as what a report looks like moves no number.
    """
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    found = digests.of_settings(settings)
    own = [*sorted(set(_digested(config))), *extensions.digests(config.get("metadata"))]
    if folder and (files := sorted(each for each in folder.glob("*.py") if each.name != "report.py")):
        own.append(digests.of_files(files))
    return {**found, **({"own_code": digests.digest(*map(str.encode, own))} if own else {})}


def of_files(files: Sequence[Path]) -> str:
    """A digest of the contents of these files and of the picture files beside them, "" without any file.

    A table's pictures lie in the folders beside it: changing one changes the digest as changing the table does.
    """
    folders = {file.parent for file in files}
    pictures = {each for folder in folders for each in folder.rglob("*") if each.suffix.lower() in _PICTURES}
    total = hashlib.sha256()
    for file in [*files, *sorted(pictures)]:
        with file.open("rb") as content:
            total.update(file.name.encode() + hashlib.sha256(content.read()).digest())
    return total.hexdigest()[:_DIGITS] if files else ""


@functools.cache
def libraries() -> Mapping[str, str]:
    """The versions of :data:`LIBRARIES`."""
    return {name: importlib.metadata.version(name) for name in LIBRARIES}


def _digested(value: Any) -> Iterator[str]:
    """What hooks that are made of data or of code of someone's own say of these (``digested``), at any depth."""
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _digested(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _digested(each)
    elif isinstance(value, functools.partial):
        yield from _digested(value.func)
        yield from _digested(value.keywords)
    elif found := getattr(value, "digested", ""):
        yield str(found)
