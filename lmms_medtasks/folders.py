"""Where the installed benchmarks are: a folder each in ``task_configs``, found by the files that lie in it."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from lmms_medtasks.errors import UserError

PACKAGE = "lmms_medtasks.task_configs"
MOST_YAML = 2**21
"""Bytes that a YAML file may have. The largest of ours has a tenth of it."""


def folder() -> Path:
    """The folder with the installed benchmarks, one folder each."""
    return Path(importlib.import_module(PACKAGE).__path__[0])


def having(file: str, folders: Sequence[Path] | None = None) -> list[Path]:
    """Those of ``folders`` that have ``file``, by name; of all installed benchmarks where none are given."""
    looked_into = [path.parent for path in folder().glob(f"*/{file}")] if folders is None else folders
    return sorted(each for each in looked_into if (each / file).is_file())


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


def module(folder_of_benchmark: Path, name: str) -> ModuleType:
    """The module ``name`` ("source") of a benchmark's folder: of an installed one by its dotted name, else its file.

    A folder that is not installed has no package: a module there imports installed modules only.
    """
    if folder_of_benchmark.parent == folder():
        return importlib.import_module(f"{PACKAGE}.{folder_of_benchmark.name}.{name}")
    return _from_file((folder_of_benchmark / f"{name}.py").resolve())


@functools.cache
def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"medtasks_folder.{path.parent.name}.{path.stem}", path)
    if spec is None or spec.loader is None:
        raise UserError(f"{path} can't be imported: it is no Python file.")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@functools.cache
def read_yaml(path: Path) -> Any:
    """What a YAML file of a benchmark's folder says, read once a process; don't change it. As :func:`load_yaml`."""
    return load_yaml(path)


def load_yaml(path: Path) -> Any:
    """What a YAML file says.

    Raises UserError, with file and line, where it can't be read, is larger than :data:`MOST_YAML`, says a value that is
    none (a 13th month, a tag that makes an object), or a key stands twice in a mapping: only the last one would count.
    """
    import yaml

    try:
        if (size := path.stat().st_size) > MOST_YAML:
            raise UserError(f"{path} has {size:,} bytes; a YAML file may have {MOST_YAML:,}. Is it the right file?")
        loader = yaml.SafeLoader(path.read_text("utf-8"))
        root = loader.get_single_node()
    except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError) as error:
        raise UserError(f"Can't read {path}: {error}") from error
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
    try:
        return None if root is None else loader.construct_document(root)
    except yaml.YAMLError as error:
        raise UserError(f"Can't read {path}: {error}") from error
    except (ValueError, LookupError, AttributeError, ArithmeticError) as error:
        # What is no date or number of Python's, without its place: it is the one that was being made.
        node = list(loader.recursive_objects)[-1]
        said = f"{path}, line {node.start_mark.line + 1}: {reprlib.repr(node.value)} can't be read"
        raise UserError(f"{said} ({error}). Mend it, or write it in quotation marks.") from error
