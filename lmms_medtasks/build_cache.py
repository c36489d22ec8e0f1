"""Cache of a leaderboard build's results that depend on rarely changing files.

One file a result, in a folder for each release of the code: its name is the digest of what the result was made of, its
content follows a digest of its own. Nothing in it runs when it is read. A broken file counts as missing. Results unused
for :data:`DAYS` days are removed.
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
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from lmms_medtasks import folders
from lmms_medtasks.data.store import file_sha256
from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics import confidence
from lmms_medtasks.writing import write_bytes_atomically

T = TypeVar("T")
DAYS = 30
_DIGEST = 64
_CODE = (".py", ".yml", ".yaml", ".json", ".csv", ".txt", ".md", ".html", ".css", ".js")
_NAME = re.compile("[0-9a-f]{16}/[0-9a-f]{2}/[0-9a-f]{64}")
_ELSEWHERE = ("lmms_medtasks.degradations", "lmms_medtasks.judges", folders.PACKAGE)
"""Our packages that are top-level folders in a checkout."""
_PACKAGES = ("jinja2", "markupsafe", "numpy", "pyarrow", "scipy")


@dataclass(frozen=True)
class BuildCache:
    """A folder of cached results. If ``folder`` is None, nothing is cached."""

    folder: Path | None = None
    _digests: dict[tuple[str, int, int], str] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def at(cls, folder: Path) -> BuildCache:
        """Make the cache in ``folder``. Raises UserError if it can't be written."""
        release_folder = folder / _code_digest(confidence.current_level())
        try:
            release_folder.mkdir(parents=True, exist_ok=True)
            _remove_unused(folder)
        except OSError as error:
            raise UserError(
                f"--cache {folder} can't be written ({error}). Name another folder, or build with --no-cache."
            ) from error
        return cls(release_folder)

    def digest(self, path: Path) -> str:
        stat = path.stat()
        key = (str(path), stat.st_size, stat.st_mtime_ns)
        if key not in self._digests:
            self._digests[key] = file_sha256(path)
        return self._digests[key]

    def table(self, made_of: Any, make: Callable[[], pa.Table]) -> pa.Table:
        """Return the cached table, or make it. ``made_of``: JSON of everything that it depends on."""
        return self.kept(made_of, make, _table_bytes, lambda data: pa.ipc.open_file(pa.BufferReader(data)).read_all())

    def has(self, made_of: Any) -> bool:
        """Whether a result for ``made_of`` is cached; it may turn out to be corrupt."""
        return self.folder is not None and self._result_path(made_of).exists()

    def kept(self, made_of: Any, make: Callable[[], T], written: Callable[[T], bytes], read: Callable[[bytes], T]) -> T:
        """Return the cached result, or make it. ``written``, ``read``: conversion to bytes and back.

        ``read`` may raise ValueError or TypeError for bytes of another form. Raises UserError if the result can't be
        written.
        """
        if self.folder is None:
            return make()
        path = self._result_path(made_of)
        content = self._read_whole(path)
        if content is not None:
            # Complete, but of another form: not written by this module.
            with suppress(ValueError, TypeError, pa.ArrowException):
                return read(content)
        made = make()
        content = written(made)
        try:
            write_bytes_atomically(path, hashlib.sha256(content).hexdigest().encode() + content)
        except OSError as error:
            raise UserError(
                f"{path} can't be written ({error}). Make room there, name another folder by --cache, or build with "
                "--no-cache."
            ) from error
        return made

    def _result_path(self, made_of: Any) -> Path:
        name = name_of(made_of)
        return Path(self.folder or "", name[:2], name)

    def _read_whole(self, path: Path) -> bytes | None:
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        digest, content = content[:_DIGEST], content[_DIGEST:]
        return content if hashlib.sha256(content).hexdigest().encode() == digest else None


def name_of(made_of: Any) -> str:
    """The name of the result for ``made_of`` (JSON): a SHA-256."""
    return hashlib.sha256(json.dumps(made_of, sort_keys=True).encode()).hexdigest()


NO_CACHE = BuildCache()  # Caches nothing


def _table_bytes(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


@functools.cache
def _code_digest(level: float) -> str:
    """Digest of the package's code and data, the versions of numerical packages, and the confidence level."""
    digest = hashlib.sha256(f"{platform.python_version()} {level}".encode())
    for name in _PACKAGES:
        digest.update(f"{name} {importlib.metadata.version(name)}\n".encode())
    for name, path in _code_files():
        digest.update(f"{name}\n".encode())
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:16]


def _code_files() -> Iterator[tuple[str, Path]]:
    for package in ("lmms_medtasks", *_ELSEWHERE):
        root = Path(importlib.import_module(package).__path__[0])
        for path in sorted(path for path in root.rglob("*") if path.suffix in _CODE and path.is_file()):
            yield f"{package}/{path.relative_to(root).as_posix()}", path


def _remove_unused(folder: Path) -> None:
    oldest = time.time() - DAYS * 86_400
    for path in folder.glob("*/*/*"):
        if _NAME.fullmatch(path.relative_to(folder).as_posix()):
            with suppress(OSError):  # another build removed it, or it is another user's
                if path.stat().st_mtime < oldest:
                    path.unlink()
