"""What the Python files of a contribution would do, as far as their syntax tree tells. Nothing is executed.

It is no proof that a file is harmless: it shows a reader where to look. The harness executes such a file as soon as a
YAML that names a function of it is read.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from lmms_medtasks.contribute.problems import Findings

LARGEST = 256 * 1024

_MODULES: Mapping[str, str] = {
    "subprocess": "starts programs", "os": "reaches the operating system", "shutil": "moves or deletes files",
    "socket": "uses the network", "urllib": "uses the network", "requests": "uses the network",
    "httpx": "uses the network", "http": "uses the network", "ftplib": "uses the network", "ctypes": "runs native code",
    "pickle": "can execute what it reads", "marshal": "can execute what it reads", "importlib": "imports by name",
    "runpy": "runs other files", "multiprocessing": "starts processes", "signal": "sends signals",
    "tempfile": "writes files", "sys": "reaches the interpreter", "builtins": "reaches the interpreter",
}  # fmt: skip
_CALLS: Mapping[str, str] = {
    "exec": "executes text", "eval": "executes text", "compile": "makes code of text", "__import__": "imports by name",
    "getattr": "names an attribute by text", "setattr": "changes an attribute", "globals": "reaches the module",
    "input": "waits for a person", "breakpoint": "waits for a person",
}  # fmt: skip
_METHODS: Mapping[str, str] = {
    "write_text": "writes a file", "write_bytes": "writes a file", "unlink": "deletes a file", "rmdir": "deletes",
    "rmtree": "deletes a folder", "mkdir": "makes a folder", "rename": "renames a file", "replace_file": "writes",
    "touch": "writes a file", "symlink_to": "makes a link", "chmod": "changes rights", "system": "starts programs",
    "popen": "starts programs", "savez": "writes a file", "to_csv": "writes a file", "to_parquet": "writes a file",
    "tofile": "writes a file", "urlopen": "uses the network", "set_start_method": "changes the process",
}  # fmt: skip
_WRITING = set("wax+")


def check(folder: Path, found: Findings, but: Collection[Path] = ()) -> None:
    """Report every file of ``folder`` that is no Python, and every line that a person should look at."""
    for path in sorted(folder.rglob("*.py")):
        if path not in but and path.is_file():
            _check(path, path.relative_to(folder).as_posix(), found)


def _check(path: Path, name: str, found: Findings) -> None:
    if path.stat().st_size > LARGEST:
        found.add(name, f"{path.stat().st_size:,} bytes, at most {LARGEST:,}")
        return
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        found.add(name, f"is no Python: {str(error) or type(error).__name__}", line=getattr(error, "lineno", None))
        return
    inside = {id(node) for function in _functions(tree) for node in ast.walk(function)}
    for node in ast.walk(tree):
        for said in _suspicious(node):
            when = "when it is called" if id(node) in inside else "as soon as a YAML names it: it stands at top level"
            found.add(name, f"{said}; would be executed {when}. Nothing was executed here", line=node.lineno,  # type: ignore[attr-defined]
                      value=_short(node), level="warning")  # fmt: skip


def _functions(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            # A decorator and a default are evaluated where the function is defined.
            yield from node.body
        elif isinstance(node, ast.Lambda):
            yield node.body


def _suspicious(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield from _of_module(alias.name)
    elif isinstance(node, ast.ImportFrom):
        if node.level:
            yield "a relative import, which fails: the harness executes the file outside of any package"
        else:
            yield from _of_module(node.module or "")
    elif isinstance(node, ast.Call):
        yield from _of_call(node)
    elif isinstance(node, ast.Attribute) and node.attr.startswith("__") and node.attr != "__file__":
        yield f"reaches {node.attr}"


def _of_module(name: str) -> Iterator[str]:
    said = _MODULES.get(name.split(".")[0])
    if said:
        yield f"imports {name}, which {said}"


def _of_call(node: ast.Call) -> Iterator[str]:
    function = node.func
    name = function.id if isinstance(function, ast.Name) else ""
    method = function.attr if isinstance(function, ast.Attribute) else ""
    if name == "open" or method == "open":
        mode = _mode(node, 1 if name else 0)
        if mode is None or _WRITING & set(mode):
            yield "writes a file" if mode is not None else "opens a file in a mode that can't be told"
        elif name:
            yield "reads a file"
    elif name in _CALLS:
        yield _CALLS[name]
    elif method in _METHODS:
        yield _METHODS[method]


def _mode(node: ast.Call, place: int) -> str | None:
    """The mode of an open(); None where it is computed."""
    given = [keyword.value for keyword in node.keywords if keyword.arg == "mode"] or node.args[place : place + 1]
    if not given:
        return "r"
    return given[0].value if isinstance(given[0], ast.Constant) and isinstance(given[0].value, str) else None


def _short(node: ast.AST) -> str:
    try:
        return ast.unparse(node)[:100]
    except RecursionError:
        return type(node).__name__
