"""The phantoms: form, reproducibility, and that a fact shows where it says."""

from __future__ import annotations

import numpy as np
import pytest

from lmms_medtasks.baselines.phantoms import at_depth
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from tools.mini import phantoms
from tools.mini.phantoms import ct, endoscopy, mri, ultrasound, xray

GREY = ("CT", "MRI", "X-ray", "Ultrasound")


def _drawn(modality: str, **facts: str) -> np.ndarray:
    """A picture with the first value of every fact but those given, always from the same generator."""
    first = {name: values[0] for name, values in phantoms.facts_of(modality).items()}
    return phantoms.draw(modality, {**first, **facts}, seeded_generator("test", modality))


def _level(picture: np.ndarray, at: tuple[float, float], half: int = 2) -> float:
    """The mean level in a small square round a place in unit coordinates."""
    n = picture.shape[0]
    column, row = (round((v + 1) * n / 2 - 0.5) for v in at)
    return float(picture[row - half : row + half + 1, column - half : column + half + 1].mean())


def test_there_are_the_seven_modalities_of_the_benchmark():
    assert phantoms.MODALITIES == ("CT", "MRI", "X-ray", "Ultrasound", "Dermoscopy", "Histopathology", "Endoscopy")


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


def test_a_stone_is_in_the_kidney_that_has_it():
    without, left = _drawn("CT", stones="none"), _drawn("CT", stones="left")
    brighter = left.astype(int) - without > 30
    columns = np.flatnonzero(brighter.any(axis=0)) / ct.SIZE * 2 - 1
    assert columns.size and abs(columns.mean() - ct.KIDNEYS["left"][0]) < 0.08


def test_contrast_agent_brightens_the_aorta():
    levels = [_level(_drawn("CT", vessel=value), ct.AORTA) for value in ("none", "weak", "strong")]
    assert levels[1] > levels[0] + 20 and levels[2] > levels[1] + 25


def test_fluid_is_bright_with_t2_only():
    horn = (0.075, -0.16)
    levels = {w: _level(_drawn("MRI", weighting=w), horn, 1) for w in mri.LEVELS}
    assert levels["T2"] > 150 > 80 > max(levels["T1"], levels["FLAIR"])


def test_an_opacity_whitens_its_place():
    clear = _drawn("X-ray", opacity="none")
    for place, at in xray.OPACITY_SITES.items():
        assert _level(_drawn("X-ray", opacity=place), at, 4) > _level(clear, at, 4) + 8, place


def test_more_spots_are_more():
    counts = [(_drawn("MRI", spots=n).astype(int) - _drawn("MRI", spots="1") > 40).sum() for n in "234"]
    assert 0 < counts[0] < counts[1] < counts[2]


def test_a_shadow_darkens_and_enhancement_brightens_what_lies_behind():
    behind = at_depth(0.76, ultrasound.MASS_ANGLES["centre"])
    shadow, neither, bright = (
        _level(_drawn("Ultrasound", place="centre", behind=value), behind, 5)
        for value in ("shadow", "neither", "enhancement")
    )
    assert shadow < neither - 15 < neither + 15 < bright


def test_the_lumen_is_dark_where_it_is():
    for side, at in endoscopy.LUMENS.items():
        picture = _drawn("Endoscopy", lumen=side)
        others = [_level(picture, place, 4) for name, place in endoscopy.LUMENS.items() if name != side]
        assert _level(picture, at, 4) < min(others), side


def test_an_unknown_modality_is_refused_by_name():
    with pytest.raises(UserError, match="Unknown modality 'Xray'.*Did you mean 'X-ray'"):
        phantoms.facts_of("Xray")
