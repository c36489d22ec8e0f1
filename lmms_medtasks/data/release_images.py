"""Where a release's images come from: stored in the documents, or left where they are and referred to.

Small images that are free to copy are stored, so that the prepared data can be moved. Images that are large, shared by
many questions, or given to one person stay in the user's own file (see :mod:`lmms_medtasks.data.documents`).
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from lmms_medtasks import pictures
from lmms_medtasks.data.releases import MissingFileError, Release, ZipFolder, checked_name
from lmms_medtasks.data.row_reader import RejectedRow
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import DATA_URL, SUFFIXES, from_base64, image_id, image_problem, read_encoded, stored_images

_REMEMBERED = 16
_DIGEST = re.compile("[0-9a-f]{16}")

_LONGEST_PATH = 1000  # characters; what is longer is base64
_BASE64_LINE = re.compile(r"[A-Za-z0-9+/]{60,}\r?\n")  # 64 characters in PEM, 76 in MIME
_SHOWN = 80


class StoredImages:
    """Images whose bytes go into the documents. ``field``: where rows name them; ``place``: name -> file."""

    def __init__(self, files: Release | ZipFolder, field: str, place: Callable[[str], str] = str) -> None:
        self._files, self._field, self._place = files, field, place
        # Questions about one image come one after the other.
        self.read = functools.lru_cache(maxsize=_REMEMBERED)(self._read_image)

    def has(self, name: str) -> bool:
        try:
            return self._files.has(checked_name(self._place(name)))
        except (MissingFileError, OSError):  # a path that leaves the folder, or can be none
            return False

    def missing(self, names: Iterable[str]) -> list[str]:
        return [name for name in names if not self.has(name)]

    def _read_image(self, name: str) -> bytes:
        """The bytes of an image; RejectedRow if there is none. UserError: its zip is damaged."""
        try:
            file = checked_name(self._place(name))
            if isinstance(self._files, ZipFolder):
                return self._files.read(file)
            return _read_file(self._files.file(file))
        except MissingFileError as error:
            raise RejectedRow(f"{self._field} {name[:200]!r}: {error}") from error
        except OSError as error:  # a text that no path can be
            raise RejectedRow(f"{self._field} {name[:200]!r} cannot be read: {error.strerror}") from error

    def fields(self, name: str) -> dict[str, Any]:
        """The fields ``image``, ``images`` and ``image_id`` of a document with this one image."""
        return stored_images([self.read(name)])


class ReferredImages:
    """Images that stay in the folder ``root`` (None: there are none); a row's name may begin with ``prefix``.

    With ``read`` each must be there and decode, and its digest is its ``image_id``. Without, it may be absent, and its
    file's stem is its ``image_id``.
    """

    def __init__(self, root: Path | None, field: str, *, read: bool = True, prefix: str = "") -> None:
        self._root, self._field, self._prefix, self._read = root and root.resolve(), field, prefix, read
        self._look = functools.cache(self._looked_at)

    def has(self, name: str) -> bool:
        """Whether the image's file is there, or need not be."""
        return not self._read or (self._root is not None and (self._root / name.removeprefix(self._prefix)).is_file())

    def fields(self, name: str) -> dict[str, Any]:
        """As :meth:`StoredImages.fields`; RejectedRow if the image is not there or no image."""
        name = name.removeprefix(self._prefix)
        problem, digest = self._look(name)
        if problem and self._read:
            raise RejectedRow(f"{self._field} {name!r}{problem}")
        image = None if problem else {"bytes": None, "path": str(self._root / name)}  # type: ignore[operator]
        return {"image": image, "images": [], "image_id": digest or Path(name).stem}

    def _looked_at(self, name: str) -> tuple[str, str]:
        """An image's problem, "" if none; and its digest, "" if it is not read."""
        if self._root is None:
            return " is not in the folder of images", ""
        try:
            path = (self._root / checked_name(name)).resolve()
            if not path.is_relative_to(self._root):
                return " is a link out of the folder of images; it was not followed", ""
            if not path.is_file():
                return " is not in the folder of images", ""
            data = (read_encoded({"path": str(path)}) or b"") if self._read else b""
            problem = image_problem(data) if self._read else ""
            if pictures.is_dicom(data):
                problem = problem or "is DICOM, which is not shown from where it lies. Write it as PNG."
        except UserError as error:
            return f": {error}", ""
        except MissingFileError as error:
            return f": {error}", ""
        except OSError as error:
            return f" cannot be read: {error.strerror}", ""
        return (f" {problem}", "") if problem else ("", image_id([data]) if self._read else "")


Images = StoredImages | ReferredImages


def missing_files(paths: list[str]) -> list[str]:
    return [path for path in dict.fromkeys(paths) if not Path(path).is_file()]


def touched_files(references: list[tuple[str, str]], since: float) -> list[tuple[str, str]]:
    """Those among (path, image_id) whose status changed from ``since`` (seconds) on; no program sets it back."""
    unique_references = dict.fromkeys(references)
    return [
        (path, name) for path, name in unique_references if Path(path).is_file() and Path(path).stat().st_ctime >= since
    ]


def changed_files(references: list[tuple[str, str]]) -> list[str]:
    """The paths among (path, image_id) whose file is gone or has other bytes than when it was prepared."""
    changed = []
    for path, digest in dict.fromkeys(references):
        try:
            same = not _DIGEST.fullmatch(digest) or image_id([Path(path).read_bytes()]) == digest
        except OSError:
            same = False
        if not same or not Path(path).is_file():
            changed.append(path)
    return changed


def folder_of_images(folder: Path, places: tuple[str, ...]) -> Path | None:
    """The one of ``places`` in ``folder`` (``*``: any name) that is a folder; ``UserError`` if several are."""
    folders = [each for pattern in places for each in sorted(folder.glob(pattern)) if each.is_dir()]
    if len({each.resolve() for each in folders}) > 1:
        names = ", ".join(str(each.relative_to(folder)) for each in folders)
        raise UserError(f"{str(folder)!r} has several folders of images: {names}. Leave one of them.")
    return folders[0] if folders else None


class ImageCells:
    """Makes bytes of the image cells of one release."""

    def __init__(self, release: Release) -> None:
        self._release = release

    @functools.cached_property
    def _file_names(self) -> Mapping[str, Sequence[str]]:
        return _index_names(self._release.names())

    @functools.cached_property
    def _open_zips(self) -> tuple[tuple[ZipFolder, Mapping[str, Sequence[str]]], ...]:
        zips = [ZipFolder(self._release.file(name)) for name in self._release.names() if name.lower().endswith(".zip")]
        return tuple((each, _index_names(each.names)) for each in zips)

    def images(self, values: Sequence[Any], table: str) -> list[bytes]:
        """The images in the cells ``values`` of a row of ``table`` (its name in the release), in order.

        A cell is empty, bytes, ``{"bytes": ..., "path": ...}``, base64 (also as a data URL), the path of a file,
        several paths, or a list of any of these. RejectedRow: it is none of these, or a file is not there.
        """
        return [self._image_bytes(cell_image, table) for cell_image in self._cell_images([*values], table)]

    def missing(self, values: Sequence[Any], table: str) -> list[str]:
        """The paths in the cells ``values`` at which no file is, in order; no image is read."""
        paths = [path for cell_image in self._cell_images([*values], table) if (path := _path_in(cell_image))]
        return [path for path in paths if not self._is_there(path, table)]

    def _cell_images(self, value: Any, table: str) -> list[Any]:
        if value is None or (isinstance(value, str) and not value.strip()):
            return []
        if isinstance(value, list):
            return [cell_image for item in value for cell_image in self._cell_images(item, table)]
        if isinstance(value, str):
            paths = _split_paths(value.strip())
            # A comma may stand in a file's name.
            return [value.strip()] if len(paths) > 1 and self._is_there(value.strip(), table) else paths
        return [str(value) if type(value) is int else value]  # images are numbered

    def _is_there(self, path: str, table: str) -> bool:
        name = _release_name(path)
        try:
            checked_name(name)
            self._release.file(self._find_name(name, table))
        except MissingFileError:
            return self._find_in_zips(name) is not None
        except RejectedRow:  # in several places
            return True
        return True

    def _find_in_zips(self, name: str) -> tuple[ZipFolder, str] | None:
        for zipped, names in self._open_zips:
            places = _names_ending_with(names, name)
            if len(places) == 1:
                return zipped, places[0]
        return None

    def _image_bytes(self, value: Any, table: str) -> bytes:
        if isinstance(value, bytes):
            return value
        if isinstance(value, Mapping):
            data, path = value.get("bytes"), value.get("path")
            if isinstance(data, bytes) and data:
                return data
            if isinstance(path, str) and path.strip():
                return self._file_bytes(path.strip(), table)
        if isinstance(value, str):
            return _decode_base64(value) if _is_base64(value) else self._file_bytes(value, table)
        raise RejectedRow(f"image is neither bytes, base64 nor a path: {str(value)[:_SHOWN]!r}")

    def _file_bytes(self, path: str, table: str) -> bytes:
        name = _release_name(path)
        try:
            checked_name(name)
            return _read_file(self._release.file(self._find_name(name, table)))
        except MissingFileError as error:
            if zip_and_name := self._find_in_zips(name):
                zipped, inside = zip_and_name
                return zipped.read(inside)
            raise RejectedRow(f"image {path[:_SHOWN]!r}: {error}") from error
        except OSError as error:  # a text that no path can be
            raise RejectedRow(f"image {path[:_SHOWN]!r} cannot be read: {error.strerror}") from error

    def _find_name(self, name: str, table: str) -> str:
        """The release's name of an image: as given, beside the table, or the only one that ends so.

        A name may be in another case, or lack its ending.
        """
        beside = str(PurePosixPath(table).parent / name)
        for candidate in (beside, name):
            if candidate in self._file_names.get(_last_part(name), ()):
                return candidate
        ends = _names_ending_with(self._file_names, name)
        if len(ends) > 1:
            raise RejectedRow(
                f"image {name[:_SHOWN]!r} is in {len(ends)} places: {', '.join(ends[:3])}. Write the folder and the "
                "ending into the table too"
            )
        return ends[0] if ends else name


def _last_part(name: str) -> str:
    return name.rpartition("/")[2].casefold()


def _index_names(names: Iterable[str]) -> Mapping[str, Sequence[str]]:
    """The names by their last part in small letters, with its ending and without."""
    found: dict[str, list[str]] = {}
    for name in names:
        last = _last_part(name)
        for key in (last, last.rpartition(".")[0]):
            found.setdefault(key, []).append(name)
    return found


def _names_ending_with(names: Mapping[str, Sequence[str]], name: str) -> list[str]:
    """The names that end with ``name``; if there are none, the images that do so in another case or without ending."""
    alike, wanted = names.get(_last_part(name), ()), f"/{name.casefold()}"
    return [each for each in alike if f"/{each}".endswith(f"/{name}")] or [
        each
        for each in alike
        if each.lower().endswith(SUFFIXES)
        and any(f"/{part.casefold()}".endswith(wanted) for part in (each, each.rpartition(".")[0]))
    ]


def _read_file(path: Path) -> bytes:
    try:
        return read_encoded({"path": str(path)}) or b""
    except UserError as error:
        raise RejectedRow(str(error)) from error


def _release_name(path: str) -> str:
    return path.replace("\\", "/").removeprefix("./")


def _path_in(value: Any) -> str:
    """The path that an item of a cell stands for; "" for an image itself, and for anything else."""
    if isinstance(value, Mapping):
        path = value.get("path")
        return path.strip() if isinstance(path, str) and not value.get("bytes") else ""
    return value if isinstance(value, str) and not _is_base64(value) else ""


def _split_paths(text: str) -> list[str]:
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except ValueError:
            listed = re.findall(r"'([^']*)'", text)  # as Python writes a list
        if isinstance(listed, list) and listed and all(isinstance(each, str) for each in listed):
            return [each.strip() for each in listed if each.strip()]
        if not text.lower().endswith(SUFFIXES):
            raise RejectedRow(f"image starts like a list of texts and is none: {text[:_SHOWN]!r}")
    if len(text) > _LONGEST_PATH and not re.search(r"[;|\n]", text):
        return [text]
    parts = [part.strip() for part in re.split(r"[;|\n]|,(?!\S*base64)", text) if part.strip()]
    with_ending = {part.lower().endswith(SUFFIXES) for part in parts}
    is_one = DATA_URL.match(text) or _BASE64_LINE.match(text)
    return parts if with_ending == {True} or (with_ending == {False} and not is_one) else [text]


def _is_base64(text: str) -> bool:
    return bool(DATA_URL.match(text)) or (len(text) > 64 and not text.lower().endswith(SUFFIXES))


def _decode_base64(text: str) -> bytes:
    try:
        return from_base64(text)
    except ValueError as error:
        raise RejectedRow(f"image is no base64: {error}") from error
