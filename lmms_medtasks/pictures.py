"""Pictures as a runner gets them: 8-bit RGB, whatever they were stored as."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_SWITCH = threading.RLock()
_WIDE = ("I;16", "I;16B", "I;16L", "I;16N", "I")


def opened(picture: Any) -> Image:
    """A picture as a document holds it (PIL image, encoded bytes, {"bytes": …} or {"path": …}) as a PIL image.

    The picture is read to its end. Raises UserError for anything else, and for what is no image, truncated, or has more
    pixels than Pillow takes for safe.
    """
    from PIL import Image, UnidentifiedImageError

    data = _encoded(picture) if isinstance(picture, Mapping) else picture
    if not isinstance(data, bytes | Image.Image):
        raise UserError(f"A picture must be a PIL image or its bytes, got {type(picture).__name__}.")
    try:
        with refusing_truncated():
            image = Image.open(io.BytesIO(data)) if isinstance(data, bytes) else data
            image.load()
    except UnidentifiedImageError as error:
        raise UserError("A picture is in no image format that Pillow knows.") from error
    except Image.DecompressionBombError as error:
        raise UserError(f"A picture may be a decompression bomb: {error}") from error
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        raise UserError(f"A picture could not be read to its end, it is truncated or damaged: {error}") from error
    return image


def _encoded(picture: Mapping[str, Any]) -> bytes | None:
    if picture.get("bytes") is not None or not picture.get("path"):
        return picture.get("bytes")
    try:
        return Path(picture["path"]).read_bytes()
    except OSError as error:
        raise UserError(f"The picture {picture['path']!r} cannot be read: {error.strerror}.") from error


@contextmanager
def refusing_truncated() -> Iterator[None]:
    """Have Pillow refuse truncated images, also where a library of this process told it not to (the harness does).

    Pillow has one switch for the process: threads that read images here wait for each other.
    """
    from PIL import ImageFile

    with _SWITCH:
        before = ImageFile.LOAD_TRUNCATED_IMAGES
        ImageFile.LOAD_TRUNCATED_IMAGES = False
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES = before


def rgb8(image: Image) -> Image:
    """A new picture with ``image``'s pixels as 8-bit RGB, of the type ``PIL.Image.Image`` itself, never a file's.

    Every runner treats that alike. Several of the harness (llava_onevision, longva, egogpt) ask for that very type, and
    show the model the picture of the question before where it is a subclass such as ``PngImageFile``.

    8-bit modes are converted by Pillow; an alpha channel is dropped, the colours under it stay. 16-bit modes are
    scaled from 0 … 65535 (Pillow would clip them at 255), mode F from 0 … 1; both round to the nearest level.
    Raises UserError for values outside these ranges.
    """
    from PIL import Image as Images

    if image.mode in _WIDE:
        return Images.fromarray(_scaled(np.asarray(image), 65535.0, image.mode)).convert("RGB")
    if image.mode == "F":
        return Images.fromarray(_scaled(np.asarray(image), 1.0, image.mode)).convert("RGB")
    return image.convert("RGB")  # a copy where it is RGB already


def _scaled(values: np.ndarray, full: float, mode: str) -> np.ndarray:
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= full):
        raise UserError(f"A picture of mode {mode!r} must hold values from 0 to {full:g}, got {low:g} to {high:g}.")
    return np.rint(values * (255.0 / full)).astype(np.uint8)
