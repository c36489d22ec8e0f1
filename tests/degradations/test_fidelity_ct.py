"""Against the authors' published CT images, on their clean ones.

With the arcs of limited_angle set by hand, its pixels and sparse_view's are theirs outside the coloured drawings, up to
rounding in some thousands of sums. What is drawn is compared by its distance to the clean image: PSNR within 1.5 dB and
SSIM within 0.05 of theirs, median over the seeds (of low_dose outside the drawings, of which their images lost part).
The head of the figure, reduced to 220 pixels a side, is enlarged to 650 first.
"""

import dataclasses
import statistics

import numpy as np
import pytest
from PIL import Image
from scipy import ndimage

from lmms_medtasks import degradations
from lmms_medtasks.degradations.gallery import psnr, ssim


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
    found = degradations.sample(name, severity=level, seed=0, size=clean.shape, modality="CT")
    if name == "limited_angle":
        start, arc = {1: (30.0, 180.0), 2: (0.0, 100.0)}[level]
        found = dataclasses.replace(found, start=start, views=round(arc / found.step) + 1)
    ours = degradations.apply_parameters(clean, name, found, modality="CT")
    assert psnr(theirs[plain][None], ours[plain][None]) > least_psnr
    assert (theirs == ours)[plain].mean() > least_equal
    assert (abs(theirs.astype(int) - ours) <= 1)[plain].mean() > 0.998
    ours, theirs = outside(clean, ours, plain), outside(clean, theirs, plain)
    assert psnr(clean, ours) == pytest.approx(psnr(clean, theirs), abs=0.02)
    assert ssim(clean, ours) == pytest.approx(ssim(clean, theirs), abs=0.001)


@pytest.mark.parametrize("level", [1, 2])
def test_limited_angle_as_drawn_is_as_far_as_theirs(examples, level):
    clean, _ = clean_grey(load(examples, "limited_angle", 0))
    theirs = load(examples, "limited_angle", level)[..., 1]
    results = [degradations.apply(clean, "limited_angle", severity=level, seed=seed) for seed in range(8)]
    compared(clean, theirs, results)


@pytest.mark.parametrize("level", [1, 2])
def test_low_dose_is_as_far_as_theirs(examples, level):
    clean, plain = clean_grey(load(examples, "low_dose", 0))
    theirs = outside(clean, load(examples, "low_dose", level)[..., 1], plain)
    results = [
        outside(clean, degradations.apply(clean, "low_dose", severity=level, seed=seed, modality="CT"), plain)
        for seed in range(16)
    ]
    compared(clean, theirs, results)


def compared(clean, theirs, results):
    assert statistics.median(psnr(clean, ours) for ours in results) == pytest.approx(psnr(clean, theirs), abs=1.5)
    assert statistics.median(ssim(clean, ours) for ours in results) == pytest.approx(ssim(clean, theirs), abs=0.05)


@pytest.fixture(scope="session")
def panels(beside):
    folder = beside("medq_deg_panels")
    return [np.asarray(Image.open(folder / f"ct__low_dose__{level}.png").convert("RGB")) for level in range(3)]


def of_the_head(panels, level, seed, **given):
    """Our low_dose on the enlarged head, reduced again, with their drawing."""
    clean, plain = clean_grey(panels[0])
    large = np.asarray(Image.fromarray(clean).resize((650, 650), Image.Resampling.LANCZOS))
    found = degradations.sample("low_dose", severity=level, seed=seed, size=large.shape, modality="CT")
    ours = degradations.apply_parameters(large, "low_dose", dataclasses.replace(found, **given), modality="CT")
    reduced = np.asarray(Image.fromarray(ours).resize((220, 220), Image.Resampling.LANCZOS))
    return np.where(plain[..., None], reduced[..., None], panels[0])


@pytest.mark.parametrize("level", [1, 2])
def test_low_dose_of_the_figures_head(panels, level):
    by_hand = of_the_head(panels, level, 0, attenuation=0.034)
    assert psnr(panels[0], by_hand) == pytest.approx(psnr(panels[0], panels[level]), abs=0.5)
    assert ssim(panels[0], by_hand) == pytest.approx(ssim(panels[0], panels[level]), abs=0.02)
    drawn = [of_the_head(panels, level, seed) for seed in range(8)]
    compared(panels[0], panels[level], drawn)
    for measure in (psnr, ssim):
        found = [measure(panels[0], ours) for ours in drawn]
        assert min(found) < measure(panels[0], panels[level]) < max(found)


def test_low_dose_darkens_the_heads_centre_as_theirs(panels):
    brain = ndimage.binary_erosion((panels[0][..., 1] > 60) & (panels[0][..., 1] < 140), iterations=3)
    coarse = [
        ndimage.gaussian_filter(image[..., 1].astype(float) - panels[0][..., 1], 3)[brain]
        for image in (panels[2], of_the_head(panels, 2, 0, attenuation=0.034))
    ]
    assert np.corrcoef(*coarse)[0, 1] > 0.9
    assert coarse[1].mean() == pytest.approx(coarse[0].mean(), abs=1.5)
