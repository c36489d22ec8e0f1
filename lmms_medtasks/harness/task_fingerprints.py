"""Short digests of what decides a task's numbers besides its YAML: prompt, code, degradations.

The harness's response cache keys on the YAML's text and the names of hooks only; it would serve old replies after a
change of pictures or parser. With these digests in the task's metadata it does not. Each YAML records its own, a test
fails when a recorded one is stale, and a run with changed code says so.

``code`` is over what a task's hooks, aggregations and judge protocols can reach in this package
(:mod:`lmms_medtasks.fingerprints`) and the data files that it names; the degradations have a digest of their own, taken
in only where pictures are degraded. What draws intervals is in none. Neither are other packages: the versions of those
that can move a pixel or a score stand beside the fingerprint (:func:`libraries`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import inspect
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import extensions, fingerprints
from lmms_medtasks.fingerprints import NO_NUMBERS, SourceTrees
from lmms_medtasks.harness import judged
from lmms_medtasks.harness.hooks import prompt_text
from lmms_medtasks.harness.scoring import ScoringHook

if TYPE_CHECKING:
    from lmms_medtasks.judges.protocol import Protocol

LIBRARIES = ("numba", "numpy", "pillow", "scipy")
"""Packages of others that can move a pixel or a score."""

_PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
_DIGITS = 12

# They make what a judge is asked, and a label of what it says; lexical is the judge that is no model but code of ours.
_JUDGED = ("lmms_medtasks.judges.lexical", "lmms_medtasks.judges.prompts", "lmms_medtasks.judges.verdicts")

# Have a digest of their own.
_DEGRADATIONS = {"lmms_medtasks.degradations", "lmms_medtasks.degradations.registry"}


def of_task(config: Mapping[str, Any], trees: SourceTrees | None = None) -> dict[str, str]:
    """Digests of a task's ``prompt``, ``code`` and ``degradations`` (each only where the task has it).

    ``config`` is the task's configuration with its hooks resolved, as the harness's task manager gives it; ``trees``
    are the modules to look at, the installed ones by default.
    """
    trees = trees or fingerprints.installed()
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    code = trees.digest(modules(config), NO_NUMBERS.keys() | _DEGRADATIONS)
    found = {"code": fingerprints.digest(*(each.encode() for each in (code, *_data(config))))}
    if settings.get("prompt"):
        found["prompt"] = fingerprints.digest(prompt_text(str(settings["prompt"])).encode())
    if not settings.get("rendered") and settings.get("severity") != 0:
        from lmms_medtasks.degradations import registry

        found["degradations"] = registry.fingerprint(trees)
    return dict(sorted(found.items()))


def modules(config: Mapping[str, Any]) -> tuple[str, ...]:
    """Where a task's ``code`` starts: the modules of the functions that its configuration and its protocols name."""
    named = {function.__module__ for function in _functions(config)}
    protocols = judged.protocols_of(config)
    named |= {function.__module__ for protocol in protocols for function in _functions(vars(protocol))}
    return tuple(sorted(named.union(_JUDGED if protocols else ())))


def of_folder(folder: Path) -> dict[str, str]:
    """A digest of a contributed task's own Python files, under "adapter"; nothing where it has none.

    The harness executes them from their files: they are no modules that :func:`of_task` could find. ``report.py`` is
    left out: what a report looks like moves no number.
    """
    files = sorted(each for each in folder.glob("*.py") if each.name != "report.py")
    return {"adapter": fingerprints.installed().digest(files)} if files else {}


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


def _data(config: Mapping[str, Any]) -> list[str]:
    """What decides a number and is no code: of functions made from data the data, of protocols what a judge is told."""
    made = sorted({each.fingerprint for each in _functions(config) if getattr(each, "fingerprint", "")})
    return [*made, *_told(judged.protocols_of(config)), *extensions.digests(config.get("metadata"))]


def _told(protocols: Sequence[Protocol]) -> list[str]:
    if not protocols:
        return []
    from lmms_medtasks.judges import prompts

    return [f"{each.name} {each.version} {prompts.digest(each)}" for each in protocols]


def _functions(value: Any) -> Iterator[Any]:
    if isinstance(value, Mapping):
        for each in value.values():
            yield from _functions(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _functions(each)
    elif isinstance(value, functools.partial):
        yield from _functions(value.func)
        yield from _functions(value.keywords)
    elif inspect.isfunction(value) or isinstance(value, ScoringHook) or hasattr(value, "fingerprint"):
        yield value
