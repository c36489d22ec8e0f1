"""Where things are in the phantoms of each modality: what their observer knows, and what they are drawn by.

Places are in unit coordinates, [-1, 1], x right and y down; angles in radians.
"""

from __future__ import annotations

import numpy as np

Point = tuple[float, float]

# CT
CT_LESION_SITES: tuple[Point, ...] = ((-0.56, -0.10), (-0.36, -0.22), (-0.54, 0.14), (-0.34, 0.02), (-0.12, -0.27))
CT_KIDNEYS: dict[str, Point] = {"left": (-0.36, 0.32), "right": (0.34, 0.32)}
CT_SPLEEN: Point = (0.55, 0.10)
CT_AORTA: Point = (0.07, 0.13)

# MRI
MRI_MASS_SITES: dict[str, Point] = {
    "upper left": (-0.29, -0.34),
    "upper right": (0.29, -0.34),
    "lower left": (-0.30, 0.33),
    "lower right": (0.30, 0.33),
}
MRI_SPOT_SITES: tuple[Point, ...] = (
    (-0.39, -0.03), (0.39, -0.03), (-0.12, -0.50), (0.12, -0.50), (-0.11, 0.52), (0.11, 0.52),
)  # fmt: skip

# X-ray
XRAY_OPACITY_SITES: dict[str, Point] = {
    "upper left": (-0.38, -0.30),
    "upper right": (0.40, -0.30),
    "lower left": (-0.42, 0.12),
    "lower right": (0.50, 0.08),
}
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
HISTOPATHOLOGY_QUARTERS: dict[str, Point] = {
    "upper left": (-0.52, -0.52),
    "upper right": (0.52, -0.52),
    "lower left": (-0.52, 0.52),
    "lower right": (0.52, 0.52),
}
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
ENDOSCOPY_POLYPS: dict[str, Point] = {
    "upper left": (-0.52, -0.48),
    "upper right": (0.52, -0.48),
    "lower left": (-0.52, 0.48),
    "lower right": (0.52, 0.48),
}
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
