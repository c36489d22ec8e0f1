"""PNG files of 8-bit RGB pictures, made quickly: lossless, in about an eighth of the time of Pillow's default."""

from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

import numpy as np

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_UP = 2  # the filter's number in the PNG specification: each row as its difference from the row above
_LEVEL = 1


def encoded(image: Image) -> bytes:
    """The PNG file of ``image``, whose mode must be RGB (see :func:`lmms_medtasks.pictures.rgb8`); same pixels.

    One filter for all rows, and zlib at its fastest level: 6 ms for 512 x 512 pixels where Pillow takes 50 (it tries
    five filters a row, and compresses at level 6), for a file that is about a tenth larger. zlib lets other threads
    run meanwhile.
    """
    if image.mode != "RGB":
        raise UserError(f"An image must be 8-bit RGB to be encoded as PNG, its mode is {image.mode!r}.")
    pixels = np.asarray(image).reshape(image.height, image.width * 3)
    rows = np.empty((image.height, 1 + image.width * 3), np.uint8)
    rows[:, 0] = _UP
    rows[0, 1:] = pixels[0]
    np.subtract(pixels[1:], pixels[:-1], out=rows[1:, 1:])
    size = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 0)  # 8 bits, RGB, not interlaced
    parts = ((b"IHDR", size), (b"IDAT", zlib.compress(rows.data, _LEVEL)), (b"IEND", b""))
    return _SIGNATURE + b"".join(_make_chunk(kind, data) for kind, data in parts)


def _make_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
