"""Image bytes as sources have them: they are checked and named, never re-encoded."""

from __future__ import annotations

import base64
import hashlib
import io
import re
import warnings
from collections.abc import Sequence
from typing import Any

from lmms_medtasks import pictures

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP")
"""What may be decoded: the formats of medical image sets; others have parsers that untrusted bytes should not meet."""

DATA_URL = re.compile(r"data:[\w/+.-]*;base64,", re.IGNORECASE)

MAX_PIXELS = 100_000_000
"""An image with more pixels is taken for a decompression bomb."""


def image_problem(data: bytes) -> str | None:
    """Why ``data`` is not an image that decodes to its end, or None if it is one."""
    from PIL import Image

    try:
        with warnings.catch_warnings(), pictures.refusing_truncated():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                width, height = image.size
                if width * height > MAX_PIXELS:
                    return f"image has {width} x {height} pixels, the limit is {MAX_PIXELS:,}"
                image.verify()
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                image.load()
    except Image.UnidentifiedImageError:
        return f"image is none of {', '.join(FORMATS)} ({len(data)} bytes)"
    except Exception as error:  # Pillow's parsers raise many kinds (struct.error, IndexError ...) on broken bytes
        return f"image does not decode: {type(error).__name__}: {error}"
    return None


def from_base64(text: str) -> bytes:
    """The bytes of base64 text, also of a data URL; raises ValueError where it is none."""
    return base64.b64decode(re.sub(r"\s", "", DATA_URL.sub("", text, count=1)), validate=True)


def image_id(images: Sequence[bytes]) -> str:
    """A short name for one or several images that depends on their bytes only: 16 hexadecimal digits of SHA-256."""
    digest = hashlib.sha256()
    for data in images:
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:16]


def stored(images: Sequence[bytes]) -> dict[str, Any]:
    """The fields ``image``, ``images`` and ``image_id`` of a document that has these images in it, one or several."""
    cells = [{"bytes": data, "path": None} for data in images]
    one = len(cells) == 1
    return {"image": cells[0] if one else None, "images": [] if one else cells, "image_id": image_id(images)}
