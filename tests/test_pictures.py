"""8-bit RGB from whatever a document holds."""

import io
import threading

import numpy as np
import pytest
from PIL import Image, ImageFile

from lmms_medtasks import pictures
from lmms_medtasks.errors import UserError


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_becomes_rgb(mode):
    image = Image.new(mode, (5, 3))
    result = pictures.rgb8(image)
    assert (result.mode, result.size) == ("RGB", (5, 3))
    assert np.asarray(result).dtype == np.uint8


def test_rgb_keeps_its_pixels():
    values = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
    assert np.array_equal(pictures.rgb8(Image.fromarray(values)), values)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "TIFF", "BMP"])
@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_picture_read_from_a_file_becomes_a_plain_image(kind, mode):
    """Runners of the harness ask ``type(image) == Image.Image``, and show the picture before where it is another."""
    buffer = io.BytesIO()
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).convert(mode).save(buffer, kind)
    read = pictures.opened(buffer.getvalue())
    assert type(read) is not Image.Image
    result = pictures.rgb8(read)
    assert type(result) is Image.Image and np.array_equal(result, read.convert("RGB"))


def test_sixteen_bit_is_scaled_not_clipped():
    # 65535 -> 255; 257 -> 1; 128 / 257 = 0.498 -> 0; 129 / 257 = 0.502 -> 1.
    image = Image.fromarray(np.array([[65535, 257, 128, 129]], dtype=np.uint16))
    assert np.asarray(pictures.rgb8(image))[0, :, 0].tolist() == [255, 1, 0, 1]


def test_float_is_scaled_from_the_unit_interval():
    # 0.5 * 255 = 127.5, rounded to the even 128.
    image = Image.fromarray(np.array([[0.0, 0.5, 1.0]], dtype=np.float32))
    assert np.asarray(pictures.rgb8(image))[0, :, 0].tolist() == [0, 128, 255]


@pytest.mark.parametrize("values", [[[-0.1]], [[1.5]], [[np.nan]]])
def test_float_out_of_range(values):
    with pytest.raises(UserError, match="mode 'F'"):
        pictures.rgb8(Image.fromarray(np.array(values, dtype=np.float32)))


def test_alpha_is_dropped_and_colours_stay():
    image = Image.new("RGBA", (2, 2), (10, 20, 30, 0))
    assert pictures.rgb8(image).getpixel((0, 0)) == (10, 20, 30)


def test_opens_bytes_and_records():
    buffer = io.BytesIO()
    Image.new("L", (4, 4), 9).save(buffer, "PNG")
    for held in (buffer.getvalue(), {"bytes": buffer.getvalue(), "path": None}):
        assert pictures.opened(held).getpixel((0, 0)) == 9


@pytest.mark.parametrize("held", [b"no image", {"bytes": None, "path": "a.png"}, "a.png", 3])
def test_refuses_what_is_no_picture(held):
    with pytest.raises(UserError, match="picture"):
        pictures.opened(held)


def test_truncated_images_are_refused_whatever_the_process_says(monkeypatch):
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (99, 99), dtype=np.uint8)).save(buffer, "PNG")
    cut = buffer.getvalue()[: len(buffer.getvalue()) // 2]
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    Image.open(io.BytesIO(cut)).load()
    with pytest.raises((OSError, SyntaxError)), pictures.refusing_truncated():
        Image.open(io.BytesIO(cut)).load()
    assert ImageFile.LOAD_TRUNCATED_IMAGES is True


def test_pictures_of_a_document_are_read_to_their_end(monkeypatch):
    buffer = io.BytesIO()
    Image.fromarray(np.random.default_rng(0).integers(0, 256, (99, 99), dtype=np.uint8)).save(buffer, "PNG")
    cut = buffer.getvalue()[: len(buffer.getvalue()) // 2]
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)  # as in the harness
    for held in (cut, {"bytes": cut, "path": None}, Image.open(io.BytesIO(cut))):
        with pytest.raises(UserError, match="truncated"):
            pictures.opened(held)


def test_a_decompression_bomb_is_refused(monkeypatch):
    buffer = io.BytesIO()
    Image.new("1", (3000, 3000)).save(buffer, "PNG")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1000)
    with pytest.raises(UserError, match="bomb"):
        pictures.opened(buffer.getvalue())


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
