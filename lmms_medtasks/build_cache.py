"""Results of a board's build that depend on files which rarely change, kept for the next build.

A file a result, in a folder a release of the code: named by the digest of what the result was made of, its content
behind a digest of its own. Arrow tables, JSON and images, nothing that runs when it is read. A file that is broken, or
was not written by this module, counts as not there and is written anew. What nobody used for :data:`DAYS` days is
removed.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import json
import os
import platform
import re
import time
import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics import confidence
from lmms_medtasks.writing import write_bytes

T = TypeVar("T")
DAYS = 30
_DIGEST = 64
_BLOCK = 2**20
_HIDDEN = "\x7f"
"""Stands for what may be another text the next time. No text of a page has it, and JSON writes it as it is."""
_CODE = (".py", ".yml", ".yaml", ".json", ".csv", ".txt", ".md", ".html", ".css", ".js")
_NAME = re.compile("[0-9a-f]{16}/[0-9a-f]{2}/[0-9a-f]{64}")
_ELSEWHERE = ("lmms_medtasks.degradations", "lmms_medtasks.judges", folders.PACKAGE)
"""Packages of ours that lie beside the others in a checkout."""
_PACKAGES = ("jinja2", "markupsafe", "numpy", "pyarrow", "scipy")


@dataclass(frozen=True)
class BuildCache:
    """A folder of kept results. With ``folder`` None nothing is kept, and everything is made."""

    folder: Path | None = None
    _digests: dict[tuple[str, int, int], str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def at(cls, folder: Path) -> BuildCache:
        """The cache in ``folder``, which is made. Raises UserError where it can't be written."""
        own = folder / _code(confidence.level())
        try:
            own.mkdir(parents=True, exist_ok=True)
            _forget(folder)
        except OSError as error:
            raise UserError(
                f"--cache {folder} can't be written ({error}). Name another folder, or build with --no-cache."
            ) from error
        return cls(own)

    def digest(self, path: Path) -> str:
        """SHA-256 of a file, computed once while its size and time stay as they are."""
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._digests:
            digest = hashlib.sha256()
            with path.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
            self._digests[key] = digest.hexdigest()
        return self._digests[key]

    def table(self, made_of: Any, make: Callable[[], pa.Table]) -> pa.Table:
        """A table: the kept one, or what ``make`` gives. ``made_of``: JSON that says all that it depends on."""
        return self._kept(made_of, make, _table_bytes, lambda data: pa.ipc.open_file(pa.BufferReader(data)).read_all())

    def value(self, kind: type[T], made_of: Any, make: Callable[[], T], placeholder: str = "") -> T:
        """A dataclass of texts, numbers, tuples, mappings of those and dataclasses, as :meth:`table`.

        ``placeholder``: a text in it that may be another one the next time, such as a prefix of keys (ASCII).
        """
        return self._kept(
            made_of,
            make,
            lambda value: json.dumps(value, default=_plain).replace(placeholder or _HIDDEN, _HIDDEN).encode(),
            lambda data: _build(kind, json.loads(data.decode().replace(_HIDDEN, placeholder))),
        )

    def known(self, kind: type[T], made_of: Any) -> T | None:
        """The kept dataclass, as :meth:`value`; None where there is none."""
        return self._known(made_of, lambda data: _build(kind, json.loads(data)))

    def keep(self, made_of: Any, value: Any) -> None:
        """Keep a dataclass in place of what is kept, as :meth:`value`."""
        self._write(made_of, json.dumps(value, default=_plain).encode())

    def has(self, made_of: Any) -> bool:
        """Whether something is kept that was made of ``made_of``; it may turn out to be broken."""
        return self.folder is not None and self._place(made_of).exists()

    def content(self, made_of: Any, make: Callable[[], bytes]) -> bytes:
        """The bytes of a file, as :meth:`table`."""
        return self._kept(made_of, make, bytes, bytes)

    def _kept(
        self, made_of: Any, make: Callable[[], T], written: Callable[[T], bytes], read: Callable[[bytes], T]
    ) -> T:
        if self.folder is None:
            return make()
        known = self._known(made_of, read)
        if known is not None:
            return known
        made = make()
        self._write(made_of, written(made))
        return made

    def _known(self, made_of: Any, read: Callable[[bytes], T]) -> T | None:
        content = self._read(self._place(made_of)) if self.folder is not None else None
        if content is not None:
            # Whole, and still not of this form: written by someone else.
            with suppress(ValueError, TypeError, pa.ArrowException):
                return read(content)
        return None

    def _write(self, made_of: Any, content: bytes) -> None:
        if self.folder is None:
            return
        path = self._place(made_of)
        try:
            write_bytes(path, hashlib.sha256(content).hexdigest().encode() + content)
        except OSError as error:
            raise UserError(
                f"{path} can't be written ({error}). Make room there, name another folder by --cache, or build with "
                "--no-cache."
            ) from error

    def _place(self, made_of: Any) -> Path:
        name = name_of(made_of)
        return Path(self.folder or "", name[:2], name)

    def _read(self, path: Path) -> bytes | None:
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        digest, content = content[:_DIGEST], content[_DIGEST:]
        return content if hashlib.sha256(content).hexdigest().encode() == digest else None


def name_of(made_of: Any) -> str:
    """What names a result that was made of ``made_of`` (JSON): its SHA-256."""
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()


NO_CACHE = BuildCache()
"""Keeps nothing."""


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def _plain(value: Any) -> Any:
    """What JSON has no form for, as what it has one for: a dataclass as the list of its fields."""
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, name) for name in _names(type(value))]
    return dict(value) if isinstance(value, Mapping) else value.item()


@functools.cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(each.name for each in fields(kind))


def _build(kind: Any, value: Any) -> Any:
    build = _builder(kind)
    return build(value) if build else value


@functools.cache
def _builder(kind: Any) -> Callable[[Any], Any] | None:
    """What makes a value of the type ``kind`` of what :func:`_plain` made of it; None for a text or a number."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        # Of the kinds that it may be, one is no text and no number.
        of_one = next((each for each in map(_builder, inner) if each), None)
        return of_one and functools.partial(_where_made, of_one)
    if isinstance(kind, type) and is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        of_fields = [(place, build) for place, each in enumerate(fields(kind)) if (build := _builder(hints[each.name]))]
        return functools.partial(_made, kind, len(fields(kind)), of_fields)
    if origin is tuple and inner[-1] is ...:
        of_each = _builder(inner[0])
        return lambda value: tuple(map(of_each, value)) if of_each else tuple(value)
    if origin is tuple:
        own = [_builder(each) for each in inner]
        return lambda value: tuple(build(each) if build else each for build, each in zip(own, value, strict=True))
    return None


def _made(kind: Any, count: int, of_fields: Sequence[tuple[int, Callable[[Any], Any]]], value: list[Any]) -> Any:
    if len(value) != count:
        raise ValueError(f"{len(value)} values for the {count} fields of {kind.__name__}.")
    for place, build in of_fields:
        value[place] = build(value[place])
    return kind(*value)


def _where_made(build: Callable[[Any], Any], value: Any) -> Any:
    return build(value) if isinstance(value, list) else value


@functools.cache
def _code(level: float) -> str:
    """A digest of all code and data of the package, of packages that numbers come from, and of the confidence."""
    digest = hashlib.sha256(f"{platform.python_version()} {level}".encode())
    for name in _PACKAGES:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for name, path in _code_files():
        digest.update(f"{name}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _code_files() -> Iterator[tuple[str, Path]]:
    """All files of code and data, each with the folder that it is installed in before its name."""
    for package in ("lmms_medtasks", *_ELSEWHERE):
        root = Path(importlib.import_module(package).__path__[0])
        for path in sorted(path for path in root.rglob("*") if path.suffix in _CODE and path.is_file()):
            yield f"{package}/{path.relative_to(root).as_posix()}", path


def _forget(folder: Path) -> None:
    """Remove what nobody used for long, whatever release it is of."""
    oldest = time.time() - DAYS * 86_400
    for path in folder.glob("*/*/*"):
        if _NAME.fullmatch(path.relative_to(folder).as_posix()):
            with suppress(OSError):  # another build removed it, or it is another user's
                if path.stat().st_mtime < oldest:
                    path.unlink()
