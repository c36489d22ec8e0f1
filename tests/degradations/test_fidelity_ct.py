"""Against the authors' published CT images, on their clean ones.

limited_angle and sparse_view are not random: outside the coloured drawings our pixels are theirs, up to rounding in
some thousands of sums. low_dose is: PSNR to the clean image within 1.5 dB and SSIM within 0.05 of theirs, median over
16 seeds, outside the drawings too, since their low_dose images lost part of them.
"""

import statistics

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.similarity import psnr, ssim


def load(examples, name, level):
    with Image.open(examples / f"{name}_L{level}.png") as image:
        return np.asarray(image.convert("RGB"))


def clean_grey(colour):
    """What the authors' scans see: the luma of the image with its drawings; and where those are not, with a margin."""
    luma = np.rint(colour @ np.array([0.299, 0.587, 0.114])).astype(np.uint8)
    return luma, ~ndimage.binary_dilation(np.ptp(colour, axis=2) > 8, iterations=2)


def outside(clean, other, plain):
    """``other`` with the pixels of ``clean`` where drawings are."""
    return np.where(plain, other, clean)


# Measured with NumPy 2.4 and Numba 0.68: 62.4, 61.2, 60.1 and 57.8 dB; 96, 95, 94 and 90 % equal.
@pytest.mark.parametrize(
    ("name", "level", "least_psnr", "least_equal"),
    [
        ("limited_angle", 1, 61.5, 0.95),
        ("limited_angle", 2, 60.5, 0.94),
        ("sparse_view", 1, 59.0, 0.92),
        ("sparse_view", 2, 57.0, 0.88),
    ],
)
def test_missing_views_are_theirs(examples, name, level, least_psnr, least_equal):
    clean, plain = clean_grey(load(examples, name, 0))
    theirs = load(examples, name, level)[..., 1]
    ours = degradations.apply(clean, name, severity=level, seed=0, modality="CT")
    assert psnr(theirs[plain][None], ours[plain][None]) > least_psnr
    assert (theirs == ours)[plain].mean() > least_equal
    assert (abs(theirs.astype(int) - ours) <= 1)[plain].mean() > 0.998
    ours, theirs = outside(clean, ours, plain), outside(clean, theirs, plain)
    assert psnr(clean, ours) == pytest.approx(psnr(clean, theirs), abs=0.02)
    assert ssim(clean, ours) == pytest.approx(ssim(clean, theirs), abs=0.001)


@pytest.mark.parametrize("level", [1, 2])
def test_low_dose_is_as_far_as_theirs(examples, level):
    clean, plain = clean_grey(load(examples, "low_dose", 0))
    theirs = outside(clean, load(examples, "low_dose", level)[..., 1], plain)
    results = [
        outside(clean, degradations.apply(clean, "low_dose", severity=level, seed=seed, modality="CT"), plain)
        for seed in range(16)
    ]
    assert statistics.median(psnr(clean, ours) for ours in results) == pytest.approx(psnr(clean, theirs), abs=1.5)
    assert statistics.median(ssim(clean, ours) for ours in results) == pytest.approx(ssim(clean, theirs), abs=0.05)
