"""Pictures: opened in one way wherever they come in, and given to runners as 8-bit RGB, whatever they were stored as.

:func:`open_image` is the only way in: upright by the EXIF tag, DICOM in its window, one frame, within one limit on
pixels, read to the end. Two more rules hold wherever a picture enters, for what is shown and for what is degraded:

- **Window** of a 16-bit grey picture (:func:`window_of`): the DICOM window that its file states (``WindowCenter`` and
  ``WindowWidth`` in stored values, as PNG texts or in ``Image.info``); else, if no value reaches half of the full
  scale (12 bits in a 16-bit file), its own smallest and largest value, with a warning; else 0 to 65535.
- **Background** of transparent pixels (:func:`on_background`): white behind a picture whose visible part is darker than
  mid-grey on average, black behind a brighter one. So nothing that is visible vanishes.
"""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import struct
import threading
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.errors import UserError

if TYPE_CHECKING:
    from PIL.Image import Image

_SWITCH = threading.RLock()
WIDE_MODES = ("I;16", "I;16B", "I;16L", "I;16N", "I")  # Grey modes of more than 8 bits
MODES = ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", *WIDE_MODES, "F")
"""What :func:`open_image` gives; other modes are converted to 8-bit RGB."""

Window = tuple[float, float]
FULL_WINDOW: Window = (0.0, 65535.0)

SHOWN_AS = "ShownAs"  # The key in ``Image.info``, and in a PNG's texts, that tells a DICOM file's window, as JSON
_CENTRE, _WIDTH = "WindowCenter", "WindowWidth"
_TIFF_DESCRIPTION = 270
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)

FORMATS = ("PNG", "JPEG", "BMP", "GIF", "TIFF", "WEBP", "PPM", "JPEG2000")
"""What may be decoded beside DICOM: the formats of medical image sets. Others have parsers that untrusted bytes should
not meet."""

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".pgm", ".ppm", ".jp2", ".dcm")
"""How names of pictures end: by this a name is told from other texts. What a file is, its content tells."""

_OTHER_FORMS: tuple[tuple[bytes, int, str], ...] = (
    (b"ftyp", 4, "a video, or HEIC or AVIF. Write the frame that is asked about as PNG"),
    (b"\x1aE\xdf\xa3", 0, "a video (Matroska, WebM). Write the frame that is asked about as PNG"),
    (b"AVI ", 8, "a video (AVI). Write the frame that is asked about as PNG"),
    (b"\x00\x00\x01\xba", 0, "a video (MPEG). Write the frame that is asked about as PNG"),
    (b"%PDF", 0, "a PDF. Write the page out as PNG"),
    (b"\x1f\x8b", 0, "compressed (gzip), as NIfTI volumes are. Write the slice that is asked about as PNG"),
    (b"\x5c\x01\x00\x00", 0, "a NIfTI volume. Write the slice that is asked about as PNG"),
    (b"PK\x03\x04", 0, "a zip. Unpack it"),
    (b"\x93NUMPY", 0, "a NumPy array. Write it out as PNG"),
    (b"version https://git-lfs", 0, "a pointer of Git LFS, not the file itself. Fetch it: git lfs pull"),
)

DATA_URL = re.compile(r"data:[\w/+.-]*;base64,", re.IGNORECASE)

MAX_PIXELS = 100_000_000  # An image with more pixels is taken for a decompression bomb
MAX_BYTES = 2**30  # Such an image takes less, whatever its format
_ORIENTATION = 0x0112

_PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_PNG_UP = 2  # the filter's number in the PNG specification: each row as its difference from the row above
_PNG_LEVEL = 1


class WindowWarning(UserWarning):
    """A picture uses a part of its 16 bits only; its own values decided which."""


def open_image(picture: Any, label: str = "") -> Image:
    """A picture, upright and read to its end: the one way in for what is shown, degraded, measured or stored.

    ``picture``: a PIL image, encoded bytes, ``{"bytes": ...}``, ``{"path": ...}`` or a path. A file is of a format of
    :data:`FORMATS` or DICOM, and holds one picture; of a phone's JPEG with a preview it is the first. The result's mode
    is one of :data:`MODES`; ``info`` tells the window of a DICOM file. ``label``: how messages call the picture.

    Raises UserError for anything else, no image, several frames, a truncated one, or more than :data:`MAX_PIXELS`.
    """
    held = {"path": str(picture)} if isinstance(picture, Path) else picture
    try:
        return _open_held(held)
    except UserError as error:
        path = held.get("path") if isinstance(held, Mapping) and held.get("bytes") is None else None
        raise UserError(f"{label or (f'The image {path!r}' if path else 'An image')} {error}") from error


def image_problem(picture: bytes | Mapping[str, Any]) -> str:
    """Why an encoded picture can't be shown, and the way out, to follow its name: "is a PDF. ..."; "" if it can."""
    try:
        image = _open_held(picture)
        if image.mode in (*WIDE_MODES, "F"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", WindowWarning)  # said where it is shown
                to_rgb8(image)
    except UserError as error:
        return str(error)
    return ""


def read_encoded(picture: Mapping[str, Any]) -> bytes | None:
    """The bytes of ``{"bytes": ...}`` or of the file in ``{"path": ...}``. UserError: it can't be read, or is huge."""
    try:
        return _read_held(picture)
    except UserError as error:
        raise UserError(f"The image {str(picture['path'])!r} {error}") from error


# What follows raises messages that go on after a picture's name.


def _open_held(held: Any) -> Image:
    from PIL.Image import Image

    data = _read_held(held) if isinstance(held, Mapping) else held
    if not isinstance(data, bytes | Image):
        raise UserError(f"must be a PIL image or its bytes, got {type(data).__name__}.")
    return _decode_image(data)


def _read_held(picture: Mapping[str, Any]) -> bytes | None:
    if picture.get("bytes") is not None or not picture.get("path"):
        return picture.get("bytes")
    path = Path(picture["path"])
    try:
        size = path.stat().st_size
        if size <= MAX_BYTES:
            return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL character
        raise UserError(f"cannot be read: {getattr(error, 'strerror', error)}.") from error
    limit = f"the limit is {MAX_BYTES:,}: no single picture has as many"
    raise UserError(f"has {size:,} bytes, {limit}. Write the frame or slice that is meant as PNG.")


def is_dicom(start: bytes) -> bool:
    """Whether a file that begins so is DICOM: it has the mark ``DICM`` after 128 bytes."""
    return start[128:132] == b"DICM"


def _decode_image(data: bytes | Image) -> Image:
    from PIL import UnidentifiedImageError

    try:
        with refusing_truncated():
            if isinstance(data, bytes) and is_dicom(data):
                from lmms_medtasks import dicom  # much that no other picture needs

                image, view = dicom.read_dicom(data, MAX_PIXELS)
                image.info.update({SHOWN_AS: json.dumps(view)} if view else {})
                return image
            image = _open_encoded(data) if isinstance(data, bytes) else data
            _check_pixels(image)
            image.load()
            if image.mode not in MODES:
                image = image.convert("RGBA" if image.has_transparency_data else "RGB")
            return _turn_upright(image)
    except UserError:
        raise
    except UnidentifiedImageError as error:
        raise UserError(_describe_other_form(data if isinstance(data, bytes) else b"")) from error
    except Exception as error:  # Pillow's parsers raise many kinds (struct.error, IndexError ...) on broken bytes
        problem = f"does not decode: {type(error).__name__}: {error}"
        raise UserError(f"{problem}. It is truncated or damaged: fetch it again.") from error


def _open_encoded(data: bytes) -> Image:
    from PIL import Image

    image = Image.open(io.BytesIO(data), formats=FORMATS)
    _check_pixels(image)
    frames = 1 if image.format == "MPO" else getattr(image, "n_frames", 1)  # MPO: a phone's picture and its preview
    if frames > 1:
        raise UserError(f"holds {frames} frames, where one is expected. Write out the one that is meant, as PNG.")
    if image.format == "PNG":
        image.verify()  # checksums that are not looked at when pixels are read
        image = Image.open(io.BytesIO(data), formats=FORMATS)
    return image


def _check_pixels(image: Image) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise UserError(
            f"has {image.width:,} x {image.height:,} pixels, the limit is {MAX_PIXELS:,}. Write it smaller, or cut out "
            "the part that is asked about."
        )


def _turn_upright(image: Image) -> Image:
    from PIL import ImageOps

    # Only where there is something to turn: it drops what Pillow knows of the file otherwise.
    return ImageOps.exif_transpose(image) if image.getexif().get(_ORIENTATION) in range(2, 9) else image


def _describe_other_form(data: bytes) -> str:
    """What ``data`` is, which is no picture, and the way out."""
    for sign, offset, form in _OTHER_FORMS:
        if data[offset : offset + len(sign)] == sign:
            return f"is {form}."
    start = data[:4096].lstrip().lower()
    if not data:
        return "is empty. Fetch it again."
    if start.startswith((b"<!doctype html", b"<html")):
        return "is a web page. Download the image itself."
    if b"<svg" in start:
        return "is SVG. Write it out as PNG."
    size = f"{len(data):,} bytes; DICOM has the mark DICM after 128 bytes"
    return f"is none of {', '.join(FORMATS)} and DICOM ({size}). Write it as PNG, or fetch it again."


@contextmanager
def refusing_truncated() -> Iterator[None]:
    """Have Pillow refuse truncated images, although the harness tells it not to; one thread at a time.

    Its own limit on pixels, of another height and with a warning below it, is off: there is :data:`MAX_PIXELS`.
    """
    from PIL import Image, ImageFile

    with _SWITCH:
        before = ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS
        ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = False, None
        try:
            yield
        finally:
            ImageFile.LOAD_TRUNCATED_IMAGES, Image.MAX_IMAGE_PIXELS = before


def to_rgb8(image: Image) -> Image:
    """A new picture with ``image``'s pixels as 8-bit RGB, of the type ``PIL.Image.Image`` itself, never a file's.

    Several runners (llava_onevision, longva, egogpt) ask for that very type, and show the model the previous question's
    picture if it is a subclass such as ``PngImageFile``.

    8-bit modes are converted by Pillow, transparent pixels laid on white or black. 16-bit modes are scaled from their
    window (Pillow would clip them at 255), mode F from 0 … 1; both round to the nearest level. Raises UserError for
    values outside 0 … 65535 or 0 … 1, and for an invalid window.
    """
    from PIL import Image as Images

    if image.mode in WIDE_MODES:
        values = np.asarray(image)
        _check_range(values, 65535.0, image.mode)
        return Images.fromarray(_grey_levels(values, *window_of(image))).convert("RGB")
    if image.mode == "F":
        values = np.asarray(image)
        _check_range(values, 1.0, image.mode)
        return Images.fromarray(_grey_levels(values, 0.0, 1.0)).convert("RGB")
    if image.has_transparency_data:
        return Images.fromarray(flatten_alpha(image)[0])
    return image.convert("RGB")  # a copy where it is RGB already


def shown_as(image: Image) -> dict[str, Any]:
    """What the two rules did to ``image``, for a record: ``{"window": [low, high]}``, ``{"background": "white"}``.

    Of a picture made of a DICOM file: its window, in the file's modality values, and where that comes from.
    """
    if SHOWN_AS in image.info:
        return _recorded_view(image.info[SHOWN_AS])
    if image.mode in WIDE_MODES:
        window = window_of(image)
        return {} if window == FULL_WINDOW else {"window": list(window)}
    background = flatten_alpha(image)[1] if image.mode != "F" and image.has_transparency_data else None
    return {"background": background} if background else {}


def window_of(image: Image | np.ndarray) -> Window:
    """The smallest and largest value distinguished in a 16-bit grey picture. UserError: an invalid window."""
    if not isinstance(image, np.ndarray) and (stated := _stated_window(image)):
        return stated
    values = np.asarray(image)
    low, high = int(values.min()), int(values.max())
    if low == high or high > FULL_WINDOW[1] // 2:
        return FULL_WINDOW
    warnings.warn(
        f"An image stored with 16 bits uses {high.bit_length()} of them: it is shown from its own darkest to its own "
        "brightest value. To choose the range, state WindowCenter and WindowWidth in the file (PNG texts).",
        WindowWarning,
        stacklevel=2,
    )
    return float(low), float(high)


def window_info(image: Image) -> dict[str, str]:
    """``Image.info`` for a picture made of ``image``, so that it is shown, and said to be shown, in the same window."""
    if SHOWN_AS in image.info:
        return {SHOWN_AS: image.info[SHOWN_AS]}
    if image.mode not in WIDE_MODES:
        return {}
    low, high = window_of(image)
    if (low, high) == FULL_WINDOW:
        return {}
    return {_CENTRE: f"{(low + high + 1) / 2:g}", _WIDTH: f"{high - low + 1:g}"}


def flatten_alpha(image: Image) -> tuple[np.ndarray, str | None]:
    """(H, W, 3) uint8 of an 8-bit picture, transparent pixels laid on white or black; which, None if opaque."""
    pixels = np.asarray(image.convert("RGBA"))
    return on_background(pixels[..., :3], pixels[..., 3], 255.0)


def on_background(samples: np.ndarray, alpha: np.ndarray, full: float) -> tuple[np.ndarray, str | None]:
    """``samples`` (H, W) or (H, W, 3) with ``alpha`` (H, W), laid on white or black, and which; None if all is opaque.

    ``full``: the value of white and of opaque. The result has the type of ``samples``.
    """
    if (alpha == full).all():
        return samples, None
    weight = alpha.astype(np.float32) / np.float32(full)
    luma = samples.astype(np.float32) @ _LUMA if samples.ndim == 3 else samples.astype(np.float32)
    visible = float(weight.sum(dtype=np.float64))
    mean = float((luma * weight).sum(dtype=np.float64)) / visible if visible else 0.0
    white = mean < full / 2
    if samples.ndim == 3:
        weight = weight[..., None]
    laid = samples * weight + np.float32(full if white else 0.0) * (1 - weight)
    if samples.dtype == np.bool_:
        laid = laid >= 0.5
    elif samples.dtype.kind == "u":
        laid = np.rint(laid)
    return laid.astype(samples.dtype), "white" if white else "black"


def _stated_window(image: Image) -> Window | None:
    """DICOM's window centre and width in the file, or the window in the record of a TIFF that we degraded."""
    centre, width = image.info.get(_CENTRE), image.info.get(_WIDTH)
    if centre is None and width is None:
        description = (getattr(image, "tag_v2", None) or {}).get(_TIFF_DESCRIPTION)
        return _recorded_window(description) if isinstance(description, str) else None
    try:
        middle, extent = (float(str(each).strip("[]() ").replace("\\", ",").split(",")[0]) for each in (centre, width))
    except ValueError:
        middle, extent = 0.0, 0.0
    if not extent > 1:
        raise UserError(
            f"An image states WindowCenter {centre!r} and WindowWidth {width!r}. Both must be numbers, and the width "
            "above 1."
        )
    # DICOM PS3.3, C.11.2.1.2.1 (linear).
    return middle - 0.5 - (extent - 1) / 2, middle - 0.5 + (extent - 1) / 2


def _recorded_window(description: str) -> Window | None:
    try:
        recorded = json.loads(description)
        low, high = recorded["shown_as"]["window"]
        return float(low), float(high)
    except (ValueError, TypeError, KeyError):
        return None  # any other description


def _recorded_view(text: Any) -> dict[str, Any]:
    try:
        view = json.loads(text)
    except (ValueError, TypeError):
        return {}  # a text of somebody else's
    return view if isinstance(view, dict) else {}


def _check_range(values: np.ndarray, full: float, mode: str) -> None:
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= full):
        raise UserError(f"An image of mode {mode!r} must hold values from 0 to {full:g}, got {low:g} to {high:g}.")


def _grey_levels(values: np.ndarray, low: float, high: float) -> np.ndarray:
    levels = (values - low) * (255.0 / (high - low))
    return np.rint(np.clip(levels, 0.0, 255.0)).astype(np.uint8)


def from_base64(text: str) -> bytes:
    """The bytes of base64 text, also of a data URL; ValueError if it is none."""
    return base64.b64decode(re.sub(r"\s", "", DATA_URL.sub("", text, count=1)), validate=True)


def image_id(images: Sequence[bytes]) -> str:
    """A short name for one or several images that depends on their bytes only: 16 hexadecimal digits of SHA-256."""
    digest = hashlib.sha256()
    for data in images:
        digest.update(hashlib.sha256(data).digest())
    return digest.hexdigest()[:16]


def stored_images(images: Sequence[bytes]) -> dict[str, Any]:
    """The fields ``image``, ``images`` and ``image_id`` of a document with these images, one or several."""
    cells = [{"bytes": _encode_dicom(data) if is_dicom(data) else data, "path": None} for data in images]
    one = len(cells) == 1
    return {"image": cells[0] if one else None, "images": [] if one else cells, "image_id": image_id(images)}


def _encode_dicom(data: bytes) -> bytes:
    """The PNG of a DICOM file, which ``datasets`` does not open; ``data`` if it can't be read, which is said later."""
    from PIL.PngImagePlugin import PngInfo

    try:
        image = _decode_image(data)
    except UserError:
        return data
    info, held = PngInfo(), io.BytesIO()
    for key, value in window_info(image).items():
        info.add_text(key, value)
    image.save(held, "PNG", pnginfo=info, compress_level=1)
    return held.getvalue()


def encode_png(image: Image) -> bytes:
    """The PNG file of ``image``, whose mode must be RGB (:func:`to_rgb8`); same pixels.

    One filter for all rows, and zlib at its fastest level: 6 ms for 512 x 512 pixels instead of Pillow's 50, for a file
    that is about a tenth larger.
    """
    if image.mode != "RGB":
        raise UserError(f"An image must be 8-bit RGB to be encoded as PNG, its mode is {image.mode!r}.")
    pixels = np.asarray(image).reshape(image.height, image.width * 3)
    rows = np.empty((image.height, 1 + image.width * 3), np.uint8)
    rows[:, 0] = _PNG_UP
    rows[0, 1:] = pixels[0]
    np.subtract(pixels[1:], pixels[:-1], out=rows[1:, 1:])
    size = struct.pack(">IIBBBBB", image.width, image.height, 8, 2, 0, 0, 0)  # 8 bits, RGB, not interlaced
    parts = ((b"IHDR", size), (b"IDAT", zlib.compress(rows.data, _PNG_LEVEL)), (b"IEND", b""))
    return _PNG_SIGNATURE + b"".join(_make_chunk(kind, data) for kind, data in parts)


def _make_chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))
