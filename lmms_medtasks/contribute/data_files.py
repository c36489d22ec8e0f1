"""Whether a task's data can be found, as far as its YAML tells."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from pathlib import Path

from lmms_medtasks.data import sources, text_tables
from lmms_medtasks.errors import nearest
from lmms_medtasks.suites.templates import including
from lmms_medtasks.task_yaml import places
from lmms_medtasks.task_yaml.chain import Chain
from lmms_medtasks.task_yaml.problems import Findings

PROTOCOL = "medtasks://"
_MAGIC = "*?[$~{"


def check(chain: Chain, found: Findings) -> None:
    """Check that the files are there which ``dataset_kwargs: data_files`` of a task names."""
    kwargs = chain.value("dataset_kwargs") or {}
    if kwargs.get("trust_remote_code"):
        file, line = chain.place(("dataset_kwargs", "trust_remote_code"))
        found.add(file, "executes code of the data set's author", line=line, key="dataset_kwargs.trust_remote_code",
                  value="True", level="warning")  # fmt: skip
    for split, names in (kwargs.get("data_files") or {}).items():
        file, line = chain.place(("dataset_kwargs", "data_files", split))
        for name in names if isinstance(names, list) else [names]:
            where = {"line": line, "key": f"dataset_kwargs.data_files.{split}", "value": name}
            _check_file(chain, name, functools.partial(found.add, file, **where))


def missing(chain: Chain) -> list[str]:
    """The files of this machine that ``dataset_kwargs: data_files`` of a task names, and that are not there."""
    kwargs = chain.value("dataset_kwargs")
    files = kwargs.get("data_files") if isinstance(kwargs, Mapping) else None
    # Of a data set on the hub they are files there.
    if chain.value("dataset_path") not in including.LOCAL or not isinstance(files, Mapping):
        return []
    named = [name for names in files.values() for name in (names if isinstance(names, list) else [names])]
    return [each for each in named if isinstance(each, str) and _is_missing(chain.path.parent, each)]


def _is_missing(folder: Path, name: str) -> bool:
    # The harness looks in its working folder for what is not beside the YAML.
    is_elsewhere = "://" in name or set(name) & set(_MAGIC) or places.is_file(Path(name))
    return not is_elsewhere and not places.is_file(folder / name)


def _check_file(chain: Chain, name: str, add: Callable[..., None]) -> None:
    folder, loader = chain.path.parent, chain.value("dataset_path")
    if name.startswith(PROTOCOL):
        if not places.is_file(folder / sources.FILE):  # its own would be executed; told when the data are read
            _check_ours(name, add)
    elif "://" in name:
        add("is read from the network at each run", level="warning")
    elif set(name) & set(_MAGIC):
        add("the harness takes a name as it is: no wildcards, variables or ~")
    elif not places.inside(folder / name, folder):
        add("leads out of the task's folder, and to nothing on other machines")
    elif not places.is_file(folder / name):
        there = [path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()]
        add("no such file in the folder", near=nearest(name, there))
    elif (fitting := text_tables.LOADERS.get(Path(name).suffix.lower(), loader)) != loader:
        add(f"is read by `dataset_path: {fitting}`, not by {loader!r}")


def _check_ours(name: str, add: Callable[..., None]) -> None:
    suite, _, split = name.removeprefix(PROTOCOL).partition("/")
    if suite not in sources.names():
        add("no such suite", near=nearest(suite, sources.names()), allowed=tuple(sources.names()))
        return
    known = [each.name for each in sources.get(suite).splits]
    if split not in known:
        add(f"{suite} has no such split", near=nearest(split, known), allowed=tuple(known))
