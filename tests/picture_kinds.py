"""Small picture files of every kind that people have, each with the pixels that a model must be shown."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageCms
from PIL.PngImagePlugin import PngInfo

from tests.test_dicom import dicom

HEIGHT, WIDTH = 20, 32
PIXELS = np.random.default_rng(0).integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
GREY = PIXELS[..., 0]

TURNS: dict[int, Callable[[np.ndarray], np.ndarray]] = {
    1: lambda a: a,
    2: np.fliplr,
    3: lambda a: np.rot90(a, 2),
    4: np.flipud,
    5: lambda a: a.swapaxes(0, 1),
    6: lambda a: np.rot90(a, -1),
    7: lambda a: np.rot90(a.swapaxes(0, 1), 2),
    8: np.rot90,
}
"""EXIF orientation: what makes the stored pixels upright (EXIF 2.32, table 6)."""


def encode(image: Image.Image, form: str, **options: Any) -> bytes:
    held = io.BytesIO()
    image.save(held, form, **options)
    return held.getvalue()


def oriented(orientation: int, form: str, **options: Any) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encode(Image.fromarray(PIXELS), form, exif=exif, **options)


def write_png(
    width: int, height: int, rows: bytes = b"", *, depth: int = 8, colour: int = 0, text: bytes = b""
) -> bytes:
    """A PNG, of which Pillow does not write all that there are. ``rows``: none for a file of a few bytes."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    body = (chunk(b"zTXt", text) if text else b"") + chunk(b"IDAT", zlib.compress(rows))
    return b"\x89PNG\r\n\x1a\n" + head + body + chunk(b"IEND", b"")


def stored(data: bytes) -> np.ndarray:
    """The pixels as Pillow decodes them, which is what compression with loss made of them."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image)


def rgb(grey: np.ndarray) -> np.ndarray:
    return np.repeat(np.rint(grey).astype(np.uint8)[..., None], 3, axis=2)


def _make_files() -> dict[str, tuple[bytes, np.ndarray]]:
    files: dict[str, tuple[bytes, np.ndarray]] = {}
    for orientation, turn in TURNS.items():
        data = oriented(orientation, "JPEG")
        files[f"photograph_{orientation}.jpg"] = (data, turn(stored(data)))
    files["turned.png"] = (oriented(6, "PNG"), TURNS[6](PIXELS))
    files["turned.webp"] = (oriented(8, "WEBP", lossless=True), TURNS[8](PIXELS))
    files["turned.tif"] = (oriented(3, "TIFF"), TURNS[3](PIXELS))
    preview = Image.new("RGB", (8, 5), "red")
    phone = encode(Image.fromarray(PIXELS), "MPO", save_all=True, append_images=[preview])
    files["phone.jpg"] = (phone, stored(phone))
    broken = encode(Image.fromarray(PIXELS), "JPEG", exif=b"Exif\0\0garbage")
    files["broken_exif.jpg"] = (broken, stored(broken))
    unknown = oriented(99, "JPEG", quality=90)
    files["unknown_turn.jpg"] = (unknown, stored(unknown))
    for form, name in (("BMP", "a.bmp"), ("PPM", "a.ppm"), ("PNG", "a.png")):
        files[name] = (encode(Image.fromarray(PIXELS), form), PIXELS)
    files["a.jp2"] = (encode(Image.fromarray(PIXELS), "JPEG2000", irreversible=False), PIXELS)
    files["grey.png"] = (encode(Image.fromarray(GREY), "PNG"), rgb(GREY))
    files["one_bit.png"] = (encode(Image.fromarray(GREY > 99), "PNG"), rgb((GREY > 99) * 255))
    few = Image.fromarray(PIXELS).quantize(16)
    files["palette.gif"] = (encode(few, "GIF"), np.asarray(few.convert("RGB")))
    ink = encode(Image.fromarray(PIXELS).convert("CMYK"), "JPEG")
    files["ink.jpg"] = (ink, np.asarray(Image.fromarray(stored(ink), "CMYK").convert("RGB")))
    lab = ImageCms.profileToProfile(
        Image.fromarray(PIXELS), ImageCms.createProfile("sRGB"), ImageCms.createProfile("LAB"), outputMode="LAB"
    )
    files["lab.tif"] = (encode(lab, "TIFF"), np.asarray(lab.convert("RGB")))
    luma = Image.fromarray(PIXELS).convert("YCbCr")
    files["luma.tif"] = (encode(luma, "TIFF"), np.asarray(luma.convert("RGB")))
    # Transparent: the left half. What is visible is dark, and so laid on white; or bright, and so laid on black.
    alpha = np.where(np.arange(WIDTH) < WIDTH // 2, 0, 255)[None].repeat(HEIGHT, 0).astype(np.uint8)
    for name, level, background in (("on_white.png", 40, 255), ("on_black.png", 220, 0)):
        layers = np.dstack([np.full((HEIGHT, WIDTH, 3), level, np.uint8), alpha])
        files[name] = (encode(Image.fromarray(layers), "PNG"), rgb(np.where(alpha == 0, background, level)))
    files["clear_grey.png"] = (
        encode(Image.fromarray(np.dstack([GREY // 4, alpha]), "LA"), "PNG"),
        rgb(np.where(alpha == 0, 255, GREY // 4)),
    )
    hole = Image.fromarray(np.where(alpha == 0, 0, 1).astype(np.uint8), "P")
    hole.putpalette([9, 9, 9, 30, 60, 90])
    files["hole.png"] = (
        encode(hole, "PNG", transparency=0),
        np.where(alpha[..., None] == 0, 255, np.array([30, 60, 90])).astype(np.uint8),
    )
    deep = np.linspace(0, 65535, HEIGHT * WIDTH).round().astype(np.uint16).reshape(HEIGHT, WIDTH)
    files["deep.png"] = (encode(Image.fromarray(deep), "PNG"), rgb(deep / 257))
    low_bits = np.dstack([PIXELS.reshape(HEIGHT, -1), PIXELS.reshape(HEIGHT, -1) // 2]).reshape(HEIGHT, -1)
    rows = np.pad(low_bits, ((0, 0), (1, 0)))  # each row begins with its filter, 0
    files["deep_colour.png"] = (write_png(WIDTH, HEIGHT, rows.tobytes(), depth=16, colour=2), PIXELS)
    files["deep.tif"] = (encode(Image.fromarray(deep), "TIFF"), rgb(deep / 257))
    values = (deep // 32).astype(float)
    files["twelve_bits.png"] = (
        encode(Image.fromarray(deep // 32), "PNG"),
        rgb((values - values.min()) * (255.0 / (values.max() - values.min()))),
    )
    window = PngInfo()
    window.add_text("WindowCenter", "1000.5")
    window.add_text("WindowWidth", "1001")
    files["window.png"] = (
        encode(Image.fromarray(deep // 32), "PNG", pnginfo=window),
        rgb(np.clip((values - 500) * (255.0 / 1000), 0, 255)),
    )
    unit = (deep / 65535).astype(np.float32)
    files["unit.tif"] = (encode(Image.fromarray(unit), "TIFF"), rgb(unit * 255.0))
    hounsfield = deep // 16
    scaled = {"WindowCenter": 40, "WindowWidth": 400, "RescaleSlope": 1, "RescaleIntercept": -1024}
    levels = rgb(np.clip((hounsfield.astype(float) - 1024 + 160) * (255.0 / 399), 0, 255))
    files["ct.dcm"] = (dicom(hounsfield, **scaled), levels)
    files["IM0001"] = (dicom(hounsfield, PhotometricInterpretation="MONOCHROME1", **scaled), 255 - levels)
    colours = {"SamplesPerPixel": 3, "PhotometricInterpretation": "RGB", "PlanarConfiguration": 0}
    files["ultrasound.dcm"] = (dicom(PIXELS, bits=8, **colours), PIXELS)
    return files


FILES = _make_files()
"""Name: the file's bytes, and (H, W, 3) uint8."""
