"""Find the benchmark of a task. Benchmarks are found by their folders; there is no list of them."""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from lmms_medtasks.errors import UserError, line_in_file, unknown_name_error
from lmms_medtasks.folders import PACKAGE, suites_root, task_files
from lmms_medtasks.samples.degraded import find_base_task
from lmms_medtasks.suites.suite import Suite

PROTOCOL = "medtasks://"
_TEMPLATE = "template:"


@functools.cache
def names() -> tuple[str, ...]:
    """The folders of the installed benchmarks that declare their measures."""
    return tuple(sorted(path.parent.name for path in suites_root().glob("*/measures.py")))


_GIVEN: dict[str, Path] = {}
"""Folders of benchmarks that are not installed, by name. One a process: the harness hands an aggregation nothing but
values, so what they name must be found here."""


def add_suite_folders(paths: Iterable[Path]) -> None:
    """Add benchmarks that are not installed: every folder at or below ``paths`` with a task's YAML.

    Raises UserError if a path is not a folder or has no task, or if two folders have the same name or the same task.
    """
    for path in paths:
        if not path.is_dir():
            raise UserError(f"{path} is no folder. Give the folder of a benchmark, or one with several of them.")
        found = sorted({each.parent.resolve() for pattern in ("*.yaml", "measures.py") for each in path.rglob(pattern)})
        if not found:
            raise UserError(
                f"{path} has no task: expected a folder with YAML files of tasks, or with such folders in it."
            )
        for folder in found:
            if not folder.is_relative_to(suites_root().resolve()):
                _add_folder(folder)


def added_suite_folders() -> tuple[Path, ...]:
    """The folders added by :func:`add_suite_folders`, for another process."""
    return tuple(_GIVEN.values())


def _add_folder(path: Path) -> None:
    if (path / "measures.py").is_file() and not re.fullmatch(r"[a-z][a-z0-9_]*", path.name):
        raise UserError(f"{path}: a benchmark's name is in small letters, digits and underscores, a letter first.")
    if not any(path.glob("*.yaml")):
        raise UserError(f"{path} has no task: expected at least one YAML file beside measures.py.")
    known = _GIVEN.get(path.name) or (suites_root() / path.name if (suites_root() / path.name).is_dir() else None)
    if known is not None and known.resolve() != path:
        raise UserError(
            f"Two benchmarks are called {path.name!r}: {known} and {path}. Rename the folder of one of them."
        )
    for task, file in _tasks_in(path).items():
        claimed = _find_task_file(task, besides=path)
        if claimed is not None:
            raise UserError(f"Two benchmarks claim the task {task!r}: {claimed} and {file}. Rename one of them.")
    _GIVEN[path.name] = path


def is_here(task: str) -> bool:
    """Whether a task is installed or in a folder added by :func:`add_suite_folders`."""
    return _find_task_file(task) is not None


def _find_task_file(task: str, besides: Path | None = None) -> Path | None:
    """The YAML of a task, installed or in an added folder; ``besides``: an added folder that is ignored."""
    added = (_tasks_in(path).get(task) for path in _GIVEN.values() if path != besides)
    return task_files().get(task) or next(filter(None, added), None)


def _tasks_in(path: Path) -> Mapping[str, Path]:
    return {file.stem: file for file in sorted(path.glob("*.yaml"))}


def folder_of(name: str) -> Path | None:
    """The folder of a benchmark, installed or added; None if unknown."""
    installed = suites_root() / name
    return installed if installed.is_dir() and any(installed.glob("*.yaml")) else _GIVEN.get(name)


@functools.cache
def get(name: str) -> Suite:
    """The declaration of a benchmark.

    Raises UserError where there is no such folder, it declares no SUITE, has no YAML, or is named otherwise.
    """
    if name.startswith(_TEMPLATE):
        from lmms_medtasks.suites.templates import measures

        return measures.of_name(name)
    if name not in names() and name not in _GIVEN:
        raise unknown_name_error("benchmark", name, (*names(), *_GIVEN), str(suites_root()))
    benchmark_folder = suites_root() / name if name in names() else _GIVEN[name]
    file = benchmark_folder / "measures.py"
    suite = getattr(_import_module(name, "measures"), "SUITE", None)
    if not isinstance(suite, Suite):
        raise UserError(f"{file} declares no benchmark: expected SUITE = Suite(...), got {type(suite).__name__}.")
    if suite.name != name:
        raise UserError(f"{file}: SUITE is called {suite.name!r}; expected {name!r}, the name of its folder.")
    if not any(benchmark_folder.glob("*.yaml")):
        raise UserError(f"{file.parent} has no task: expected at least one YAML file beside measures.py.")
    return suite


def find_suite(task: str, config: Mapping[str, Any]) -> Suite | None:
    """Find a task's benchmark by its folder, else by its template, else by the data that it reads.

    None if it is of none, as a task that was asked on degraded pictures is: its numbers are not the benchmark's.
    ``config``: the task's configuration as a result file records it. Raises UserError where two benchmarks claim it.
    """
    if find_base_task(task, config) is not None:
        return None
    path = _find_task_file(task)
    if path is not None and (path.parent.name in names() or (path.parent / "measures.py").is_file()):
        return get(path.parent.name)
    from lmms_medtasks.suites.templates import measures

    default = measures.of_config(task, config, path.parent.name if path else "", folder_of)
    if path is not None or default is not None:
        return default
    read = data_names(config)
    claiming = [suite for suite in map(get, names()) if read & set(suite.data)]
    if len(claiming) > 1:
        titles = ", ".join(suite.name for suite in claiming)
        raise UserError(f"The task {task!r} reads data of several benchmarks ({titles}). A task reads those of one.")
    return claiming[0] if claiming else None


def data_names(config: Mapping[str, Any]) -> set[str]:
    """The names under ``medtasks://`` in a task's data files."""
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    values = files.values() if isinstance(files, Mapping) else [files]
    urls = [str(url) for value in values for url in (value if isinstance(value, list) else [value])]
    return {url[len(PROTOCOL) :].partition("/")[0] for url in urls if url.startswith(PROTOCOL)}


def scored_by(hook: str) -> tuple[Suite, str] | None:
    """The benchmark and task kind of a scoring hook; None if it belongs to no installed benchmark.

    ``hook``: its dotted name, as their YAML has it. Raises UserError where the module can't be imported.
    """
    name, _, attribute = hook.removeprefix(f"{PACKAGE}.").partition(".measures.")
    hook_object: Any = (
        getattr(_import_module(name, "measures"), attribute, None) if name in names() and attribute else None
    )
    suite = getattr(hook_object, "suite", None)
    return (suite, hook_object.kind) if isinstance(suite, Suite) else None


def metrics_of(hook: str) -> tuple[str, ...] | None:
    """The metrics of the tasks of a scoring hook; None if :func:`scored_by` finds no benchmark."""
    scored = scored_by(hook)
    return scored[0].tasks[scored[1]] if scored else None


def load_companion(name: str, module: str) -> ModuleType | None:
    """Load another module of a benchmark's folder ("report", "judging", "source"); None if there is none."""
    benchmark_folder = folder_of(name)
    exists = benchmark_folder is not None and (benchmark_folder / f"{module}.py").is_file()
    return _import_module(name, module) if exists else None


def _import_module(name: str, module: str) -> ModuleType:
    """Import a module of a benchmark's folder, installed or added. Raises UserError, with the file, if that fails."""
    benchmark_folder = suites_root() / name
    if name in _GIVEN:
        benchmark_folder = _GIVEN[name]
        package = importlib.import_module(PACKAGE)
        if str(benchmark_folder.parent) not in package.__path__:
            package.__path__.append(str(benchmark_folder.parent))
        importlib.invalidate_caches()
    file = benchmark_folder / f"{module}.py"
    try:
        return importlib.import_module(f"{PACKAGE}.{name}.{module}")
    except Exception as error:
        if isinstance(error, UserError) and str(file) in str(error):
            raise
        line = line_in_file(error, file)
        location = f"{file}, line {line}" if line else str(file)
        if isinstance(error, UserError):
            raise UserError(f"{location}: {error}") from error
        raise UserError(f"{location} can't be imported: {type(error).__name__}: {error}") from error
