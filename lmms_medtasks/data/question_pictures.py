"""Questions of the data for people to look at; their pictures small, without what else the files say."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lmms_medtasks import pictures
from lmms_medtasks.data import locating
from lmms_medtasks.data.documents import DATA, images_of
from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

LONGEST = 640  # Pixels of the longer side, at most

_FIELDS = ("id", "question", "options", "answer", "image", "images")


@dataclass(frozen=True, kw_only=True)
class QuestionDocument:
    """A question of the prepared data. ``options``: without letters. ``answer``: a letter, or an open answer."""

    id: str
    question: str
    options: tuple[str, ...]
    answer: str
    images: tuple[Mapping[str, Any], ...]


class DocumentSplit:
    """The documents of a split; none if the data is not on this machine."""

    def __init__(self, data_set: str, split: str, data: str) -> None:
        import pyarrow.parquet as pq

        self._path = None
        self._places: dict[str, int] = {}
        if data not in DATA:
            return
        try:
            located = locating.find_split(data_set, split, data)  # type: ignore[arg-type]
        except UserError:  # of another release of ours, or damaged: no pictures, the rest of the page stands
            return
        if located is None:
            return
        self._path = located.path
        with pq.ParquetFile(self._path) as file:
            for group in range(file.num_row_groups):
                names = file.read_row_group(group, columns=["id"]).column("id").to_pylist()
                self._places.update(dict.fromkeys(names, group))

    def __contains__(self, id: object) -> bool:
        return id in self._places

    def documents(self, ids: Collection[str]) -> Iterator[QuestionDocument]:
        """Those of these ids, in the order of the data; only the parts of the file that hold them are read."""
        import pyarrow.parquet as pq

        wanted = set(ids) & self._places.keys()
        if self._path is None or not wanted:
            return
        groups = sorted({self._places[id] for id in wanted})
        with pq.ParquetFile(self._path) as file:
            for batch in file.iter_batches(batch_size=64, row_groups=groups, columns=list(_FIELDS)):
                for document in batch.to_pylist():
                    if document["id"] in wanted:
                        yield QuestionDocument(
                            id=document["id"],
                            question=document["question"],
                            options=tuple(document["options"]),
                            answer=document["answer"],
                            images=tuple(images_of(document)),
                        )


def to_shown_image(image: Mapping[str, Any] | Image) -> Image:
    """An image as 8-bit RGB, at most :data:`LONGEST` pixels on a side. Raises UserError if it can't be read."""
    small = pictures.to_rgb8(pictures.open_image(image))
    small.thumbnail((LONGEST, LONGEST))
    return small


def encode_shown_png(image: Mapping[str, Any] | Image) -> bytes:
    """A PNG file of :func:`to_shown_image`; only its pixels go along."""
    return _encode_pixels(to_shown_image(image), "PNG")


def encode_shown_webp(image: Mapping[str, Any] | Image) -> bytes:
    """A lossless WebP file of :func:`to_shown_image`, about 0.6 times as large as PNG; only its pixels go along."""
    return _encode_pixels(to_shown_image(image), "WEBP", lossless=True, quality=60, method=4)


def _encode_pixels(image: Image, form: str, **options: Any) -> bytes:
    import numpy as np
    from PIL import Image as Images

    buffer = io.BytesIO()
    # From its pixels: what else the file said (a patient's name, a place) does not go along.
    Images.fromarray(np.asarray(image)).save(buffer, form, **options)
    return buffer.getvalue()
