"""Every picture of a task's documents is decoded once, before a model is asked. Messages name row, id and file.

Good pictures are remembered in the data folder by their bytes, so that later runs don't decode again.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_medtasks import progress
from lmms_medtasks.data import store
from lmms_medtasks.data.documents import images_of
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_problem

if TYPE_CHECKING:
    from datasets import Dataset

FOLDER = "checked_pictures"
_VERSION = b"2"  # of what is checked
_NAMED = 10
_AT_ONCE = 100


def check_images(documents: Dataset, folder: Path | None = None) -> int:
    """Decode all pictures; their number. ``folder``: the task's, for paths. UserError: those that can't be shown."""
    rows = encoded_images(documents)
    if rows is None:
        return 0
    total = hashlib.sha256(_VERSION)
    count = 0
    for row in rows:
        for each in images_of(row):
            count += 1
            total.update(_picture_state(each))
    mark = store.data_home() / FOLDER / total.hexdigest()[:32]
    if not count or mark.is_file():
        return count
    # By the task's folder where there is one: after one picture is mended, the others need no second look.
    begun = mark.with_name(f"{hashlib.sha256(str(folder or mark).encode()).hexdigest()[:32]}.part")
    _check_all(documents, rows, count, folder, _Remembered(begun))
    with contextlib.suppress(OSError):  # the next run decodes again
        mark.parent.mkdir(parents=True, exist_ok=True)
        mark.touch()
        begun.unlink(missing_ok=True)
    return count


class _Remembered:
    """The good pictures so far, in a file: an interrupted check goes on where it stopped. The file is optional."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: set[str] = set()
        with contextlib.suppress(OSError):
            self._known = set(path.read_text("ascii", errors="replace").split())
        self._new: list[str] = []

    def has(self, state: bytes) -> bool:
        return hashlib.sha256(state).hexdigest() in self._known

    def add(self, state: bytes) -> None:
        self._new.append(hashlib.sha256(state).hexdigest())
        if len(self._new) >= _AT_ONCE:
            self.write()

    def write(self) -> None:
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="ascii") as file:
                file.writelines(f"{each}\n" for each in self._new)
        self._new = []


def encoded_images(documents: Dataset) -> Dataset | None:
    """The picture columns, not decoded; None without any, or if pictures are no encoded images."""
    names = [name for name in ("image", "images") if name in documents.column_names]
    if not names:
        return None
    rows = documents.select_columns(names)
    for name in names:
        encoded = as_encoded(rows, name)
        if encoded is None:
            return None
        rows = encoded
    return rows


def as_encoded(dataset: Dataset, name: str) -> Dataset | None:
    """``dataset`` with the images of a column not decoded; None if the column holds no images."""
    import datasets

    feature = dataset.features[name]
    inner = feature[0] if isinstance(feature, list) else getattr(feature, "feature", feature)
    if not isinstance(inner, datasets.Image):
        return None
    stored = datasets.Image(decode=False)
    return dataset.cast_column(name, stored if inner is feature else datasets.Sequence(stored))


def _picture_state(picture: Mapping[str, Any]) -> bytes:
    if picture.get("bytes") is not None:
        return hashlib.sha256(picture["bytes"]).digest()
    try:
        status = Path(str(picture.get("path"))).stat()
    except OSError:
        return repr(picture).encode()
    return f"{picture['path']}/{status.st_size}/{status.st_mtime_ns}".encode()


def _check_all(documents: Dataset, rows: Dataset, count: int, folder: Path | None, remembered: _Remembered) -> None:
    ids = list(documents["id"]) if "id" in documents.column_names else [""] * len(documents)
    wrong: list[str] = []
    known: dict[bytes, str] = {}
    try:
        with progress.progress_bar(count, "checking images", "images") as step:
            for row, name, picture in _iter_pictures(rows):
                state = _picture_state(picture)
                if state not in known:
                    before = remembered.has(state)
                    known[state] = "" if before else image_problem(picture)
                    if not known[state] and not before:
                        remembered.add(state)
                if known[state]:
                    location = f"row {row + 1} (id {str(ids[row])!r}), {_picture_label(picture, name, folder)}"
                    wrong.append(f"{location}: {known[state]}")
                step(1)
    finally:  # also where somebody pressed Ctrl-C
        remembered.write()
    if wrong:
        more = [f"and {len(wrong) - _NAMED} more"] if len(wrong) > _NAMED else []
        listed = "\n".join(f"  {each}" for each in [*wrong[:_NAMED], *more])
        raise UserError(f"{len(wrong)} of {count} images can't be shown to a model:\n{listed}")


def _iter_pictures(rows: Dataset) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    for number, row in enumerate(rows):
        shown = images_of(row)
        for number_in_row, picture in enumerate(shown, start=1):
            yield number, f"image {number_in_row} of {len(shown)}" if len(shown) > 1 else "its image", picture


def _picture_label(picture: Mapping[str, Any], name: str, folder: Path | None) -> str:
    path = picture.get("path")
    if not path or picture.get("bytes") is not None:
        return name
    inside = folder is not None and Path(path).is_relative_to(folder)
    return Path(path).relative_to(folder).as_posix() if inside and folder is not None else str(path)
