"""Hooks of tasks on a template: prompt, pictures and scoring, with the settings of the task's YAML.

This module finds out whether a task has settings for its hooks. Only then it imports
:mod:`lmms_medtasks.harness.template_hooks.binding`, which reads tables, custom parts and judge protocols.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates
from lmms_medtasks.task_settings import task_settings

_HOOKS = "lmms_medtasks.harness."
_OF_NO_SETTINGS = f"{_HOOKS}hooks"
_ADAPTER = "lmms_medtasks.data.adapter"


def bind_hooks(config: dict[str, Any], yaml_path: str | Path | None) -> dict[str, Any]:
    """``config`` with its declared metrics, and with settings bound to its hooks if it has any for them.

    Raises:
        UserError: the YAML of a task on a template is wrong, its settings do not fit the template, its hook declares no
            metrics, or the harness would include another file than the one beside the YAML.
    """
    folder = Path(yaml_path).resolve().parent if yaml_path else None
    names = [path.name for path in folder.glob(templates.FILES)] if folder and folder != Path.cwd() else []
    if taken := [name for name in sorted(names) if Path(name).is_file()]:
        raise UserError(
            f"There is a {taken[0]} in the working directory, which the harness includes in place of that in "
            f"{folder}. Start from another directory."
        )
    from lmms_medtasks.harness.scoring import with_declared_metrics

    if folder and _is_plain(config, folder):
        return with_declared_metrics(config)
    from lmms_medtasks.harness.template_hooks import binding

    return with_declared_metrics(binding.bind_template_hooks(config, yaml_path))


def _is_plain(config: Mapping[str, Any], folder: Path) -> bool:
    """Whether this is an installed benchmark's task whose hooks get all that they need from the harness."""
    hooks = [config.get(name) for name in ("process_results", "process_docs", "doc_to_visual", "doc_to_text")]
    modules = [templates.module_of(hook) for hook in hooks if hook is not None]
    settings = task_settings(config)
    return (
        folder.is_relative_to(folders.suites_root().resolve())
        and config.get("dataset_path") == "parquet"
        and "judge" not in settings
        and not any(module.startswith(_ADAPTER) for module in modules)
        and not any(module.startswith(_HOOKS) and module != _OF_NO_SETTINGS for module in modules)
    )
