"""The pictures of questions for the site: as the data has them, and as a model saw them degraded.

A picture is called by what it is made of: the bytes of the source, the degradation with its code and parameters, and
the form of the file. So each is written once, and made once: it is kept as all that a build keeps.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.board import packs
from lmms_medtasks.board.site.folder import Folder
from lmms_medtasks.board.trust import drawn_parameters
from lmms_medtasks.build_cache import NO_CACHE, BuildCache, name_of
from lmms_medtasks.data import question_pictures
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import opened

_FORM = f"webp lossless {question_pictures.LONGEST} 1"
"""Changes when the same source gives another file."""

_AS_SHOWN = "shown_as"
"""What a record of parameters says beside them: the window or background that the picture was shown with."""


_Degraded = tuple[str, Mapping[str, Any], str | None] | None
"""Name, recorded parameters and modality; None: clean."""


class Written(NamedTuple):
    """A picture in the site: its path there, and its size in pixels."""

    path: str
    width: int
    height: int


class NotMade(UserError):
    """A picture that can't be read, or not be degraded as a run recorded it."""


class Pictures:
    """Writes each picture into the site once; no metadata of the file goes along."""

    def __init__(self, folder: Folder, place: str = "images", cache: BuildCache = NO_CACHE) -> None:
        self._folder = folder
        self._cache = cache
        self._place = place
        self._written: dict[str, Written] = {}

    def clean(self, image: Mapping[str, Any]) -> Written:
        """A picture as the data has it. Raises NotMade where it can't be read."""
        return self._write(image, None)

    def degraded(
        self, image: Mapping[str, Any], name: str, parameters: Mapping[str, Any], modality: str | None
    ) -> Written:
        """A picture degraded with the parameters that a run recorded: what its model saw.

        Raises NotMade where the degradation is not known here, takes other parameters, or draws none as large.
        """
        drawn = {key: value for key, value in parameters.items() if key != _AS_SHOWN}
        return self._write(image, (name, drawn, modality))

    def _write(self, image: Mapping[str, Any], degraded: _Degraded) -> Written:
        with _making(degraded):
            source = image["bytes"] if image["bytes"] is not None else Path(image["path"]).read_bytes()
            recipe: list[Any] = [_FORM, hashlib.sha256(source).hexdigest()]
            if degraded is not None:
                name, drawn, modality = degraded
                recipe += [degradations.code_of(name, modality), degradations.canonical_name(name), drawn, modality]
        digest = name_of(recipe)[:24]
        if digest not in self._written:
            content = self._cache.kept(recipe, lambda: _made(source, degraded), bytes, bytes)
            path = f"{self._place}/{digest}.webp"
            self._folder.data(path, content)
            with Image.open(io.BytesIO(content)) as picture:  # the head alone is read
                self._written[digest] = Written(path, *picture.size)
        return self._written[digest]


def _made(source: bytes, degraded: _Degraded) -> bytes:
    with _making(degraded):
        image = opened(source)
        if degraded is not None:
            name, drawn, modality = degraded
            drawn_parameters.check(name, drawn, (image.height, image.width), modality)
            parameters = degradations.parameters_from_json(name, drawn, modality)
            image = degradations.apply_parameters(image, name, parameters, modality)
        return question_pictures.webp(image)


@contextmanager
def _making(degraded: _Degraded) -> Iterator[None]:
    """Tell what is wrong with a picture from a cache or a site that can't be written."""
    # A log may say anything; some degradations need a package that a board does without (Numba).
    wrong = (UserError, OSError) if degraded is None else (UserError, OSError, ImportError, *packs.UNCOMPUTABLE)
    try:
        yield
    except wrong as error:
        raise NotMade(str(error)) from error
