"""Images that the tests of degradations share."""

import numpy as np
import pytest
from scipy import ndimage

from lmms_medtasks.seeding import seeded_generator


@pytest.fixture(scope="session")
def examples(beside):
    """The folder with the authors' published images, where a checkout has one beside it."""
    return beside("medq_deg_examples/examples.json").parent


@pytest.fixture(scope="session")
def broad_set():
    """8-bit images of many kinds: natural spectra, edges, smooth, noisy, sparse, dark, bright, oblong, colour."""
    rng = seeded_generator("broad set of test images")
    y, x = np.mgrid[0:128, 0:128] / 127
    disc = (y - 0.5) ** 2 + (x - 0.4) ** 2 < 0.1
    found = {f"natural {slope}": _natural(rng, slope) for slope in (0.5, 1.0, 1.5)}
    found |= {
        "gradient": x,
        "disc on black": 0.7 * disc,
        "disc on white": 1 - 0.7 * disc,
        "ring": np.exp(-(((np.hypot(y - 0.5, x - 0.45) - 0.3) / 0.05) ** 2)),
        "low contrast": 0.5 + 0.1 * (_natural(rng, 1.0) - 0.5),
        "dark": 0.1 + 0.2 * _natural(rng, 1.0),
        "bright": 0.7 + 0.3 * _natural(rng, 1.0),
        "noisy": ndimage.gaussian_filter(rng.random((128, 128)), 1.0),
        "blobs": np.clip(6 * ndimage.gaussian_filter((rng.random((128, 128)) > 0.99) * 1.0, 4), 0, 1),
        "odd": _natural(rng, 1.2)[:101, :67],
        "oblong": _natural(rng, 1.2, 256)[:40],
        "colour": np.stack([_natural(rng, 1.2) for _ in range(3)], axis=2),
        "tissue": np.array([0.8, 0.5, 0.7]) + 0.3 * (_natural(rng, 1.1)[..., None] - 0.5) * np.array([1, 1.3, 0.8]),
    }
    return {name: np.rint(255 * np.clip(image, 0, 1)).astype(np.uint8) for name, image in found.items()}


def _natural(rng, slope, side=128):
    """A random image whose amplitude falls with frequency to the power of -slope, scaled to [0, 1]."""
    frequency = np.hypot(np.fft.rfftfreq(side)[None, :], np.fft.fftfreq(side)[:, None])
    frequency[0, 0] = 1.0
    image = np.fft.irfft2(np.fft.rfft2(rng.normal(size=(side, side))) / frequency**slope, s=(side, side))
    return (image - image.min()) / (image.max() - image.min())
