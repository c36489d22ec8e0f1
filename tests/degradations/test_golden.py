"""Pixels that must not change without anyone noticing: a small picture under every degradation, kept in golden.json.

Equal to the last bit where a result is made of sums and products of our own; where a transform, a power or an
interpolation of a library takes part, a new version of it may move the last bit, and truncation a pixel by one grey
level: at most 1 in 100 pixels may do so. After a change that is meant, raise the version in severity.yaml and run
``python tests/degradations/test_golden.py`` to write the file anew, and pixels.yml, by which results are told apart.
"""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
import yaml

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.seeding import generator

FILE = Path(__file__).with_name("golden.json")
PIXELS = Path(degradations.__file__).with_name("pixels.yml")
SHAPE = (14, 16)

# Digest alone counts: integers, float sums and products in a fixed order.
EXACT = ("adjust_brightness", "gaussian_noise", "low_resolution", "motion_blur", "object_movement", "object_rotation")


def picture():
    """A body with an edge, texture and a dark background, in 8-bit RGB."""
    y, x = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    body = (150 * (x**2 + y**2 < 0.8) + 60 * ((x - 0.2) ** 2 + y**2 < 0.1))[..., None]
    texture = generator("golden picture").integers(0, 25, (*SHAPE, 3))
    return (body + texture * (body > 0)).astype(np.uint8)


def cases():
    for name in degradations.names():
        allowed = degradations.modalities_of(name)
        several = name in ("object_movement", "low_resolution", "motion_blur")
        for modality in ("X-ray", "MRI") if several else allowed[:1]:
            for severity in (1, 2):
                yield f"{name} {modality} L{severity}", name, modality, severity


def degraded(name, modality, severity):
    return degradations.apply(picture(), name, severity=severity, seed="golden", modality=modality)


def digest(pixels):
    return hashlib.sha256(pixels.tobytes()).hexdigest()[:16]


@pytest.mark.parametrize(("case", "name", "modality", "severity"), list(cases()))
def test_golden(case, name, modality, severity):
    kept = json.loads(FILE.read_text(encoding="utf-8")).get(case)
    assert kept, f"no pixels are kept of it: look at the picture, then python {Path(__file__).name}"
    result = degraded(name, modality, severity)
    if digest(result) == kept["digest"]:
        return
    before = np.frombuffer(bytes.fromhex(kept["pixels"]), np.uint8).reshape(result.shape).astype(int)
    assert not (name in EXACT and modality != "MRI"), f"{int((before != result).sum())} samples changed"
    assert np.abs(result - before).max() <= 1
    assert (result != before).mean() <= 0.01


def test_no_golden_case_is_left_over():
    assert set(json.loads(FILE.read_text(encoding="utf-8"))) == {case for case, *_ in cases()}


def told(golden):
    """What pixels.yml holds of the golden pixels."""
    digests = json.dumps({case: each["digest"] for case, each in golden.items()})
    return {"version": registry.severity_version(), "pixels": hashlib.sha256(digests.encode()).hexdigest()[:12]}


def test_the_package_tells_version_and_golden_pixels():
    assert yaml.safe_load(PIXELS.read_text("utf-8")) == told(json.loads(FILE.read_text("utf-8")))


def write():
    before, kept = json.loads(FILE.read_text("utf-8")), {}
    for case, name, modality, severity in cases():
        pixels = degraded(name, modality, severity)
        kept[case] = {"digest": digest(pixels), "pixels": pixels.tobytes().hex()}
    moved = [case for case, each in kept.items() if before.get(case, each) != each]
    if moved and yaml.safe_load(PIXELS.read_text("utf-8"))["version"] == registry.severity_version():
        raise SystemExit(f"Pixels have moved: raise the version in severity.yaml. {', '.join(moved)}")
    head = PIXELS.read_text("utf-8").partition("\nversion:")[0]
    PIXELS.write_text("\n".join([head, *(f"{name}: {each}" for name, each in told(kept).items()), ""]), "utf-8")
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
