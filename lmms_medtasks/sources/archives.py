"""Unpacking archives that somebody else packed: every member is checked before the first is written."""

from __future__ import annotations

import functools
import gzip
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from lmms_medtasks.errors import UserError
from lmms_medtasks.sources.releases import MissingFileError, checked_name
from lmms_medtasks.sources.store import writing

MAX_BYTES = 200 * 1024**3
"""Unpacked size above which an archive is taken for a bomb."""


@dataclass(frozen=True)
class _Member:
    """A file or folder of an archive; ``odd`` says what it is if it is neither."""

    name: str
    size: int
    folder: bool
    odd: str
    open: Callable[[], IO[bytes]]


# What the libraries raise on archives that are cut short, damaged, encrypted, or none.
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    gzip.BadGzipFile,
    lzma.LZMAError,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
)


class _Archive(Protocol):
    def members(self) -> Iterator[_Member]: ...


def extract(archive: Path, folder: Path, wanted: Callable[[str], bool] = lambda _: True) -> list[Path]:
    """Unpack a zip or tar archive into ``folder`` and return the files, in the archive's order.

    ``wanted`` chooses files by their name in the archive; what it does not want is not checked either. ``folder``
    appears when all of it is there: files go to a folder beside it first. If it exists, it is left as it is and its
    files are returned.

    Raises:
        UserError: a wanted member would leave the folder (absolute, ``..``, a drive), is a link, a device or anything
            else that is no plain file or folder, comes twice, or is damaged or cut short; the archive is no zip or
            tar or is larger than :data:`MAX_BYTES` unpacked; the folder cannot be written.
    """
    if folder.is_dir():
        return sorted(path for path in folder.rglob("*") if path.is_file())
    part = folder.with_name(folder.name + ".part")
    with writing(folder), _reading(archive), _opened(archive) as opened:
        members = [member for member in opened.members() if wanted(member.name)]
        _check(archive, members)
        shutil.rmtree(part, ignore_errors=True)
        part.mkdir(parents=True)
        try:
            for member in members:
                _write(archive, member, part)
            os.replace(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return [folder / member.name for member in members if not member.folder]


def _check(archive: Path, members: list[_Member]) -> None:
    """``UserError`` unless every member may be written."""
    seen: set[str] = set()
    for member in members:
        try:
            checked_name(member.name)
        except MissingFileError:
            raise UserError(f"{archive} has a member that would leave the folder: {member.name!r}.") from None
        if member.odd:
            raise UserError(f"{archive} has a member that is {member.odd}: {member.name!r}.")
        # Two names that differ in case are one file on some systems.
        plain = os.path.normpath(member.name).casefold()
        if not member.folder and plain in seen:
            raise UserError(f"{archive} has a member twice: {member.name!r}.")
        seen.add(plain)
    total = sum(member.size for member in members)
    if total > MAX_BYTES:
        raise UserError(f"{archive} would unpack to {total:,} bytes, the limit is {MAX_BYTES:,}.")


def _write(archive: Path, member: _Member, folder: Path) -> None:
    path = folder / member.name
    if member.folder:
        path.mkdir(parents=True, exist_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    left = member.size
    with member.open() as source, path.open("wb") as target:
        # Never more than the size that was checked, whatever the packed bytes hold.
        while left and (block := source.read(min(left, 1 << 20))):
            target.write(block)
            left -= len(block)
        if left or source.read(1):
            raise UserError(f"{archive} is damaged: {member.name!r} has not the size that the archive says.")


@contextmanager
def _opened(archive: Path) -> Iterator[_Archive]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as zipped:
            yield _Zip(zipped)
    else:
        with tarfile.open(archive) as tarred:
            yield _Tar(tarred)


@contextmanager
def _reading(archive: Path) -> Iterator[None]:
    """Turn what the archive libraries raise on damaged archives into one ``UserError``."""
    try:
        archive.open("rb").close()
    except OSError as error:
        raise UserError(f"The archive {archive} cannot be read: {error.strerror}.") from error
    try:
        yield
    except _DAMAGED as error:
        raise UserError(
            f"{archive} cannot be unpacked: {error}. It is cut short, damaged, or no zip or tar archive. "
            "Fetch it again."
        ) from error


class _Zip:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def members(self) -> Iterator[_Member]:
        for info in self._archive.infolist():
            kind = stat.S_IFMT(info.external_attr >> 16)
            odd = "" if kind in (0, stat.S_IFREG, stat.S_IFDIR) else "no plain file or folder (a link, perhaps)"
            yield _Member(
                info.filename, info.file_size, info.is_dir(), odd, functools.partial(self._archive.open, info)
            )


class _Tar:
    def __init__(self, archive: tarfile.TarFile) -> None:
        self._archive = archive

    def members(self) -> Iterator[_Member]:
        for info in self._archive:
            odd = "" if info.isreg() or info.isdir() else "a link" if info.islnk() or info.issym() else "a device"
            yield _Member(info.name, info.size, info.isdir(), odd, functools.partial(self._file, info))

    def _file(self, info: tarfile.TarInfo) -> IO[bytes]:
        opened = self._archive.extractfile(info)
        if opened is None:
            raise UserError(f"{info.name!r} is no plain file.")
        return opened
