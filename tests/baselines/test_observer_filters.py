"""The observer's filters on pictures whose responses are known."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines.observer_filters import SIDE, Filter, View
from lmms_medtasks.seeding import generator

MIDDLE = [(0.0, 0.0)]


def _view(*discs: tuple[tuple[float, float], float, float], ground: float = 100.0) -> View:
    """A flat picture with discs of (place, radius, level)."""
    picture = np.full((SIDE, SIDE), ground)
    for at, radius, level in discs:
        canvas.paint(picture, canvas.ellipse(canvas.grid(SIDE), at, (radius, radius)), level)
    return View(Image.fromarray(canvas.to_bytes(picture)))


def test_a_level_is_that_of_a_flat_place():
    levels = Filter("level", "grey", (0.03,), [(0.5, -0.5), (-0.5, 0.5)]).responses(_view(((0.5, -0.5), 0.2, 180.0)))
    assert levels == pytest.approx([180, 100], abs=0.5)


def test_colour_planes_by_hand():
    view = View(Image.new("RGB", (50, 50), (200, 100, 40)))
    # red: 200 - 50 - 20 = 130; green: 100 - 100 - 20 = -20; blue: 40 - 100 - 50 = -110; grey: 60 + 59 + 4.4 = 123.4.
    for name, level in {"red": 130, "green": -20, "blue": -110, "grey": 123.4, "r": 200, "g": 100, "b": 40}.items():
        assert Filter("level", name, (0.1,), MIDDLE).responses(view) == pytest.approx([level], abs=1e-3)


def test_a_spot_filter_prefers_discs_of_its_size_and_ignores_the_level():
    spot = Filter("spot", "grey", (0.05,), MIDDLE)
    (small,), (large,) = (spot.responses(_view(((0, 0), r, 160.0))) for r in (0.05, 0.2))
    assert small > 2 * large
    assert spot.responses(_view(((0, 0), 0.05, 190.0), ground=130.0)) == pytest.approx([small], rel=0.02)
    assert spot.responses(_view()) == pytest.approx([0], abs=1e-3)


def test_a_disc_off_its_site_is_within_reach():
    view = _view(((0.33, 0.17), 0.05, 160.0))
    near, beside = (Filter("spot", "grey", (0.05,), [(0.25, 0.25)], reach).responses(view) for reach in (0.1, 0.0))
    assert near == pytest.approx(Filter("spot", "grey", (0.05,), [(0.33, 0.17)], 0.02).responses(view))
    assert near[0] > 10 > beside[0]


def test_holes_are_dark_spots_and_either_is_both():
    view = _view(((0, 0), 0.05, 40.0))
    spot, hole, either = (
        Filter(kind, "grey", (0.05,), MIDDLE).responses(view)[0] for kind in ("spot", "hole", "either")
    )
    assert -spot == hole == either > 10


def test_ranked_responses_count_signals_wherever_they_are():
    sites = [(-0.5, 0), (0, 0), (0.5, 0)]
    view = _view(((0.5, 0), 0.05, 160.0), ((-0.5, 0), 0.05, 150.0))
    left, middle, right = Filter("spot", "grey", (0.05,), sites, 0.02).responses(view)
    assert Filter("spot", "grey", (0.05,), sites, 0.02, ranked=True).responses(view) == [right, left, middle]


def test_texture_is_the_log_of_the_deviation_of_noise():
    noise = generator("texture").normal(128, 20, (SIDE, SIDE))
    view = View(Image.fromarray(np.clip(noise, 0, 255).astype(np.uint8)))
    # Of white noise nearly all is finer than 0.1, 6 pixels.
    assert Filter("texture", "r", (0.1,), MIDDLE).responses(view) == pytest.approx([np.log(21)], abs=0.1)


def test_any_mode_and_size_can_be_viewed():
    for mode in ("1", "L", "P", "RGB", "RGBA"):
        assert View(Image.new(mode, (37, 61))).rgb.shape == (SIDE, SIDE, 3)
