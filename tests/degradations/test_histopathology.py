"""Bubbles, dark spots and blood cells: against the plain way to compute them, by hand, and for any image."""

import numpy as np
import pytest
from scipy import ndimage

from lmms_medtasks.degradations import registry
from lmms_medtasks.degradations.histopathology import (
    BloodCellParameters,
    BubbleParameters,
    DarkSpotParameters,
    add_blood_cells,
    add_bubble,
    apply_dark_spot,
    draw_cell,
)
from lmms_medtasks.seeding import seeded_generator

NAMES = ("blood_cell_artifact", "dark_spots_artifact", "bubble")
SHADE = ((0.0, 200.0, 50.0, 60.0), (1.0, 140.0, 80.0, 110.0))


def drawn(name, level, seed, shape):
    """The record that ``name`` draws; both levels from the same generator."""
    settings = registry.get_settings(name, level, "Histopathology")
    return registry.get(name, "Histopathology").sample(seeded_generator("tissue", seed), settings, shape)


def degraded(image, name, level, seed):
    return registry.get(name, "Histopathology").apply(image, drawn(name, level, seed, image.shape[:2]))


def squared_error(image, other):
    return float(np.square(image.astype(np.float64) - np.clip(other, 0, 1)).mean())


# --- Where there is a picture ----------------------------------------------------------------------------------------


def textured(height, width):
    return seeded_generator("tissue texture").random((height, width, 3), dtype=np.float32) * 0.5 + 0.3


def letterboxed(bars):
    image = textured(96, 96)
    image[:bars] = image[96 - bars :] = 8 / 255  # as JPEG leaves black
    return image


def in_a_circle():
    image = textured(96, 96)
    y, x = np.mgrid[:96, :96]
    image[(y - 48) ** 2 + (x - 48) ** 2 > 45**2] = 0.0
    return image


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(
    "image", [letterboxed(24), letterboxed(40), in_a_circle()], ids=["bars", "wide bars", "circle"]
)
@pytest.mark.parametrize("name", NAMES)
def test_black_around_a_picture_stays_black_and_the_picture_is_degraded(name, image, level):
    black = image.max(axis=2) <= 8 / 255
    for seed in range(6):
        degraded_image = degraded(image, name, level, seed)
        assert np.array_equal(degraded_image[black], image[black])
        assert squared_error(image[~black], degraded_image[~black]) > 1e-5, seed
        assert np.array_equal(degraded(image[..., 0], name, level, seed)[black], image[..., 0][black])


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_between_bars_is_degraded_as_without_them(name):
    image = letterboxed(24)
    record = drawn(name, 2, 3, (96, 96)).within((96, 96), (48, 96))
    alone = registry.get(name, "Histopathology").apply(image[24:72], record)
    assert np.array_equal(degraded(image, name, 2, 3)[24:72], alone)
    assert not np.array_equal(alone, image[24:72])


@pytest.mark.parametrize("name", NAMES)
def test_a_dark_spot_of_tissue_or_a_black_image_is_no_bar(name):
    image = textured(96, 96)
    image[40:60, 40:60] = 0.0
    image[0, :5] = 0.0
    for dark in (image, np.zeros((40, 30, 3), np.float32)):
        degradation = registry.get(name, "Histopathology")
        record = drawn(name, 2, 1, dark.shape[:2])
        assert np.array_equal(degradation.apply(dark, record), degradation.apply.__wrapped__(dark, record))


@pytest.mark.parametrize("level", [1, 2])
def test_a_bubble_moves_from_an_empty_part_to_the_tissue(level):
    image = np.full((128, 128, 3), 0.94, np.float32)
    assert squared_error(image, degraded(image, "bubble", level, 0)) == pytest.approx(0, abs=1e-12)
    image[:, :24] = textured(128, 24)
    for seed in range(6):
        assert squared_error(image, degraded(image, "bubble", level, seed)) > (5 / 255) ** 2 * 0.05, seed


def test_a_bubble_on_tissue_stays_where_it_is_drawn():
    image = textured(128, 128)
    image[:30] = 0.94
    record = drawn("bubble", 1, 2, (128, 128))
    inside = np.argwhere((add_bubble(image, record) != image).any(axis=2))
    assert np.abs(inside.mean(axis=0) - (record.row, record.column)).max() < 1


# --- Dark spots ----------------------------------------------------------------------------------------------------


def test_dark_spot_by_hand():
    # On white, one sigma from the centre exp(-1/2) = 0.60653 of the peak is lost: 1 - 0.4 * 0.60653 = 0.75739; on the
    # diagonal, exp(-1) = 0.36788: 1 - 0.4 * 0.36788 = 0.85285.
    result = apply_dark_spot(np.ones((9, 9), np.float32), DarkSpotParameters(row=4, column=3, sigma=2, peak=0.4))
    assert result[4, 3] == pytest.approx(0.6)
    assert result[4, 5] == result[2, 3] == pytest.approx(0.75739, abs=1e-5)
    assert result[6, 5] == pytest.approx(0.85285, abs=1e-5)


def test_dark_spot_in_colour_keeps_the_hue():
    image = np.broadcast_to(np.array([0.9, 0.3, 0.6], np.float32), (8, 8, 3))
    result = apply_dark_spot(image, DarkSpotParameters(row=1, column=6, sigma=3, peak=0.7))
    assert np.allclose(result / result[..., :1], image / image[..., :1])


# --- Bubble --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("row", "column"), [(30, 25), (2, 47), (58, 1)])
@pytest.mark.parametrize("colour", [False, True])
def test_bubble_is_a_disc_of_the_blurred_image(row, column, colour):
    image = seeded_generator("bubble").random((60, 50, 3) if colour else (60, 50), dtype=np.float32)
    result = add_bubble(image, BubbleParameters(row=row, column=column, radius=14, sigma=2.3))
    blurred = ndimage.gaussian_filter(image, (2.3, 2.3, 0)[: image.ndim])
    y, x = np.mgrid[0:60, 0:50]
    inside = (y - row) ** 2 + (x - column) ** 2 < 14**2
    assert np.allclose(result[inside], blurred[inside], atol=1e-6)
    assert np.array_equal(result[~inside], image[~inside])


def test_a_bubble_in_many_strips_is_one_bubble():
    image = seeded_generator("strips").random((800, 700), dtype=np.float32)
    result = add_bubble(image, BubbleParameters(row=390, column=340, radius=330, sigma=3.2))
    blurred = ndimage.gaussian_filter(image, 3.2)
    assert np.allclose(result[390], np.where(np.abs(np.arange(700) - 340) < 330, blurred[390], image[390]), atol=1e-6)
    assert np.allclose(
        result[:, 340], np.where(np.abs(np.arange(800) - 390) < 330, blurred[:, 340], image[:, 340]), atol=1e-6
    )


@pytest.mark.parametrize(("level", "radius", "sigma"), [(1, 51, 1.6), (2, 92, 3.2)])
def test_sizes_on_the_authors_size_spread_around_theirs(level, radius, sigma):
    bubbles = [drawn("bubble", level, seed, (256, 256)) for seed in range(300)]
    assert np.median([bubble.radius for bubble in bubbles]) == pytest.approx(radius, rel=0.02)
    assert np.median([bubble.sigma for bubble in bubbles]) == pytest.approx(sigma, rel=0.03)
    assert all(0.87 * radius < bubble.radius < 1.13 * radius for bubble in bubbles)
    assert all(0.8 * sigma <= bubble.sigma <= 1.2 * sigma for bubble in bubbles)
    spots = [drawn("dark_spots_artifact", level, seed, (256, 300)) for seed in range(300)]
    assert np.median([spot.sigma for spot in spots]) == pytest.approx((51, 89)[level - 1], rel=0.03)
    assert np.median([spot.peak for spot in spots]) == pytest.approx((0.4675, 0.765)[level - 1], rel=0.02)


# --- Blood cells ---------------------------------------------------------------------------------------------------


def test_cells_of_level_1_are_those_of_level_2_smaller():
    mild, severe = (drawn("blood_cell_artifact", level, 7, (256, 200)).cells for level in (1, 2))
    assert 7 <= len(mild) <= 11 and 14 <= len(severe) <= 20
    for first, second in zip(mild, severe, strict=False):
        assert (first[:2], first[3:]) == (second[:2], second[3:]) and first[2] < second[2]
        assert 0.18 * 200 <= first[2] <= 0.21 * 200 and 0.234 * 200 <= second[2] <= 0.273 * 200


@pytest.mark.parametrize("diameter", [50.0, 300.0])
def test_a_cell_is_an_ellipse_with_a_ragged_edge(diameter):
    radius = diameter / 2
    for seed in range(20):
        colour, coverage = draw_cell((0, 0, diameter, 0.8, 0.0, seed), np.array(SHADE, np.float32), texture=0.0)
        side = coverage.shape[0]
        assert coverage.shape == (side, side) and colour.shape == (side, side, 3) and side % 2 == 1
        assert coverage.min() == 0 and coverage.max() == 1
        # Nothing is cut off at the border of the drawing.
        assert max(coverage[0].max(), coverage[-1].max(), coverage[:, 0].max(), coverage[:, -1].max()) <= 0.51
        y, x = np.mgrid[0:side, 0:side] - side // 2
        ellipse = (x / radius) ** 2 + (y / (0.8 * radius)) ** 2 < 1
        assert coverage.sum() == pytest.approx(ellipse.sum(), rel=0.06)
        assert 0.02 < np.abs(coverage - ellipse).sum() / ellipse.sum() < 0.25


def test_a_cell_is_shaded_from_the_middle_to_the_rim():
    colour, coverage = draw_cell((0, 0, 61.0, 1.0, 0.0, 3), np.array(SHADE, np.float32), texture=0.0)
    middle = coverage.shape[0] // 2
    assert np.allclose(colour[middle, middle] * 255, [200, 50, 60], atol=1)
    # The rim, where the last pixel of the middle row is covered.
    last = np.flatnonzero(coverage[middle] > 0.5)[-1]
    assert np.allclose(colour[middle, last] * 255, [140, 80, 110], atol=6)


def test_overlapping_cells_stack():
    # One flat grey cell of 0.8 twice at opacity 0.25 over 0.4: 0.4 + 0.25 * 0.4 = 0.5, then 0.5 + 0.25 * 0.3 = 0.575.
    shade = ((0.0, 204.0, 204.0, 204.0), (1.0, 204.0, 204.0, 204.0))
    cell = (20, 20, 18.0, 0.9, 45.0, 11)
    for count, expected in ((1, 0.5), (2, 0.575)):
        record = BloodCellParameters(cells=(cell,) * count, opacity=0.25, shade=shade, texture=0.0)
        for image in (np.full((41, 41), 0.4, np.float32), np.full((41, 41, 3), 0.4, np.float32)):
            result = add_blood_cells(image, record)
            assert np.allclose(result[20, 20], expected, atol=1e-5)
            assert np.allclose(result[0, 0], 0.4)


def test_a_cell_that_hangs_over_the_border_is_cut():
    record = BloodCellParameters(cells=((0, 29, 12.0, 0.9, 0.0, 1),), opacity=0.5, shade=SHADE, texture=10.0)
    whole = BloodCellParameters(cells=((30, 59, 12.0, 0.9, 0.0, 1),), opacity=0.5, shade=SHADE, texture=10.0)
    image = np.full((30, 30, 3), 0.5, np.float32)
    larger = add_blood_cells(np.full((90, 90, 3), 0.5, np.float32), whole)
    assert np.array_equal(add_blood_cells(image, record), larger[30:60, 30:60])


@pytest.mark.parametrize(("row", "column"), [(-40, 5), (5, 300), (90, -90)])
def test_a_cell_outside_is_not_seen(row, column):
    record = BloodCellParameters(cells=((row, column, 12.0, 0.9, 0.0, 1),), opacity=0.5, shade=SHADE, texture=10.0)
    image = np.full((30, 30), 0.5, np.float32)
    assert np.array_equal(add_blood_cells(image, record), image)
