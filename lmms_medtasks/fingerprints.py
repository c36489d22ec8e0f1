"""Short digests of what decides a task's numbers besides its YAML: prompt, code, degradations.

The harness's response cache keys on the YAML's text and the names of hooks only; it would serve old replies after a
change of pictures or parser. With these digests in the task's metadata it does not. Each YAML records its own, a test
fails when a recorded one is stale, and a run with changed code says so.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

_LENGTH = 12
_PICTURES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp"}
# What the hooks use and no YAML names.
_ALWAYS = (
    "lmms_medtasks.parsing.choice",
    "lmms_medtasks.parsing.replies",
    "lmms_medtasks.data.pictures",
    "lmms_medtasks.seeding",
    "lmms_medtasks.harness.trials",
)


def of_task(config: Mapping[str, Any]) -> dict[str, str]:
    """Digests of a task's ``prompt``, ``code`` and ``degradations`` (each only where the task has it).

    ``config`` is the task's configuration with its hooks resolved, as the harness's task manager gives it.
    """
    settings = (config.get("lmms_eval_specific_kwargs") or {}).get("default") or {}
    found = {"code": _code(config)}
    if settings.get("prompt"):
        from lmms_medtasks.harness.hooks import prompt_text

        found["prompt"] = digest(prompt_text(str(settings["prompt"])).encode())
    if not settings.get("rendered") and settings.get("severity") != 0:
        from lmms_medtasks import degradations

        found["degradations"] = degradations.fingerprint()
    return dict(sorted(found.items()))


def of_folder(folder: Path) -> dict[str, str]:
    """A digest of a contributed task's own Python files, under "adapter"; nothing where it has none.

    The harness executes them from their files: they are no modules that :func:`of_task` could find. ``report.py`` is
    left out: what a report looks like moves no number.
    """
    files = sorted(each for each in folder.glob("*.py") if each.name != "report.py")
    return {"adapter": digest(*(file.read_bytes() for file in files))} if files else {}


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
    return total.hexdigest()[:_LENGTH] if files else ""


def digest(*contents: bytes) -> str:
    """The first 12 hexadecimal digits of a SHA-256 over ``contents``, each with its length."""
    total = hashlib.sha256()
    for content in contents:
        total.update(len(content).to_bytes(8, "little") + content)
    return total.hexdigest()[:_LENGTH]


def _code(config: Mapping[str, Any]) -> str:
    """Digest of the source of every module that a hook of the task lives in, and of those that all hooks use."""
    for name in _ALWAYS:
        __import__(name)
    functions = list(_functions(config))
    hooks = {function.__module__ for function in functions}
    # A hook's module says itself which others its numbers depend on: their names, in FINGERPRINT_ALSO.
    others = {each for name in hooks for each in getattr(sys.modules.get(name), "FINGERPRINT_ALSO", ())}
    for name in others:
        __import__(name)
    names = hooks | others | set(_ALWAYS)
    sources = [inspect.getsource(sys.modules[name]).encode() for name in sorted(names) if name in sys.modules]
    # A function that is made from data says what data, in an attribute of its own.
    data = sorted({function.fingerprint for function in functions if hasattr(function, "fingerprint")})
    return digest(*sources, *(each.encode() for each in data))


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
    elif inspect.isfunction(value) or (callable(value) and hasattr(value, "fingerprint")):
        yield value
