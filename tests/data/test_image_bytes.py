"""Which bytes count as an image, and what names one."""

from __future__ import annotations

import hashlib
import io
import struct
import zlib
from collections.abc import Callable

import pytest
from PIL import Image, ImageFile

from lmms_medtasks.data import image_bytes
from lmms_medtasks.data.image_bytes import image_id, image_problem


def encoded(kind: str, size: int = 64) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((size, size)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", image_bytes.FORMATS)
def test_whole_images_pass(kind: str) -> None:
    assert image_problem(encoded(kind)) is None


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_images_do_not(kind: str, part: float) -> None:
    data = encoded(kind)
    reason = image_problem(data[: int(len(data) * part)])
    assert reason is not None and reason.startswith("image ")


def test_a_library_that_tolerates_truncation_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    data = encoded("JPEG")
    assert image_problem(data[: len(data) // 2]) is not None
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


@pytest.mark.parametrize(
    "data", [b"", b"no image", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"\x89PNG\r\n"]
)
def test_other_bytes_do_not(data: bytes) -> None:
    reason = image_problem(data)
    assert reason is not None and reason.startswith("image ")


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + header
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    reason = image_problem(data + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT")))
    assert reason is not None and ("100000 x 100000" in reason or "decompression bomb" in reason)


def test_the_limit_on_pixels_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_bytes, "MAX_PIXELS", 4095)
    assert image_problem(encoded("PNG", 64)) == "image has 64 x 64 pixels, the limit is 4,095"
    assert image_problem(encoded("PNG", 63)) is None


def test_image_id_depends_on_bytes_and_order(png: Callable[..., bytes]) -> None:
    first, second = png(1), png(2)
    # SHA-256 over the SHA-256 of each image, first 16 digits
    assert image_id([first]) == hashlib.sha256(hashlib.sha256(first).digest()).hexdigest()[:16]
    assert len({image_id([first]), image_id([second]), image_id([first, second]), image_id([second, first])}) == 4
