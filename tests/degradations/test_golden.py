"""Pixels that must not change unless the version of severity.yaml does.

With the libraries of the record ``tests/test_golden.py`` holds them to the last bit. With others they are equal where a
result is made of sums and products of our own. Where a transform, a power or an interpolation of a library takes part,
the last bit may move, and truncation a pixel by one grey level: at most 1 in 100 pixels may do so.
"""

import numpy as np
import pytest

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from tools import golden_pixels, renew_golden

FILE = renew_golden.FOLDER / "degradations.json"

# Integers, float sums and products in a fixed order.
EXACT = ("adjust_brightness", "gaussian_noise", "low_resolution", "motion_blur", "object_movement", "object_rotation")


def pixels(picture):
    return np.frombuffer(bytes.fromhex(picture.split()[1]), np.uint8).astype(int)


def recorded():
    return renew_golden.read(FILE.read_text("utf-8"), str(FILE))


@pytest.mark.parametrize("name", degradations.names())
def test_other_libraries_move_few_pixels_by_one_level(name):
    records = recorded()[0]
    assert name in records, f"{name} has no golden record: python -m tools.renew_golden degradations"
    kept = records[name]["pictures"]
    for case, now in golden_pixels.pictures_of(name).items():
        moved = np.abs(pixels(now) - pixels(kept[case]))
        exact = name in EXACT and "MRI" not in case
        assert moved.max() <= (not exact), case
        assert (moved > 0).mean() <= 0.01, case


def test_changed_pixels_are_recorded_at_a_higher_version_only(tmp_path, monkeypatch):
    path = tmp_path / FILE
    path.parent.mkdir(parents=True)
    path.write_text(FILE.read_text("utf-8"))
    drawn = degradations.apply
    monkeypatch.setattr(degradations, "apply", lambda *given, **named: 255 - drawn(*given, **named))
    monkeypatch.setattr(renew_golden, "libraries", lambda: recorded()[1])
    refused = renew_golden.renew(["degradations"], tmp_path)
    assert len(refused) == len(degradations.names())
    version = registry.severity_version()
    assert f"gaussian_noise: version {version}, recorded at {version}, and other pictures (" in "\n".join(refused)
    assert "that of degradations/severity.yaml" in refused[0]
    assert path.read_text("utf-8") == FILE.read_text("utf-8")
    monkeypatch.setattr(registry, "severity_version", lambda: version + 1)
    assert renew_golden.renew(["degradations"], tmp_path) == []
