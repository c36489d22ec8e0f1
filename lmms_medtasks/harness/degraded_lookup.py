"""Find the degraded tasks among those that the harness loads.

:func:`load_task` wraps the task manager's ``_load_individual_task_or_group``, which is called for every name on the
command line and in a group's YAML. Only degraded tasks import :mod:`lmms_medtasks.harness.degraded_tasks`.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.degraded import ASKED, MARK, is_degraded_name

_KEPT = "_lmms_medtasks_bases"
_LOADED_FOR = "_lmms_medtasks_degraded_for"
_SHOWN = "medtasks_shown"  # an attribute of degraded tasks (degraded_tasks.Degraded)


def requested_degradation(metadata: Any) -> str:
    """The degradation that a YAML's metadata request, "" if none. Raises UserError for anything but a text."""
    requested = metadata.get(ASKED) if isinstance(metadata, Mapping) else None
    if requested is not None and not isinstance(requested, str):
        raise UserError(f"metadata: {ASKED} must be a text such as gaussian_noise.2, got {requested!r}.")
    return requested or ""


def name_loaded_for(manager: Any) -> str | None:
    """The degraded task whose base the task manager is about to load; None if it loads none."""
    return getattr(manager, _LOADED_FOR, None)  # type: ignore[no-any-return]


def load_task(original: Any, manager: Any, name_or_config: Any = None, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """In place of the task manager's ``_load_individual_task_or_group``: also names of degraded tasks."""
    name = name_or_config.get("task") if isinstance(name_or_config, dict) else name_or_config
    requested = requested_degradation(name_or_config.get("metadata")) if isinstance(name_or_config, dict) else ""
    if requested and isinstance(name, str) and name in manager.task_index and not is_degraded_name(name):
        # In a group's YAML: another task beside the one of that name.
        metadata = {key: value for key, value in name_or_config["metadata"].items() if key != ASKED}
        name = f"{name}{MARK}{requested}"
        name_or_config = {**name_or_config, "metadata": metadata}
        if not metadata:
            del name_or_config["metadata"]
    if is_degraded_name(name) and name not in manager.task_index:
        from lmms_medtasks.harness import degraded_tasks

        base = functools.partial(_load_base, original, manager)
        setattr(manager, _LOADED_FOR, str(name))
        try:
            return degraded_tasks.load_degraded_task(base, manager, str(name), name_or_config, *args, **kwargs)
        finally:
            setattr(manager, _LOADED_FOR, None)
    if isinstance(name_or_config, dict) or kwargs.get("update_config"):
        return _load_with_metadata(original, manager, name_or_config, *args, **kwargs)
    return _load_base(original, manager, name_or_config, *args, **kwargs)


def _load_base(original: Any, manager: Any, name_or_config: Any, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """The task or group as the harness loads it; loaded once while base tasks are kept."""
    bases: dict[str, Any] = getattr(manager, _KEPT, {})
    key = repr((name_or_config, kwargs.get("task_type", "simple"), kwargs.get("update_config")))
    if key not in bases:
        bases[key] = _load_with_metadata(original, manager, name_or_config, *args, **kwargs)
    return bases[key]  # type: ignore[no-any-return]


def _load_with_metadata(original: Any, manager: Any, name_or_config: Any, *args: Any, **kwargs: Any) -> dict[Any, Any]:
    """Load tasks, and degrade those whose YAML requests it."""
    loaded: dict[Any, Any] = original(manager, name_or_config, *args, **kwargs)
    for key, task in loaded.items():
        requested = requested_degradation(getattr(getattr(task, "config", None), "metadata", None))
        if requested and not hasattr(task, _SHOWN):
            from lmms_medtasks.harness import degraded_tasks

            loaded[key] = degraded_tasks.degrade_as_yaml_requests(task, requested, manager)
    return loaded


@contextlib.contextmanager
def watch_if_degraded(lm: Any, tasks: Sequence[Any]) -> Iterator[Callable[[Any], Any]]:
    """Watch degraded tasks until the end; gives ``DegradationWatch.told``, to be called with the results."""
    if not any(hasattr(task, _SHOWN) for task in tasks):
        yield lambda results: results
        return
    from lmms_medtasks.harness import degraded_runs

    with degraded_runs.watch_degraded_tasks(lm, tasks) as watch:
        yield watch.told


@contextlib.contextmanager
def share_base_tasks(manager: Any) -> Iterator[None]:
    """Load no base task twice until the end; then forget them: the next run loads its own."""
    manager.__dict__.setdefault(_KEPT, {})
    try:
        yield
    finally:
        manager.__dict__.pop(_KEPT, None)


def keep_base_tasks(manager: Any) -> None:
    """Forget the base tasks that are kept, and keep those loaded from here to the end of :func:`share_base_tasks`."""
    setattr(manager, _KEPT, {})
