"""apply, sample, apply_parameters: the same pixels wherever and whenever; parameters that travel."""

import itertools
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import corruptions, picture_cache
from lmms_medtasks.degradations.intensity import BrightnessParameters
from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator

DIGESTS = """
import hashlib, itertools, json, sys
import numpy as np
from lmms_medtasks import degradations
from lmms_medtasks.seeding import seeded_generator
image = seeded_generator("determinism").integers(0, 256, (301, 275, 3), dtype=np.uint8)
names = list(degradations.names())
found = {}
for name in names[::int(sys.argv[1])]:
    known = degradations.modalities_of(name)
    for modality, level in itertools.product({"MRI", known[-1]} & set(known), (1, 2)):
        result = degradations.apply(image, name, severity=level, seed="q7", modality=modality)
        found[f"{name} {modality} {level}"] = hashlib.sha256(result.tobytes()).hexdigest()
print(json.dumps(found))
"""


def test_same_pixels_in_any_order_process_and_number_of_threads():
    runs = []
    for order, threads in (("1", "1"), ("-1", "2"), ("-1", "5")):
        done = subprocess.run(
            [sys.executable, "-c", DIGESTS, order],
            env={**os.environ, "OMP_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        )
        runs.append(json.loads(done.stdout))
    assert runs[0] == runs[1] == runs[2]
    assert {"object_movement MRI 2", "object_movement Endoscopy 2"} < set(runs[0])
    assert len(runs[0]) > 2 * len(degradations.names())


@pytest.mark.parametrize("name", degradations.names())
def test_seeds(name):
    image = seeded_generator("seeds").integers(0, 256, (64, 64), dtype=np.uint8)
    same = [degradations.apply(image, name, severity=2, seed=4) for _ in range(2)]
    assert np.array_equal(*same)
    drawn = {json.dumps(degradations.sample(name, severity=2, seed=s, size=(64, 64)).to_json()) for s in (0, "0", 1)}
    # Nothing is drawn, or every seed draws on its own; of exposure's two directions, three seeds may draw the same.
    assert len(drawn) in ((1, 2) if name == "exposure" else (1, 3))


@pytest.mark.parametrize("name", degradations.names())
@pytest.mark.parametrize("strength", [0.4, 1, 1.3, 2, 2.7])
def test_parameters_survive_json_and_give_the_same_pixels(name, strength):
    image = seeded_generator("records").integers(0, 256, (48, 40, 3), dtype=np.uint8)
    for modality in {degradations.modalities_of(name)[0], degradations.modalities_of(name)[-1], None} | (
        {"MRI"} if name == "object_movement" else set()
    ):
        drawn = degradations.sample(name, strength=strength, seed=9, size=(48, 40), modality=modality)
        text = json.dumps(drawn.to_json(), allow_nan=False)
        again = degradations.parameters_from_json(name, json.loads(text), modality=modality)
        assert again == drawn
        expected = degradations.apply(image, name, strength=strength, seed=9, modality=modality)
        assert np.array_equal(degradations.apply_parameters(image, name, again, modality=modality), expected)


@pytest.mark.parametrize("name", degradations.names())
def test_operators_are_pure_at_any_size(name):
    for modality in (degradations.modalities_of(name)[0], *["MRI"] * (name == "object_movement")):
        degradation = degradations.get(name, modality)
        for size in ((1, 1), (1, 9), (9, 1), (2, 2), (3, 5), (40, 33), (4, 700), (700, 4)):
            for shape, level in itertools.product((size, (*size, 3)), (1, 2)):
                drawn = degradations.sample(name, severity=level, seed=0, size=size, modality=modality)
                texture = seeded_generator("purity").random(shape, dtype=np.float32)
                for image in (texture, np.zeros_like(texture), np.ones_like(texture))[: 1 + 2 * (size[0] < 9)]:
                    image.flags.writeable = False
                    first, second = degradation.apply(image, drawn), degradation.apply(image, drawn)
                    assert first.shape == shape and first.dtype == np.float32 and np.isfinite(first).all()
                    # Overlays lie between what is there and a colour.
                    assert modality != "Histopathology" or (first.min() >= -1e-6 and first.max() <= 1 + 1e-6)
                    assert np.array_equal(first, second)
                    assert not np.shares_memory(first, image)


def test_a_record_of_another_degradation():
    with pytest.raises(UserError, match="RotationParameters.*BrightnessParameters"):
        degradations.apply_parameters(np.zeros((2, 2), np.uint8), "object_rotation", BrightnessParameters(-10))
    with pytest.raises(UserError, match="takes the parameters offset; got ofset"):
        degradations.parameters_from_json("adjust_brightness", {"ofset": 3})


def test_sample_needs_a_level_and_a_size():
    with pytest.raises(UserError, match="Level 0"):
        degradations.sample("exposure", severity=0, seed=0, size=(4, 4))
    with pytest.raises(UserError, match="0 x 4"):
        degradations.sample("exposure", severity=1, seed=0, size=(0, 4))


@pytest.mark.parametrize("levels", [{}, {"severity": 1, "strength": 1.0}, {"severity": None, "strength": None}])
def test_one_of_severity_and_strength_must_be_given(levels):
    for call in (
        lambda: degradations.apply(np.zeros((2, 2), np.uint8), "exposure", **levels),
        lambda: degradations.sample("exposure", seed=0, size=(2, 2), **levels),
    ):
        with pytest.raises(UserError, match="either severity.*or strength"):
            call()


@pytest.mark.parametrize("seed", [None, 1.5, True, False, np.bool_(True), np.float64(2), (1, 2), b"a", [3]])
@pytest.mark.parametrize("severity", [0, 1])
def test_what_is_no_seed_is_refused(seed, severity):
    """None would look like "draw anew" and True like 1; either was taken for one more fixed seed."""
    for call in (
        lambda: degradations.apply(np.zeros((2, 2), np.uint8), "gaussian_noise", severity=severity, seed=seed),
        lambda: degradations.draw_for_question("CT", "q", seed=seed),
        lambda: picture_cache.apply(np.zeros((2, 2), np.uint8), "gaussian_noise", severity=severity, seed=seed),
        lambda: corruptions.sample(strength="low", seed=seed),
    ):
        with pytest.raises(UserError, match="(?i)seed must be a whole number or a text"):
            call()


def test_numpy_integers_are_the_seeds_that_they_equal():
    image = seeded_generator("seeds").integers(0, 256, (16, 16), dtype=np.uint8)
    plain = degradations.apply(image, "gaussian_noise", severity=1, seed=7)
    for seed in (np.int64(7), np.uint8(7)):
        assert np.array_equal(degradations.apply(image, "gaussian_noise", severity=1, seed=seed), plain)
        assert np.array_equal(picture_cache.apply(image, "gaussian_noise", severity=1, seed=seed), plain)
        assert degradations.draw_for_question("CT", "q", seed=seed) == degradations.draw_for_question("CT", "q", seed=7)
    text = degradations.apply(image, "gaussian_noise", severity=1, seed="7")
    assert np.array_equal(degradations.apply(image, "gaussian_noise", severity=1, seed=np.str_("7")), text)


def test_negative_seeds_are_seeds_of_their_own():
    image = seeded_generator("seeds").integers(0, 256, (16, 16), dtype=np.uint8)
    drawn = [degradations.apply(image, "gaussian_noise", severity=1, seed=seed) for seed in (-1, -1, 1)]
    assert np.array_equal(drawn[0], drawn[1]) and not np.array_equal(drawn[0], drawn[2])
