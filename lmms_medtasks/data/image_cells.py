"""Images as a table's cells have them: bytes, base64, or paths of files beside the table or in a zip."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from lmms_medtasks.data.archives import ZipFolder
from lmms_medtasks.data.image_bytes import DATA_URL, from_base64
from lmms_medtasks.data.releases import MissingFileError, Release, checked_name
from lmms_medtasks.data.sources import RejectedRow

_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp")
_LONGEST_PATH = 1000  # characters; what is longer is base64
_SHOWN = 80


class ImageCells:
    """Makes bytes of the image cells of one release."""

    def __init__(self, release: Release) -> None:
        self._release = release

    @functools.cached_property
    def _names(self) -> tuple[str, ...]:
        return tuple(self._release.names())

    @functools.cached_property
    def _zips(self) -> tuple[ZipFolder, ...]:
        return tuple(ZipFolder(self._release.file(name)) for name in self._names if name.lower().endswith(".zip"))

    def images(self, values: Sequence[Any], table: str) -> list[bytes]:
        """The images in the cells ``values`` of a row of ``table`` (its name in the release), in order.

        A cell is null or empty, bytes, ``{"bytes": ..., "path": ...}``, base64 (also as a data URL), the path of a
        file, several paths, or a list of any of these.

        Raises:
            RejectedRow: a cell is none of these, or a file is not there.
        """
        return [self._one(each, table) for value in values for each in _flat(value)]

    def missing(self, values: Sequence[Any], table: str) -> list[str]:
        """The paths in the cells ``values`` at which no file is, in order; no image is read."""
        paths = [path for value in values for each in _flat(value) if (path := _path_in(each))]
        return [path for path in paths if not self._is_there(path, table)]

    def _is_there(self, path: str, table: str) -> bool:
        name = _name(path)
        try:
            checked_name(name)
            self._release.file(self._found(name, table))
        except MissingFileError:
            return self._zipped(name) is not None
        except RejectedRow:  # in several places
            return True
        return True

    def _zipped(self, name: str) -> tuple[ZipFolder, str] | None:
        """The zip with the only file that has this name, and the file's name in it."""
        for zipped in self._zips:
            places = [each for each in zipped.names if each == name or each.endswith(f"/{name}")]
            if len(places) == 1:
                return zipped, places[0]
        return None

    def _one(self, value: Any, table: str) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, Mapping):
            data, path = value.get("bytes"), value.get("path")
            if isinstance(data, bytes) and data:
                return data
            if isinstance(path, str) and path.strip():
                return self._file(path.strip(), table)
        if isinstance(value, str):
            return _decoded(value) if _is_base64(value) else self._file(value, table)
        raise RejectedRow(f"image is neither bytes, base64 nor a path: {str(value)[:_SHOWN]!r}")

    def _file(self, path: str, table: str) -> bytes:
        name = _name(path)
        try:
            checked_name(name)
            return self._release.file(self._found(name, table)).read_bytes()
        except MissingFileError as error:
            if found := self._zipped(name):
                zipped, inside = found
                return zipped.read(inside)
            raise RejectedRow(f"image {path[:_SHOWN]!r}: {error}") from error
        except OSError as error:
            raise RejectedRow(f"image {path[:_SHOWN]!r} cannot be read: {error.strerror}") from error

    def _found(self, name: str, table: str) -> str:
        """The release's name of an image: as given, beside the table, or the only one that ends so."""
        beside = str(PurePosixPath(table).parent / name)
        for place in (beside, name):
            if place in self._names:
                return place
        ends = [each for each in self._names if each.endswith(f"/{name}")]
        if len(ends) > 1:
            raise RejectedRow(f"image {name[:_SHOWN]!r} is in {len(ends)} places: {', '.join(ends[:3])}")
        return ends[0] if ends else name


def _name(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _path_in(value: Any) -> str:
    """The path that an item of a cell stands for; "" where it is an image itself, or nothing that we know."""
    if isinstance(value, Mapping):
        path = value.get("path")
        return path.strip() if isinstance(path, str) and not value.get("bytes") else ""
    return value if isinstance(value, str) and not _is_base64(value) else ""


def _flat(value: Any) -> list[Any]:
    """The images in a cell: those of a list, or the paths of a text that has several."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return []
    if isinstance(value, list):
        return [each for item in value for each in _flat(item)]
    if isinstance(value, str):
        return _paths(value.strip())
    return [value]


def _paths(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = re.findall(r"'([^']*)'", text)  # as Python writes a list
        if isinstance(listed, list) and listed and all(isinstance(each, str) for each in listed):
            return [each.strip() for each in listed if each.strip()]
        if not text.lower().endswith(_SUFFIXES):
            raise RejectedRow(f"image starts like a list of texts and is none: {text[:_SHOWN]!r}")
    if len(text) > _LONGEST_PATH and not re.search(r"[;|\n]", text):
        return [text]
    parts = [part.strip() for part in re.split(r"[;|\n]|,(?!\S*base64)", text) if part.strip()]
    return parts if all(part.lower().endswith(_SUFFIXES) for part in parts) else [text]


def _is_base64(text: str) -> bool:
    return bool(DATA_URL.match(text)) or (len(text) > 64 and not text.lower().endswith(_SUFFIXES))


def _decoded(text: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError as error:
        raise RejectedRow(f"image is no base64: {error}") from error
