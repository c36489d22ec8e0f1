"""All panels of a grid get the same treatment."""

import numpy as np
import pytest

from lmms_medtasks.grids.panels import Content, finish, shrunk
from lmms_medtasks.grids.pool import jpeg_quality, load
from lmms_medtasks.seeding import generator


def contents(pictures, panel=48):
    sources = [load(picture) for picture in pictures]
    return [Content(shrunk(source.image, panel), source.facts) for source in sources]


def test_matching_gives_one_shape_resolution_and_quality(make):
    sources = [
        make("CT", 1, size=(60, 40)),
        make("CT", 2, size=(90, 60)),
        make("CT", 3, size=(60, 50)),
        make("X-ray", 1, size=(44, 44), kind="JPEG", settings={"quality": 60}),
    ]
    panels = finish(contents(sources), 3, 48, True, generator("test"))
    assert len({(p.width, p.height, p.quality, p.letterboxed) for p in panels}) == 1
    assert panels[0].quality == 60 and panels[0].letterboxed
    black = [(np.asarray(p.image).max(axis=(1, 2)) == 0).sum() for p in panels]
    assert len(set(black)) == 1 and black[0] > 0
    plain = finish(contents(sources), 3, 48, False, generator("test"))
    assert len({(p.width, p.height, p.quality) for p in plain}) > 1


def test_nothing_is_enlarged_before_it_must_be(make):
    image = make("CT", 1).open()
    assert shrunk(image, 100) is image
    assert shrunk(image, 32).size == (32, 32)
    assert all(
        p.image.size == (100, 100) for p in finish(contents([make("CT", 1)] * 2, 100), None, 100, True, generator("t"))
    )


@pytest.mark.parametrize("quality", [25, 50, 75, 90])
def test_quality_of_a_jpeg_is_read_from_its_tables(make, quality):
    assert abs(load(make("CT", 1, kind="JPEG", settings={"quality": quality})).facts.quality - quality) <= 1
    assert load(make("CT", 1)).facts.quality == 100


def test_quality_by_hand():
    # The standard table sums to 3688; half as coarse is scale 1/2: quality 50 * (2 - 1/2) = 75; twice, 50 / 2 = 25.
    assert jpeg_quality([3688]) == 50
    assert jpeg_quality([1844]) == 75
    assert jpeg_quality([7376]) == 25
