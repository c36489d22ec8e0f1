"""PSNR and SSIM against scikit-image."""

import math

import numpy as np
import pytest

from lmms_medtasks.degradations.similarity import psnr, ssim
from lmms_medtasks.seeding import generator

metrics = pytest.importorskip("skimage.metrics")


@pytest.mark.parametrize("shape", [(40, 33), (40, 33, 3), (7, 7)])
def test_like_scikit_image(shape):
    rng = generator("similarity")
    clean = rng.integers(0, 256, shape, dtype=np.uint8)
    other = np.clip(clean + rng.normal(0, 20, shape), 0, 255).astype(np.uint8)
    channels = 2 if len(shape) == 3 else None
    assert ssim(clean, other) == pytest.approx(metrics.structural_similarity(clean, other, channel_axis=channels))
    assert psnr(clean, other) == pytest.approx(metrics.peak_signal_noise_ratio(clean, other))


def test_edges():
    image = np.full((9, 9), 3, np.uint8)
    assert psnr(image, image) == math.inf
    assert ssim(image, image) == pytest.approx(1.0)
    assert math.isnan(ssim(image[:6], image[:6]))
