"""Panels: their geometry, the equal treatment of all of a grid, one tone and file size."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.grid_positions import SIDES, GridSize
from lmms_medtasks.grids import leaks, panels
from lmms_medtasks.grids.panels import PanelContent, finish_panels, match_tone, measure_luminance, shrink_to_panel
from lmms_medtasks.grids.pool import jpeg_quality, load_image
from lmms_medtasks.seeding import seeded_generator


def contents(pictures, panel=48):
    sources = [load_image(picture) for picture in pictures]
    return [PanelContent(shrink_to_panel(source.image, panel), source.facts) for source in sources]


def test_matching_gives_one_shape_resolution_and_quality(make):
    sources = [
        make("CT", 1, size=(60, 40)),
        make("CT", 2, size=(90, 60)),
        make("CT", 3, size=(60, 50)),
        make("X-ray", 1, size=(44, 44), kind="JPEG", settings={"quality": 60}),
    ]
    panels = finish_panels(contents(sources), 3, 48, True, seeded_generator("test"))
    assert len({(p.width, p.height, p.quality, p.letterboxed) for p in panels}) == 1
    assert panels[0].quality == 60 and panels[0].letterboxed
    black = [(np.asarray(p.image).max(axis=(1, 2)) == 0).sum() for p in panels]
    assert len(set(black)) == 1 and black[0] > 0
    plain = finish_panels(contents(sources), 3, 48, False, seeded_generator("test"))
    assert len({(p.width, p.height, p.quality) for p in plain}) > 1


def test_nothing_is_enlarged_before_it_must_be(make):
    image = load_image(make("CT", 1)).image
    assert shrink_to_panel(image, 100) is image
    assert shrink_to_panel(image, 32).size == (32, 32)
    assert all(
        p.image.size == (100, 100)
        for p in finish_panels(contents([make("CT", 1)] * 2, 100), None, 100, True, seeded_generator("t"))
    )


@pytest.mark.parametrize("quality", [25, 50, 75, 90])
def test_quality_of_a_jpeg_is_read_from_its_tables(make, quality):
    assert abs(load_image(make("CT", 1, kind="JPEG", settings={"quality": quality})).facts.quality - quality) <= 1
    assert load_image(make("CT", 1)).facts.quality == 100


def test_quality_by_hand():
    # The standard table sums to 3688; half as coarse is scale 1/2: quality 50 * (2 - 1/2) = 75; twice, 50 / 2 = 25.
    assert jpeg_quality([3688]) == 50
    assert jpeg_quality([1844]) == 75
    assert jpeg_quality([7376]) == 25


@pytest.mark.parametrize("modality", ["CT", "X-ray", "Dermoscopy"])
@pytest.mark.parametrize(("mean", "spread"), [(75, 40), (128, 60), (40, 25)])
def test_mean_and_deviation_are_met(make, modality, mean, spread):
    result = np.asarray(
        match_tone(np.asarray(load_image(make(modality, 1)).image, dtype=float), mean, spread), dtype=float
    )
    grey = measure_luminance(result)
    assert abs(grey.mean() - mean) < 0.5
    assert abs(grey.std() - spread) < 0.5


def test_it_is_monotone(make):
    before = np.asarray(load_image(make("MRI", 1)).image, dtype=float)[..., 0]
    after = np.asarray(match_tone(np.repeat(before[..., None], 3, axis=2), 100, 50), dtype=float)[..., 0]
    order = np.argsort(before.ravel())
    assert (np.diff(after.ravel()[order]) >= 0).all()


def test_a_flat_picture_stays_flat():
    assert len(np.unique(match_tone(np.full((8, 8, 3), 50.0), 100, 50))) == 1


def test_panels_end_up_alike_and_still_show_what_they_showed(make):
    images = [load_image(make("X-ray", n)).image for n in range(3)] + [load_image(make("MRI", 0)).image]
    sizes = [leaks.file_size(image) for image in images]
    assert max(sizes) > 1.3 * min(sizes)
    levelled = panels.level_panels(images, 3, seeded_generator("test"))
    found = [leaks.measure_pixels(image) for image in levelled]
    assert max(f.bytes for f in found) < 1.02 * min(f.bytes for f in found)
    for name in ("mean", "deviation"):
        values = [getattr(f, name) for f in found]
        assert max(values) - min(values) < 1
    for before, after in zip(images, levelled, strict=True):
        pair = [np.asarray(image.convert("L"), dtype=float).ravel() for image in (before, after)]
        assert np.corrcoef(*pair)[0, 1] > 0.9


def test_without_an_outlier_the_inliers_set_the_tone(make):
    images = [load_image(make("CT", n)).image for n in range(4)]
    levelled = panels.level_panels(images, None, seeded_generator("test"))
    means = [np.asarray(image.convert("L"), dtype=float).mean() for image in images]
    # The middle one's tone is everybody's.
    assert abs(np.asarray(levelled[0].convert("L"), dtype=float).mean() - np.median(means)) < 1


def test_file_size_counts_the_luminance_only():
    grey = Image.new("RGB", (32, 32), (100, 100, 100))
    assert leaks.file_size(grey) == leaks.file_size(Image.new("RGB", (32, 32), (99, 100, 102)))


@pytest.mark.parametrize("side", SIDES)
def test_panels_are_where_they_are_said_to_be_and_the_box_covers_none(side):
    size, panel = GridSize(side), 40
    colours = [(10 * index, 5, 200 - 5 * index) for index in range(size.panels)]
    grid = panels.compose_grid([Image.new("RGB", (panel, panel), colour) for colour in colours], size)
    boxed = panels.draw_box(grid, size, size.panels - 2, panel)
    for picture in (grid, boxed):
        for index, colour in enumerate(colours):
            part = np.asarray(picture.crop(panels.panel_box(size, index, panel)))
            assert (part == colour).all()
    changed = np.argwhere((np.asarray(grid) != np.asarray(boxed)).any(axis=2))
    left, top, right, bottom = panels.panel_box(size, size.panels - 2, panel)
    assert changed.min(axis=0).tolist() == [top - panels.BOX_WIDTH, left - panels.BOX_WIDTH]
    assert changed.max(axis=0).tolist() == [bottom - 1 + panels.BOX_WIDTH, right - 1 + panels.BOX_WIDTH]
    assert (np.asarray(boxed)[tuple(changed.T)] == panels.BOX_COLOUR).all()
