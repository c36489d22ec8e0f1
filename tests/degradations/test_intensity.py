"""Brightness, exposure, contrast: hand-worked values."""

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations.intensity import ExposureParameters


def levels(*values):
    return np.array([values], dtype=np.uint8)


@pytest.mark.parametrize(("severity", "expected"), [(1, [0, 0, 25, 180]), (2, [0, 0, 0, 142])])
def test_brightness_is_subtracted_and_clipped(severity, expected):
    # 100 - 75 = 25, 255 - 75 = 180; 100 - 113 < 0, 255 - 113 = 142.
    result = degradations.apply(levels(0, 60, 100, 255), "adjust_brightness", severity=severity)
    assert result[0].tolist() == expected


def test_exposure_by_hand():
    # L1: 255 (128/255)^1.45 = 93.9 -> 93, - 9 = 84; 255 -> 246; L2: 255 (128/255)^2.35 = 50.4 -> 50, - 27 = 23.
    assert exposed((0, 128, 255), over=False) == [[0, 84, 246], [0, 23, 228]]


def test_over_exposure_by_hand():
    # L1: 255 (32/255)^0.59 = 74.9 -> 74, + 10 = 84; 0 -> 10, 255 -> 255. L2: 255 (32/255)^0.3 = 136.8 -> 136, + 30.
    assert exposed((0, 32, 255), over=True) == [[10, 84, 255], [30, 166, 255]]


def exposed(values, over):
    """Both levels, with a seed that draws this direction."""
    seed = next(seed for seed in range(64) if (drawn_gamma(1, seed) < 1) == over)
    return [degradations.apply(levels(*values), "exposure", severity=level, seed=seed)[0].tolist() for level in (1, 2)]


def drawn_gamma(level, seed):
    return degradations.sample("exposure", severity=level, seed=seed, size=(4, 4)).gamma


def test_exposure_goes_both_ways_and_level_2_further_the_same_way():
    gammas = [(drawn_gamma(1, seed), drawn_gamma(2, seed)) for seed in range(400)]
    assert set(gammas) == {(1.45, 2.35), (0.59, 0.30)}
    assert 160 < gammas.count((0.59, 0.30)) < 240  # half, standard deviation 10


def test_over_exposure_is_ordered_on_every_image(broad_set):
    for kind, image in broad_set.items():
        over = [ExposureParameters(0.59, 10), ExposureParameters(0.30, 30)]
        errors = [
            np.square(image.astype(float) - degradations.apply_parameters(image, "exposure", record)).mean()
            for record in over
        ]
        assert 0 < errors[0] < errors[1], kind


def test_contrast_shrinks_about_the_mean_of_all_samples():
    # Mean (10 + 20 + 60 + 110) / 4 = 50. L1: 50 + .65 (10 - 50) = 24, 30.5 -> 30, 56.5 -> 56, 89. L2: 38, 41, 53, 68.
    image = levels(10, 20, 60, 110)
    assert degradations.apply(image, "reduce_contrast", severity=1)[0].tolist() == [24, 30, 56, 89]
    assert degradations.apply(image, "reduce_contrast", severity=2)[0].tolist() == [38, 41, 53, 68]


def test_contrast_takes_one_mean_for_all_channels():
    image = np.zeros((1, 1, 3), np.uint8)
    image[..., 0] = 90  # mean 30; 30 + .3 * 60 = 48, 30 - .3 * 30 = 21
    assert degradations.apply(image, "reduce_contrast", severity=2)[0, 0].tolist() == [48, 21, 21]


@pytest.mark.parametrize(
    "name", ["reduce_contrast", "gaussian_noise", "gaussian_blur", "motion_blur", "low_resolution"]
)
@pytest.mark.parametrize("severity", [1, 2])
def test_constant_images_stay_what_they_are(name, severity):
    for value in range(256):
        image = np.full((9, 7), value, np.uint8)
        assert (degradations.apply(image, name, severity=severity) == value).all(), value
