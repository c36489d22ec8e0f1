"""Strength 0 to 3: through both levels bit for bit, the same draw throughout, and damage that grows."""

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

STRENGTHS = np.arange(0, 3.01, 0.25)

CASES = [
    (name, modality)
    for name in degradations.names()
    for modality in degradations.modalities_of(name)
    # One modality stands for those that have the same settings and the same operator.
    if modality == degradations.modalities_of(name)[0]
    or (name, modality) in {("object_movement", "MRI"), ("low_resolution", "X-ray"), ("motion_blur", "X-ray")}
]

# How far the squared error may fall from one strength to the next, in dB; 0.05 unless listed.
TOLERANCE = {
    "limited_angle": 2.1,
    "sparse_view": 1.8,  # false streaks of cut-off projections, which other views partly take back
    "low_dose": 0.2,  # other photon counts at every dose
    "low_resolution": 2.5,  # the one-pixel drift of level 1, which a blend with level 2 takes back (128 pixels)
    "motion_blur": 1.6,  # an even kernel sits half a pixel aside: the whole error of a pure ramp
    "object_movement": 0.2,  # other bands from level 1 to 2; what repeats fits again after a shift
}

# A CT slice has air around it; on these the order is as good as elsewhere.
AIR_AROUND = ("disc on black", "ring", "blobs")
SCANS = ("limited_angle", "sparse_view", "low_dose")


def error(clean, degraded):
    """Mean squared error in grey levels. One is added: differences far below a grey level are no damage."""
    return 1 + float(np.square(clean.astype(np.float64) - degraded).mean())


@pytest.mark.parametrize(("name", "modality"), [case for case in CASES if case[0] != "object_rotation"])
def test_damage_grows_with_strength(name, modality, broad_set):
    for kind, image in broad_set.items():
        allowed = 0.1 if name in SCANS and kind in AIR_AROUND else TOLERANCE.get(name, 0.05)
        errors = [
            error(image, degradations.apply(image, name, strength=strength, seed=1, modality=modality))
            for strength in STRENGTHS
        ]
        steps = 10 * np.log10(np.array(errors[1:]) / errors[:-1])
        assert steps.min() >= -allowed, (kind, STRENGTHS[1 + int(steps.argmin())], steps.round(2))
        assert errors[0] == 1
        assert errors[-1] > errors[4] or errors[-1] < 1.01, kind  # more at 3 than at 1; a bubble may miss a disc


@pytest.mark.parametrize(("name", "modality"), [case for case in CASES if case[0] != "object_rotation"])
def test_above_2_no_strength_is_milder_than_level_2(name, modality, broad_set):
    """In small steps: a setting without a limit may pass the point where it does nothing between two large ones."""
    image = broad_set["natural 1.0"]
    errors = [
        error(image, degradations.apply(image, name, strength=strength, seed=1, modality=modality))
        for strength in np.arange(40, 61) / 20
    ]
    steps = 10 * np.log10(np.array(errors) / errors[0])
    assert steps.min() >= -TOLERANCE.get(name, 0.05), (2 + int(steps.argmin()) / 20, "see `limit` in severity.yaml")


def test_rotation_turns_further_with_strength():
    """Ordered by the angle: half a turn takes fewer corners away than an eighth, and a disc looks the same."""
    for seed in range(20):
        angles = [
            degradations.sample("object_rotation", strength=strength, seed=seed, size=(64, 64)).angle
            for strength in STRENGTHS[1:]
        ]
        assert len({np.sign(angle) for angle in angles}) == 1
        assert (np.diff(np.abs(angles)) > 0).all() and abs(angles[-1]) == 180


@pytest.mark.parametrize(("name", "modality"), CASES)
def test_1_and_2_are_the_levels_bit_for_bit(name, modality):
    image = seeded_generator("strength").integers(0, 256, (40, 48, 3), dtype=np.uint8)
    for level in (1, 2):
        by_level = degradations.sample(name, severity=level, seed=3, size=(40, 48), modality=modality)
        for strength in (level, float(level), np.float32(level)):
            assert degradations.sample(name, strength=strength, seed=3, size=(40, 48), modality=modality) == by_level
        first, second = (
            degradations.apply(image, name, seed=3, modality=modality, **{key: level})
            for key in ("severity", "strength")
        )
        assert np.array_equal(first, second)
    untouched = degradations.apply(image, name, strength=0, seed=3, modality=modality)
    assert np.array_equal(untouched, image) and untouched is not image


def test_close_to_nothing_is_nothing_much(broad_set):
    """No jump at 0, but for rotation: the least angle turns the outermost pixels out of the image."""
    for name, modality in CASES:
        if name == "object_rotation":
            continue
        image = broad_set["natural 1.0"]
        result = degradations.apply(image, name, strength=0.001, seed=0, modality=modality)
        assert error(image, result) < 3, name


def test_the_draw_is_the_same_at_every_strength():
    def drawn(name, strength, **more):
        return degradations.sample(name, strength=strength, seed=5, size=(256, 256), **more)

    spots = [drawn("dark_spots_artifact", s) for s in STRENGTHS[1:]]
    assert len({(spot.row, spot.column) for spot in spots}) == 1
    assert len({drawn("gaussian_noise", s).noise_seed for s in STRENGTHS[1:]}) == 1
    kept = [int(drawn("undersampling_artifact", s, modality="MRI").lines[0], 16) for s in STRENGTHS[1:]]
    assert all(fewer & ~more == 0 for more, fewer in zip(kept, kept[1:], strict=False))
    cells = [[cell[:2] for cell in drawn("blood_cell_artifact", s).cells] for s in STRENGTHS[1:]]
    assert all(more[: len(fewer)] == fewer for fewer, more in zip(cells, cells[1:], strict=False))


def test_limits():
    """At 3 as far beyond level 2 as that is beyond level 1, but not beyond the limit."""

    def drawn(name, strength):
        return degradations.sample(name, strength=strength, seed=0, size=(512, 512))

    assert drawn("gaussian_blur", 3).sigma == 11
    assert drawn("reduce_contrast", 3).factor == 0.05
    assert drawn("gaussian_noise", 2.5).sigma == 0.72


def test_a_mean_of_two_images_is_linear():
    """Halfway between two blurs is the blur by the mean of both kernels."""
    image = seeded_generator("mean").random((40, 40), dtype=np.float32)
    first, halfway, second = (degradations.apply(image, "motion_blur", strength=strength) for strength in (1, 1.5, 2))
    assert np.abs(halfway - (first + second) / 2).max() < 1e-6
    record = degradations.sample("motion_blur", strength=1.5, seed=0, size=(512, 512)).to_json()
    assert (record["length"], record["share"], record["mixed_with"]["length"]) == (11, 0.5, 8)
    below = degradations.sample("motion_blur", strength=0.25, seed=0, size=(512, 512)).to_json()
    assert (below["length"], below["share"], below["mixed_with"]) == (8, 0.25, None)


def test_severity_yaml_names_sections_and_settings_that_are():
    for section, row in ((name, each.get("strength", {})) for name, each in registry.load_sections().items()):
        name, _, modality = section.partition("@")
        known = registry.get_settings(name, 1, modality or None)
        assert set(row) <= {"identity", "mixed", "limit", "ratio", "step"}, section
        for key in {"identity", "limit", "ratio", "step"} & set(row):
            assert set(row[key]) <= set(known), section


@pytest.mark.parametrize("strength", [-0.1, 3.01, float("nan"), float("inf"), True, np.bool_(True), "1", None, [1]])
def test_bad_strengths(strength):
    with pytest.raises(UserError, match=r"[Ss]trength.*from 0.*to 3"):
        degradations.apply(np.zeros((4, 4), np.uint8), "gaussian_blur", strength=strength)
