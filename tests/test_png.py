"""Pictures come back from the PNG files pixel for pixel."""

import io

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import png
from lmms_medtasks.errors import UserError


def pictures():
    rng = np.random.default_rng(0)
    for height, width in ((1, 1), (1, 7), (5, 1), (3, 4), (64, 33), (512, 512)):
        yield rng.integers(0, 256, (height, width, 3), dtype=np.uint8)
    yield np.zeros((16, 16, 3), np.uint8)
    yield np.full((16, 16, 3), 255, np.uint8)
    yield np.arange(3 * 256, dtype=np.uint16).reshape(16, 16, 3).astype(np.uint8)


@pytest.mark.parametrize("pixels", list(pictures()), ids=lambda pixels: "x".join(map(str, pixels.shape)))
def test_pillow_reads_the_pixels_that_were_written(pixels):
    with Image.open(io.BytesIO(png.encoded(Image.fromarray(pixels)))) as read:
        assert (read.format, read.mode) == ("PNG", "RGB")
        read.verify()  # every chunk's checksum
    with Image.open(io.BytesIO(png.encoded(Image.fromarray(pixels)))) as read:
        assert np.array_equal(np.asarray(read), pixels)


def test_a_part_of_a_picture_and_a_picture_of_its_own_are_alike():
    whole = Image.fromarray(np.random.default_rng(2).integers(0, 256, (40, 40, 3), dtype=np.uint8))
    part = whole.crop((3, 5, 30, 31))
    assert np.array_equal(np.asarray(Image.open(io.BytesIO(png.encoded(part)))), np.asarray(whole)[5:31, 3:30])


@pytest.mark.parametrize("mode", ["L", "RGBA", "P", "I;16", "F"])
def test_other_modes_are_refused(mode):
    with pytest.raises(UserError, match=f"its mode is '{mode}'"):
        png.encoded(Image.new(mode, (4, 4)))
