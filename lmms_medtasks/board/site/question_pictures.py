"""The pictures of questions for the site: from the mini data, or from prepared data where that was asked for."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterable, Mapping
from typing import Any

from lmms_medtasks import pictures
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.data import locating
from lmms_medtasks.data.documents import DATA, images_of
from lmms_medtasks.errors import UserError

_LONGEST = 640
"""Pixels of the longer side."""


class Pictures:
    """Writes each picture once, named by its content; no metadata of the file goes along."""

    def __init__(self, folder: Folder, place: str = "images") -> None:
        self._folder = folder
        self._place = place
        self._known: dict[bytes, str] = {}

    def of(self, data_set: str, split: str, data: str, ids: Iterable[str]) -> dict[str, list[str]]:
        """The addresses of the pictures of these documents, by id: the picture as the data has it, not degraded.

        {} where the data is not on this machine.
        """
        wanted, found = set(ids), {}
        for document in _documents(data_set, split, data):
            name = document["id"]
            if name in wanted:
                found[name] = [self._written(image) for image in images_of(document)]
        return found

    def _written(self, image: Mapping[str, Any]) -> str:
        content = image["bytes"] if image["bytes"] is not None else str(image["path"]).encode()
        key = hashlib.sha256(content).digest()
        if key not in self._known:
            self._known[key] = self._new(image)
        return self._known[key]

    def _new(self, image: Mapping[str, Any]) -> str:
        import numpy as np
        from PIL import Image

        shown = pictures.rgb8(pictures.opened(image))
        shown.thumbnail((_LONGEST, _LONGEST))
        buffer = io.BytesIO()
        # From its pixels: what else the file said (a patient's name, a place) does not go along.
        Image.fromarray(np.asarray(shown)).save(buffer, "PNG")
        path = f"{self._place}/{hashlib.sha256(buffer.getvalue()).hexdigest()[:24]}.png"
        if path not in self._folder.files:
            self._folder.data(path, buffer.getvalue())
        return path


def _documents(data_set: str, split: str, data: str) -> Iterable[Mapping[str, Any]]:
    import pyarrow.parquet as pq

    if data not in DATA:
        return
    try:
        located = locating.find(data_set, split, data)  # type: ignore[arg-type]
    except UserError:  # of another release of ours, or damaged: no pictures, the rest of the page stands
        return
    if located is None:
        return
    with pq.ParquetFile(located.path) as file:
        for batch in file.iter_batches(batch_size=64, columns=["id", "image", "images"]):
            yield from batch.to_pylist()
