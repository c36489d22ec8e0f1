"""Checks of a task's folder that import and execute nothing of it."""

from __future__ import annotations

import functools
import importlib.resources
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.contribute import card, functions, names, nodes, places, python_files, static_settings
from lmms_medtasks.contribute.chain import Chain, Entry, follow, inner
from lmms_medtasks.contribute.data_files import check_data
from lmms_medtasks.contribute.problems import Findings, nearest
from lmms_medtasks.errors import UserError
from lmms_medtasks.suites import templates

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*")
_WORDS = {
    "text": "a text",
    "texts": "a text or a list of texts",
    "whole": "a whole number",
    "flag": "true or false",
    "flag_or_null": "true, false or null",
    "number": "a number",
    "mapping": "a mapping",
    "list": "a list",
    "function": "!function and a dotted name",
    "function_or_text": "!function and a dotted name, or a text",
}


def folder_of(path: Path) -> Path:
    """The task's folder: ``path`` itself, or the folder of a YAML. Raises UserError where there is none."""
    if path.is_dir():
        return path
    if path.is_file() and path.suffix == ".yaml":
        return path.parent
    raise UserError(f"{str(path)!r} is no folder with task YAMLs, and no YAML.")


def check(path: Path, found: Findings) -> list[Chain]:
    """Check a folder, or one YAML of it; the chains of the tasks that could be read."""
    folder = folder_of(path)
    chosen = [path] if path.is_file() else sorted(folder.glob("*.yaml"))
    if not chosen:
        found.add(str(folder), "holds no .yaml file: a task's YAML ends in .yaml")
    strange = places.check(folder, found)
    chains = [chain for each in chosen if each not in strange and (chain := follow(each, folder, found))]
    for chain in chains:
        _check_chain(chain, found)
    _check_names(chains, found)
    python_files.check(folder, found, strange)
    if folder / "README.md" not in strange:
        card.check(folder, found)
    _once(found)
    return [chain for chain in chains if not _is_group(chain)]


def _once(found: Findings) -> None:
    """What several tasks include is wrong once."""
    found.problems = list(dict.fromkeys(found.problems))


def _is_group(chain: Chain) -> bool:
    return isinstance(chain.value("task"), list)


def _check_chain(chain: Chain, found: Findings) -> None:
    rows = keys()["group" if _is_group(chain) else "task"]
    _check_mapping(chain.entries, rows, "", chain.path, found)
    name = chain.value("group" if _is_group(chain) else "task")
    entry = chain.entries.get("group" if _is_group(chain) else "task")
    if entry is not None and isinstance(name, str) and not _NAME.fullmatch(name):
        found.add(entry.file, "wanted letters, digits and _ . - only: --tasks could not name it", line=entry.line,
                  key="task", value=name)  # fmt: skip
    elif entry is not None and isinstance(name, str) and name != chain.path.stem:
        found.add(entry.file, f"the file must be called as the task is: {name}.yaml", line=entry.line, key="task",
                  value=name)  # fmt: skip
    _check_metadata(chain, found)
    if _is_group(chain):
        return
    check_data(chain, found)
    _check_trials(chain, found)
    _check_metrics(chain, found)
    static_settings.check(chain, found)


@functools.cache
def keys() -> dict[str, dict[str, dict[str, Any]]]:
    """keys.yml."""
    text = importlib.resources.files(__package__).joinpath("keys.yml").read_text("utf-8")
    found: dict[str, dict[str, dict[str, Any]]] = yaml.safe_load(text)
    return found


def _check_mapping(
    entries: Mapping[str, Entry], rows: Mapping[str, Mapping[str, Any]], above: str, path: Path, found: Findings
) -> None:
    for name, entry in entries.items():
        if name not in rows:
            found.add(entry.file, "unknown key", line=entry.line, key=above + name, near=nearest(name, rows),
                      allowed=tuple(sorted(rows)))  # fmt: skip
        else:
            _check_value(above + name, entry, rows[name], found)
    for name, row in rows.items():
        if row.get("required") and name not in entries:
            found.add(path, "is missing", key=above + name)


def _check_value(name: str, entry: Entry, row: Mapping[str, Any], found: Findings) -> None:
    value = entry.value
    if not _has_type(row["type"], value):
        found.add(entry.file, f"wrong type ({_type(value)}), wanted {_WORDS[row['type']]}", line=entry.line, key=name,
                  value=str(value))  # fmt: skip
    elif "allowed" in row and value not in row["allowed"]:
        found.add(entry.file, "not allowed", line=entry.line, key=name, value=str(value), allowed=tuple(row["allowed"]),
                  near=nearest(value, row["allowed"]))  # fmt: skip
    elif "least" in row and value < row["least"]:
        found.add(entry.file, f"wanted {row['least']} or more", line=entry.line, key=name, value=str(value))
    elif isinstance(value, nodes.Function):
        functions.check(entry, name, str(value), tuple(row["arity"]), found)


def _has_type(kind: str, value: Any) -> bool:
    is_function = isinstance(value, nodes.Function)
    is_text = isinstance(value, str) and not is_function
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "text": is_text,
        "texts": is_text or (isinstance(value, list) and all(isinstance(each, str) for each in value)),
        "whole": isinstance(value, int) and not isinstance(value, bool),
        "flag": isinstance(value, bool),
        "flag_or_null": value is None or isinstance(value, bool),
        "number": number,
        "mapping": isinstance(value, dict),
        "list": isinstance(value, list),
        "function": is_function,
        "function_or_text": is_function or is_text,
    }[kind]


def _type(value: Any) -> str:
    words = {str: "a text", bool: "true or false", int: "a whole number", float: "a number", list: "a list"}
    words |= {dict: "a mapping", type(None): "nothing", nodes.Function: "a function"}
    return words.get(type(value), type(value).__name__)


def _check_metadata(chain: Chain, found: Findings) -> None:
    if "metadata" not in chain.entries:
        return
    entry = chain.entries["metadata"]
    inside = inner(entry)
    rows = keys()["metadata"]
    for name, each in inside.items():
        if name in rows:
            _check_value(f"metadata.{name}", each, rows[name], found)
    if "version" not in inside:
        found.add(entry.file, "is missing: 1.0 for a new task, more when prompt or data change", line=entry.line,
                  key="metadata.version")  # fmt: skip
    elif _has_type("number", inside["version"].value) and not 0 < inside["version"].value < math.inf:
        each = inside["version"]
        found.add(
            each.file, "wanted a finite number above 0", line=each.line, key="metadata.version", value=str(each.value)
        )
    named = inside.get("template")
    if named is not None and isinstance(named.value, str) and named.value not in templates.names():
        found.add(named.file, "no such template", line=named.line, key="metadata.template", value=named.value,
                  near=nearest(named.value, templates.names()), allowed=templates.names())  # fmt: skip


def _check_trials(chain: Chain, found: Findings) -> None:
    if "generation_kwargs" in chain.entries:
        entry = chain.entries["generation_kwargs"]
        _check_mapping(inner(entry), keys()["generation_kwargs"], "generation_kwargs.", entry.file, found)
    repeats, filters = chain.value("repeats", 1), chain.value("filter_list", [])
    steps = [step for each in _mappings(filters) for step in _mappings(each.get("filter"))]
    taken = [step.get("k") for step in steps if step.get("function") == "take_first_k"]
    if taken and any(k != repeats for k in taken):
        entry = chain.entries["filter_list"]
        found.add(entry.file, f"take_first_k takes {taken[0]} of {repeats} replies (repeats): the two must be the same",
                  line=entry.line, key="filter_list")  # fmt: skip


def _mappings(value: Any) -> list[dict[str, Any]]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _check_metrics(chain: Chain, found: Findings) -> None:
    if "metric_list" not in chain.entries:
        return
    entry = chain.entries["metric_list"]
    seen: dict[str, int] = {}
    for node in entry.node.value if isinstance(entry.node, yaml.SequenceNode) else ():
        row = Entry(entry.file, node, node)
        if not isinstance(node, yaml.MappingNode):
            found.add(entry.file, "wanted a mapping with metric, aggregation, higher_is_better", line=nodes.line(node),
                      key="metric_list")  # fmt: skip
            continue
        _check_mapping(inner(row), keys()["metric"], "metric_list.", entry.file, found)
        name = inner(row)["metric"].value if "metric" in inner(row) else None
        if isinstance(name, str) and name in seen:
            found.add(entry.file, f"the metric stands on line {seen[name]} already", line=nodes.line(node),
                      key="metric_list.metric", value=name)  # fmt: skip
        seen[str(name)] = nodes.line(node)


def _check_names(chains: list[Chain], found: Findings) -> None:
    """Names must be free: in the folder, among ours, and among the harness's own, which win in silence."""
    seen: dict[str, Path] = {}
    for chain, name in _named(chains):
        entry = chain.entries["group" if _is_group(chain) else "task"]
        if name in seen:
            found.add(chain.path, f"the name is {seen[name].name}'s already", line=entry.line, key="task", value=name)
        seen[name] = chain.path
        owner = names.owner(name, but=chain.path)
        if owner:
            found.add(entry.file, f"the name is taken: {owner}", line=entry.line, key="task", value=name)


def _named(chains: list[Chain]) -> Iterator[tuple[Chain, str]]:
    for chain in chains:
        name = chain.value("group" if _is_group(chain) else "task")
        if isinstance(name, str):
            yield chain, name
