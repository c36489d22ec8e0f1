"""Reading files inside a zip that somebody else packed, where they are: nothing is unpacked to disk."""

from __future__ import annotations

import stat
import threading
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from lmms_medtasks.data.releases import MissingFileError, checked_name
from lmms_medtasks.errors import UserError

MAX_FILE_BYTES = 2 * 1024**3
"""A file that is larger than this unpacked is taken for a bomb: it would be read into memory."""

_DEFLATED_MOST = 1100
"""Deflate packs 1032 to 1 at best; a file that claims more is not what it says."""

# What the library raises on zips that are cut short, damaged, encrypted or packed in an unusual way.
_DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError, ValueError)


def is_junk(name: str) -> bool:
    """Whether a name in an archive is none of the data's own: macOS's shadow files, editors' and hand-made backups.

    >>> is_junk("__MACOSX/dataset/._a.json"), is_junk("dataset/a.json.bak"), is_junk("dataset/a.json")
    (True, True, False)
    """
    path = PurePosixPath(name)
    last = path.name.lower()
    return (
        "__MACOSX" in path.parts
        or last in (".ds_store", "thumbs.db", "desktop.ini")
        or last.startswith(("._", ".~", "~$"))
        or last.endswith(("~", ".bak", ".backup", ".orig", ".old", ".swp", ".tmp"))
    )


class ZipFolder:
    """The plain files in a zip, as a folder that can only be read. Safe to be read from several threads.

    ``names`` are the files' names as the zip has them (relative, with forward slashes), in its order.
    """

    def __init__(self, archive: Path, wanted: Callable[[str], bool] = lambda name: not is_junk(name)) -> None:
        """Open ``archive`` and check its list of files. ``wanted`` chooses files; what it does not want is not there.

        Raises:
            UserError: the archive cannot be read, is no zip, or is cut short; a wanted file has a name that would leave
                a folder (absolute, ``..``, a drive), is a link or a device, comes twice, is larger than
                :data:`MAX_FILE_BYTES` or packed more tightly than the format can.
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
            if not info.is_dir() and wanted(info.filename):
                self._check(info)
                self._files[info.filename] = info
        self.names = tuple(self._files)

    def _check(self, info: zipfile.ZipInfo) -> None:
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
        """Whether there is a file of this name."""
        return name in self._files

    def read(self, name: str) -> bytes:
        """The bytes of a file, its checksum compared.

        Raises:
            MissingFileError: there is no such file.
            UserError: it is damaged, cut short or encrypted.
        """
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
        """The names of the files whose last part is ``name``, wherever they are."""
        return [each for each in self.names if PurePosixPath(each).name == name]
