"""Against the authors' published images: the general operators give theirs.

Where nothing is drawn, at least 60 dB and nearly every sample equal; where something is, PSNR within 1.5 dB and SSIM
within 0.05 of theirs, median over 16 seeds.
"""

import json
import statistics

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.degradations.gallery import psnr, ssim
from lmms_medtasks.degradations.intensity import ExposureParameters
from lmms_medtasks.degradations.motion import RotationParameters

# Smallest share of equal samples. What is missing: rounding at whole numbers, by one grey level.
DETERMINISTIC = {
    "adjust_brightness": 1.0,
    "reduce_contrast": 1.0,
    "gaussian_blur": 0.999,
    "motion_blur": 0.99,
    "xray_motion_blur_artifact": 0.96,
    "downsample_artifact": 0.998,
}


def pixels(path):
    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"))


def triple(examples, name):
    entries = json.loads((examples / "examples.json").read_text(encoding="utf-8"))
    entry = next(entry for entry in entries if entry["name"] == name)
    return entry["modality"], {level: pixels(examples / file) for level, file in entry["images"].items()}


@pytest.mark.parametrize("severity", [1, 2])
@pytest.mark.parametrize("name", sorted(DETERMINISTIC))
def test_deterministic_operators_give_theirs(examples, name, severity):
    modality, images = triple(examples, name)
    ours = degradations.apply(images["L0"], name, severity=severity, modality=modality)
    theirs = images[f"L{severity}"]
    assert psnr(theirs, ours) >= 60
    assert (theirs == ours).mean() >= DETERMINISTIC[name]


@pytest.mark.parametrize("severity", [1, 2])
def test_under_exposure_is_theirs(examples, severity):
    _, images = triple(examples, "exposure_artifact")
    numbers = registry.get_settings("exposure", severity, "X-ray")
    record = ExposureParameters(numbers["gamma"], numbers["offset"])
    ours = degradations.apply_parameters(images["L0"], "exposure", record, modality="X-ray")
    assert np.array_equal(ours, images[f"L{severity}"])


@pytest.mark.parametrize("severity", [1, 2])
@pytest.mark.parametrize("name", ["gaussian_noise", "rotation_artifact"])
def test_random_operators_are_as_far(examples, name, severity):
    modality, images = triple(examples, name)
    clean, theirs = images["L0"], images[f"L{severity}"]
    # The middle of the picture is enough, and a quarter of the time.
    ours = [
        degradations.apply(clean, name, severity=severity, seed=seed, modality=modality)[::2, ::2] for seed in range(16)
    ]
    clean, theirs = clean[::2, ::2], theirs[::2, ::2]
    assert abs(statistics.median(psnr(clean, each) for each in ours) - psnr(clean, theirs)) < 1.5
    assert abs(statistics.median(ssim(clean, each) for each in ours[::4]) - ssim(clean, theirs)) < 0.05


@pytest.mark.parametrize(("severity", "angle", "equal"), [(1, 18.0616, 0.999), (2, -153.1026, 0.998)])
def test_rotation_by_the_authors_angle_is_theirs(examples, severity, angle, equal):
    _, images = triple(examples, "rotation_artifact")
    ours = degradations.apply_parameters(images["L0"], "object_rotation", RotationParameters(angle), modality="X-ray")
    assert (ours == images[f"L{severity}"]).mean() >= equal
