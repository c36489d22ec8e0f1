"""How pictures and documents of the mini data are put into files: the same libraries write the same bytes."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.data import documents, sources

if TYPE_CHECKING:
    import pyarrow as pa
    from PIL import Image


def png(pixels: np.ndarray) -> bytes:
    """The PNG file of a uint8 picture, (n, n) or (n, n, 3), without any metadata."""
    from PIL import Image

    return png_of(Image.fromarray(pixels))


def png_of(image: Image.Image) -> bytes:
    buffer = io.BytesIO()
    # Higher levels take five times as long for files 4 % smaller; the default optimiser makes larger ones.
    image.save(buffer, "PNG", compress_level=7)
    return buffer.getvalue()


def write(path: Path, rows: list[dict[str, Any]], suite: str) -> Path:
    """Write ``rows`` of ``suite`` as parquet in one row group; a picture that rows share is stored once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = documents.document_schema(sources.get(suite).tags)
    table: pa.Table = pa.Table.from_pylist(rows, schema=schema)
    part = path.with_name(path.name + ".part")
    pq.write_table(
        table,
        part,
        row_group_size=len(rows),
        compression="zstd",
        use_dictionary=True,
        dictionary_pagesize_limit=64 * 1024 * 1024,
        write_statistics=False,
    )
    os.replace(part, path)
    return path
