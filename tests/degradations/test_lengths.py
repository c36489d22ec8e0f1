"""Lengths in pixels as the paper's numbers on images of any size, or as the same share of each image."""

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import picture_cache
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

# The authors' images, on which both choices are the same.
SEEN = {
    "gaussian_blur": (None, 483),
    "motion_blur": ("X-ray", 1024),
    "low_resolution": ("MRI", 266),
    "bubble": (None, 256),
}


def length(name, side, level=2, lengths="share", modality=None):
    drawn = degradations.sample(name, severity=level, seed=0, size=(side, 2 * side), modality=modality, lengths=lengths)
    return drawn.to_json()[degradations.lengths_of(name)[0]]


def noise(side):
    return seeded_generator("lengths").integers(0, 256, (side, side, 3)).astype(np.uint8)


def test_all_with_lengths_are_looked_at():
    assert {name for name in degradations.names() if degradations.lengths_of(name)} == set(SEEN)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", SEEN)
def test_a_share_is_the_same_for_every_size_and_the_authors_on_theirs(name, level):
    modality, side = SEEN[name]
    theirs = length(name, side, level, "pixels", modality)
    assert length(name, side, level, modality=modality) == pytest.approx(theirs)
    assert length(name, 4 * side, level, modality=modality) == pytest.approx(4 * theirs)
    assert length(name, 4 * side, level, "pixels", modality) == theirs


def test_the_line_of_motion_blur_covers_an_eighth_of_a_small_radiograph_in_pixels_and_a_twenty_fifth_as_a_share():
    assert length("motion_blur", 224, lengths="pixels", modality="X-ray") / 224 == 0.125
    assert length("motion_blur", 224, modality="X-ray") / 224 == pytest.approx(40 / 1024, rel=0.05)


@pytest.mark.parametrize(
    ("name", "modality"), [("motion_blur", None), ("motion_blur", "X-ray"), ("low_resolution", "CT")]
)
def test_a_share_below_what_can_be_drawn_leaves_a_small_image_as_it_is(name, modality):
    image = noise(40)
    for level in (1, 2):
        degraded = degradations.apply(image, name, severity=level, modality=modality, lengths="share")
        assert np.array_equal(degraded, image)
        assert not np.array_equal(degradations.apply(image, name, severity=level, modality=modality), image)


@pytest.mark.parametrize("side", [1, 2, 7, 97, 140])
@pytest.mark.parametrize("name", SEEN)
def test_every_size_and_strength_has_pixels(name, side):
    modality = SEEN[name][0]
    for strength in (0.5, 1, 1.5, 2, 3):
        image = noise(side)
        options = {"strength": strength, "modality": modality, "lengths": "share"}
        degraded = degradations.apply(image, name, **options)
        # A blur of noise is near its mean; truncation takes half a grey level, few samples vary.
        assert degraded.shape == image.shape and abs(float(degraded.mean()) - float(image.mean())) < 20


def test_what_has_no_lengths_in_pixels_is_the_same():
    image = noise(32)
    one, two = (degradations.apply(image, "gaussian_noise", severity=2, lengths=each) for each in ("pixels", "share"))
    assert np.array_equal(one, two)


def test_a_cached_image_is_of_one_choice():
    cache = picture_cache.DegradedImageCache(1 << 20)
    options = {"severity": 2, "cache": cache}
    one, two = (
        picture_cache.apply(noise(64), "gaussian_blur", **options, lengths=each) for each in ("pixels", "share")
    )
    assert not np.array_equal(one, two)


@pytest.mark.parametrize("lengths", ["shares", None, 1, ""])
def test_other_words_are_refused(lengths):
    for call in (degradations.apply, picture_cache.apply):
        with pytest.raises(UserError, match="'pixels'.*'share'.*got"):
            call(noise(8), "gaussian_blur", severity=1, lengths=lengths)


def test_the_share_that_a_length_is_stands_beside_its_parameters():
    parameters = degradations.sample("motion_blur", severity=2, seed=0, size=(1024, 1500), modality="X-ray").to_json()
    described = degradations.describe_lengths("motion_blur", parameters, (1024, 1500))
    assert described == {"shorter_side": 1024, "length_share": 0.03906}
    assert degradations.describe_lengths("gaussian_noise", {"sigma": 1.0}, (9, 9)) == {}
