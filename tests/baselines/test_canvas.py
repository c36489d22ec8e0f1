"""Drawing primitives: areas by hand, soft edges, and that windows only save time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.baselines import canvas
from lmms_medtasks.seeding import seeded_generator

unit = st.floats(-0.8, 0.8)


def test_the_grid_holds_pixel_centres():
    g = canvas.make_grid(4)
    # Four pixels over [-1, 1] are 0.5 wide; their middles are at -0.75, -0.25, 0.25, 0.75.
    assert g.x[0].tolist() == [-0.75, -0.25, 0.25, 0.75]
    assert g.y[:, 0].tolist() == [-0.75, -0.25, 0.25, 0.75]
    assert (g.n, g.pixel) == (4, 0.5)


@pytest.mark.parametrize(("radii", "turn"), [((0.5, 0.3), 0.0), ((0.5, 0.3), 1.1), ((0.2, 0.2), 0.4)])
def test_an_ellipse_has_the_area_of_an_ellipse(radii, turn):
    g = canvas.make_grid(200)
    area = canvas.ellipse_mask(g, (0.1, -0.2), radii, turn).sum() * g.pixel**2
    assert area == pytest.approx(np.pi * radii[0] * radii[1], rel=0.01)


def test_a_stroke_has_the_area_of_a_rectangle_with_round_ends():
    g = canvas.make_grid(200)
    area = canvas.stroke_mask(g, [(-0.5, 0.0), (0.5, 0.0)], 0.1).sum() * g.pixel**2
    # 1 long, 0.2 wide, and a disc of radius 0.1 for the two ends: 0.2 + 0.0314.
    assert area == pytest.approx(0.2 + np.pi * 0.01, rel=0.01)


@settings(max_examples=25, deadline=None)
@given(x=unit, y=unit, a=st.floats(0.02, 0.6), b=st.floats(0.02, 0.6), turn=st.floats(0, 3.2))
def test_a_mask_is_the_same_on_a_bent_grid_as_without_a_window(x, y, a, b, turn):
    g = canvas.bend_grid(canvas.make_grid(48), seeded_generator("bend"), 0.02, 6)
    c, s = np.cos(turn), np.sin(turn)
    u = (c * (g.x - x) + s * (g.y - y)) / a
    v = (c * (g.y - y) - s * (g.x - x)) / b
    whole = np.clip(0.5 - (np.hypot(u, v) - 1) * min(a, b) / (2 * g.pixel), 0, 1)
    np.testing.assert_allclose(canvas.ellipse_mask(g, (x, y), (a, b), turn), whole, atol=1e-12)


def test_noise_has_zero_mean_and_unit_deviation():
    field = canvas.smooth_noise(seeded_generator("noise"), 64, 3.0)
    assert (field.mean(), field.std()) == (pytest.approx(0, abs=1e-12), pytest.approx(1))


def test_painting_blends_levels_and_colours_in_place():
    grey = np.zeros((2, 2))
    canvas.paint_mask(grey, np.array([[1.0, 0.5], [0.0, 0.25]]), 100)
    assert grey.tolist() == [[100.0, 50.0], [0.0, 25.0]]
    colour = np.zeros((1, 1, 3))
    canvas.paint_mask(colour, np.array([[0.5]]), (10, 20, 30))
    assert colour.tolist() == [[[5.0, 10.0, 15.0]]]


def test_an_outline_lies_outside_what_it_encloses():
    mask = canvas.ellipse_mask(canvas.make_grid(64), (0, 0), (0.5, 0.5))
    drawn = canvas.outline_mask(mask)
    assert drawn.any() and not (drawn & (mask > 0.5)).any()


def test_a_box_is_hollow():
    drawn = canvas.box_mask(canvas.make_grid(100), (0, 0), (0.5, 0.5))
    # 50 pixels wide, a border of two: 50 * 50 - 46 * 46 = 384 pixels.
    assert drawn.sum() == 384


def test_levels_are_rounded_to_steps_and_clipped():
    levels = canvas.to_bytes(np.array([[-5.0, 0.9, 101.1, 300.0]]), step=2)
    assert levels.dtype == np.uint8
    assert levels.tolist() == [[0, 0, 102, 255]]


def test_marking_gives_a_colour_copy():
    grey = np.full((2, 2), 7, np.uint8)
    marked = canvas.mark_pixels(grey, np.array([[True, False], [False, False]]), (255, 0, 0))
    assert marked[0, 0].tolist() == [255, 0, 0] and marked[1, 1].tolist() == [7, 7, 7]
    assert grey[0, 0] == 7
