"""The sheet and the page: everything is on them, and the page needs nothing else."""

import base64
import io
import re

import numpy as np
from PIL import Image

from lmms_medtasks.degradations.gallery import Section, Tile, distance, page, sheet


def sections():
    red, blue = Image.new("RGB", (400, 100), "red"), Image.new("RGB", (20, 30), "blue")
    return [
        Section("<CT>", Tile(red, "wide", ("a & b",)), (Tile(blue, "small"),)),
        Section("MRI", Tile(blue, "x"), (Tile(blue, "y"), Tile(blue, "z"))),
    ]


def test_sheet_holds_every_tile_and_no_small_one_is_enlarged():
    pixels = np.asarray(sheet(sections(), side=100, per_line=1))
    assert pixels.shape[1] == 10 + 2 * 110
    # 400 x 100 shrinks to 100 x 25; the small one stands four times.
    assert (pixels == (255, 0, 0)).all(axis=2).sum() == 2500
    assert (pixels == (0, 0, 255)).all(axis=2).sum() == 4 * 600


def test_page_is_self_contained_and_escaped():
    text = page("A <title>", "about & more", sections(), side=100)
    assert "<h2>&lt;CT&gt;</h2>" in text and "a &amp; b" in text and "A &lt;title&gt;" in text
    sources = re.findall(r'src="([^"]*)"', text)
    assert len(sources) == 5 and all(source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://|<script|<link", text)
    first = Image.open(io.BytesIO(base64.b64decode(sources[0].split(",")[1])))
    assert first.size == (100, 25)


def test_distance():
    grey = Image.new("RGB", (20, 20), (100, 100, 100))
    assert distance(grey, grey) == "equal"
    # 20 log10(255 / 10) = 28.13; constant images: (2 * 100 * 110 + 6.5) / (100^2 + 110^2 + 6.5) = 0.9955.
    assert distance(grey, Image.new("RGB", (20, 20), (110, 110, 110))) == "PSNR 28.1 dB, SSIM 1.00"
    assert distance(grey.crop((0, 0, 5, 5)), Image.new("RGB", (5, 5))) == "PSNR 8.1 dB"
