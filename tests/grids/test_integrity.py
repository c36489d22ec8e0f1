"""Integrity violations."""

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import integrity
from lmms_medtasks.seeding import generator


@pytest.fixture
def image(make):
    return make("X-ray", 1).open()


@pytest.mark.parametrize("name", integrity.VIOLATIONS)
def test_one_place_is_changed_visibly_and_reproducibly(image, make, name):
    violation = integrity.sample(name, generator("test", name))
    texture = make("MRI", 1).open()
    result = integrity.apply(image, violation, texture)
    assert integrity.apply(image, violation, texture).tobytes() == result.tobytes()
    before, after = np.asarray(image, dtype=float), np.asarray(result, dtype=float)
    changed = np.abs(before - after).max(axis=2) > 3
    assert 0.05 < changed.mean() < 0.7
    if name != "shifted_blocks":
        assert not changed[:4].any() and not changed[-4:].any()
    assert image.size == result.size


def test_shuffled_blocks_keep_every_pixel(image):
    violation = integrity.sample("shifted_blocks", generator("test"))
    before, after = np.asarray(image), np.asarray(integrity.apply(image, violation))
    assert np.sort(before.reshape(-1, 3), axis=0).tolist() == np.sort(after.reshape(-1, 3), axis=0).tolist()


def test_a_dropped_band_repeats_its_first_row(image):
    violation = integrity.Violation("dropped_band", (0.5, 0.5), (0.25, 1.0), 0)
    after = np.asarray(integrity.apply(image, violation))
    # 64 rows: the band is 16 rows high and starts at 32 - 8.
    assert (after[24:40] == np.asarray(image)[24]).all()
    assert (after[40:] == np.asarray(image)[40:]).all()


def test_texture_takes_the_tone_of_its_place(image, make):
    violation = integrity.Violation("texture", (0.5, 0.5), (0.4, 0.4), 0)
    after = np.asarray(integrity.apply(image, violation, make("MRI", 1).open()), dtype=float)
    before = np.asarray(image, dtype=float)
    assert abs(after[22:42, 22:42].mean() - before[22:42, 22:42].mean()) < 12
    with pytest.raises(ValueError, match="texture"):
        integrity.apply(image, violation)


def test_unknown():
    with pytest.raises(UserError, match="Did you mean 'garbage'"):
        integrity.sample("garbag", generator("test"))
