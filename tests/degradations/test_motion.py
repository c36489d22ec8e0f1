"""Rotation against SciPy's, translation by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.motion import RotationParameters, TranslationParameters, rotate_image, translate_image
from lmms_medtasks.seeding import seeded_generator


@settings(deadline=None, max_examples=30)
@given(
    height=st.integers(5, 80),
    width=st.integers(5, 80),
    angle=st.floats(0.5, 89.5),
    quarter=st.sampled_from([-180, -90, 0, 90]),
    colour=st.booleans(),
)
def test_rotation_is_scipys(height, width, angle, quarter, colour):
    shape = (height, width, 3) if colour else (height, width)
    image = seeded_generator("rotation", height, width).random(shape, dtype=np.float32)
    expected = ndimage.rotate(image, angle + quarter, reshape=False, order=1)
    difference = np.abs(rotate_image(image, RotationParameters(angle + quarter)) - expected)
    # A position on the very border may fall inside for one and outside for the other.
    assert np.mean(difference > 1e-5) <= 0.02


def test_positive_angles_turn_counter_clockwise():
    image = np.zeros((21, 21), np.float32)
    image[10, 18] = 1.0  # to the right of the centre
    turned = rotate_image(image, RotationParameters(90.0))
    assert np.unravel_index(turned.argmax(), turned.shape) == (2, 10)  # above it


@pytest.mark.parametrize(("severity", "low", "high"), [(1, 10, 30), (2, 150, 180)])
def test_angles_are_drawn_from_the_levels_range_with_both_signs(severity, low, high):
    angles = [
        degradations.sample("object_rotation", severity=severity, seed=seed, size=(9, 9)).angle for seed in range(200)
    ]
    assert all(low <= abs(angle) <= high for angle in angles)
    assert 60 < sum(angle > 0 for angle in angles) < 140
    # Uniform: 200 draws come within a tenth of the range of both its ends.
    assert min(map(abs, angles)) < low + (high - low) / 10
    assert max(map(abs, angles)) > high - (high - low) / 10


def test_translation_by_hand():
    image = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
    assert translate_image(image, TranslationParameters(down=1, right=-2)).tolist() == [
        [0, 0, 0, 0],
        [3, 4, 0, 0],
        [7, 8, 0, 0],
    ]
    assert not translate_image(image, TranslationParameters(down=3, right=0)).any()


@pytest.mark.parametrize(("severity", "low", "high"), [(1, 0.03, 0.07), (2, 0.12, 0.20)])
def test_translation_lengths(severity, low, high):
    for seed in range(50):
        record = degradations.sample("object_movement", severity=severity, seed=seed, size=(2000, 1000))
        assert 1000 * low - 1 <= np.hypot(record.down, record.right) <= 1000 * high + 1
