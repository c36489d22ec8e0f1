"""Turns, flips and integrity violations: which are possible, and what they do."""

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.errors import UserError
from lmms_medtasks.grids import altered_images
from lmms_medtasks.grids.altered_images import TURNS, wrong_orientations
from lmms_medtasks.grids.pool import load_image
from lmms_medtasks.seeding import seeded_generator


def test_pictures_without_an_up_are_left_alone(make):
    picture = make("Dermoscopy", 1)
    assert wrong_orientations(picture, load_image(picture).image, [picture]) == []
    labelled = make("Dermoscopy", 1, up=True)
    assert set(wrong_orientations(labelled, load_image(labelled).image, [picture])) == set(TURNS)


def test_unknown_modalities_and_extremities_need_the_label(make):
    for changes in ({"anatomy": "hand"}, {"up": False}):
        picture = make("X-ray", 1, **changes)
        assert wrong_orientations(picture, load_image(picture).image, [picture]) == []
    assert not altered_images.has_up(picture.category._replace(modality="Thermography"))


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
    assert altered_images.is_lateralised([picture, make(modality, 2, **labels)]) is lateralised
    assert (
        "flip_horizontal" in wrong_orientations(picture, load_image(picture).image, [make(modality, 2, **labels)])
    ) is lateralised


def test_ultrasound_has_no_fixed_left(make):
    picture = make("CT", 1)
    other = type(picture)(**{**vars(picture), "modality": "Ultrasound"})
    assert not altered_images.is_lateralised([other])


def test_sides_must_agree(make):
    knees = [make("X-ray", n, anatomy="knee", laterality=side) for n, side in enumerate(("left", "right"))]
    assert not altered_images.is_lateralised(knees)


def test_what_cannot_be_seen_is_not_done(make):
    x = np.abs(np.linspace(-1, 1, 64))
    symmetric = Image.fromarray(np.repeat((255 * x).astype(np.uint8)[None], 64, axis=0)).convert("RGB")
    picture = make("X-ray", 1)
    # Left is as right, and top as bottom: only quarter turns show.
    assert wrong_orientations(picture, symmetric, [picture]) == ["rotate_90", "rotate_270"]
    assert wrong_orientations(picture, Image.new("RGB", (64, 64), (9, 9, 9)), [picture]) == []


def test_a_picture_that_is_nearly_symmetric_may_be_mirrored(make):
    # A heart on the left is a small part of a chest: mirrored, the picture is much the same to a correlation.
    x, y = np.meshgrid(np.linspace(-1, 1, 64), np.linspace(-1, 1, 64))
    lungs = 150 * np.exp(-((np.abs(x) - 0.5) ** 2 * 12 + (y + 0.2) ** 2 * 3))
    heart = 90 * np.exp(-((x - 0.2) ** 2 * 14 + (y - 0.4) ** 2 * 8))
    image = Image.fromarray((lungs + heart).astype(np.uint8)).convert("RGB")
    mirrored = altered_images.apply_orientation(image, altered_images.MIRROR)
    assert (
        altered_images.SEEN_BELOW < altered_images.image_likeness(image, mirrored) < altered_images.MIRRORED_SEEN_BELOW
    )
    picture = make("X-ray", 1)
    assert altered_images.MIRROR in wrong_orientations(picture, image, [picture])
    assert altered_images.MIRROR not in wrong_orientations(make("X-ray", 1, view="lateral"), image, [picture])


def test_quarter_turns_only_of_squares(make):
    picture = make("X-ray", 1, size=(64, 50))
    assert set(wrong_orientations(picture, load_image(picture).image, [picture])) == {
        "flip_horizontal",
        "flip_vertical",
        "rotate_180",
    }


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
        name: np.asarray(altered_images.apply_orientation(image, name)).tolist()
        for name in (altered_images.MIRROR, *altered_images.TURNS)
    } == expected


@pytest.fixture
def image(make):
    return load_image(make("X-ray", 1)).image


@pytest.mark.parametrize("name", altered_images.VIOLATIONS)
def test_one_place_is_changed_visibly_and_reproducibly(image, make, name):
    violation = altered_images.sample_violation(name, seeded_generator("test", name))
    texture = load_image(make("MRI", 1)).image
    result = altered_images.apply_violation(image, violation, texture)
    assert altered_images.apply_violation(image, violation, texture).tobytes() == result.tobytes()
    before, after = np.asarray(image, dtype=float), np.asarray(result, dtype=float)
    changed = np.abs(before - after).max(axis=2) > 3
    assert 0.05 < changed.mean() < 0.7
    if name != "shifted_blocks":
        assert not changed[:4].any() and not changed[-4:].any()
    assert image.size == result.size


def test_shuffled_blocks_keep_every_pixel(image):
    violation = altered_images.sample_violation("shifted_blocks", seeded_generator("test"))
    before, after = np.asarray(image), np.asarray(altered_images.apply_violation(image, violation))
    assert np.sort(before.reshape(-1, 3), axis=0).tolist() == np.sort(after.reshape(-1, 3), axis=0).tolist()


def test_a_dropped_band_repeats_its_first_row(image):
    violation = altered_images.IntegrityViolation("dropped_band", at=(0.5, 0.5), extent=(0.25, 1.0), seed=0)
    after = np.asarray(altered_images.apply_violation(image, violation))
    # 64 rows: the band is 16 rows high and starts at 32 - 8.
    assert (after[24:40] == np.asarray(image)[24]).all()
    assert (after[40:] == np.asarray(image)[40:]).all()


def test_texture_takes_the_tone_of_its_place(image, make):
    violation = altered_images.IntegrityViolation("texture", at=(0.5, 0.5), extent=(0.4, 0.4), seed=0)
    after = np.asarray(altered_images.apply_violation(image, violation, load_image(make("MRI", 1)).image), dtype=float)
    before = np.asarray(image, dtype=float)
    assert abs(after[22:42, 22:42].mean() - before[22:42, 22:42].mean()) < 12
    with pytest.raises(ValueError, match="texture"):
        altered_images.apply_violation(image, violation)


def test_unknown():
    with pytest.raises(UserError, match="Did you mean 'garbage'"):
        altered_images.sample_violation("garbag", seeded_generator("test"))
