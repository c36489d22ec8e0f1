"""Read a task's YAML with its includes, and remember the file of each key."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks import folders
from lmms_medtasks.errors import nearest_name
from lmms_medtasks.suites import templates
from lmms_medtasks.task_yaml import nodes
from lmms_medtasks.task_yaml.problems import ValidationLog


@dataclass(frozen=True)
class YamlKey:
    """A top-level key of a task: its file, its YAML nodes, and its value."""

    file: Path
    key: yaml.Node
    node: yaml.Node

    @property
    def value(self) -> Any:
        return nodes.node_to_python(self.node)

    @property
    def line(self) -> int:
        return nodes.node_line(self.key)


@dataclass
class IncludeChain:
    """A task's YAML with its includes. ``entries``: key -> the entry that counts. ``files``: all YAMLs, its own first.

    ``joined``: those of its settings that are mappings, joined with what they stand above
    (:mod:`lmms_medtasks.task_yaml.nodes`): what counts for a task on a template.
    """

    path: Path
    entries: dict[str, YamlKey] = field(default_factory=dict)
    joined: dict[str, YamlKey] = field(default_factory=dict)
    files: list[Path] = field(default_factory=list)

    def value(self, key: str, default: Any = None) -> Any:
        return self.entries[key].value if key in self.entries else default

    def place(self, location: tuple[str | int, ...]) -> tuple[Path, int | None]:
        """The file and line of a location, or of its longest prefix that exists."""
        if not location or location[0] not in self.entries:
            return self.path, None
        entry = self.entries[str(location[0])]
        for part in location[1:]:
            if isinstance(part, int) and isinstance(entry.node, yaml.SequenceNode):
                node = entry.node.value[part]
                entry = YamlKey(entry.file, node, node)
            else:
                entry = inner_keys(entry).get(str(part), entry)
        return entry.file, entry.line

    @property
    def is_group(self) -> bool:
        """Whether the YAML is a group of tasks."""
        return isinstance(self.value("task"), list)

    @property
    def name_key(self) -> str:
        """The key that holds its name."""
        return "group" if self.is_group else "task"

    @property
    def plain(self) -> dict[str, Any]:
        return {key: entry.value for key, entry in self.entries.items()}


def inner_keys(entry: YamlKey) -> dict[str, YamlKey]:
    """The entries of a key whose value is a mapping; {} if it is not."""
    if not isinstance(entry.node, yaml.MappingNode):
        return {}
    pairs = nodes.mapping_items(entry.node)
    return {name: YamlKey(Path(key.start_mark.name), key, node) for name, (key, node) in pairs.items()}


def read_include_chain(path: Path, folder: Path, log: ValidationLog) -> IncludeChain | None:
    """Read a YAML with its includes. Returns None, with a problem in ``log``, if a file is missing or unreadable."""
    chain = IncludeChain(path)
    if not _ChainReader(folder, chain, log).join_file(path, ()):
        return None
    if on_template(chain.value("process_results")):
        chain.entries.update(chain.joined)
    return chain


def installed_chains(names: Iterable[str]) -> list[IncludeChain]:
    """The installed tasks that ``names`` stand for (tasks, groups, patterns), each once."""
    files, chains = folders.task_files(), dict[str, IncludeChain]()
    waiting = [member for name in names for member in fnmatch.filter(sorted(files), name)]
    while waiting:
        name = waiting.pop(0)
        chain = read_include_chain(files[name], files[name].parent, ValidationLog()) if name not in chains else None
        if chain is not None and "group" in chain.entries:
            members = chain.value("task") or []
            waiting += [member for member in members if isinstance(member, str) and member in files]
        elif chain is not None:
            chains[name] = chain
    return list(chains.values())


def on_template(hook: object) -> bool:
    """Whether the scoring hook named in a YAML is a template's."""
    return str(hook).rpartition(".")[0] in templates.TEMPLATE_OF_HOOK


@dataclass(frozen=True)
class _ChainReader:
    """Joins YAMLs of ``folder`` into ``chain``. ``above``: the files that include one."""

    folder: Path
    chain: IncludeChain
    log: ValidationLog

    def join_file(self, path: Path, above: tuple[Path, ...]) -> bool:
        self.chain.files.append(path)
        root = nodes.read_yaml_tree(path, self.log)
        if root is None:
            return False
        pairs = nodes.mapping_items(root)
        is_joined = "include" not in pairs or self._join_includes(path, pairs.pop("include")[1], (*above, path))
        for name, (key, node) in pairs.items():
            self.chain.entries[name] = YamlKey(path, key, node)
            if name in nodes.NESTED:
                below = self.chain.joined.get(name)
                joined = nodes.join_nodes(name, below.node if below else None, node)
                self.chain.joined[name] = YamlKey(path, key, joined)
        return is_joined

    def _join_includes(self, path: Path, node: yaml.Node, above: tuple[Path, ...]) -> bool:
        value, line = nodes.node_to_python(node), nodes.node_line(node)
        names = value if isinstance(value, list) else [value]
        if not names or not all(isinstance(name, str) for name in names):
            message = "expected a file's name or a list of them"
            self.log.add(path, message, line=line, key="include", value=str(value))
            return False
        are_joined = True
        for name in reversed(names):  # the first of several counts most, as in the harness
            problem, near = self._include_problem(path, name, above)
            if problem:
                self.log.add(path, problem, line=line, key="include", value=name, near=near)
                are_joined = False
            else:
                are_joined &= self.join_file((path.parent / name).resolve(), above)
        return are_joined

    def _include_problem(self, path: Path, name: str, above: tuple[Path, ...]) -> tuple[str, str]:
        """Why ``path`` can't include ``name``, and the nearest name; "" twice if it can."""
        target = path.parent / name
        if Path(name).is_absolute() or not is_inside(target, self.folder):
            return "leads out of the task's folder, and to nothing on other machines", ""
        if not is_file(target):
            file_names = sorted(file.name for file in path.parent.iterdir() if file.is_file() and file != path)
            return "no such file beside the YAML", nearest_name(name, file_names)
        if target.resolve() in (file.resolve() for file in above):
            turn = " -> ".join(file.name for file in (*above, target.resolve()))
            return f"includes itself: {turn}", ""
        return "", ""


def is_inside(path: Path, folder: Path) -> bool:
    """Whether ``path`` lies in ``folder`` after following links; a cycle of links is not followed."""
    try:
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))
    except ValueError:  # a zero byte, which no path has
        return False


def is_file(path: Path) -> bool:
    """Whether the file exists. Unlike ``Path.is_file`` it returns False for a name that is too long."""
    return os.path.isfile(path)
