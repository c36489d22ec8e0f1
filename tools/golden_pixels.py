"""A small picture under every degradation and level: its golden records."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from lmms_medtasks import degradations
from lmms_medtasks.degradations import registry
from lmms_medtasks.seeding import seeded_generator

SHAPE = (14, 16)
"""Rows and columns; three channels."""
_SEVERAL = ("object_movement", "low_resolution", "motion_blur")
"""Other operators in MRI."""


def records() -> dict[str, dict[str, Any]]:
    """Degradation -> ``version`` of severity.yaml, and ``pictures``."""
    version = str(registry.severity_version())
    return {name: {"version": version, "pictures": pictures_of(name)} for name in sorted(degradations.names())}


def pictures_of(name: str) -> dict[str, str]:
    """Modality and level -> digest and bytes of the degraded picture, in hex."""
    modalities = ("X-ray", "MRI") if name in _SEVERAL else degradations.modalities_of(name)[:1]
    found = {}
    for modality in modalities:
        for severity in (1, 2):
            drawn = degradations.apply(_picture(), name, severity=severity, seed="golden", modality=modality).tobytes()
            found[f"{modality} L{severity}"] = f"{hashlib.sha256(drawn).hexdigest()[:16]} {drawn.hex()}"
    return found


def _picture() -> np.ndarray:
    """A body with an edge, texture and a dark background, in 8-bit RGB."""
    y, x = np.mgrid[-1 : 1 : SHAPE[0] * 1j, -1 : 1 : SHAPE[1] * 1j]
    body = (150 * (x**2 + y**2 < 0.8) + 60 * ((x - 0.2) ** 2 + y**2 < 0.1))[..., None]
    texture = seeded_generator("golden picture").integers(0, 25, (*SHAPE, 3))
    return (body + texture * (body > 0)).astype(np.uint8)
