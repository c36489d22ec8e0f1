"""One tone and one file size for the panels of a grid."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.grids import features, levelling
from lmms_medtasks.grids.levelling import luminance, matched
from lmms_medtasks.seeding import generator


@pytest.mark.parametrize("modality", ["CT", "X-ray", "Dermoscopy"])
@pytest.mark.parametrize(("mean", "spread"), [(75, 40), (128, 60), (40, 25)])
def test_mean_and_deviation_are_met(make, modality, mean, spread):
    result = np.asarray(matched(np.asarray(make(modality, 1).open(), dtype=float), mean, spread), dtype=float)
    grey = luminance(result)
    assert abs(grey.mean() - mean) < 0.5
    assert abs(grey.std() - spread) < 0.5


def test_it_is_monotone(make):
    before = np.asarray(make("MRI", 1).open(), dtype=float)[..., 0]
    after = np.asarray(matched(np.repeat(before[..., None], 3, axis=2), 100, 50), dtype=float)[..., 0]
    order = np.argsort(before.ravel())
    assert (np.diff(after.ravel()[order]) >= 0).all()


def test_a_flat_picture_stays_flat():
    assert len(np.unique(matched(np.full((8, 8, 3), 50.0), 100, 50))) == 1


def test_panels_end_up_alike_and_still_show_what_they_showed(make):
    images = [make("X-ray", n).open() for n in range(3)] + [make("MRI", 0).open()]
    sizes = [features.file_size(image) for image in images]
    assert max(sizes) > 1.3 * min(sizes)
    levelled = levelling.level(images, 3, generator("test"))
    found = [features.measured(image) for image in levelled]
    assert max(f.bytes for f in found) < 1.02 * min(f.bytes for f in found)
    for name in ("mean", "deviation"):
        values = [getattr(f, name) for f in found]
        assert max(values) - min(values) < 1
    for before, after in zip(images, levelled, strict=True):
        pair = [np.asarray(image.convert("L"), dtype=float).ravel() for image in (before, after)]
        assert np.corrcoef(*pair)[0, 1] > 0.9


def test_without_an_outlier_the_inliers_set_the_tone(make):
    images = [make("CT", n).open() for n in range(4)]
    levelled = levelling.level(images, None, generator("test"))
    means = [np.asarray(image.convert("L"), dtype=float).mean() for image in images]
    # The middle one's tone is everybody's.
    assert abs(np.asarray(levelled[0].convert("L"), dtype=float).mean() - np.median(means)) < 1


def test_file_size_counts_the_luminance_only():
    grey = Image.new("RGB", (32, 32), (100, 100, 100))
    assert features.file_size(grey) == features.file_size(Image.new("RGB", (32, 32), (99, 100, 102)))
