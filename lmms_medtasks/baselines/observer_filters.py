"""The observer's filters: which responses of a picture, and at which places, tell the values of a fact apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from lmms_medtasks.baselines import phantom_places as places

SIDE = 128
"""Every picture is resampled to SIDE by SIDE pixels; places are in unit coordinates, [-1, 1], x right and y down."""

Plane = NDArray[np.float64]
Point = tuple[float, float]

_PLANES = {  # weights of red, green and blue; levels are 0..255
    "grey": (0.30, 0.59, 0.11),
    "r": (1.0, 0.0, 0.0),
    "g": (0.0, 1.0, 0.0),
    "b": (0.0, 0.0, 1.0),
    "red": (1.0, -0.5, -0.5),
    "green": (-0.5, 1.0, -0.5),
    "blue": (-0.5, -0.5, 1.0),
}


class Filter(NamedTuple):
    """Responses of one kind and several radii at some places, the largest within ``reach`` of each.

    ``kind``: "level" (mean within a radius), "spot" (a disc of that radius, brighter than its surroundings), "hole"
    (darker), "either" (brighter or darker), "texture" (log of the standard deviation of detail finer than the radius).
    ``ranked``: largest response first, wherever it is, so that things can be counted.
    """

    kind: str
    plane: str
    radii: tuple[float, ...]
    places: Sequence[Point]
    reach: float = 0.0
    ranked: bool = False

    def responses(self, view: View) -> list[float]:
        """One response a radius and place."""
        found = []
        for radius in self.radii:
            plane = view.response(self.kind, self.plane, radius)
            each = [_largest(plane, place, self.reach) for place in self.places]
            found += sorted(each, reverse=True) if self.ranked else each
        return found


class View:
    """A picture on the fixed grid, and the responses that were asked for so far."""

    def __init__(self, image: Image.Image) -> None:
        small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        self.rgb = np.asarray(small, dtype=np.float64)
        self._known: dict[tuple[str, str, float], Plane] = {}

    def response(self, kind: str, plane: str, radius: float) -> Plane:
        """The response of a kind of :class:`Filter` at every pixel, (SIDE, SIDE)."""
        key = (kind, plane, radius)
        if key not in self._known:
            self._known[key] = self._response(kind, plane, radius)
        return self._known[key]

    def _response(self, kind: str, plane: str, radius: float) -> Plane:
        if kind == "level":
            return _blurred(self.rgb @ np.array(_PLANES[plane]), radius)
        if kind == "texture":
            detail = self.rgb @ np.array(_PLANES[plane]) - self.response("level", plane, radius)
            return np.log(np.sqrt(_blurred(detail**2, 0.15)) + 1.0)
        spot = self.response("level", plane, 0.6 * radius) - self.response("level", plane, 1.3 * radius)
        return {"spot": spot, "hole": -spot, "either": np.abs(spot)}[kind]


def _blurred(plane: Plane, radius: float) -> Plane:
    return ndimage.gaussian_filter(plane, radius * SIDE / 2, mode="nearest", truncate=3.0)


def _largest(plane: Plane, place: Point, reach: float) -> float:
    column, row = (min(max(round((v + 1.0) * SIDE / 2 - 0.5), 0), SIDE - 1) for v in place)
    span = round(reach * SIDE / 2)
    return float(plane[max(row - span, 0) : row + span + 1, max(column - span, 0) : column + span + 1].max())


def _lattice(count: int, reach: float) -> list[Point]:
    steps = np.linspace(-reach, reach, count).tolist()
    return [(x, y) for y in steps for x in steps]


def _mirrored(*points: Point) -> list[Point]:
    return [(side * x, y) for side in (-1, 1) for x, y in points]


_WHOLE = (0.5,), [(0.0, 0.0)]  # radii and places of the whole picture
_KIDNEYS = [*places.CT_KIDNEYS.values()]
_TUMOURS = [*places.MRI_MASS_SITES.values()]
_ANGLES = [*places.XRAY_ANGLES.values()]
_MASSES, _BEHIND = ([places.at_depth(d, a) for a in places.ULTRASOUND_MASS_ANGLES.values()] for d in (0.53, 0.77))
_CYSTS = [places.at_depth(0.27, angle) for angle in places.ULTRASOUND_CYST_ANGLES]
_QUARTERS = [*places.HISTOPATHOLOGY_QUARTERS.values()]
_POLYPS = [*places.ENDOSCOPY_POLYPS.values()]
_RINGS = [(r * x, r * y) for r in (0.24, 0.36, 0.47, 0.58, 0.84) for x, y in ((1, 0), (0, 1), (-1, 0), (0, -1))]
_RED_MARK = [Filter("level", "red", (0.12,), _lattice(3, 0.5))]

FILTERS: Mapping[tuple[str, str], Sequence[Filter]] = {
    ("CT", "lesions"): [Filter("hole", "grey", (0.05,), places.CT_LESION_SITES, 0.05, ranked=True)],
    ("CT", "stones"): [
        Filter("spot", "grey", (0.03,), _KIDNEYS, 0.06),
        Filter("level", "grey", (0.016,), [*_KIDNEYS, (-0.44, 0.0)], 0.06),
    ],
    ("CT", "spleen"): [
        Filter(
            "level", "grey", (0.02,), [(0.55 - 0.3 * d, 0.10 + d) for d in (-0.29, -0.24, -0.18, 0, 0.18, 0.24, 0.29)]
        )
    ],
    ("CT", "vessel"): [Filter("level", "grey", (0.03,), [places.CT_AORTA, *_mirrored((0.17, 0.52))])],
    ("CT", "mark"): _RED_MARK,
    ("MRI", "spots"): [Filter("spot", "grey", (0.03,), places.MRI_SPOT_SITES, 0.04, ranked=True)],
    ("MRI", "mass"): [Filter("spot", "grey", (0.10,), _TUMOURS, 0.06)],
    ("MRI", "core"): [Filter("spot", "grey", (0.03, 0.06, 0.10), _TUMOURS, 0.06, ranked=True)],
    ("MRI", "ventricles"): [
        Filter("either", "grey", (0.04, 0.10), _mirrored((0.075, -0.16), (0.085, -0.24), (0.152, 0.28)))
    ],
    ("MRI", "weighting"): [
        Filter("level", "grey", (0.03,), _mirrored((0.36, -0.12), (0.075, -0.16), (0.20, 0.03), (0.635, 0.0)))
    ],
    ("MRI", "mark"): _RED_MARK,
    ("X-ray", "nodules"): [Filter("spot", "grey", (0.045,), places.XRAY_NODULE_SITES, 0.04, ranked=True)],
    ("X-ray", "opacity"): [Filter("spot", "grey", (0.13,), [*places.XRAY_OPACITY_SITES.values()], 0.04)],
    ("X-ray", "heart"): [
        Filter("level", "grey", (0.025,), [(x, 0.28) for x in (0.12, 0.28, 0.34, 0.40, 0.46, 0.52, 0.62)])
    ],
    ("X-ray", "density"): [Filter("level", "grey", (0.05,), _mirrored((0.34, -0.40), (0.46, -0.02), (0.44, 0.32)))],
    ("X-ray", "effusion"): [Filter("level", "grey", (0.05,), [*_ANGLES, *_mirrored((0.60, 0.12))])],
    ("X-ray", "device"): [
        Filter("spot", "grey", (0.055, 0.10), [(0.58, -0.40), (-0.55, -0.38)], 0.03),
        Filter("spot", "grey", (0.016,), _mirrored((0.028, -0.9), (0.028, -0.72), (0.028, -0.54)), 0.02),
    ],
    ("X-ray", "mark"): _RED_MARK,
    ("Ultrasound", "cysts"): [Filter("hole", "grey", (0.045,), _CYSTS, 0.035, ranked=True)],
    ("Ultrasound", "place"): [Filter("either", "grey", (0.12,), _MASSES, 0.04)],
    ("Ultrasound", "size"): [Filter("either", "grey", (0.08, 0.13, 0.19), _MASSES, 0.04, ranked=True)],
    ("Ultrasound", "echo"): [Filter(kind, "grey", (0.12,), _MASSES, 0.04, ranked=True) for kind in ("spot", "hole")],
    ("Ultrasound", "behind"): [Filter(kind, "grey", (0.12,), _BEHIND, 0.04, ranked=True) for kind in ("spot", "hole")],
    ("Ultrasound", "mark"): _RED_MARK,
    ("Dermoscopy", "milia"): [Filter("spot", "g", (0.03,), _lattice(3, 0.2), 0.1, ranked=True)],
    ("Dermoscopy", "veil"): [Filter("level", "b", (0.1,), _RINGS[:12])],
    ("Dermoscopy", "size"): [Filter("level", "g", (0.03,), _RINGS[::2])],
    ("Dermoscopy", "pigment"): [Filter("level", plane, (0.15,), [(0.0, 0.0)]) for plane in ("r", "g", "b")],
    ("Dermoscopy", "mark"): [Filter("level", "green", (0.1,), _lattice(3, 0.6))],
    ("Histopathology", "mitoses"): [
        Filter("hole", "r", (0.055,), places.HISTOPATHOLOGY_MITOSIS_SITES, 0.025, ranked=True)
    ],
    ("Histopathology", "inflammation"): [Filter("level", "r", (0.14,), _QUARTERS)],
    ("Histopathology", "cells"): [
        Filter("texture", "r", (0.04,), _QUARTERS),
        *(Filter("level", plane, *_WHOLE) for plane in ("r", "g")),
    ],
    ("Histopathology", "stain"): [Filter("level", plane, *_WHOLE) for plane in ("r", "g", "b")],
    ("Histopathology", "pattern"): [
        Filter("spot", "g", (0.20,), _QUARTERS, 0.10, ranked=True),
        Filter("texture", "g", (0.02, 0.05, 0.1), [(0.0, 0.0)]),
    ],
    ("Histopathology", "mark"): [Filter("level", plane, (0.03, 0.08), [(0.0, 0.0)]) for plane in ("r", "g")],
    ("Endoscopy", "ulcers"): [Filter("spot", "g", (0.05,), places.ENDOSCOPY_ULCER_SITES, 0.03, ranked=True)],
    ("Endoscopy", "polyp"): [Filter("spot", "red", (0.13,), _POLYPS, 0.06)],
    ("Endoscopy", "kind"): [Filter("spot", "red", (0.05, 0.1, 0.2), _POLYPS, 0.09, ranked=True)],
    ("Endoscopy", "bleeding"): [
        Filter("level", "grey", (0.03,), [(0.72, 0.12), (0.20, 0.72), (0.35, 0.73), (0.20, 0.55)])
    ],
    ("Endoscopy", "tool"): [
        Filter("level", "red", (0.02,), [(-0.255, 0.82), (-0.52, 0.12)]),
        Filter("spot", "b", (0.03,), [(-0.28, 0.39), (0.04, 0.33), (-0.07, 0.11), (-0.18, 0.34), (-0.08, 0.35)], 0.02),
    ],
    ("Endoscopy", "lumen"): [Filter("level", "grey", (0.08,), [*places.ENDOSCOPY_LUMENS.values()])],
    ("Endoscopy", "mucosa"): [
        Filter("level", plane, (0.08,), [(-0.74, 0.30), (0.74, 0.28)]) for plane in ("r", "g", "b")
    ],
    ("Endoscopy", "mark"): [Filter("level", "green", (0.05,), _lattice(4, 0.6), 0.15)],
    ("any", "modality"): [
        Filter("level", "grey", (0.12,), _lattice(4, 0.75)),
        *(Filter("level", plane, *_WHOLE) for plane in ("red", "blue")),
    ],
}
"""(modality, fact) -> its filters. The structure of a skin lesion and the shape of a mass are beyond such filters."""


def responses(view: View, owner: str, fact: str) -> NDArray[np.float64]:
    """All responses of a fact's filters, in order."""
    return np.array([value for each in FILTERS[owner, fact] for value in each.responses(view)])
