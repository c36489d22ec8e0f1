"""Read a YAML as a tree with line numbers, and join its mappings with those of its includes.

Nothing in it is built, imported or executed. Content that the harness's loader would reject or misread is reported with
its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.task_yaml.problems import ValidationLog

FUNCTION = "!function"

_MOST_VALUES = 10_000
"""A task's YAML has hundreds; nested aliases can make billions from a few lines."""
_STANDARD = "tag:yaml.org,2002:"
_KINDS = ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")


def read_yaml_tree(path: Path, log: ValidationLog) -> yaml.MappingNode | None:
    """Read the tree of a YAML. Returns None, with the problems in ``log``, if it is not usable."""
    try:
        return _read_usable_tree(path, log)
    except RecursionError:
        log.add(path, "is nested too deeply, or an anchor (&name) holds itself")
        return None


def _read_usable_tree(path: Path, log: ValidationLog) -> yaml.MappingNode | None:
    text = _read_text(path, log)
    if text is None:
        return None
    try:
        root = compose_yaml(text, path)
    except yaml.YAMLError as error:
        _add_yaml_error(path, text, error, log)
        return None
    if root is None:
        log.add(path, "the file is empty: the harness can then read no task of any folder beside it")
        return None
    if not isinstance(root, yaml.MappingNode):
        log.add(path, f"holds {_describe_kind(root)}, expected a mapping of keys", line=node_line(root))
        return None
    if not _is_plain(path, root, log):
        return None
    if _count_values(root, {}) > _MOST_VALUES:
        log.add(path, "expected the values themselves: anchors (&name) and aliases (*name) of it, inside each "
                f"other, make more than {_MOST_VALUES:,} values")  # fmt: skip
        return None
    node_to_python(root)  # raises RecursionError where a run would
    return root


def _count_values(node: yaml.Node, known: dict[int, int]) -> int:
    """Number of values in a tree with aliases expanded. Raises RecursionError if it contains itself."""
    if id(node) not in known:
        known[id(node)] = 1 + sum(_count_values(child, known) for child in _child_nodes(node))
    return known[id(node)]


def _read_text(path: Path, log: ValidationLog) -> str | None:
    content = path.read_bytes()
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        row = content[: error.start].count(b"\n") + 1
        log.add(path, f"byte {content[error.start]:#04x} is not UTF-8: save the file as UTF-8", line=row)
        return None


def _add_yaml_error(path: Path, text: str, error: yaml.YAMLError, log: ValidationLog) -> None:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    row = mark.line + 1 if mark else None
    reason = str(getattr(error, "problem", None) or error).splitlines()[0]
    lines = text.splitlines()
    if row and row <= len(lines) and "\t" in lines[row - 1][: len(lines[row - 1]) - len(lines[row - 1].lstrip())]:
        reason += ": the line begins with a tab, YAML wants blanks"
    elif "mapping values are not allowed" in reason:
        reason += ": put a text that has a colon into quotation marks"
    log.add(path, f"is no YAML: {reason}", line=row)


def _is_plain(path: Path, root: yaml.Node, log: ValidationLog) -> bool:
    before = len(log.problems)
    for node in iter_nodes(root):
        kind, tag = node.tag.removeprefix(_STANDARD), node.tag.replace(_STANDARD, "!!")
        if kind == "merge":
            message = "expected the keys themselves: what is merged in would not be looked at"
            log.add(path, message, line=node_line(node), value="<<")
        elif kind not in _KINDS and node.tag != FUNCTION:
            log.add(path, "unknown tag", line=node_line(node), value=tag, allowed=(FUNCTION,))
        elif node.tag == FUNCTION and not isinstance(node, yaml.ScalarNode):
            log.add(path, "!function wants a dotted name", line=node_line(node))
        if isinstance(node, yaml.MappingNode):
            _check_keys(path, node, log)
    return len(log.problems) == before


def _check_keys(path: Path, node: yaml.MappingNode, log: ValidationLog) -> None:
    seen: dict[str, int] = {}
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            log.add(path, "a key must be a word", line=node_line(key))
        elif key.value in seen:
            log.add(path, f"the key stands on line {seen[key.value]} already; only the last would count",
                    line=node_line(key), key=key.value)  # fmt: skip
        else:
            seen[key.value] = node_line(key)


def iter_nodes(root: yaml.Node) -> Iterator[yaml.Node]:
    """Yield every node of a tree once."""
    seen: set[int] = set()
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            waiting += _child_nodes(node)


def _child_nodes(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [child for pair in node.value for child in pair]
    return list(node.value) if isinstance(node, yaml.SequenceNode) else []


def node_line(node: yaml.Node) -> int:
    """The line number of a node, from 1."""
    return int(node.start_mark.line) + 1


def mapping_items(node: yaml.MappingNode) -> dict[str, tuple[yaml.Node, yaml.Node]]:
    """Key -> (node of the key, node of the value)."""
    return {str(key.value): (key, value) for key, value in node.value}


@dataclass(frozen=True)
class FunctionTag:
    """The dotted name after ``!function``."""

    name: str

    def __str__(self) -> str:
        return self.name


def node_to_python(node: yaml.Node) -> Any:
    """Convert a tree to Python values: str, numbers, list, dict, and :class:`FunctionTag`."""
    if node.tag == FUNCTION:
        return FunctionTag(node.value)
    if isinstance(node, yaml.MappingNode):
        return {node_to_python(key): node_to_python(value) for key, value in node.value}
    if isinstance(node, yaml.SequenceNode):
        return [node_to_python(child) for child in node.value]
    loader = yaml.SafeLoader("")
    try:
        return loader.construct_object(node)
    except (yaml.YAMLError, ValueError):
        return node.value  # looks like a date, but is not one: 2026-13-45
    finally:
        loader.dispose()


def _describe_kind(node: yaml.Node) -> str:
    return "a list" if isinstance(node, yaml.SequenceNode) else f"the word {str(node.value)[:40]!r}"


# --- Settings that are mappings, joined with those of what a YAML includes --------------------------------------------

# The harness takes the whole mapping from the including file: ``generation_kwargs: {max_new_tokens: 16}`` would drop
# the template's temperature and its empty ``until``, and replies would end at the first blank line. For tasks on a
# template the including file changes single keys. A null removes an included key that is optional.

SETTINGS = "lmms_eval_specific_kwargs"
NESTED = ("generation_kwargs", SETTINGS, "metadata", "dataset_kwargs")
"""The keys whose mappings are joined. A value inside them (``shift``, ``data_files``) is taken whole."""

_WITH_NULL = (SETTINGS, "dataset_kwargs")
_NULL = "tag:yaml.org,2002:null"


def join_nodes(name: str, below: yaml.Node | None, above: yaml.Node) -> yaml.Node:
    """Join the value of ``name`` in a file, ``above``, with the value in its include, ``below``."""
    if name not in NESTED or not isinstance(below, yaml.MappingNode) or not isinstance(above, yaml.MappingNode):
        return above
    pairs = {key.value: (key, value) for key, value in below.value}
    for key, value in above.value:
        if name in _WITH_NULL and value.tag == _NULL and key.value in pairs:
            del pairs[key.value]
        elif name == SETTINGS and key.value == "default" and "default" in pairs:
            pairs["default"] = (key, join_nodes(name, pairs["default"][1], value))
        else:
            pairs[key.value] = (key, value)
    return yaml.MappingNode(above.tag, list(pairs.values()), above.start_mark, above.end_mark)


LOCAL = ("csv", "json", "excel", "parquet", "text", "pandas", "arrow")
"""The loaders whose files are looked for beside the YAML: the harness's, and ours: ``excel``."""


def locate_data_files(config: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Prefix names of a task's local data files with ``folder`` where the files exist there, as the harness does."""
    kwargs = config.get("dataset_kwargs")
    if config.get("dataset_path") not in LOCAL or not isinstance(kwargs, dict) or "data_files" not in kwargs:
        return config

    def locate(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: locate(item) for key, item in value.items()}
        if isinstance(value, list):
            return [locate(item) for item in value]
        return str(folder / value) if isinstance(value, str) and (folder / value).is_file() else value

    return {**config, "dataset_kwargs": {**kwargs, "data_files": locate(kwargs["data_files"])}}


def compose_yaml(text: str, path: Path) -> yaml.Node | None:
    """Parse a YAML into a tree whose nodes' marks name ``path``."""
    loader = yaml.SafeLoader(text)
    loader.name = str(path)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def template_generation(text: str) -> Mapping[str, Any]:
    """``generation_kwargs`` of a template's YAML text."""
    root = compose_yaml(text, Path())
    generation: Mapping[str, Any] = node_to_python(root)["generation_kwargs"] if root else {}
    return generation
