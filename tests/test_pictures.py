"""8-bit RGB from whatever a document holds."""

from __future__ import annotations

import hashlib
import io
import struct
import threading
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image, ImageFile, PngImagePlugin

from lmms_medtasks import pictures
from lmms_medtasks.errors import UserError
from lmms_medtasks.pictures import image_id, image_problem


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_becomes_rgb(mode):
    image = Image.new(mode, (5, 3))
    result = pictures.to_rgb8(image)
    assert (result.mode, result.size) == ("RGB", (5, 3))
    assert np.asarray(result).dtype == np.uint8


def test_rgb_keeps_its_pixels():
    values = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert np.array_equal(pictures.to_rgb8(Image.fromarray(values)), values)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_picture_read_from_a_file_becomes_a_plain_image(kind, mode):
    """Runners of the harness ask ``type(image) == Image.Image``, and show the picture before where it is another."""
    buffer = io.BytesIO()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).convert(mode).save(buffer, kind)
    read = pictures.open_image(buffer.getvalue())
    assert type(read) is not Image.Image
    result = pictures.to_rgb8(read)
    assert type(result) is Image.Image and np.array_equal(result, read.convert("RGB"))


def test_sixteen_bit_is_scaled_not_clipped():
    # 65535 -> 255; 257 -> 1; 128 / 257 = 0.498 -> 0; 129 / 257 = 0.502 -> 1.
    image = Image.fromarray(np.array([[65535, 257, 128, 129]], dtype=np.uint16))
    assert np.asarray(pictures.to_rgb8(image))[0, :, 0].tolist() == [255, 1, 0, 1]


def test_float_is_scaled_from_the_unit_interval():
    # 0.5 * 255 = 127.5, rounded to the even 128.
    image = Image.fromarray(np.array([[0.0, 0.5, 1.0]], dtype=np.float32))
    assert np.asarray(pictures.to_rgb8(image))[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("values", [[[-0.1]], [[1.5]], [[np.nan]]])
def test_float_out_of_range(values):
    with pytest.raises(UserError, match="mode 'F'"):
        pictures.to_rgb8(Image.fromarray(np.array(values, dtype=np.float32)))


@pytest.mark.parametrize(("colour", "background"), [((10, 20, 30), "white"), ((240, 230, 250), "black")])
@pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
def test_transparent_pixels_are_laid_on_what_they_stand_out_from(mode, colour, background):
    """The colours under them were shown: a drawing's transparent paper was black, with black ink on it."""
    image = Image.new("RGBA", (4, 2), (*colour, 255))
    for column in (0, 1):
        image.putpixel((column, 0), (128, 128, 128, 0))
    image = image.convert("LA") if mode == "LA" else image
    if mode == "P":
        image = image.quantize(4)
    result = pictures.to_rgb8(image)
    level = 255 if background == "white" else 0
    assert result.getpixel((0, 0)) == result.getpixel((1, 0)) == (level, level, level)
    assert result.getpixel((3, 1)) == (
        colour if mode != "LA" else (Image.new("RGB", (1, 1), colour).convert("L").getpixel((0, 0)),) * 3
    )
    assert pictures.shown_as(image) == {"background": background}


def test_half_transparent_pixels_are_mixed_and_opaque_pictures_are_left_alone():
    image = Image.new("RGBA", (2, 1), (100, 0, 0, 255))
    assert pictures.to_rgb8(image).getpixel((0, 0)) == (100, 0, 0) and pictures.shown_as(image) == {}
    image.putpixel((0, 0), (100, 0, 0, 51))  # a fifth: 20 + 0.8 * 255 = 224
    assert pictures.to_rgb8(image).getpixel((0, 0)) == (224, 204, 204)
    assert pictures.to_rgb8(Image.new("RGBA", (2, 1), (100, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)


def wide(*values, **info):
    image = Image.fromarray(np.array([values], dtype=np.uint16))
    image.info |= info
    return image


def levels(image):
    return np.asarray(pictures.to_rgb8(image))[0, :, 0].tolist()


def test_twelve_bits_in_sixteen_are_shown_in_their_own_range():
    """They were divided by 65535: 4095 was grey level 16 of 255."""
    image = wide(95, 2095, 4095)
    with pytest.warns(pictures.WindowWarning, match="uses 12 of them"):
        assert levels(image) == [0, 128, 255]
    with pytest.warns(pictures.WindowWarning):
        assert pictures.shown_as(image) == {"window": [95, 4095]}


@pytest.mark.parametrize("values", [(0, 65535), (0, 40000), (7, 7), (100, 32768)])
def test_pictures_that_use_their_bits_keep_the_full_scale(values, recwarn):
    image = wide(*values)
    assert levels(image) == [round(value * 255 / 65535) for value in values]
    assert pictures.shown_as(image) == {} and not recwarn.list


@pytest.mark.parametrize(
    ("centre", "width"), [("2048", "4096"), (2048, 4096.0), ("2048\\40", "4096\\400"), ("[2048]", "[4096]")]
)
def test_a_window_that_the_file_states_counts(centre, width, recwarn):
    """DICOM PS3.3 C.11.2.1.2.1: centre 2048 and width 4096 show 0 to 4095, whatever values there are."""
    image = wide(0, 1000, 4095, 60000, WindowCenter=centre, WindowWidth=width)
    assert levels(image) == [0, round(1000 * 255 / 4095), 255, 255]
    assert pictures.shown_as(image) == {"window": [0, 4095]} and not recwarn.list


@pytest.mark.parametrize(
    ("centre", "width"), [("soft tissue", "400"), ("40", None), (None, "400"), ("40", "0"), ("40", "nan")]
)
def test_a_window_that_is_none(centre, width):
    image = wide(0, 60000, WindowCenter=centre, WindowWidth=width)
    with pytest.raises(UserError, match="WindowCenter .* WindowWidth"):
        pictures.to_rgb8(image)


def test_a_window_in_a_png_is_read(tmp_path):
    texts = PngImagePlugin.PngInfo()
    texts.add_text("WindowCenter", "1000")
    texts.add_text("WindowWidth", "2001")
    wide(0, 1000, 4095).save(tmp_path / "scan.png", pnginfo=texts)
    assert levels(pictures.open_image((tmp_path / "scan.png").read_bytes())) == [0, 128, 255]


def test_opens_bytes_and_records():
    buffer = io.BytesIO()
    Image.new("L", (4, 4), 9).save(buffer, "PNG")
    for held in (buffer.getvalue(), {"bytes": buffer.getvalue(), "path": None}):
        assert pictures.open_image(held).getpixel((0, 0)) == 9


@pytest.mark.parametrize("held", [b"no image", {"bytes": None, "path": "a.png"}, "a.png", 3])
def test_refuses_what_is_no_picture(held):
    with pytest.raises(UserError, match="[Ii]mage"):
        pictures.open_image(held)


def test_truncated_images_are_refused_whatever_the_process_says(monkeypatch):
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (99, 99), dtype=np.uint8)).save(buffer, "PNG")
    cut = buffer.getvalue()[: len(buffer.getvalue()) // 2]
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    Image.open(io.BytesIO(cut)).load()
    limit = Image.MAX_IMAGE_PIXELS
    with pytest.raises((OSError, SyntaxError)), pictures.refusing_truncated():
        Image.open(io.BytesIO(cut)).load()
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True and limit == Image.MAX_IMAGE_PIXELS is not None


def test_pictures_of_a_document_are_read_to_their_end(monkeypatch):
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (99, 99), dtype=np.uint8)).save(buffer, "PNG")
    cut = buffer.getvalue()[: len(buffer.getvalue()) // 2]
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as in the harness
    for held in (cut, {"bytes": cut, "path": None}, Image.open(io.BytesIO(cut))):
        with pytest.raises(UserError, match="truncated"):
            pictures.open_image(held)


def test_a_decompression_bomb_is_refused(monkeypatch):
    buffer = io.BytesIO()
    Image.new("1", (3000, 3000)).save(buffer, "PNG")
    monkeypatch.setattr(pictures, "MAX_PIXELS", 3000 * 3000 - 1)
    for held in (buffer.getvalue(), Image.open(io.BytesIO(buffer.getvalue()))):
        with pytest.raises(UserError, match="An image has 3,000 x 3,000 pixels, the limit is 8,999,999"):
            pictures.open_image(held)


def test_the_switch_is_safe_between_threads(monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    seen = []

    def look():
        for _ in range(200):
            with pictures.refusing_truncated():
                seen.append(ImageFile.LOAD_TRUNCATED_IMAGES)

    workers = [threading.Thread(target=look) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not any(seen)
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


def encoded(kind: str, size: int = 64) -> bytes:
    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((size, size)).convert("RGB").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", pictures.FORMATS)
def test_whole_images_pass(kind: str) -> None:
    assert not image_problem(encoded(kind))


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "BMP", "TIFF", "WEBP", "GIF"])
@pytest.mark.parametrize("part", [0.3, 0.9])
def test_truncated_images_do_not(kind: str, part: float) -> None:
    data = encoded(kind)
    assert "fetch it again" in image_problem(data[: int(len(data) * part)])


def test_a_library_that_tolerates_truncation_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    data = encoded("JPEG")
    assert image_problem(data[: len(data) // 2])
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


@pytest.mark.parametrize(
    "data", [b"", b"no image", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", b"\x89PNG\r\n"]
)
def test_other_bytes_do_not(data: bytes) -> None:
    assert image_problem(data).startswith(("is none of PNG", "is empty"))


def test_a_bomb_is_refused_before_it_is_unpacked() -> None:
    header = struct.pack(">IIBBBBB", 100_000, 100_000, 8, 0, 0, 0, 0)
    chunk = b"IHDR" + header
    data = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13) + chunk + struct.pack(">I", zlib.crc32(chunk))
    problem = image_problem(data + struct.pack(">I", 0) + b"IDAT" + struct.pack(">I", zlib.crc32(b"IDAT")))
    assert "100,000 x 100,000 pixels" in problem


def test_the_limit_on_pixels_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "MAX_PIXELS", 4095)
    assert image_problem(encoded("PNG", 64)).startswith("has 64 x 64 pixels, the limit is 4,095. Write it smaller")
    assert not image_problem(encoded("PNG", 63))


def test_image_id_depends_on_bytes_and_order(png: Callable[..., bytes]) -> None:
    first, second = png(1), png(2)
    # SHA-256 over the SHA-256 of each image, first 16 digits
    assert image_id([first]) == hashlib.sha256(hashlib.sha256(first).digest()).hexdigest()[:16]
    assert len({image_id([first]), image_id([second]), image_id([first, second]), image_id([second, first])}) == 4


def pixel_arrays():
    rng = np.random.default_rng(0)
    for height, width in ((1, 1), (1, 7), (5, 1), (3, 4), (64, 33), (512, 512)):
        yield rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    yield np.zeros((16, 16, 3), np.uint8)
    yield np.full((16, 16, 3), 255, np.uint8)
    yield np.arange(3 * 256, dtype=np.uint16).reshape(16, 16, 3).astype(np.uint8)


@pytest.mark.parametrize("pixels", list(pixel_arrays()), ids=lambda pixels: "x".join(map(str, pixels.shape)))
def test_pillow_reads_the_pixels_that_were_written(pixels):
    with Image.open(io.BytesIO(pictures.encode_png(Image.fromarray(pixels)))) as read:
        assert (read.format, read.mode) == ("PNG", "RGB")
        read.verify()  # every chunk's checksum
    with Image.open(io.BytesIO(pictures.encode_png(Image.fromarray(pixels)))) as read:
        assert np.array_equal(np.asarray(read), pixels)


def test_a_part_of_a_picture_and_a_picture_of_its_own_are_alike():
    whole = Image.fromarray(np.random.default_rng(2).integers(0, 256, (40, 40, 3), dtype=np.uint8))
    part = whole.crop((3, 5, 30, 31))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(pictures.encode_png(part)))), np.asarray(whole)[5:31, 3:30])


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "I;16", "F"])
def test_other_modes_are_refused(mode):
    with pytest.raises(UserError, match=f"its mode is '{mode}'"):
        pictures.encode_png(Image.new(mode, (4, 4)))


@pytest.mark.parametrize("path", ["a\0.png", "none.png"])
def test_a_path_of_no_file_is_told(path):
    for call in (lambda: pictures.read_encoded({"path": path}), lambda: pictures.open_image({"path": path})):
        with pytest.raises(UserError, match="^The image '.*png' cannot be read: "):
            call()
