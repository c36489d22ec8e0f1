"""A grey picture stored as one channel, as three and with alpha gets the same damage, from every operator.

The exceptions are two operators of the authors' that treat each channel on its own, on grey pictures too: noise and
k-space lines. There the one channel is degraded as the first of the three.
"""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import corruptions

PER_CHANNEL = {"gaussian_noise", "undersampling_artifact"}

CASES = [
    (name, modality)
    for name in degradations.names()
    for modality in degradations.modalities_of(name)
    if modality == degradations.modalities_of(name)[0] or modality in ("X-ray", "MRI")
]


def test_the_operators_per_channel_are_these():
    found = {name for name in degradations.names() if degradations.get(name).channels == "independent"}
    assert found == PER_CHANNEL


@pytest.mark.parametrize("kind", ["natural 1.0", "odd"])
@pytest.mark.parametrize(("name", "modality"), CASES)
def test_grey_is_grey_however_it_is_stored(name, modality, kind, broad_set):
    grey = Image.fromarray(broad_set[kind])
    for severity in (1, 2):
        one, three, alpha = (
            np.asarray(
                degradations.apply(grey.convert(mode), name, severity=severity, seed=3, modality=modality, force=True)
            )
            for mode in ("L", "RGB", "RGBA")
        )
        assert np.array_equal(three[..., 0], one)
        assert np.array_equal(alpha[..., :3], three)
        same = (three == three[..., :1]).all()
        assert not same if name in PER_CHANNEL else same


@pytest.mark.parametrize("name", sorted(PER_CHANNEL))
def test_channels_of_their_own_are_as_far_from_the_clean_picture(name, broad_set):
    grey = broad_set["natural 1.0"].astype(float)
    for severity in (1, 2):
        three = degradations.apply(
            np.repeat(broad_set["natural 1.0"][..., None], 3, axis=2), name, severity=severity, modality="MRI"
        )
        errors = np.square(three - grey[..., None]).mean(axis=(0, 1))
        assert errors.max() < 1.35 * errors.min()


@pytest.mark.parametrize("strength", ["low", "medium", "high"])
def test_corruptions_of_grey_are_grey(strength, broad_set):
    grey = broad_set["natural 1.0"]
    for seed in range(6):
        drawn = corruptions.sample(strength=strength, seed=seed)
        one = corruptions.apply_parameters(grey, drawn)
        three = corruptions.apply_parameters(np.repeat(grey[..., None], 3, axis=2), drawn)
        assert np.array_equal(three, np.repeat(one[..., None], 3, axis=2))
