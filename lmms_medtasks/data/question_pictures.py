"""The pictures of questions for people to look at: as the data has them, small, without what else the files say."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from lmms_medtasks import pictures
from lmms_medtasks.data import locating
from lmms_medtasks.data.documents import DATA, images_of
from lmms_medtasks.errors import UserError

LONGEST = 640
"""Pixels of the longer side, at most."""


def images(data_set: str, split: str, data: str, ids: Collection[str]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """The images of these documents as the data has them, by id; nothing where the data is not on this machine."""
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
            for document in batch.to_pylist():
                if document["id"] in ids:
                    yield document["id"], images_of(document)


def png(image: Mapping[str, Any]) -> bytes:
    """A PNG file of an image, 8-bit RGB, at most :data:`LONGEST` pixels on a side; only its pixels go along.

    Raises UserError where it can't be read.
    """
    import numpy as np
    from PIL import Image

    shown = pictures.rgb8(pictures.opened(image))
    shown.thumbnail((LONGEST, LONGEST))
    buffer = io.BytesIO()
    # From its pixels: what else the file said (a patient's name, a place) does not go along.
    Image.fromarray(np.asarray(shown)).save(buffer, "PNG")
    return buffer.getvalue()
