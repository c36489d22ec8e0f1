"""Whether a task's version went up where its prompt or data changed, against a revision of its repository."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates
from lmms_medtasks.suites.templates import including
from lmms_medtasks.task_yaml import nodes, places
from lmms_medtasks.task_yaml.chain import Chain, on_template
from lmms_medtasks.task_yaml.problems import Findings

_NO_DATA = ("README.md", "prompts.json", templates.FILE)
"""Files that are compared otherwise, or decide nothing."""


def check(chains: list[Chain], base: str, found: Findings) -> None:
    """Compare each task with what it was at ``base``; one that was not there is new.

    Raises:
        UserError: the folder is in no git repository, or it has no such revision.
    """
    for chain in chains:
        folder = chain.path.resolve().parent
        before = _before(chain.path, base)
        if before is None:
            found.told.append(f"{chain.path.stem}: new since {base}")
            continue
        now = chain.plain
        changed = _changed(before, now)
        named = _files(folder, now)
        changed += [name for name in named if _blob(folder / name, base) != _content(folder / name)]
        changed += _pictures(folder, base, named)
        old, new = (_version(each) for each in (before, now))
        entry = chain.entries.get("metadata")
        if changed and (new is None or old is None or new <= old):
            found.add(entry.file if entry else chain.path, f"still the version at {base}, but {', '.join(changed)} "
                      "changed since: raise it, and say why in the card's changelog", key="metadata.version",
                      line=entry.line if entry else None, value=str(new))  # fmt: skip
        elif old is not None and (new is None or new < old):
            found.add(entry.file if entry else chain.path, f"below the version at {base}, {old}",
                      key="metadata.version", line=entry.line if entry else None, value=str(new))  # fmt: skip
        elif not changed and new != old:
            found.told.append(f"{chain.path.stem}: version {old} -> {new}, nothing else changed")


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    keys = sorted({*before, *now} - {"metadata", "task_alias", "tag"})
    return [key for key in keys if before.get(key) != now.get(key)]


def _version(config: Mapping[str, Any]) -> float | None:
    metadata = config.get("metadata")
    version = metadata.get("version") if isinstance(metadata, Mapping) else None
    return float(version) if isinstance(version, int | float) else None


def _files(folder: Path, config: Mapping[str, Any]) -> list[str]:
    """The files beside the YAML that decide what is asked: prompt, tables, adapter."""
    tables = _within(config, "dataset_kwargs", "data_files")
    values = tables.values() if isinstance(tables, Mapping) else [tables]
    named = [_within(config, "lmms_eval_specific_kwargs", "default", "prompt"), "adapter.py"]
    named += [each for value in values for each in (value if isinstance(value, list) else [value])]
    return [name for name in named if isinstance(name, str) and _is_of(folder, name)]


def _within(config: Any, *keys: str) -> Any:
    """What stands at the end of ``keys``; None where one of them is no mapping's."""
    for key in keys:
        config = config.get(key) if isinstance(config, Mapping) else None
    return config


def _is_of(folder: Path, name: str) -> bool:
    path = folder / name
    return places.inside(path, folder) and places.is_file(path)


def _pictures(folder: Path, base: str, named: list[str]) -> list[str]:
    """The first of the folder's other files, pictures above all, that are another than at ``base`` or gone."""
    listed = _git(folder, "ls-tree", "-r", "-z", base, "./").decode(errors="surrogateescape").split("\0")
    changed = []
    for row in filter(None, listed):
        about, _, name = row.partition("\t")
        path = folder / name
        # What Python compiled of a parser or an adapter, committed where nobody ignores it, is made again by each run.
        decides = path.name not in _NO_DATA and path.suffix not in (".yaml", ".pyc")
        if name not in named and decides:
            if not path.is_file() or about.split()[2] not in _blob_names(path, len(about.split()[2])):
                changed.append(name)
    return [changed[0] + (f" and {len(changed) - 1} more" if len(changed) > 1 else "")] if changed else []


def _blob_names(path: Path, length: int) -> set[str]:
    """What git calls a file's content, as it is and with the line breaks of Unix."""
    make = hashlib.sha1 if length == 40 else hashlib.sha256
    return {make(b"blob %d\0" % len(each) + each).hexdigest() for each in (path.read_bytes(), _content(path))}


def _content(path: Path) -> bytes:
    return path.read_bytes().replace(b"\r\n", b"\n")


def _before(path: Path, base: str) -> dict[str, Any] | None:
    """What a task's YAML said at ``base`` with all that it included; None if it was not there."""
    mappings = _mappings_before(path, base)
    if mappings is None:
        return None
    entries: dict[str, yaml.Node] = {}
    joined: dict[str, yaml.Node] = {}
    for mapping in mappings:
        own = {name: value for name, (_, value) in nodes.items(mapping).items() if name != "include"}
        entries.update(own)
        joined.update(
            {name: including.join(name, joined.get(name), own[name]) for name in including.NESTED if name in own}
        )
    if "process_results" in entries and on_template(entries["process_results"].value):
        entries.update(joined)
    return {name: nodes.plain(node) for name, node in entries.items()}


def _mappings_before(path: Path, base: str) -> list[yaml.MappingNode] | None:
    """The mappings of what a YAML included at ``base``, then its own; None if it was not there."""
    content = _blob(path.resolve(), base)
    if content is None:
        return None
    try:
        root = yaml.compose(content.decode("utf-8"), yaml.SafeLoader)
    except (yaml.YAMLError, UnicodeDecodeError):
        return []
    if not isinstance(root, yaml.MappingNode):
        return []
    include = nodes.plain(nodes.items(root)["include"][1]) if "include" in nodes.items(root) else []
    found: list[yaml.MappingNode] = []
    for name in reversed(include if isinstance(include, list) else [include]):
        if (path.parent / str(name)).resolve() != path.resolve():
            found += _mappings_before(path.parent / str(name), base) or []
    return [*found, root]


def _blob(path: Path, base: str) -> bytes | None:
    """A file's content at a revision; None if it was not there."""
    root = Path(_git(path.parent, "rev-parse", "--show-toplevel").decode().strip())
    _git(root, "rev-parse", "--verify", "--quiet", f"{base}^{{commit}}")
    inside = path.resolve().relative_to(root.resolve()).as_posix()
    done = subprocess.run(["git", "-C", str(root), "show", f"{base}:{inside}"], capture_output=True, check=False)
    return done.stdout.replace(b"\r\n", b"\n") if done.returncode == 0 else None


def _git(folder: Path, *arguments: str) -> bytes:
    if arguments[-1].startswith("-") and arguments[0] != "rev-parse":
        raise UserError(f"{arguments[-1]!r} is no revision.")
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except FileNotFoundError as error:
        raise UserError("--base wants git, which is not installed.") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip() or f"no such revision: {arguments[-1].partition('^')[0]!r}"
        raise UserError(f"--base: {said} (in {folder})")
    return done.stdout
