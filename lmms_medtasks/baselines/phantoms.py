"""Phantoms of the mini data: where things are in them, and the questions about them.

Places are what their observer knows and what they are drawn by, in unit coordinates: [-1, 1], x right and y down;
angles in radians. Questions are those of ``phantom_questions.yml``, and those that a benchmark's folder adds
in a file of that name.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from lmms_medtasks import folders

Point = tuple[float, float]

_CORNERS = ("upper left", "upper right", "lower left", "lower right")


def _at_corners(*points: Point) -> dict[str, Point]:
    return dict(zip(_CORNERS, points, strict=True))


# CT
CT_LESION_SITES: tuple[Point, ...] = ((-0.56, -0.10), (-0.36, -0.22), (-0.54, 0.14), (-0.34, 0.02), (-0.12, -0.27))
CT_KIDNEYS: dict[str, Point] = {"left": (-0.36, 0.32), "right": (0.34, 0.32)}
CT_SPLEEN: Point = (0.55, 0.10)
CT_AORTA: Point = (0.07, 0.13)

# MRI
MRI_MASS_SITES: dict[str, Point] = _at_corners((-0.29, -0.34), (0.29, -0.34), (-0.30, 0.33), (0.30, 0.33))
MRI_SPOT_SITES: tuple[Point, ...] = (
    (-0.39, -0.03), (0.39, -0.03), (-0.12, -0.50), (0.12, -0.50), (-0.11, 0.52), (0.11, 0.52),
)  # fmt: skip

# X-ray
XRAY_OPACITY_SITES: dict[str, Point] = _at_corners((-0.38, -0.30), (0.40, -0.30), (-0.42, 0.12), (0.50, 0.08))
XRAY_NODULE_SITES: tuple[Point, ...] = (
    (-0.58, -0.14), (-0.26, -0.16), (-0.34, -0.54), (0.32, -0.54), (0.60, -0.16), (0.29, -0.12),
)  # fmt: skip
XRAY_ANGLES: dict[str, Point] = {"left": (-0.60, 0.46), "right": (0.62, 0.48)}

# Ultrasound: the tip of the fan, the radii at which it starts and ends, and angles from its middle line
ULTRASOUND_TIP: Point = (0.0, -1.42)
ULTRASOUND_NEAR, ULTRASOUND_FAR = 0.52, 2.26
ULTRASOUND_MASS_ANGLES = {"left": -0.29, "centre": 0.0, "right": 0.29}
ULTRASOUND_CYST_ANGLES = (-0.40, -0.20, 0.0, 0.20, 0.40)

# Dermoscopy, in fractions of the lesion's radius, from its centre
DERMOSCOPY_VEIL_SITES: dict[str, Point] = {
    "upper": (0, -0.52),
    "lower": (0, 0.52),
    "left": (-0.52, 0),
    "right": (0.52, 0),
}

# Histopathology
HISTOPATHOLOGY_QUARTERS: dict[str, Point] = _at_corners((-0.52, -0.52), (0.52, -0.52), (-0.52, 0.52), (0.52, 0.52))
HISTOPATHOLOGY_MITOSIS_SITES: tuple[Point, ...] = (
    (0.0, -0.74),
    (-0.74, 0.0),
    (0.74, 0.0),
    (0.0, 0.74),
    (0.0, -0.36),
    (0.0, 0.36),
)

# Endoscopy
ENDOSCOPY_LUMENS: dict[str, Point] = {
    "up": (0.0, -0.26),
    "down": (0.0, 0.26),
    "left": (-0.26, 0.0),
    "right": (0.26, 0.0),
}
ENDOSCOPY_POLYPS: dict[str, Point] = _at_corners((-0.52, -0.48), (0.52, -0.48), (-0.52, 0.48), (0.52, 0.48))
ENDOSCOPY_ULCER_SITES: tuple[Point, ...] = (
    (-0.82, -0.10), (0.82, -0.10), (-0.64, 0.08), (0.64, 0.08), (0.02, -0.82), (0.24, -0.76),
)  # fmt: skip
ENDOSCOPY_POOL: Point = (0.20, 0.72)
ENDOSCOPY_TIPS: dict[str, Point] = {"forceps": (-0.14, 0.42), "snare": (-0.18, 0.60)}


def at_depth(depth: float, angle: float) -> Point:
    """Unit coordinates of a point of the ultrasound's fan: ``depth`` in [0, 1] from near to far, ``angle`` from the
    middle line."""
    radius = ULTRASOUND_NEAR + depth * (ULTRASOUND_FAR - ULTRASOUND_NEAR)
    return (ULTRASOUND_TIP[0] + radius * float(np.sin(angle)), ULTRASOUND_TIP[1] + radius * float(np.cos(angle)))


FILE = "phantom_questions.yml"

Condition = Mapping[str, tuple[str, ...]]
"""Fact -> the values that fit; all facts have to."""


@dataclass(frozen=True)
class PhantomQuestion:
    """One question and the rule that makes an option right.

    ``options`` maps each option's text, in the file's order, to its condition; the first that fits is right.
    """

    name: str
    modalities: tuple[str, ...]
    capability: str
    text: str
    options: Mapping[str, Condition]

    @property
    def facts(self) -> tuple[str, ...]:
        """The facts that the answer depends on, in the order in which the options name them."""
        return tuple(dict.fromkeys(fact for condition in self.options.values() for fact in condition))

    def answer(self, facts: Mapping[str, str]) -> str | None:
        """The right option for a picture that shows ``facts``; None when the question cannot be asked about it."""
        for option, condition in self.options.items():
            if all(facts[fact] in allowed for fact, allowed in condition.items()):
                return option
        return None

    def cases(self, values: Mapping[str, tuple[str, ...]]) -> Iterator[tuple[dict[str, str], str]]:
        """Every combination of the values of this question's facts that has an answer, and that answer."""
        for combination in product(*(values[fact] for fact in self.facts)):
            facts = dict(zip(self.facts, combination, strict=True))
            option = self.answer(facts)
            if option is not None:
                yield facts, option


@functools.cache
def all_questions() -> tuple[PhantomQuestion, ...]:
    """The questions of every benchmark's mini data, in the file's order."""
    return _read_questions(Path(__file__).with_name(FILE))


@functools.cache
def added_questions() -> tuple[PhantomQuestion, ...]:
    """The questions that the folders of the installed benchmarks add."""
    return tuple(question for folder in folders.folders_with_file(FILE) for question in _read_questions(folder / FILE))


def _read_questions(path: Path) -> tuple[PhantomQuestion, ...]:
    return tuple(question_from_entry({"capability": "", **entry}) for entry in yaml.safe_load(path.read_text("utf-8")))


def question_from_entry(entry: Mapping[str, Any]) -> PhantomQuestion:
    """A question from its entry in a file of the form of phantom_questions.yml."""
    return PhantomQuestion(
        name=entry["name"],
        modalities=tuple(entry.get("any of") or [entry["modality"]]),
        capability=entry["capability"],
        text=" ".join(entry["question"].split()),
        options={
            option: {fact: (value,) if isinstance(value, str) else tuple(value) for fact, value in condition.items()}
            for option, condition in entry["options"].items()
        },
    )
