"""The phantoms: procedural pictures of the seven modalities, each drawn from named facts that questions ask about."""

from __future__ import annotations

import importlib
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.errors import unknown_name_error

_MODULES = {
    "CT": "ct",
    "MRI": "mri",
    "X-ray": "xray",
    "Ultrasound": "ultrasound",
    "Dermoscopy": "dermoscopy",
    "Histopathology": "histopathology",
    "Endoscopy": "endoscopy",
}
MODALITIES = tuple(_MODULES)

__all__ = ["MODALITIES", "draw", "facts_of", "module_of", "short_name"]


def short_name(modality: str) -> str:
    """The modality's name in ids and module names, for example "xray"; raises UserError for an unknown modality."""
    if modality not in _MODULES:
        raise unknown_name_error("modality", modality, _MODULES)
    return _MODULES[modality]


def module_of(modality: str) -> ModuleType:
    """The module that draws ``modality``: its FACTS, its geometry and its ``draw``."""
    return importlib.import_module(f"{__name__}.{short_name(modality)}")


def facts_of(modality: str) -> dict[str, tuple[str, ...]]:
    """The facts that a picture of ``modality`` shows, and the values that each can have."""
    return dict(module_of(modality).FACTS)


def draw(modality: str, facts: dict[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """A picture of ``modality`` that shows ``facts`` (one value of each): uint8, (n, n) or (n, n, 3)."""
    return module_of(modality).draw(facts, rng)
