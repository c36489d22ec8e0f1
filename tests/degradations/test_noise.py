"""Gaussian noise: distribution, scale, independence of channels and rows."""

import numpy as np
import pytest
from scipy import stats

from lmms_medtasks import degradations
from lmms_medtasks.degradations.noise import NoiseParameters, add_noise
from lmms_medtasks.seeding import seeded_generator


def noise_of(shape, seed=1):
    """The noise on a picture whose standard deviation is 0.1, in units of it."""
    image = np.full(shape, 0.4, np.float32)
    image[: shape[0] // 2] = 0.6
    return (add_noise(image, NoiseParameters(sigma=1.0, noise_seed=seed)) - image) / 0.1


def test_it_is_standard_normal_and_white():
    noise = noise_of((1000, 1000)).astype(np.float64)
    # A million samples: the standard errors of mean and deviation are 1e-3 and 7e-4.
    assert abs(noise.mean()) < 5e-3
    assert abs(noise.std() - 1) < 4e-3
    assert abs(stats.kurtosis(noise, axis=None)) < 0.03
    assert stats.kstest(noise.ravel()[:100_000], "norm").pvalue > 1e-3
    # Correlation with the neighbour to the right, below, and in the strip below: standard error 1e-3.
    for shift in ((0, 1), (1, 0), (66, 0)):
        assert abs((noise * np.roll(noise, shift, (0, 1))).mean()) < 5e-3, shift
    # 3 sigma is passed by 0.27 % of samples, 4 sigma by 63 in a million.
    assert abs((np.abs(noise) > 3).mean() - 0.0027) < 3e-4
    assert 30 < (np.abs(noise) > 4).sum() < 100


def test_channels_are_independent_also_on_grey_stored_as_colour():
    grey = seeded_generator("noise test").integers(0, 256, (200, 200, 1), dtype=np.uint8)
    clean = np.repeat(grey, 3, axis=2) // 2 + 60
    noise = degradations.apply(clean, "gaussian_noise", severity=1).astype(float) - clean
    correlation = np.corrcoef(noise.reshape(-1, 3).T)
    assert np.abs(correlation - np.eye(3)).max() < 0.02


@pytest.mark.parametrize(("severity", "share"), [(1, 0.36), (2, 0.60)])
def test_scale_follows_the_deviation_of_the_image(severity, share):
    image = np.full((400, 400), 100, np.uint8)
    image[:, 200:] = 140  # deviation 20
    noise = degradations.apply(image, "gaussian_noise", severity=severity).astype(float) - image
    # Truncation moves the mean by half a level and adds a variance of 1/12.
    assert noise.std() == pytest.approx(np.hypot(20 * share, 12**-0.5), rel=0.01)
    assert noise.mean() == pytest.approx(-0.5, abs=0.1)


def test_seeds_give_different_noise_and_the_same_seed_the_same():
    assert not np.array_equal(noise_of((50, 50), 1), noise_of((50, 50), 2))
    assert np.array_equal(noise_of((50, 50), 1), noise_of((50, 50), 1))
