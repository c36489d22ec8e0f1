"""Where a release's images come from: stored in the documents, or left where they are and referred to.

Images that are small and free to copy are stored, so that the prepared data can be moved. Of images that are large, are
shared by many questions, or were given to one person, a document only refers to the user's own file (see
:mod:`lmms_medtasks.data.documents`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks.data.image_bytes import image_id, image_problem
from lmms_medtasks.data.releases import MissingFileError, checked_name
from lmms_medtasks.data.sources import RejectedRow
from lmms_medtasks.errors import UserError

Picture = tuple[dict[str, Any], str]
"""An image as a document has it, and its ``image_id``."""


@dataclass(frozen=True)
class Pictures:
    """The images of a split by their names in the release.

    ``of`` gives one and raises RejectedRow where there is none; ``has`` says whether its file is there, without reading
    it, where the split needs it.
    """

    of: Callable[[str], Picture]
    has: Callable[[str], bool]


_REMEMBERED = 16
_DIGEST = re.compile("[0-9a-f]{16}")


def stored(read: Callable[[str], bytes], has: Callable[[str], bool]) -> Pictures:
    """Images whose bytes go into the documents; ``read`` gives them and raises MissingFileError."""

    # Questions about one image come one after the other.
    @functools.lru_cache(maxsize=_REMEMBERED)
    def picture(name: str) -> Picture:
        try:
            data = read(name)
        except MissingFileError as error:
            raise RejectedRow(f"image: {error}") from error
        return {"bytes": data, "path": None}, image_id([data])

    return Pictures(picture, has)


def referenced(root: Path, *, read: bool = True) -> Pictures:
    """Images that stay in the folder ``root``. With ``read`` each is looked at once: it must decode, and its digest is
    its ``image_id``. Without, it only has to be there, and its file's name without the ending is its ``image_id``."""
    inside = root.resolve()

    @functools.cache
    def known(name: str) -> str | RejectedRow:
        try:
            path = (inside / checked_name(name)).resolve()
        except MissingFileError as error:
            return RejectedRow(f"image: {error}")
        if not path.is_relative_to(inside):
            return RejectedRow(f"image {name!r} is a link out of the folder of images; it was not followed")
        if not path.is_file():
            return RejectedRow(f"image {name!r} is not in the folder of images")
        if not read:
            return path.stem
        data = path.read_bytes()
        problem = image_problem(data)
        return RejectedRow(f"image {name!r}: {problem}") if problem else image_id([data])

    def picture(name: str) -> Picture:
        found = known(name)
        if isinstance(found, RejectedRow):
            raise RejectedRow(*found.args)
        return {"bytes": None, "path": str(inside / name)}, found

    return Pictures(picture, functools.cache(lambda name: (inside / name).is_file()))


def missing_files(paths: list[str]) -> list[str]:
    """Those of the referenced files that are no longer there."""
    return [path for path in dict.fromkeys(paths) if not Path(path).is_file()]


def touched_files(references: list[tuple[str, str]], since: float) -> list[tuple[str, str]]:
    """Those among (path, image_id) whose file was written, or otherwise changed, from ``since`` (seconds) on.

    The time of the last change of status tells, which no program can set back. Files that are gone are not among them.
    """
    found = dict.fromkeys(references)
    return [(path, name) for path, name in found if Path(path).is_file() and Path(path).stat().st_ctime >= since]


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
    found = [each for place in places for each in sorted(folder.glob(place)) if each.is_dir()]
    if len({each.resolve() for each in found}) > 1:
        names = ", ".join(str(each.relative_to(folder)) for each in found)
        raise UserError(f"{str(folder)!r} has several folders of images: {names}. Leave one of them.")
    return found[0] if found else None
