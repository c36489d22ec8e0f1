"""The pictures of questions for the site: as the data has them, and as a model saw them degraded.

A picture is called by what it is made of: the bytes of the source, the degradation with its code and parameters, and
the form of the file. So each is written once, and made once: it is kept in the folder that :func:`kept_in` names.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.board.trust import drawn_parameters
from lmms_medtasks.data import question_pictures, store
from lmms_medtasks.pictures import opened
from lmms_medtasks.writing import write_bytes

_FORM = f"webp lossless {question_pictures.LONGEST} 1"
"""Changes when the same source gives another file."""

_AS_SHOWN = "shown_as"
"""What a record of parameters says beside them: the window or background that the picture was shown with."""


def kept_in() -> Path:
    """The folder of finished pictures, below ``MEDTASKS_HOME``; it may be deleted at any time."""
    return store.home() / "board_pictures"


class Written(NamedTuple):
    """A picture in the site: its path there, and its size in pixels."""

    path: str
    width: int
    height: int


class Pictures:
    """Writes each picture into the site once; no metadata of the file goes along."""

    def __init__(self, folder: Folder, place: str = "images") -> None:
        self._folder = folder
        self._place = place
        self._written: dict[str, Written] = {}

    def clean(self, image: Mapping[str, Any]) -> Written:
        """A picture as the data has it. Raises UserError where it can't be read."""
        return self._write(image, None)

    def degraded(
        self, image: Mapping[str, Any], name: str, parameters: Mapping[str, Any], modality: str | None
    ) -> Written:
        """A picture degraded with the parameters that a run recorded: what its model saw.

        Raises UserError where the degradation is not known here, takes other parameters, or draws none as large.
        """
        drawn = {key: value for key, value in parameters.items() if key != _AS_SHOWN}
        return self._write(image, (name, drawn, modality))

    def _write(self, image: Mapping[str, Any], degraded: tuple[str, Mapping[str, Any], str | None] | None) -> Written:
        source = image["bytes"] if image["bytes"] is not None else Path(image["path"]).read_bytes()
        recipe: list[Any] = [_FORM, hashlib.sha256(source).hexdigest()]
        if degraded is not None:
            name, drawn, modality = degraded
            recipe += [degradations.code_of(name, modality), degradations.canonical_name(name), drawn, modality]
        digest = hashlib.sha256(json.dumps(recipe, sort_keys=True).encode()).hexdigest()[:24]
        if digest not in self._written:
            content = _kept(digest) or _keep(digest, _made(source, degraded))
            path = f"{self._place}/{digest}.webp"
            self._folder.data(path, content)
            with Image.open(io.BytesIO(content)) as picture:  # the head alone is read
                self._written[digest] = Written(path, *picture.size)
        return self._written[digest]


def _made(source: bytes, degraded: tuple[str, Mapping[str, Any], str | None] | None) -> bytes:
    image = opened(source)
    if degraded is not None:
        name, drawn, modality = degraded
        drawn_parameters.check(name, drawn, (image.height, image.width), modality)
        parameters = degradations.parameters_from_json(name, drawn, modality)
        image = degradations.apply_parameters(image, name, parameters, modality)
    return question_pictures.webp(image)


def _kept(digest: str) -> bytes | None:
    """A kept picture; None where there is none, it is broken, or another user's."""
    try:
        content = (kept_in() / f"{digest}.webp").read_bytes()
        with Image.open(io.BytesIO(content), formats=["WEBP"]):
            return content
    except OSError:
        return None


def _keep(digest: str, content: bytes) -> bytes:
    """``content``, which is kept where the folder can be written: what is not kept is made again."""
    with suppress(OSError):
        write_bytes(kept_in() / f"{digest}.webp", content)
    return content
