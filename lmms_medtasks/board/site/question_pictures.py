"""The pictures of questions for the site: from the mini data, or from prepared data where that was asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.data import question_pictures


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
        found = question_pictures.images(data_set, split, data, set(ids))
        return {id: [self._written(image) for image in images] for id, images in found}

    def _written(self, image: Mapping[str, Any]) -> str:
        content = image["bytes"] if image["bytes"] is not None else str(image["path"]).encode()
        key = hashlib.sha256(content).digest()
        if key not in self._known:
            self._known[key] = self._new(image)
        return self._known[key]

    def _new(self, image: Mapping[str, Any]) -> str:
        png = question_pictures.png(image)
        path = f"{self._place}/{hashlib.sha256(png).hexdigest()[:24]}.png"
        if path not in self._folder.files:
            self._folder.data(path, png)
        return path
