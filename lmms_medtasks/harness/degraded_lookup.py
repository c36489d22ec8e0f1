"""Which of the tasks that the harness loads are degraded ones, told without importing what degrades pictures.

The task manager's ``_load_individual_task_or_group`` is wrapped by :func:`load`: the harness calls it for every name on
the command line and in a group's YAML. Of degraded tasks :mod:`lmms_medtasks.harness.degraded_tasks` is imported.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.degraded import ASKED, MARK, is_name

_KEPT = "_lmms_medtasks_bases"
_LOADED_FOR = "_lmms_medtasks_degraded_for"
_SHOWN = "medtasks_shown"  # an attribute of degraded tasks (degraded_pictures.Degraded)


def requested_degradation(metadata: Any) -> str:
    """What a YAML's metadata ask to be done to the pictures; "" if nothing. Raises UserError for what is no text."""
    requested = metadata.get(ASKED) if isinstance(metadata, Mapping) else None
    if requested is not None and not isinstance(requested, str):
        raise UserError(f"metadata: {ASKED} must be a text such as gaussian_noise.2, got {requested!r}.")
    return requested or ""


def name_loaded_for(manager: Any) -> str | None:
    """The degraded task whose base the task manager is about to load; None if it loads none."""
    name: str | None = getattr(manager, _LOADED_FOR, None)
    return name


def load(original: Any, manager: Any, what: Any = None, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """In place of the task manager's ``_load_individual_task_or_group``: also names of degraded tasks."""
    name = what.get("task") if isinstance(what, dict) else what
    requested = requested_degradation(what.get("metadata")) if isinstance(what, dict) else ""
    if requested and isinstance(name, str) and name in manager.task_index and not is_name(name):
        # In a group's YAML: another task beside the one of that name.
        kept = {key: value for key, value in what["metadata"].items() if key != ASKED}
        name = f"{name}{MARK}{requested}"
        what = {**what, "metadata": kept} if kept else {key: each for key, each in what.items() if key != "metadata"}
    if is_name(name) and name not in manager.task_index:
        from lmms_medtasks.harness import degraded_tasks

        base = functools.partial(_load_base, original, manager)
        setattr(manager, _LOADED_FOR, str(name))
        try:
            return degraded_tasks.load(base, manager, str(name), what, *args, **kwargs)
        finally:
            setattr(manager, _LOADED_FOR, None)
    if isinstance(what, dict) or kwargs.get("update_config"):
        return _loaded(original, manager, what, *args, **kwargs)
    return _load_base(original, manager, what, *args, **kwargs)


def _load_base(original: Any, manager: Any, what: Any, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """The task or group as the harness loads it; once, between :func:`begin` and :func:`forget`."""
    bases: dict[str, Any] = getattr(manager, _KEPT, {})
    key = repr((what, kwargs.get("task_type", "simple"), kwargs.get("update_config")))
    if key not in bases:
        bases[key] = _loaded(original, manager, what, *args, **kwargs)
    return bases[key]  # type: ignore[no-any-return]


def _loaded(original: Any, manager: Any, what: Any, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    return {task: _by_metadata(each, manager) for task, each in original(manager, what, *args, **kwargs).items()}


def _by_metadata(task: Any, manager: Any) -> Any:
    """A task degraded as its own YAML asks for, any other as it is."""
    requested = requested_degradation(getattr(getattr(task, "config", None), "metadata", None))
    if not requested or hasattr(task, _SHOWN):
        return task
    from lmms_medtasks.harness import degraded_tasks

    return degraded_tasks.by_metadata(task, requested, manager)


class _Nothing:
    """What is watched where no task is degraded."""

    def told(self, results: Any) -> Any:
        return results


@contextlib.contextmanager
def watched(lm: Any, tasks: Sequence[Any]) -> Iterator[Any]:
    """As :func:`lmms_medtasks.harness.degraded_runs.watched`."""
    if not any(hasattr(task, _SHOWN) for task in tasks):
        yield _Nothing()
        return
    from lmms_medtasks.harness import degraded_runs

    with degraded_runs.watched(lm, tasks) as watch:
        yield watch


def begin(manager: Any) -> None:
    """Keep the bases that are loaded from now on, until :func:`forget`, so that none is loaded twice."""
    manager.__dict__.setdefault(_KEPT, {})


def forget(manager: Any) -> None:
    """Forget the bases that were loaded: the next run loads its own."""
    manager.__dict__.pop(_KEPT, None)
