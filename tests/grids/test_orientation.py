"""Which turns and flips are wrong, in the radiological sense."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.grids import orientation
from lmms_medtasks.grids.orientation import TURNS, candidates


def test_pictures_without_an_up_are_left_alone(make):
    picture = make("Dermoscopy", 1)
    assert candidates(picture, picture.open(), [picture]) == []
    labelled = make("Dermoscopy", 1, up=True)
    assert set(candidates(labelled, labelled.open(), [picture])) == set(TURNS)


def test_unknown_modalities_and_extremities_need_the_label(make):
    for changes in ({"anatomy": "hand"}, {"up": False}):
        picture = make("X-ray", 1, **changes)
        assert candidates(picture, picture.open(), [picture]) == []
    assert not orientation.has_up(picture.category._replace(modality="Thermography"))


@pytest.mark.parametrize(
    ("modality", "labels", "lateralised"),
    [
        ("X-ray", {}, True),  # chest, PA: the heart is on the left
        ("X-ray", {"view": "lateral"}, False),  # both ways are seen
        ("X-ray", {"view": ""}, False),  # not guessed
        ("CT", {}, True),  # abdomen, axial
        ("MRI", {}, False),  # a brain looks the same
        ("X-ray", {"anatomy": "knee", "laterality": "left"}, True),  # mirrored, it is a right knee
        ("X-ray", {"anatomy": "knee"}, False),
    ],
)
def test_mirroring_is_wrong_only_where_sides_can_be_told(make, modality, labels, lateralised):
    picture = make(modality, 1, up=True, **labels)
    assert orientation.is_lateralised([picture, make(modality, 2, **labels)]) is lateralised
    assert ("flip_horizontal" in candidates(picture, picture.open(), [make(modality, 2, **labels)])) is lateralised


def test_ultrasound_has_no_fixed_left(make):
    picture = make("CT", 1)
    other = type(picture)(**{**vars(picture), "modality": "Ultrasound"})
    assert not orientation.is_lateralised([other])


def test_sides_must_agree(make):
    knees = [make("X-ray", n, anatomy="knee", laterality=side) for n, side in enumerate(("left", "right"))]
    assert not orientation.is_lateralised(knees)


def test_what_cannot_be_seen_is_not_done(make):
    x = np.abs(np.linspace(-1, 1, 64))
    symmetric = Image.fromarray(np.repeat((255 * x).astype(np.uint8)[None], 64, axis=0)).convert("RGB")
    picture = make("X-ray", 1)
    # Left is as right, and top as bottom: only quarter turns show.
    assert candidates(picture, symmetric, [picture]) == ["rotate_90", "rotate_270"]
    assert candidates(picture, Image.new("RGB", (64, 64), (9, 9, 9)), [picture]) == []


def test_a_picture_that_is_nearly_symmetric_may_be_mirrored(make):
    # A heart on the left is a small part of a chest: mirrored, the picture is much the same to a correlation.
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    lungs = 150 * np.exp(-((np.abs(x) - 0.5) ** 2 * 12 + (y + 0.2) ** 2 * 3))
    heart = 90 * np.exp(-((x - 0.2) ** 2 * 14 + (y - 0.4) ** 2 * 8))
    image = Image.fromarray((lungs + heart).astype(np.uint8)).convert("RGB")
    mirrored = orientation.apply(image, orientation.MIRROR)
    assert orientation.SEEN_BELOW < orientation.likeness(image, mirrored) < orientation.MIRRORED_SEEN_BELOW
    picture = make("X-ray", 1)
    assert orientation.MIRROR in candidates(picture, image, [picture])
    assert orientation.MIRROR not in candidates(make("X-ray", 1, view="lateral"), image, [picture])


def test_quarter_turns_only_of_squares(make):
    picture = make("X-ray", 1, size=(64, 50))
    assert set(candidates(picture, picture.open(), [picture])) == {"flip_horizontal", "flip_vertical", "rotate_180"}


def test_transforms():
    image = Image.fromarray(np.arange(6, dtype=np.uint8).reshape(2, 3))
    expected = {
        "flip_horizontal": [[2, 1, 0], [5, 4, 3]],
        "flip_vertical": [[3, 4, 5], [0, 1, 2]],
        "rotate_180": [[5, 4, 3], [2, 1, 0]],
        "rotate_90": [[2, 5], [1, 4], [0, 3]],
        "rotate_270": [[3, 0], [4, 1], [5, 2]],
    }
    assert {
        name: np.asarray(orientation.apply(image, name)).tolist() for name in (orientation.MIRROR, *orientation.TURNS)
    } == expected
