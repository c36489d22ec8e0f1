"""Whether a task's data can be found, as far as its YAML tells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lmms_medtasks.contribute import places
from lmms_medtasks.contribute.chain import Chain
from lmms_medtasks.contribute.problems import Findings, nearest
from lmms_medtasks.contribute.tables import BUILDERS
from lmms_medtasks.data import sources
from lmms_medtasks.suites.templates.including import LOCAL

PROTOCOL = "medtasks://"
_MAGIC = "*?[$~{"


def check_data(chain: Chain, found: Findings) -> None:
    """Check ``dataset_path`` and ``dataset_kwargs: data_files`` of a task."""
    kwargs = chain.value("dataset_kwargs") or {}
    _check_loader(chain, kwargs, found)
    files = kwargs.get("data_files") if isinstance(kwargs, dict) else None
    if isinstance(kwargs, dict) and kwargs.get("trust_remote_code"):
        _add(chain, found, "trust_remote_code", "True", "executes code of the data set's author", level="warning")
    if files is None:
        if chain.value("dataset_path") in LOCAL:
            _add(chain, found, "data_files", None, f"is missing: {chain.value('dataset_path')} reads files")
        return
    if not isinstance(files, dict):
        _add(
            chain, found, "data_files", str(files), "wanted a mapping split -> file: the harness fails without a split"
        )
        return
    for key in ("test_split", "training_split"):
        split, have = chain.value(key), sorted(map(str, files))
        if isinstance(split, str) and split not in files:
            message = f"has no split {split!r}, the task's {key}"
            _add(chain, found, "data_files", str(have), message, near=nearest(split, have))
    for value in files.values():
        for name in value if isinstance(value, list) else [value]:
            _check_file(chain, name, found)


def _check_loader(chain: Chain, kwargs: Any, found: Findings) -> None:
    name = chain.value("dataset_path")
    if isinstance(kwargs, dict) and isinstance(kwargs.get("token"), str):
        _add(chain, found, "token", None, "is a secret, and this file is for others: set HF_TOKEN instead")
    if not isinstance(name, str) or "/" in name or name in LOCAL:
        return
    if not isinstance(kwargs, dict) or not kwargs.get("load_from_disk"):
        entry = chain.entries["dataset_path"]
        found.add(entry.file, "no loader of that name, and no hub's owner/name", line=entry.line, key="dataset_path",
                  value=name, near=nearest(name, LOCAL), allowed=LOCAL)  # fmt: skip


def _check_file(chain: Chain, name: Any, found: Findings) -> None:
    if not isinstance(name, str):
        _add(chain, found, "data_files", str(name), "wanted a file's name")
    elif name.startswith(PROTOCOL):
        _check_ours(chain, name, found)
    elif "://" in name:
        _add(chain, found, "data_files", name, "is read from the network at each run", level="warning")
    elif set(name) & set(_MAGIC):
        _add(chain, found, "data_files", name, "the harness takes a name as it is: no wildcards, variables or ~")
    elif not places.inside(chain.path.parent / name, chain.path.parent):
        _add(chain, found, "data_files", name, "leads out of the task's folder, and to nothing on other machines")
    elif not places.is_file(chain.path.parent / name):
        there = [
            path.relative_to(chain.path.parent).as_posix() for path in chain.path.parent.rglob("*") if path.is_file()
        ]
        _add(chain, found, "data_files", name, "no such file in the folder", near=nearest(name, there))
    elif BUILDERS.get(Path(name).suffix, chain.value("dataset_path")) != chain.value("dataset_path"):
        said, wanted = chain.value("dataset_path"), BUILDERS[Path(name).suffix]
        _add(chain, found, "data_files", name, f"is read by `dataset_path: {wanted}`, not by {said!r}")


def _check_ours(chain: Chain, name: str, found: Findings) -> None:
    suite, _, split = name.removeprefix(PROTOCOL).partition("/")
    if suite not in sources.names():
        _add(chain, found, "data_files", name, "no such suite", near=nearest(suite, sources.names()),
             allowed=tuple(sources.names()))  # fmt: skip
        return
    known = [each.name for each in sources.get(suite).splits]
    if split not in known:
        _add(chain, found, "data_files", name, f"{suite} has no such split", near=nearest(split, known),
             allowed=tuple(known))  # fmt: skip


def _add(chain: Chain, found: Findings, key: str, value: str | None, message: str, **more: Any) -> None:
    entry = chain.entries.get("dataset_kwargs") or chain.entries.get("dataset_path")
    file, row = (entry.file, entry.line) if entry else (chain.path, None)
    found.add(file, message, line=row, key=f"dataset_kwargs.{key}", value=value, **more)
