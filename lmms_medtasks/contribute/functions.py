"""What ``!function`` names, found without importing or executing anything of a contribution.

A module in the folder, or in task_configs, is read as a syntax tree. Another module of ours is imported. Any other is
not looked into.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import os
import pkgutil
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from pydantic.fields import FieldInfo

from lmms_medtasks import folders
from lmms_medtasks.errors import nearest
from lmms_medtasks.task_yaml import keys, places
from lmms_medtasks.task_yaml.chain import Chain, Entry, inner
from lmms_medtasks.task_yaml.nodes import Function
from lmms_medtasks.task_yaml.problems import Findings

_OURS = "lmms_medtasks"
_CONFIGS = "lmms_medtasks.task_configs."
_HARNESS = "lmms_eval"


def check_all(chain: Chain, wrong: Collection[str], found: Findings) -> None:
    """Check every function that a task names; ``wrong``: keys whose values are not what they should be."""
    for key, field in keys.Task.model_fields.items():
        if key in chain.entries and key not in wrong:
            _check(chain.entries[key], key, field, found)
    rows = chain.entries.get("metric_list")
    if rows is not None and "metric_list" not in wrong and not isinstance(rows.value, Function):
        for node in rows.node.value:
            row = inner(Entry(rows.file, node, node))["aggregation"]
            _check(row, "metric_list.aggregation", keys.MetricRow.model_fields["aggregation"], found)


def _check(entry: Entry, key: str, field: FieldInfo, found: Findings) -> None:
    called_with = next((each for each in field.metadata if isinstance(each, keys.Arguments)), None)
    if called_with and isinstance(entry.value, Function):
        check(entry, key, entry.value.name, (called_with.least, called_with.most), found)


def check(entry: Entry, key: str, dotted: str, arity: tuple[int, int], found: Findings) -> None:
    """Check that ``dotted``, which stands in ``entry``, leads to a function that can be called as it will be."""
    where = {"line": entry.line, "key": key, "value": dotted}
    module, _, name = dotted.rpartition(".")
    if not module or not all(part.isidentifier() for part in dotted.split(".")):
        found.add(
            entry.file, "expected module.function: adapter.documents, lmms_medtasks.harness.hooks.doc_to_text", **where
        )
        return
    # As the harness looks for it: a file of that name beside the YAML that says it, then an installed module.
    local = entry.file.parent / f"{module}.py"
    if not places.is_file(local) and module.startswith(_CONFIGS):
        # Where contributions lie once they are ours: importing one would execute it.
        local = folders.folder().joinpath(*module.removeprefix(_CONFIGS).split(".")).with_suffix(".py")
    if places.is_file(local):
        _check_local(entry, local, name, arity, where, found)
    elif module.startswith(_CONFIGS):
        found.add(entry.file, f"there is no such module in lmms_medtasks ({local.name})", **where)
    elif module.split(".")[0] == _OURS:
        _check_ours(entry, module, name, arity, where, found)
    elif module.split(".")[0] == _HARNESS:
        _check_harness(entry, module, where, found)
    elif "." not in module and importlib.util.find_spec(module) is None:
        there = [path.stem for path in entry.file.parent.glob("*.py")]
        found.add(entry.file, f"there is no {module}.py beside the YAML, and no module {module!r}",
                  near=nearest(module, there), **where)  # fmt: skip
    else:
        found.add(entry.file, "is of another package, which was not looked into: whoever runs the task executes it",
                  level="warning", **where)  # fmt: skip


def _check_local(
    entry: Entry, path: Path, name: str, arity: tuple[int, int], where: dict[str, Any], found: Findings
) -> None:
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        return  # told once for the file, by static
    names = defined(tree)
    if name not in names:
        found.add(entry.file, f"{path.name} does not define {name!r}", near=nearest(name, names), **where)
        return
    node = names[name]
    if isinstance(node, ast.AsyncFunctionDef):
        found.add(entry.file, f"{path.name} defines {name!r} as async, and nobody awaits it", **where)
    elif isinstance(node, ast.FunctionDef | ast.Lambda):
        _check_arity(entry, _arguments(node.args), arity, where, found)
    elif isinstance(node, ast.Constant | ast.Dict | ast.List | ast.Tuple | ast.Set | ast.JoinedStr):
        found.add(entry.file, f"{path.name} defines {name!r} as a value, which can't be called", **where)


def defined(tree: ast.Module) -> dict[str, ast.AST | None]:
    """What a module defines at its top level: name -> the function, or the value that it is bound to."""
    found: dict[str, ast.AST | None] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign):
            found.update({each.id: node.value for target in node.targets for each in ast.walk(target)
                          if isinstance(each, ast.Name)})  # fmt: skip
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = node.value
        elif isinstance(node, ast.Import | ast.ImportFrom):
            found.update({alias.asname or alias.name.split(".")[0]: None for alias in node.names})
    return found


def _arguments(arguments: ast.arguments) -> tuple[int, int | None]:
    """How many positional arguments a function needs, and takes at most (None: any number)."""
    positional = len(arguments.posonlyargs) + len(arguments.args)
    needed = positional - len(arguments.defaults)
    needed += sum(default is None for default in arguments.kw_defaults) * 1000  # never given
    return needed, None if arguments.vararg else positional


def _check_ours(
    entry: Entry, module: str, name: str, arity: tuple[int, int], where: dict[str, Any], found: Findings
) -> None:
    try:
        imported = importlib.import_module(module)
    except ImportError as error:
        found.add(entry.file, f"there is no such module in lmms_medtasks ({error})", **where)
        return
    if not hasattr(imported, name):
        modules = [each.name for each in pkgutil.iter_modules(getattr(imported, "__path__", []))]
        public = [each for each in (*dir(imported), *modules) if not each.startswith("_")]
        found.add(entry.file, f"{module} has no {name!r}", near=nearest(name, public), **where)
        return
    function = getattr(imported, name)
    if not callable(function):
        found.add(entry.file, f"is a {type(function).__name__}, which can't be called", **where)
        return
    _check_arity(entry, accepts(function), arity, where, found)


def accepts(function: Callable[..., Any]) -> tuple[int, int | None]:
    """How many positional arguments a callable needs, and takes at most (None: any number)."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return 0, None
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    needed = sum(each.default is each.empty for each in positional)
    needed += 1000 * sum(each.kind is each.KEYWORD_ONLY and each.default is each.empty for each in parameters)
    several = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    return needed, None if several else len(positional)


def _check_arity(
    entry: Entry, takes: tuple[int, int | None], arity: tuple[int, int], where: dict[str, Any], found: Findings
) -> None:
    needed, most = takes
    lowest, highest = arity
    if needed > highest or (most is not None and most < lowest):
        said = f"{needed}" if needed == most else f"{needed} to {most}"
        wanted = f"{lowest}" if lowest == highest else f"{lowest} or {highest}"
        message = f"takes {said} arguments, is called with {wanted}"
        found.add(entry.file, message if needed < 1000 else "needs keyword arguments, which it is not given", **where)


def _check_harness(entry: Entry, module: str, where: dict[str, Any], found: Findings) -> None:
    spec = importlib.util.find_spec(_HARNESS)
    roots = [Path(each) for each in (spec.submodule_search_locations if spec else None) or ()]
    inside = Path(*module.split(".")[1:])
    if not any(places.is_file((root / inside).with_suffix(".py")) or os.path.isdir(root / inside) for root in roots):
        found.add(entry.file, "lmms-eval has no such module", **where)
