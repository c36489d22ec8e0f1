"""The phantoms: form, reproducibility, and that a fact shows where it says."""

from __future__ import annotations

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from tools.mini import phantoms

GREY = ("CT", "MRI", "X-ray", "Ultrasound")


def _drawn(modality: str, **facts: str) -> np.ndarray:
    """A picture with the first value of every fact but those given, always from the same generator."""
    first = {name: values[0] for name, values in phantoms.facts_of(modality).items()}
    return phantoms.draw(modality, {**first, **facts}, seeded_generator("test", modality))


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_pictures_are_bytes_of_a_plausible_size(modality):
    picture = _drawn(modality)
    assert picture.dtype == np.uint8
    assert 192 <= picture.shape[0] == picture.shape[1] <= 256
    assert picture.ndim == (2 if modality in GREY else 3)
    assert picture.std() > 20  # neither blank nor washed out


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_the_same_generator_gives_the_same_picture_in_any_order(modality):
    first = _drawn(modality)
    _drawn(modality, mark=phantoms.facts_of(modality)["mark"][1])
    assert np.array_equal(first, _drawn(modality))


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_every_value_of_every_fact_changes_the_picture(modality):
    base = _drawn(modality).astype(int)
    for fact, values in phantoms.facts_of(modality).items():
        for value in values[1:]:
            other = _drawn(modality, **{fact: value}).astype(int)
            if other.ndim > base.ndim:
                other = other[..., 0]
            assert (np.abs(other - base) > 8).sum() > 15, (fact, value)


@pytest.mark.parametrize("modality", phantoms.MODALITIES)
def test_marks_are_drawn_in_pure_colour(modality):
    colour = [255, 0, 0] if modality in GREY else [0, 255, 0]
    for value in phantoms.facts_of(modality)["mark"][1:]:
        picture = _drawn(modality, mark=value)
        assert (picture == colour).all(axis=2).sum() > 60, value


def test_an_unknown_modality_is_refused_by_name():
    with pytest.raises(UserError, match="Unknown modality 'Xray'.*Did you mean 'X-ray'"):
        phantoms.facts_of("Xray")
