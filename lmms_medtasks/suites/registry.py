"""Which benchmark a task is of. A benchmark is found by its folder: nothing is registered anywhere."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.suites.suite import Suite

PACKAGE = "lmms_medtasks.task_configs"
PROTOCOL = "medtasks://"
_TEMPLATE = "template:"


def folder() -> Path:
    """The folder with the installed benchmarks, one folder each."""
    return Path(importlib.import_module(PACKAGE).__path__[0])


@functools.cache
def task_files() -> Mapping[str, Path]:
    """The YAML of every installed task and group, by name. A file is named as what it defines."""
    found: dict[str, Path] = {}
    for root, _, files in sorted(os.walk(folder())):
        for file in sorted(each for each in files if each.endswith(".yaml")):
            name, path = file.removesuffix(".yaml"), Path(root, file)
            if name in found:
                raise UserError(
                    f"Two benchmarks claim the task {name!r}: {found[name]} and {path}. Rename one of them."
                )
            found[name] = path
    return found


@functools.cache
def names() -> tuple[str, ...]:
    """The folders of the installed benchmarks that declare their measures."""
    return tuple(sorted(path.parent.name for path in folder().glob("*/measures.py")))


@functools.cache
def get(name: str) -> Suite:
    """The declaration of an installed benchmark.

    Raises UserError where there is no such folder, it declares no SUITE, has no YAML, or is named otherwise.
    """
    if name.startswith(_TEMPLATE):
        from lmms_medtasks.contribute.templates import measures

        return measures.of_kind(name.removeprefix(_TEMPLATE))
    if name not in names():
        raise unknown("benchmark", name, names(), str(folder()))
    suite = getattr(importlib.import_module(f"{PACKAGE}.{name}.measures"), "SUITE", None)
    where = folder() / name / "measures.py"
    if not isinstance(suite, Suite):
        raise UserError(f"{where} declares no benchmark: wanted SUITE = Suite(...), got {type(suite).__name__}.")
    if suite.name != name:
        raise UserError(f"{where}: SUITE is called {suite.name!r}; wanted {name!r}, the name of its folder.")
    if not any((folder() / name).glob("*.yaml")):
        raise UserError(f"{where.parent} has no task: wanted at least one YAML file beside measures.py.")
    return suite


def find(task: str, config: Mapping[str, Any]) -> Suite | None:
    """The benchmark of a task: that of its folder, else that whose data it reads; None if it is of none.

    ``config``: the task's configuration as a result file records it. Raises UserError where two benchmarks claim it.
    """
    path = task_files().get(task)
    if path is not None:
        return get(path.parent.name) if path.parent.name in names() else None
    read = data_names(config)
    claiming = [suite for suite in map(get, names()) if read & set(suite.data)]
    if len(claiming) > 1:
        titles = ", ".join(suite.name for suite in claiming)
        raise UserError(f"The task {task!r} reads data of several benchmarks ({titles}). A task reads those of one.")
    return claiming[0] if claiming else None


def data_names(config: Mapping[str, Any]) -> set[str]:
    """The names under ``medtasks://`` that a task's data come from."""
    files = (config.get("dataset_kwargs") or {}).get("data_files") or {}
    values = files.values() if isinstance(files, Mapping) else [files]
    urls = [str(url) for value in values for url in (value if isinstance(value, list) else [value])]
    return {url[len(PROTOCOL) :].partition("/")[0] for url in urls if url.startswith(PROTOCOL)}


def companion(suite: Suite, module: str) -> ModuleType | None:
    """Another module of the benchmark's folder ("report", "judging", "source"); None where it has none."""
    name = f"{PACKAGE}.{suite.name}.{module}"
    return importlib.import_module(name) if importlib.util.find_spec(name) else None
