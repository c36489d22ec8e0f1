"""Where a release's files are: a local folder, or a dataset repository of the Hugging Face hub."""

from __future__ import annotations

import stat
import threading
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, Protocol

from lmms_medtasks.data.store import file_sha256
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import first_named

MAX_FILE_BYTES = 2 * 1024**3
"""A file that is larger than this unpacked is taken for a bomb: it would be read into memory."""

_DEFLATED_MOST = 1100  # Deflate packs 1032 to 1 at best; a file that claims more is not what it says

# What the library raises on zips that are cut short, damaged, encrypted or packed in an unusual way.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


class MissingFileError(UserError):
    """A file that the release has not, or that is not inside it: no network or disk is to blame."""


@dataclass(frozen=True)
class SourceFile:
    """A file that data was prepared from."""

    name: str
    bytes: int
    sha256: str

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "bytes": self.bytes, "sha256": self.sha256}


class Release(Protocol):
    """The files of one release."""

    def describe(self) -> dict[str, Any]:
        """What the manifest says of it: where it is and, for the hub, its revision."""

    def has(self, name: str) -> bool:
        """Whether the release has a file of this name (relative, with forward slashes)."""

    def names(self) -> list[str]:
        """The names of all files, sorted; for suites whose files are not known by name. Raises UserError."""

    def file(self, name: str) -> Path:
        """The local path of the file, fetched if need be. ``MissingFileError``: there is none; ``UserError``."""


class LocalRelease:
    """A release's files in a local folder. ``UserError`` if it can't be read, or is empty and may not be.

    ``elsewhere``: a file's name -> other places in the folder, ``*`` in them standing for one name (a version, say).
    Links out of the folder are followed there: these names are ours, not the release's.
    """

    def __init__(
        self, folder: Path, elsewhere: Mapping[str, Sequence[str]] | None = None, *, may_be_empty: bool = False
    ) -> None:
        self.folder = folder
        self._elsewhere = elsewhere or {}
        try:
            found = folder.is_dir() and next(iter(folder.iterdir()), None)
        except OSError as error:
            raise UserError(f"The source folder {str(folder)!r} cannot be read: {error.strerror}.") from error
        if found is False:
            raise UserError(f"The source {str(folder)!r} is not a folder. Give the folder with the release's files.")
        if found is None and not may_be_empty:
            raise UserError(f"The source folder {str(folder)!r} is empty. Give the folder with the release's files.")

    def describe(self) -> dict[str, Any]:
        return {"kind": "folder", "folder": str(self.folder)}

    def has(self, name: str) -> bool:
        return self._find_path(name) is not None

    def _find_path(self, name: str) -> Path | None:
        path = self.folder / checked_name(name)
        if path.is_file():
            return path
        for pattern in self._elsewhere.get(name, ()):
            paths = [each for each in sorted(self.folder.glob(pattern)) if each.is_file()]
            if len(paths) > 1:
                places = ", ".join(str(each.relative_to(self.folder)) for each in paths)
                raise UserError(f"{str(self.folder)!r} has {name} in several places: {places}. Leave one of them.")
            if paths:
                return paths[0]
        return None

    def file(self, name: str) -> Path:
        """The path of the file. ``MissingFileError`` if it is missing, or a link to somewhere outside the folder."""
        path = self._find_path(name)
        if path is None:
            raise MissingFileError(f"{name!r} is not in the source folder {str(self.folder)!r}.")
        if name in self._elsewhere:
            return path
        root = self.folder.resolve()
        # A snapshot in the hub's own cache is made of links to ../../blobs.
        inside = (root, root.parent.parent / "blobs") if root.parent.name == "snapshots" else (root,)
        if not any(path.resolve().is_relative_to(place) for place in inside):
            raise MissingFileError(
                f"{name!r} in {str(self.folder)!r} is a link out of the folder; it was not followed."
            )
        return path

    def names(self) -> list[str]:
        """The names of all files in the folder and below, hidden ones apart; links to folders are not followed."""
        return sorted(
            path.relative_to(self.folder).as_posix()
            for path in self.folder.rglob("*")
            if path.is_file() and not any(part.startswith(".") for part in path.relative_to(self.folder).parts)
        )

    def listing(self) -> str:
        """The first 20 names in the folder, for messages."""
        return first_named(sorted(entry.name for entry in self.folder.iterdir()), 20)


def checked_name(name: str) -> str:
    """``name`` if it is a path inside its folder on every system, else ``MissingFileError``."""
    parts = PurePosixPath(name).parts + PureWindowsPath(name).parts
    absolute = PurePosixPath(name).is_absolute() or PureWindowsPath(name).anchor or PureWindowsPath(name).drive
    if not name.strip() or absolute or ".." in parts or "\0" in name:
        raise MissingFileError(f"The path {name[:200]!r} is not inside the release's folder; it was not followed.")
    return name


def source_file(release: Release, name: str) -> SourceFile:
    path = release.file(name)
    return SourceFile(name, path.stat().st_size, file_sha256(path))


def is_junk(name: str) -> bool:
    """Whether an archive's entry is not the data's own: macOS's shadow files ("._a.json"), backups ("a.json.bak")."""
    path = PurePosixPath(name)
    last = path.name.lower()
    return (
        "__MACOSX" in path.parts
        or last in (".ds_store", "thumbs.db", "desktop.ini")
        or last.startswith(("._", ".~", "~$"))
        or last.endswith(("~", ".bak", ".backup", ".orig", ".old", ".swp", ".tmp"))
    )


class ZipFolder:
    """The plain files in a zip, as a read-only folder. Thread-safe. ``names``: the files' names in the zip's order."""

    def __init__(self, archive: Path) -> None:
        """Open ``archive`` and check its list of files, without :func:`is_junk`.

        Raises UserError if the archive is no readable zip, or a file has a name that would leave a folder, is a link or
        a device, comes twice, is larger than :data:`MAX_FILE_BYTES` or packed more tightly than the format can.
        """
        self.path = archive
        self._lock = threading.Lock()
        try:
            self._zip = zipfile.ZipFile(archive)
        except _DAMAGED as error:
            raise UserError(
                f"{archive} cannot be read as a zip: {error}. It is cut short, damaged, or no zip. Fetch it again."
            ) from error
        self._files: dict[str, zipfile.ZipInfo] = {}
        for info in self._zip.infolist():
            if not info.is_dir() and not is_junk(info.filename):
                self._check_entry(info)
                self._files[info.filename] = info
        self.names = tuple(self._files)

    def _check_entry(self, info: zipfile.ZipInfo) -> None:
        name = info.filename
        try:
            checked_name(name)
        except MissingFileError:
            raise UserError(f"{self.path} has a file that would leave the folder: {name!r}.") from None
        if stat.S_IFMT(info.external_attr >> 16) not in (0, stat.S_IFREG):
            raise UserError(f"{self.path} has something that is no plain file (a link, perhaps): {name!r}.")
        if name in self._files:
            raise UserError(f"{self.path} has a file twice: {name!r}.")
        packed = _DEFLATED_MOST * (info.compress_size + 1)
        if info.file_size > MAX_FILE_BYTES or (info.compress_type == zipfile.ZIP_DEFLATED and info.file_size > packed):
            raise UserError(
                f"{self.path} has a file that would unpack to {info.file_size:,} bytes from {info.compress_size:,} "
                f"(the limit is {MAX_FILE_BYTES:,}): {name!r}."
            )

    def has(self, name: str) -> bool:
        return name in self._files

    def read(self, name: str) -> bytes:
        """The bytes of a file, checksum verified. ``MissingFileError``; ``UserError`` if it is damaged."""
        if name not in self._files:
            raise MissingFileError(f"{name!r} is not in {self.path.name}.")
        try:
            with self._lock:
                return self._zip.read(self._files[name])
        except _DAMAGED as error:
            raise UserError(
                f"{name!r} in {self.path} cannot be read: {error}. The zip is damaged, cut short or encrypted. "
                "Fetch it again."
            ) from error

    def find(self, name: str) -> list[str]:
        """The names of the files whose last part is ``name``."""
        return [each for each in self.names if PurePosixPath(each).name == name]
