"""SURE-VQA's corruptions: Table 21's settings, and OpenCV's arithmetic where OpenCV is there."""

import json

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import corruptions
from lmms_medtasks.degradations.corruptions import CorruptionParameters
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

# Table 21.
TABLE = {
    "low": (5, (0, 0.06), (1.1, 2)),
    "medium": (7, (0.09, 0.15), (2.5, 4)),
    "high": (11, (0.18, 0.25), (4.5, 6)),
}


def only(**step):
    steps = {"blur_size": None, "brightness": None, "noise_mean": None} | step
    return CorruptionParameters(**steps, noise_sigma=0.1, noise_seed=3)


@pytest.mark.parametrize("strength", TABLE)
def test_draws_follow_table_21(strength):
    size, (noise_low, noise_high), (bright_low, bright_high) = TABLE[strength]
    drawn = [corruptions.sample(strength=strength, seed=seed) for seed in range(2000)]
    assert {each.blur_size for each in drawn} == {None, size}
    factors = [each.brightness for each in drawn if each.brightness is not None]
    means = [each.noise_mean for each in drawn if each.noise_mean is not None]
    assert bright_low <= min(factors) and max(factors) <= bright_high
    assert noise_low <= min(means) and max(means) <= noise_high
    count = [sum(x is not None for x in (e.blur_size, e.brightness, e.noise_mean)) for e in drawn]
    assert min(count) == 1
    # Each with 1/2, none (1/8) becomes one of three: each occurs with 1/2 + 1/24 = 0.542, all three with 1/8.
    # 2000 draws: standard errors 0.011 and 0.007.
    assert abs(len(factors) / 2000 - 0.542) < 0.045
    assert abs(len(means) / 2000 - 0.542) < 0.045
    assert abs(count.count(3) / 2000 - 0.125) < 0.03


def test_brightness_by_hand():
    # 2.5 x 50 = 125, 2.5 x 101 = 252.5 (rounded up), 2.5 x 200 = 500 (clipped).
    image = np.array([[50, 101, 200]], np.uint8)
    assert corruptions.apply_parameters(image, only(brightness=2.5)).tolist() == [[125, 253, 255]]


@pytest.mark.parametrize("size", [5, 7, 11])
@pytest.mark.parametrize("shape", [(60, 45), (60, 45, 3)])
def test_blur_is_opencvs_to_one_level(size, shape):
    cv2 = pytest.importorskip("cv2")
    image = seeded_generator("corruption").integers(0, 256, shape, dtype=np.uint8)
    expected = cv2.GaussianBlur(image, (size, size), 0).astype(int)
    difference = np.abs(corruptions.apply_parameters(image, only(blur_size=size)) - expected)
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.01


def test_noise_has_the_mean_is_shared_by_channels_and_truncated():
    image = np.full((200, 200, 3), 100, np.uint8)
    image[..., 1] = 90  # colour, so that it is not computed as grey
    noise = corruptions.apply_parameters(image, only(noise_mean=0.1)).astype(int) - image
    assert np.array_equal(noise[..., 0], noise[..., 1])
    # 0.1 x 255 - 0.5 = 25.0; standard error 25.5 / 200 = 0.13.
    assert noise.mean() == pytest.approx(25.0, abs=0.6)
    assert noise.std() == pytest.approx(25.5, abs=0.6)


def test_apply_is_reproducible_and_keeps_the_kind():
    image = Image.fromarray(seeded_generator("corruption").integers(0, 256, (30, 40, 3), dtype=np.uint8))
    for strength in ("low", "medium", "high"):
        first, second = (
            corruptions.apply_parameters(image, corruptions.sample(strength=strength, seed="q1")) for _ in range(2)
        )
        assert (first.mode, first.size) == (image.mode, image.size)
        assert first.tobytes() == second.tobytes() != image.tobytes()
    record = corruptions.sample(strength="high", seed=1)
    assert CorruptionParameters(**json.loads(json.dumps(record.to_json()))) == record


def test_unknown_kernel_size():
    with pytest.raises(UserError, match="blur size 9"):
        corruptions.apply_parameters(np.zeros((3, 3), np.uint8), only(blur_size=9))


def test_unknown_strength():
    with pytest.raises(UserError, match="Did you mean 'medium'"):
        corruptions.sample(strength="medum", seed=0)


def test_they_are_none_of_medq_degs():
    assert not {"blur", "brightness", "noise", "low", "medium", "high"} & set(degradations.names())
