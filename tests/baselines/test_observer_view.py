"""The observer's filters on pictures whose responses are known."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines.observer_view import SIDE, View, at_sites, best, centre_of, circle, marker, peaks, ranked
from lmms_medtasks.seeding import generator


def _view(*discs: tuple[tuple[float, float], float, float], ground: float = 100.0, n: int = SIDE) -> View:
    """A flat picture with discs of (place, radius, level)."""
    picture = np.full((n, n), ground)
    for at, radius, level in discs:
        canvas.paint(picture, canvas.ellipse(canvas.grid(n), at, (radius, radius)), level)
    return View(Image.fromarray(canvas.to_bytes(picture)))


def test_a_mean_is_the_level_of_a_flat_place():
    view = _view(((0.5, -0.5), 0.2, 180.0))
    assert view.mean("grey", (0.5, -0.5), 0.03) == pytest.approx(180, abs=0.5)
    assert view.mean("grey", (-0.5, 0.5), 0.03) == pytest.approx(100, abs=0.5)


def test_colour_planes_by_hand():
    view = View(Image.new("RGB", (50, 50), (200, 100, 40)))
    # red: 200 - 50 - 20 = 130; green: 100 - 100 - 20 = -20; blue: 40 - 100 - 50 = -110; grey: 60 + 59 + 4.4 = 123.4.
    for name, level in {"red": 130, "green": -20, "blue": -110, "grey": 123.4, "r": 200}.items():
        assert float(view.plane(name).mean()) == pytest.approx(level, abs=1e-3)


def test_a_blob_filter_prefers_discs_of_its_size_and_ignores_the_level():
    small, large = (_view(((0, 0), r, 160.0)) for r in (0.05, 0.2))
    brighter = _view(((0, 0), 0.05, 190.0), ground=130.0)
    at = (0.0, 0.0)
    assert best(small.blob("grey", 0.05), at, 0.0)[0] > 2 * best(large.blob("grey", 0.05), at, 0.0)[0]
    assert best(brighter.blob("grey", 0.05), at, 0.0)[0] == pytest.approx(
        best(small.blob("grey", 0.05), at, 0)[0], 0.02
    )
    assert float(np.abs(_view().blob("grey", 0.05)).max()) == pytest.approx(0, abs=1e-3)


def test_scanning_finds_a_disc_off_its_site():
    view = _view(((0.33, 0.17), 0.05, 160.0))
    value, place = best(view.blob("grey", 0.05), (0.30, 0.20), 0.06)
    assert place == pytest.approx((0.33, 0.17), abs=0.011)
    assert value > 10 > best(view.blob("grey", 0.05), (-0.30, 0.20), 0.06)[0]


def test_dark_discs_answer_to_the_opposite_sign():
    view = _view(((0, 0), 0.05, 40.0))
    assert best(view.blob("grey", 0.05), (0, 0), 0.02, -1)[0] > 10


def test_ranked_sites_count_signals_wherever_they_are():
    sites = ((-0.5, 0), (0, 0), (0.5, 0))
    view = _view(((0.5, 0), 0.05, 160.0), ((-0.5, 0), 0.05, 150.0))
    response = view.blob("grey", 0.05)
    left, middle, right = at_sites(response, sites, 0.02)
    assert ranked(response, sites, 0.02).tolist() == [right, left, middle]


def test_peaks_are_the_largest_maxima_that_are_apart():
    response = np.zeros((SIDE, SIDE), np.float32)
    response[50, 50], response[52, 50], response[120, 120] = 9, 8, 5
    inside = np.ones_like(response, bool)
    # The second one is 2 pixels from the first, nearer than 0.06 of 96 pixels.
    found = peaks(response, inside & (response > 0), 3, 0.06)
    assert found.tolist() == [9, 5, 0]


def test_the_centre_of_a_disc_is_found_from_beside_it():
    view = _view(((0.2, -0.1), 0.1, 160.0))
    assert centre_of(view.plane("grey") - 110, (0.26, -0.05), 0.13) == pytest.approx((0.2, -0.1), abs=0.01)


@pytest.mark.parametrize("colour", [(255, 0, 0), (0, 255, 0)])
def test_the_marker_is_found_with_its_size(colour):
    grey = np.full((SIDE, SIDE), 120, np.uint8)
    drawn = canvas.mark(grey, canvas.box(canvas.grid(SIDE), (0.3, -0.4), (0.2, 0.1)), colour)
    x, y, width, height = marker(View(Image.fromarray(drawn)))
    assert (x, y) == pytest.approx((0.3, -0.4), abs=0.02)
    assert 1.5 < width / height < 2.8


def test_the_noise_level_is_that_of_the_noise():
    flat = Image.new("RGB", (SIDE, SIDE), (128, 128, 128))
    levels = [View(flat, sigma, generator("level", sigma)).noise_level() for sigma in (5, 20)]
    # Independent in three channels: the grey plane keeps sqrt(0.30^2 + 0.59^2 + 0.11^2) = 0.671 of it.
    assert levels == pytest.approx([5 * 0.671, 20 * 0.671], rel=0.03)


def test_a_circle_has_its_radius():
    places = np.array(circle(0.5, 7, (0.1, 0.2)))
    assert np.hypot(places[:, 0] - 0.1, places[:, 1] - 0.2) == pytest.approx(np.full(7, 0.5))


def test_any_mode_and_size_can_be_viewed():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        assert View(Image.new(mode, (37, 61))).rgb.shape == (SIDE, SIDE, 3)
