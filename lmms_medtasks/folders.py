"""The folders of the installed benchmarks in ``task_configs``, found by the files in them."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import reprlib
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from lmms_medtasks.errors import UserError
from lmms_medtasks.extensions import import_file

PACKAGE = "lmms_medtasks.task_configs"
MOST_YAML = 2**21


def suites_root() -> Path:
    return Path(importlib.import_module(PACKAGE).__path__[0])


def folders_with_file(file: str) -> list[Path]:
    return sorted(path.parent for path in suites_root().glob(f"*/{file}") if path.is_file())


@functools.cache
def task_files() -> Mapping[str, Path]:
    """The YAML of every installed task and group, by name. A file has the name of what it defines."""
    path_of_task: dict[str, Path] = {}
    for root, _, files in sorted(os.walk(suites_root())):
        for file in sorted(each for each in files if each.endswith(".yaml")):
            name, path = file.removesuffix(".yaml"), Path(root, file)
            if name in path_of_task:
                raise UserError(
                    f"Two benchmarks claim the task {name!r}: {path_of_task[name]} and {path}. Rename one of them."
                )
            path_of_task[name] = path
    return path_of_task


def suite_module(folder_of_benchmark: Path, name: str) -> ModuleType:
    """The module ``name`` ("source") of a benchmark's folder: of an installed one by its dotted name, else its file.

    A folder that is not installed has no package: a module there imports installed modules only.
    """
    if folder_of_benchmark.parent == suites_root():
        return importlib.import_module(f"{PACKAGE}.{folder_of_benchmark.name}.{name}")
    return import_file((folder_of_benchmark / f"{name}.py").resolve())


@functools.cache
def read_yaml(path: Path) -> Any:
    """A YAML file of a benchmark's folder, read once a process; don't change the result. As :func:`load_yaml`."""
    return load_yaml(path)


def load_yaml(path: Path) -> Any:
    """The content of a YAML file.

    Raises UserError, with file and line, if it can't be read, has more than :data:`MOST_YAML` bytes, holds an invalid
    value (a 13th month), or a key twice in a mapping: only the last one would count.
    """
    import yaml

    try:
        if (size := path.stat().st_size) > MOST_YAML:
            raise UserError(f"{path} has {size:,} bytes; at most {MOST_YAML:,} are read. Is it the right file?")
        root = yaml.compose(path.read_text("utf-8"), yaml.SafeLoader)
    except FileNotFoundError as error:
        raise UserError(f"{path} is not there.") from error
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise _unreadable_error(path, error) from error
    waiting = [root]
    seen = set()
    while waiting:
        node = waiting.pop()
        if id(node) in seen:  # an alias
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += node.value
        elif isinstance(node, yaml.MappingNode):
            waiting += [value for _, value in node.value]
            first_lines: dict[str, int] = {}
            for key, _ in node.value:
                name, line = str(key.value), key.start_mark.line + 1
                if name in first_lines:
                    raise UserError(
                        f"{path}, line {line}: the key {name!r} stands on line {first_lines[name]} already."
                    )
                first_lines[name] = line
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_document(root) if root is not None else None
    except yaml.YAMLError as error:
        raise _unreadable_error(path, error) from error
    except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # The value that was being made when no number or date could be made of it.
        node = next(reversed(loader.recursive_objects))
        complaint = f"{path}, line {node.start_mark.line + 1}: {reprlib.repr(node.value)} can't be read ({error})."
        raise UserError(f"{complaint} Mend it, or write it in quotation marks.") from error


def _unreadable_error(path: Path, error: Exception) -> UserError:
    mark = getattr(error, "problem_mark", None)
    if mark is None:
        return UserError(f"Can't read {path}: {error}")
    problem = getattr(error, "problem", "")
    return UserError(f"{path}, line {mark.line + 1}, column {mark.column + 1}: this is no YAML ({problem}).")
