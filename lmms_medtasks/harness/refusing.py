"""Refuse our tasks, and run all others, if the harness lacks what ours need (:mod:`.relied_on`)."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.errors import UserError, user_errors
from lmms_medtasks.harness import relied_on
from lmms_medtasks.harness.relied_on import HarnessPoint
from lmms_medtasks.samples.degraded import MARK

_OURS = "lmms_medtasks."
_DEGRADED = re.compile(rf"[\w*?-]+{MARK}[\w.,:-]+")
IsOurs = Callable[[str], bool]
_DEPTH = 8


def refuse_our_tasks(
    original: Callable[..., Any], lost: list[HarnessPoint], names: Collection[str], gives_tasks: bool = True
) -> Callable[..., Any]:
    """Make ``original``, a function of the harness that takes tasks, raise UserError for ours.

    ``lost``: what the harness lacks; ``names``: of our tasks; ``gives_tasks``: it returns tasks too. Its arguments may
    be anything; the first one of a method may have an index of tasks.
    """

    @functools.wraps(original)
    def checked_function(*args: Any, **kwargs: Any) -> Any:
        index = getattr(args[0], "task_index", None) if args and gives_tasks else None
        known = functools.partial(_is_ours, names, index if isinstance(index, Mapping) else {}, gives_tasks)
        _check_none_ours((args, kwargs), lost, known)
        result = original(*args, **kwargs)
        if gives_tasks:
            _check_none_ours(result, lost, known)
        return result

    return checked_function


def _check_none_ours(value: Any, lost: list[HarnessPoint], is_ours: IsOurs) -> None:
    with user_errors():
        if ours := find_ours(value, is_ours):
            raise UserError(relied_on.refusal_message(lost, ours))


def _is_ours(names: Collection[str], index: Mapping[str, Any], degraded: bool, name: str) -> bool:
    """Whether a name, or something in its YAML, is ours; ``degraded``: names of degraded tasks are ours too."""
    path = index[name].get("yaml_path") if name in index else None
    of_ours = isinstance(path, str) and _names_ours(Path(path), _DEPTH)
    return name in names or of_ours or (degraded and _DEGRADED.fullmatch(name) is not None)


def _names_ours(path: Path, depth: int) -> bool:
    if not depth or not path.is_file():
        return False
    text = path.read_text("utf-8", errors="replace")
    included = re.findall(r"^include: *['\"]?([^'\"\s]+)", text, re.MULTILINE)
    return _OURS in text or any(_names_ours(path.parent / file, depth - 1) for file in included)


def find_ours(value: Any, is_ours: IsOurs, depth: int = _DEPTH) -> str:
    """The first of nested names, configurations and tasks that is ours; "" if none is.

    A task is ours if ``is_ours`` holds for its name, if a hook is ours, or if it is to be degraded.
    """
    if depth == 0:
        return ""
    if isinstance(value, str):
        return value if is_ours(value) else ""
    if callable(getattr(value, "process_results", None)) and hasattr(value, "config"):  # a task of the harness
        return str(value.config.task) if find_ours(vars(value.config), is_ours, depth - 1) else ""
    if isinstance(value, Mapping):
        metadata = value.get("metadata")
        if isinstance(metadata, Mapping) and "degrade" in metadata:
            return str(value.get("task") or "a degraded task")
        if "task" in value:  # a configuration: its other texts are no names
            ours = _first_of_ours([value["task"]], is_ours, depth)
            return ours or _first_of_ours(value.values(), lambda text: False, depth)
        return _first_of_ours((*value.keys(), *value.values()), is_ours, depth)
    if isinstance(value, list | tuple | set | frozenset):
        return _first_of_ours(value, is_ours, depth)
    hook = getattr(value, "func", value)
    module = str(getattr(hook, "__module__", ""))
    return (
        f"a task with {module}.{getattr(hook, '__name__', '')}" if callable(hook) and module.startswith(_OURS) else ""
    )


def _first_of_ours(values: Iterable[Any], is_ours: IsOurs, depth: int) -> str:
    return next((name for value in values if (name := find_ours(value, is_ours, depth - 1))), "")
