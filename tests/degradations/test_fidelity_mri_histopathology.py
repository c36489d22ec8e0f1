"""Against the authors' published images, on their clean ones.

With the parameters that their images have (read off them by fitting), our operators give their pixels. With drawn
parameters, PSNR to the clean image is within 1.5 dB and SSIM within 0.05 of theirs, median over 16 seeds.
"""

import statistics

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.degradations.gallery import psnr, ssim
from lmms_medtasks.degradations.histopathology import BubbleParameters, DarkSpotParameters
from lmms_medtasks.degradations.mri import (
    BiasFieldParameters,
    GhostingParameters,
    UndersamplingParameters,
)
from lmms_medtasks.degradations.mri_motion import MovementParameters
from lmms_medtasks.seeding import seeded_generator

FILES = {"object_movement": "random_motion_artifact", "bubble": "bubble_artifact"}


def pixels(examples, name, level):
    with Image.open(examples / f"{FILES.get(name, name)}_L{level}.png") as image:
        return np.asarray(image.convert("RGB"))


# Coefficients in the order of mri.POWERS; masks read off k-space; poses by least squares on k-space.
THEIRS = {
    ("bias_field_artifact", 1): BiasFieldParameters(
        (0.097466, 0.218845, -0.241329, 0.212023, -0.309908, 0.097174, 0.247197, 0.235376, 0.179074), floor=0.3
    ),
    ("bias_field_artifact", 2): BiasFieldParameters(
        (0.264494, 0.045279, 0.316156, -0.252412, 0.096041, 0.400962, 0.193197, 0.324951, 0.421033), floor=0.3
    ),
    ("undersampling_artifact", 1): UndersamplingParameters(
        266,
        (
            "ffefd5666dad0260800000000000000000000000000000000000000080000808ff03",
            "ff17cf2e34ac1020020000000000000000000000000000000000000000808100ff03",
            "fff7f7328b034222000400000000000000000000000000000000000200400242ff03",
        ),
    ),
    ("undersampling_artifact", 2): UndersamplingParameters(
        266,
        (
            "ff57caeb27030830000000000000000000000000000000000000000000210000ff03",
            "ff7fc41c0a011000220100000000000000000000000000000000000000020000ff03",
            "ffefa1920a800102010804000000000000000000000000000000000000080000ff03",
        ),
    ),
    ("ghosting_artifact", 1): GhostingParameters(ghosts=5, intensity=0.15),
    ("ghosting_artifact", 2): GhostingParameters(ghosts=6, intensity=0.60),
    ("object_movement", 1): MovementParameters(
        ((-1.6416, 1.6045, -2.0576), (-1.5788, 1.0528, 1.2749), (-0.12, 0.6722, -2.5564))
    ),
    ("object_movement", 2): MovementParameters(
        (
            (0.9244, 7.1164, -1.0950),
            (2.7777, -9.7415, -8.0830),
            (11.6759, -2.0680, 6.1502),
            (-5.3278, 5.3906, 3.1338),
            (-6.3770, -12.7796, 6.9181),
        )
    ),
    ("dark_spots_artifact", 1): DarkSpotParameters(row=159, column=86, sigma=51, peak=0.4675),
    ("dark_spots_artifact", 2): DarkSpotParameters(row=93, column=207, sigma=89, peak=0.765),
    ("bubble", 1): BubbleParameters(row=126, column=136, radius=51, sigma=1.6),
    ("bubble", 2): BubbleParameters(row=146, column=114, radius=92, sigma=3.2),
}

# What is missing: the movement's poses are known to about a thousandth of a degree or pixel; float32 elsewhere.
EQUAL = {"object_movement": 0.995}


def modality_of(name):
    return degradations.modalities_of(name)[0] if name != "object_movement" else "MRI"


@pytest.mark.parametrize(("name", "level"), THEIRS)
def test_with_their_parameters_it_is_their_image(examples, name, level):
    clean, theirs = pixels(examples, name, 0), pixels(examples, name, level)
    ours = degradations.apply_parameters(clean, name, THEIRS[name, level], modality=modality_of(name))
    assert psnr(theirs, ours) >= 60
    assert (theirs == ours).mean() >= EQUAL.get(name, 0.999)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize(
    "name",
    ["bias_field_artifact", "undersampling_artifact", "ghosting_artifact", "object_movement", "blood_cell_artifact",
     "dark_spots_artifact", "bubble"],
)  # fmt: skip
def test_drawn_it_is_as_far_from_the_clean_image(examples, name, level):
    clean, theirs = pixels(examples, name, 0), pixels(examples, name, level)
    modality = modality_of(name)
    draw, numbers = degradations.get(name, modality).sample, registry.get_settings(name, level, modality)
    ours = [
        degradations.apply_parameters(
            clean, name, draw(seeded_generator("fidelity", seed), numbers, clean.shape[:2]), modality=modality
        )
        for seed in range(16)
    ]
    assert abs(statistics.median(psnr(clean, image) for image in ours) - psnr(clean, theirs)) < 1.5
    assert abs(statistics.median(ssim(clean, image) for image in ours) - ssim(clean, theirs)) < 0.05


@pytest.mark.parametrize(("level", "low", "high"), [(1, 0.15, 0.25), (2, 0.38, 0.55)])
def test_blood_cells_cover_as_much_and_redden_as_theirs(examples, level, low, high):
    clean, theirs = pixels(examples, "blood_cell_artifact", 0), pixels(examples, "blood_cell_artifact", level)
    numbers = registry.get_settings("blood_cell_artifact", level, "Histopathology")
    draw = degradations.get("blood_cell_artifact").sample
    covered, shift = [], []
    for seed in range(16):
        record = draw(seeded_generator("cells", seed), numbers, clean.shape[:2])
        ours = degradations.apply_parameters(clean, "blood_cell_artifact", record)
        covered.append((ours != clean).any(axis=2).mean())
        shift.append((ours.astype(float) - clean).mean(axis=(0, 1)))
    assert low < statistics.median(covered) < high
    assert low < (theirs != clean).any(axis=2).mean() < high
    # Mean change of red, green and blue, in grey levels.
    assert np.median(shift, axis=0) == pytest.approx((theirs.astype(float) - clean).mean(axis=(0, 1)), abs=2.5)
