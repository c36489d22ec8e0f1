"""Digests of code and data by what they say: of modules, of all that they import from this package, and of their data.

A digest is taken over syntax trees without comments, docstrings, places, functions' annotations and words of errors.
So a comment, a docstring or a moved line changes no digest, and a changed constant changes that of every module that
can reach it. No module is imported for it: sources are found by their files, import statements are read.

Granularity is the module. ``from package import name`` reaches the module that defines the name, also where others
hand it on, so that a package's ``__init__`` does not make everything depend on everything.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

PACKAGE = "lmms_medtasks"

NO_NUMBERS: Mapping[str, str] = {
    "lmms_medtasks": "the version's number",
    "lmms_medtasks.errors": "words of errors",
    "lmms_medtasks.extensions": "finds a part of someone's own; its code is taken in by the task that names it",
    "lmms_medtasks.fingerprints": "these digests",
    "lmms_medtasks.writing": "writes files, after all is scored",
    "lmms_medtasks.data.committing": "moves finished files into place",
    "lmms_medtasks.data.doctor": "says what is installed",
    "lmms_medtasks.data.file_forms": "names what a file is that can't be taken",
    "lmms_medtasks.data.hub": "fetches data; what was fetched is in the data's digest",
    "lmms_medtasks.data.locating": "finds data; what was found is in the data's digest",
    "lmms_medtasks.data.picture_checks": "refuses images; changes none",
    "lmms_medtasks.data.prepare": "makes data before a run; what was made is in the data's digest",
    "lmms_medtasks.progress": "bars",
    "lmms_medtasks.data.releases": "finds a release's files; what was made of them is in the data's digest",
    "lmms_medtasks.data.store": "says where data lie",
    "lmms_medtasks.data.sources": "finds the reader of a name's data",
    "lmms_medtasks.degradations.picture_cache": "keeps pixels that were made once; makes none",
    "lmms_medtasks.degradations.threads": "says how many threads count",
    "lmms_medtasks.judges.database": "opens the file of a cache",
    "lmms_medtasks.judges.defaults": "how a judge is asked; what a prompt takes of it is in the protocol's digest",
    "lmms_medtasks.judges.judge_check": "checks a judge on answers of its own",
    "lmms_medtasks.judges.registry": "finds a protocol by its name; the task's own are taken in",
    "lmms_medtasks.judges.handed_verdicts": "hands verdicts from the judging stage to the hooks",
    "lmms_medtasks.judges.withheld": "keeps replies that no log may hold",
    "lmms_medtasks.statistics.intervals": "makes intervals; the numbers themselves come from statistics.sums",
    "lmms_medtasks.suites.own_parts": "says what a task's own parts are; their code is taken in by the task",
    "lmms_medtasks.suites.registry": "finds a benchmark by its folder; the task's own is taken in",
}
"""Modules that can't move a number, each with the reason. What only they import is not reached."""

DATA = (".json", ".txt", ".yaml", ".yml")
"""How the names of data files end. One counts where a module names it in a text: ``_read("taxonomy.yml")``."""

_NAMES = re.compile(r"[\w./*-]+\Z")
_UNREAD = {"reference", "checks", "judge_checks"}
"""Folders of which no file is read in scoring: the published rows, and the answers that check a judge."""

_DIGITS = 12


class Import(NamedTuple):
    """``from module import name as alias``; ``import module as alias`` has no ``name``."""

    module: str
    name: str | None
    alias: str


@dataclass(frozen=True)
class Source:
    """What is asked of a module: its tree in writing, its imports of this package, and the data files it names."""

    written: str
    imports: tuple[Import, ...]
    names: frozenset[str]
    attributes: Mapping[str, frozenset[str]]
    """For an imported name what is taken of it (``parsing.option_letters``); "" where it is used as a whole."""


Start = str | Path
"""A module by its dotted name, or a file of someone's own that is no module of this package."""


class SourceTrees:
    """Modules of this package as files, read once each.

    ``read``: the text of a file; tests give changed ones.
    """

    def __init__(self, read: Callable[[Path], str] = lambda path: path.read_text("utf-8")) -> None:
        self._read = read
        self.source = functools.cache(self._source)
        self._module = functools.cache(self._module_digest)
        self._file = functools.cache(self._file_digest)
        self._imported = functools.cache(self._imports_of)
        self.data_files = functools.cache(self._data_files)

    def digest(self, starts: Iterable[Start], without: Collection[str] = NO_NUMBERS) -> str:
        """12 hexadecimal digits of everything in :meth:`closure`: the trees of the modules, and the data they name."""
        reached = self.closure(starts, without)
        files = sorted({file for each in reached for file in self.data_files(each)})
        return digest(*(each.encode() for each in (*map(self._module, reached), *map(self._file, files))))

    def closure(self, starts: Iterable[Start], without: Collection[str] = NO_NUMBERS) -> tuple[Start, ...]:
        """``starts`` and all modules of this package that they import, and so on; sorted, without ``without``.

        Import statements inside functions count, those under ``if TYPE_CHECKING`` don't.
        """
        reached: set[Start] = set()
        left = list(starts)
        while left:
            each = left.pop()
            if each in reached or each in without or (isinstance(each, str) and path_of(each) is None):
                continue
            reached.add(each)
            left += self._imported(each)
        return tuple(sorted(reached, key=_title))

    def _source(self, start: Start) -> Source:
        path = start if isinstance(start, Path) else path_of(start)
        if path is None:
            raise ModuleNotFoundError(start)
        tree = ast.parse(self._read(path), str(path))
        found = _Reading(start if isinstance(start, str) else "", path.name == "__init__.py")
        found.statements(tree.body)
        taken: dict[str, set[str]] = {each.alias: set() for each in found.imports}
        for name, attribute in found.attributes:
            if name in taken:
                taken[name].add(attribute)
        attributes = {name: frozenset(used) for name, used in taken.items()}
        return Source("".join(found.written), tuple(found.imports), frozenset(found.names), attributes)

    def _imports_of(self, start: Start) -> frozenset[str]:
        source = self.source(start)
        return frozenset(each for found in source.imports for each in self._reached(source, found))

    def _reached(self, source: Source, found: Import) -> Iterator[str]:
        """The modules that an import statement reaches."""
        if found.name is None:
            yield found.module
        elif path_of(f"{found.module}.{found.name}") is None:
            yield self.defined_in(found.module, found.name)
        elif not _is_package(f"{found.module}.{found.name}"):
            yield f"{found.module}.{found.name}"
        else:
            package = f"{found.module}.{found.name}"
            for attribute in source.attributes[found.alias]:
                yield self.defined_in(package, attribute) if attribute else package

    def defined_in(self, module: str, name: str) -> str:
        """The module that ``name`` comes from, which ``module`` may only hand on."""
        if path_of(f"{module}.{name}"):
            return f"{module}.{name}"
        for each in self.source(module).imports if path_of(module) else ():
            if each.alias == name:
                return self.defined_in(each.module, each.name) if each.name else each.module
        return module

    def _data_files(self, start: Start) -> tuple[Path, ...]:
        """The data files that a module names: in its folder, else in that of all tasks, else one deeper."""
        path = start if isinstance(start, Path) else path_of(start)
        tasks = path_of(f"{PACKAGE}.task_configs")
        if path is None or tasks is None:
            return ()
        found: set[Path] = set()
        for name in self.source(start).names:
            for places in (path.parent.glob(name), tasks.parent.glob(name), path.parent.glob(f"*/{name}")):
                files = [each for each in places if each.is_file() and each.parent.name not in _UNREAD]
                found.update(files)
                if files:
                    break
        return tuple(sorted(found))

    def _module_digest(self, start: Start) -> str:
        return digest(_title(start).encode(), self.source(start).written.encode())

    def _file_digest(self, path: Path) -> str:
        """Of a data file's name and what it says: of YAML the values, without comments and layout."""
        text = self._read(path)
        if path.suffix in (".yaml", ".yml"):
            text = json.dumps(_yaml(text), default=repr)
        return digest(f"{path.parent.name}/{path.name}".encode(), text.encode())


@functools.cache
def installed() -> SourceTrees:
    """The modules as they are installed, read once a process."""
    return SourceTrees()


def digest(*contents: bytes) -> str:
    """The first 12 hexadecimal digits of a SHA-256 over ``contents``, each with its length."""
    total = hashlib.sha256()
    for content in contents:
        total.update(len(content).to_bytes(8, "little") + content)
    return total.hexdigest()[:_DIGITS]


@functools.cache
def path_of(module: str) -> Path | None:
    """The file of a module of this package, without importing it; None where there is none of that name."""
    package, _, name = module.rpartition(".")
    if module == PACKAGE:
        return Path(__file__).with_name("__init__.py")
    if not package:
        return None
    if package == PACKAGE:  # its folders may lie elsewhere: the installation says where
        found = importlib.util.find_spec(module)
        return Path(found.origin) if found and found.origin else None
    parent = path_of(package)
    if parent is None or parent.name != "__init__.py":
        return None
    places = (parent.parent / name / "__init__.py", parent.parent / f"{name}.py")
    return next((place for place in places if place.is_file()), None)


def _is_package(module: str) -> bool:
    path = path_of(module)
    return path is not None and path.name == "__init__.py"


def _title(start: Start) -> str:
    return start if isinstance(start, str) else start.name


def _yaml(text: str) -> Any:
    import yaml

    return yaml.load(text, getattr(yaml, "CSafeLoader", yaml.SafeLoader))


class _Reading:
    """One pass over a tree: writes it down, and notes imports and names of data files.

    The writing is the same in all versions of Python: empty fields are left out, and neighbouring texts of an f-string
    joined.
    """

    _LEFT_OUT = {"ctx", "kind", "type_comment"}

    def __init__(self, module: str, is_package: bool) -> None:
        self._package = module if is_package else module.rpartition(".")[0]
        self.written: list[str] = []
        self.imports: list[Import] = []
        self.names: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()

    def statements(self, body: Sequence[ast.stmt]) -> None:
        self.written.append("[")
        for each in body:
            if _is_text(each) or isinstance(each, ast.Pass):
                continue
            if isinstance(each, ast.If) and ast.unparse(each.test).removeprefix("typing.") == "TYPE_CHECKING":
                self.statements(each.orelse)
            else:
                self.node(each)
        self.written.append("]")

    def node(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._import(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            self._name(node.value)
        elif isinstance(node, ast.JoinedStr):
            self._name("".join(_literal(each) for each in node.values))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            self.attributes.add((node.value.id, node.attr))
        elif isinstance(node, ast.Name):
            self.attributes.add((node.id, ""))
        self.written.append(f"{type(node).__name__}(")
        for field in node._fields:
            value = getattr(node, field, None)
            of_function = field == "returns" or (field == "annotation" and isinstance(node, ast.arg))
            if (
                of_function
                or field in self._LEFT_OUT
                or ((value is None or value == []) and not isinstance(node, ast.Constant))
            ):
                continue
            self.written.append(f"{field}=")
            self._value(node, field, value)
        self.written.append(")")

    def _value(self, node: ast.AST, field: str, value: Any) -> None:
        if isinstance(node, ast.Raise) and field == "exc" and isinstance(value, ast.Call):
            self.node(value.func)  # which error it is, and not in what words
        elif isinstance(node, ast.JoinedStr):
            self._texts(value)
        elif isinstance(node, ast.Attribute) and isinstance(value, ast.Name):
            self.written.append(value.id)
        elif isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            self.statements(value)
        elif isinstance(value, list):
            self.written.append("[")
            for each in value:
                self._item(each)
                self.written.append(",")
            self.written.append("]")
        else:
            self._item(value)

    def _item(self, value: Any) -> None:
        if isinstance(value, ast.AST):
            self.node(value)
        else:
            self.written.append(ascii(value))

    def _texts(self, values: Sequence[ast.expr]) -> None:
        """The parts of an f-string: versions of Python split the texts between its places differently."""
        text = ""
        for each in [*values, None]:
            if isinstance(each, ast.Constant):
                text += str(each.value)
                continue
            if text:
                self.written.append(ascii(text))
                text = ""
            if each is not None:
                self.node(each)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        if isinstance(node, ast.Import):
            found = [Import(each.name, None, each.asname or each.name) for each in node.names]
        else:
            module = node.module or ""
            if node.level:
                above = self._package.split(".")[: len(self._package.split(".")) - node.level + 1]
                module = ".".join([*above, *([module] if module else [])])
            found = [Import(module, each.name, each.asname or each.name) for each in node.names]
            found = [Import(module, None, "*") if each.name == "*" else each for each in found]
        self.imports += [each for each in found if each.module.partition(".")[0] == PACKAGE]

    def _name(self, text: str) -> None:
        """Keep ``text`` if it may be a data file's name; "*" stands for what an f-string fills in."""
        if text.endswith(DATA) and _NAMES.match(text) and not text.startswith(("/", ".", "*")):
            self.names.add(text)


def _is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring: nothing but a text."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _literal(value: ast.expr) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else "*"
