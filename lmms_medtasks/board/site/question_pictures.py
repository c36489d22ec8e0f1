"""The pictures of questions for the site: as the data has them, and as a model saw them degraded.

A picture is called by what it is made of: the bytes of the source, the degradation with its code and parameters, and
the form of the file. So each is written once, and made once: it is kept in the folder that :func:`kept_in` names.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks import degradations
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.data import question_pictures, store
from lmms_medtasks.pictures import opened

_FORM = f"webp lossless {question_pictures.LONGEST} 1"
"""Changes when the same source gives another file."""

_AS_SHOWN = "shown_as"
"""What a record of parameters says beside them: the window or background that the picture was shown with."""


def kept_in() -> Path:
    """The folder of finished pictures, below ``MEDTASKS_HOME``; it may be deleted at any time."""
    return store.home() / "cache" / "board_pictures"


class Pictures:
    """Writes each picture into the site once; no metadata of the file goes along."""

    def __init__(self, folder: Folder, place: str = "images") -> None:
        self._folder = folder
        self._place = place

    def clean(self, image: Mapping[str, Any]) -> str:
        """The path of a picture as the data has it. Raises UserError where it can't be read."""
        return self._written(image, None)

    def degraded(self, image: Mapping[str, Any], name: str, parameters: Mapping[str, Any], modality: str | None) -> str:
        """The path of a picture degraded with the parameters that a run recorded: what its model saw.

        Raises UserError where the degradation is not known here or takes other parameters.
        """
        drawn = {key: value for key, value in parameters.items() if key != _AS_SHOWN}
        return self._written(image, (name, drawn, modality))

    def _written(self, image: Mapping[str, Any], degraded: tuple[str, Mapping[str, Any], str | None] | None) -> str:
        source = image["bytes"] if image["bytes"] is not None else Path(image["path"]).read_bytes()
        recipe: list[Any] = [_FORM, hashlib.sha256(source).hexdigest()]
        if degraded is not None:
            name, drawn, modality = degraded
            recipe += [degradations.code_of(name, modality), degradations.canonical_name(name), drawn, modality]
        digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:24]
        path = f"{self._place}/{digest}.webp"
        if path not in self._folder.files:
            self._folder.data(path, _kept(digest) or _keep(digest, _made(source, degraded)))
        return path


def _made(source: bytes, degraded: tuple[str, Mapping[str, Any], str | None] | None) -> bytes:
    image = opened(source)
    if degraded is not None:
        name, drawn, modality = degraded
        parameters = degradations.parameters_from_json(name, drawn, modality)
        image = degradations.apply_parameters(image, name, parameters, modality)
    return question_pictures.webp(image)


def _kept(digest: str) -> bytes | None:
    path = kept_in() / f"{digest}.webp"
    return path.read_bytes() if path.is_file() else None


def _keep(digest: str, content: bytes) -> bytes:
    folder = kept_in()
    folder.mkdir(parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(dir=folder)
    with os.fdopen(handle, "wb") as file:
        file.write(content)
    os.replace(part, folder / f"{digest}.webp")
    return content
