"""The sheet and the page hold everything and need nothing else; PSNR and SSIM against scikit-image."""

import base64
import io
import math
import re

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.degradations import gallery
from lmms_medtasks.degradations.gallery import (
    GalleryRow,
    GallerySection,
    GalleryTile,
    curve_svg,
    describe_distance,
    psnr,
    render_page,
    render_sheet,
    ssim,
)
from lmms_medtasks.seeding import seeded_generator


def sections():
    red, blue = Image.new("RGB", (400, 100), "red"), Image.new("RGB", (20, 30), "blue")
    return [
        GallerySection("<CT>", GalleryTile(red, "wide", ("a & b",)), (GalleryRow((GalleryTile(blue, "small"),)),)),
        GallerySection("MRI", GalleryTile(blue, "x"), (GalleryRow((GalleryTile(blue, "y"), GalleryTile(blue, "z"))),)),
    ]


def test_sheet_holds_every_tile_and_no_small_one_is_enlarged():
    pixels = np.asarray(render_sheet(sections(), side=100, per_line=1))
    assert pixels.shape[1] == 10 + 2 * 110
    # 400 x 100 shrinks to 100 x 25; the small one stands four times.
    assert (pixels == (255, 0, 0)).all(axis=2).sum() == 2500
    assert (pixels == (0, 0, 255)).all(axis=2).sum() == 4 * 600


def test_page_is_self_contained_and_escaped():
    text = render_page("A <title>", "about & more", sections(), side=100)
    assert "<h2>&lt;CT&gt;</h2>" in text and "a &amp; b" in text and "A &lt;title&gt;" in text
    sources = re.findall(r'src="([^"]*)"', text)
    assert len(sources) == 5 and all(source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://|<script|<link", text)
    first = Image.open(io.BytesIO(base64.b64decode(sources[0].split(",")[1])))
    assert first.size == (100, 25)


def test_each_section_is_linked_and_each_row_is_one_grid():
    """Levels of one degradation stood one above the other where a window had room for an odd number of pictures."""
    text = render_page("title", "about", sections(), side=100)
    links = re.findall(r'<a href="#(\w+)">([^<]*)</a>', text)
    assert [name for _, name in links] == ["&lt;CT&gt;", "MRI"]
    assert re.findall(r'<section id="(\w+)">', text) == [target for target, _ in links]
    rows = re.findall(r'<div class="row" style="--tiles: (\d)[^>]*>(.*?)</div>', text)
    assert [(count, row.count("<img ")) for count, row in rows] == [("1", 1), ("2", 2)]


def test_sheet_does_not_break_a_row_that_fits():
    blue = GalleryTile(Image.new("RGB", (20, 30), "blue"), "x")
    short, long = GalleryRow((blue, blue)), GalleryRow((blue,) * 5)
    lines = gallery._wrap_rows((short, short, short, long), 4)
    assert [len(line) for line in lines] == [4, 2, 4, 1]
    assert [len(line) for line in gallery._wrap_rows((short, short), 3)] == [2, 2]


def test_a_curve_falls_where_the_numbers_do():
    text = curve_svg([(0.5, 30.0), (1, 25.0), (2, math.inf), (3, 10.0)])
    points = [tuple(map(float, pair.split(","))) for pair in re.search('points="([^"]*)"', text).group(1).split()]
    assert len(points) == 3 and sorted(points) == points
    assert [y for _, y in points] == sorted(y for _, y in points)  # y points down
    assert curve_svg([(1, math.inf)]) == ""


def test_distance():
    grey = Image.new("RGB", (20, 20), (100, 100, 100))
    assert describe_distance(grey, grey) == "unchanged"
    # 20 log10(255 / 10) = 28.13; constant images: (2 * 100 * 110 + 6.5) / (100^2 + 110^2 + 6.5) = 0.9955.
    assert describe_distance(grey, Image.new("RGB", (20, 20), (110, 110, 110))) == "PSNR 28.1 dB, SSIM 1.00"
    assert describe_distance(grey.crop((0, 0, 5, 5)), Image.new("RGB", (5, 5))) == "PSNR 8.1 dB"


@pytest.mark.parametrize("shape", [(40, 33), (40, 33, 3), (7, 7)])
def test_like_scikit_image(shape):
    metrics = pytest.importorskip("skimage.metrics")
    rng = seeded_generator("similarity")
    clean = rng.integers(0, 256, shape, dtype=np.uint8)
    other = np.clip(clean + rng.normal(0, 20, shape), 0, 255).astype(np.uint8)
    channels = 2 if len(shape) == 3 else None
    assert ssim(clean, other) == pytest.approx(metrics.structural_similarity(clean, other, channel_axis=channels))
    assert psnr(clean, other) == pytest.approx(metrics.peak_signal_noise_ratio(clean, other))


def test_edges():
    image = np.full((9, 9), 3, np.uint8)
    assert psnr(image, image) == math.inf
    assert ssim(image, image) == pytest.approx(1.0)
    assert math.isnan(ssim(image[:6], image[:6]))
