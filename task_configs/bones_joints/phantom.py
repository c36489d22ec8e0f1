"""A bone-and-joint phantom: radiographs of seven sites, with a finding that questions ask about.

A site is two groups of bones with a joint between them. A finding is drawn into it: a dark gap across a shaft
(fracture), the joint's space closed and its margins dense (osteoarthritis), the far bones out of place (dislocation), a
round hole in a bone (lytic lesion), or a plate with screws along a shaft (plate).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from lmms_medtasks.baselines import canvas
from lmms_medtasks.baselines.canvas import Array, CanvasGrid, Point

SIZE = 144
SITES = ("knee", "hip", "shoulder", "ankle", "elbow", "wrist", "spine")
FINDINGS = ("fracture", "osteoarthritis", "dislocation", "lesion", "plate")
VIEWS = ("first", "second")
SIDES = ("left", "right")
FACTS = {"site": SITES, "finding": FINDINGS, "view": VIEWS, "side": SIDES}

_NARROW = 0.13  # the second view is that of a limb turned: narrower across
_CORTEX = 0.55


@dataclass(frozen=True)
class Rod:
    """A long bone: a line with a half-width."""

    points: tuple[Point, ...]
    radius: float


@dataclass(frozen=True)
class Knob:
    """A round bone or the end of one."""

    at: Point
    radii: Point
    turn: float = 0.0


Bone = Rod | Knob


@dataclass(frozen=True)
class Anatomy:
    """A site. ``near`` bones stay, ``far`` bones are beyond the joint.

    ``close`` moves the far bones until the joint has no space, ``slip`` out of their place. ``joint``: its middle.
    ``shaft``: the line, with the half-width, along which a fracture or a plate is. ``lesion``: where a hole is.
    """

    near: tuple[Bone, ...]
    far: tuple[Bone, ...]
    close: Point
    slip: Point
    joint: Point
    shaft: Rod
    lesion: Point


def _longer(rod: Rod) -> Rod:
    """The rod extended beyond the image's edge, so that its end stays out of sight when it is moved."""
    (ax, ay), (bx, by) = rod.points
    return Rod((rod.points[0], (bx + 0.6 * (bx - ax), by + 0.6 * (by - ay))), rod.radius)


def _make_vertebrae(levels: Sequence[float]) -> tuple[Bone, ...]:
    return tuple(
        bone
        for y in levels
        for bone in (
            Rod(((-0.16, y), (0.16, y)), 0.105),
            Rod(((0.30, y + 0.02), (0.52, y + 0.10)), 0.045),
            Rod(((-0.30, y + 0.02), (-0.52, y + 0.10)), 0.045),
        )
    )


_KNEE_TIBIA = Rod(((0.0, 0.22), (0.02, 1.1)), 0.14)
_HIP_SHAFT = Rod(((0.40, 0.12), (0.48, 1.1)), 0.13)
_SHOULDER_SHAFT = Rod(((0.26, -0.02), (0.36, 1.1)), 0.12)
_ANKLE_TIBIA = Rod(((-0.06, -1.1), (-0.04, -0.22)), 0.15)
_ELBOW_HUMERUS = Rod(((-0.62, -1.0), (-0.36, -0.10)), 0.12)
_WRIST_RADIUS = Rod(((-0.20, 1.1), (-0.17, 0.36)), 0.13)
_SPINE_BODY = Rod(((0.0, -0.72), (0.0, 0.40)), 0.24)

ANATOMY: Mapping[str, Anatomy] = {
    "knee": Anatomy(
        near=(Rod(((0.0, -1.1), (0.0, -0.36)), 0.14), Knob((-0.15, -0.22), (0.19, 0.19)),
              Knob((0.15, -0.22), (0.19, 0.19))),
        far=(_longer(_KNEE_TIBIA), Rod(((-0.20, 0.18), (0.20, 0.18)), 0.10), Rod(((0.34, 0.34), (0.34, 1.7)), 0.05)),
        close=(0.0, -0.10), slip=(0.40, 0.02), joint=(0.0, 0.02), shaft=_KNEE_TIBIA, lesion=(-0.12, -0.28),
    ),
    "hip": Anatomy(
        near=(Rod(((-0.95, -0.72), (-0.55, -0.45), (-0.16, -0.40)), 0.17), Rod(((-0.16, -0.36), (-0.22, 0.10)), 0.09),
              Rod(((-0.22, 0.12), (-0.52, 0.50), (-0.78, 0.42)), 0.09), Rod(((-0.22, 0.06), (-0.90, 0.02)), 0.08)),
        far=(Knob((0.06, -0.16), (0.17, 0.17)), Rod(((0.10, -0.10), (0.40, 0.10)), 0.10),
             Knob((0.48, 0.02), (0.13, 0.15)),
             _longer(_HIP_SHAFT)),
        close=(-0.10, -0.04), slip=(0.14, -0.44), joint=(-0.10, -0.20), shaft=_HIP_SHAFT, lesion=(-0.50, -0.44),
    ),
    "shoulder": Anatomy(
        near=(Rod(((-1.0, -0.66), (-0.30, -0.72), (0.18, -0.60)), 0.06), Rod(((-0.10, -0.36), (0.24, -0.54)), 0.06),
              Rod(((-0.14, -0.36), (-0.12, 0.02)), 0.09), Rod(((-0.16, 0.06), (-0.52, 0.74)), 0.06),
              Rod(((-0.16, -0.34), (-0.78, -0.40)), 0.05), Rod(((-0.78, -0.38), (-0.56, 0.72)), 0.04)),
        far=(Knob((0.20, -0.18), (0.21, 0.22)), _longer(_SHOULDER_SHAFT)),
        close=(-0.10, 0.0), slip=(-0.22, 0.40), joint=(-0.02, -0.18), shaft=_SHOULDER_SHAFT, lesion=(0.22, -0.20),
    ),
    "ankle": Anatomy(
        near=(_ANKLE_TIBIA, Rod(((-0.20, -0.16), (0.12, -0.16)), 0.10), Rod(((-0.32, -1.1), (-0.34, 0.16)), 0.06)),
        far=(Knob((-0.02, 0.14), (0.21, 0.13)), Rod(((-0.42, 0.56), (0.06, 0.42)), 0.16),
             Rod(((0.22, 0.26), (0.46, 0.36)), 0.11),
             Rod(((0.56, 0.42), (1.5, 0.85)), 0.08), Rod(((0.52, 0.54), (1.4, 1.01)), 0.07)),
        close=(0.0, -0.09), slip=(0.34, 0.06), joint=(-0.03, -0.02), shaft=_ANKLE_TIBIA, lesion=(-0.24, 0.50),
    ),
    "elbow": Anatomy(
        near=(_ELBOW_HUMERUS, Knob((-0.31, 0.04), (0.20, 0.16), 0.3)),
        far=(Knob((-0.40, 0.34), (0.14, 0.12)), Rod(((-0.34, 0.36), (1.7, 0.56)), 0.11),
             Rod(((0.02, 0.20), (1.7, 0.26)), 0.08),
             Knob((0.0, 0.19), (0.07, 0.12))),
        close=(-0.02, -0.09), slip=(-0.36, 0.02), joint=(-0.22, 0.20), shaft=_ELBOW_HUMERUS, lesion=(0.30, 0.42),
    ),
    "wrist": Anatomy(
        near=(_WRIST_RADIUS, Rod(((-0.30, 0.30), (-0.04, 0.28)), 0.11), Rod(((0.20, 1.1), (0.18, 0.34)), 0.09)),
        far=(Knob((-0.26, 0.06), (0.10, 0.08)), Knob((-0.07, 0.04), (0.09, 0.08)), Knob((0.11, 0.08), (0.09, 0.08)),
             Knob((-0.28, -0.14), (0.09, 0.07)), Knob((-0.10, -0.16), (0.09, 0.09)), Knob((0.09, -0.14), (0.09, 0.08)),
             Rod(((-0.36, -0.28), (-0.66, -0.66)), 0.06), Rod(((-0.20, -0.32), (-0.26, -1.7)), 0.06),
             Rod(((-0.06, -0.33), (-0.06, -1.7)), 0.06), Rod(((0.07, -0.31), (0.14, -1.7)), 0.055),
             Rod(((0.18, -0.27), (0.36, -1.0)), 0.05)),
        close=(0.0, 0.09), slip=(0.36, 0.0), joint=(-0.08, 0.16), shaft=_WRIST_RADIUS, lesion=(-0.16, 0.38),
    ),
    "spine": Anatomy(
        near=_make_vertebrae((-0.92, -0.54, -0.18)),
        far=_make_vertebrae((0.20, 0.56, 0.92)),
        close=(0.0, -0.15), slip=(0.30, 0.0), joint=(0.0, 0.01), shaft=_SPINE_BODY, lesion=(-0.10, 0.56),
    ),
}  # fmt: skip
"""Site -> its bones, in unit coordinates of a picture whose middle is near the joint."""


def draw_phantom(facts: Mapping[str, str], rng: np.random.Generator) -> NDArray[np.uint8]:
    """The radiograph that shows ``facts`` (one value of each of :data:`FACTS`): uint8, (SIZE, SIZE)."""
    flat = canvas.make_grid(SIZE)
    shift, scale, turn = rng.uniform(-0.05, 0.05, 2), rng.uniform(0.97, 1.03), rng.uniform(-0.05, 0.05)
    x, y = (flat.x - shift[0]) / scale, (flat.y - shift[1]) / scale
    moved = CanvasGrid(np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x)
    picture = render_phantom(facts, canvas.bend_grid(moved, rng, 0.006, 30)) + 4.0 * canvas.smooth_noise(rng, SIZE, 0.8)
    return canvas.to_bytes(picture, 6)


def render_phantom(facts: Mapping[str, str], g: CanvasGrid) -> Array:
    """The picture on a grid without noise: (n, n) levels from 0 to 255."""
    across = 1.0 + (_NARROW if facts["view"] == "second" else 0.0)
    g = CanvasGrid(g.x * (across if facts["side"] == "left" else -across), g.y)
    anatomy, finding = ANATOMY[facts["site"]], facts["finding"]
    move = {"osteoarthritis": anatomy.close, "dislocation": anatomy.slip}.get(finding, (0.0, 0.0))
    bones = (*anatomy.near, *(_move_bone(bone, move) for bone in anatomy.far))
    thick = 0.10 + 0.22 * _flesh_absorption(g, bones)
    for bone in bones:  # a dense rim around a lighter inside
        thick += 1.05 * _bone_mask(g, bone) - _CORTEX * _bone_mask(g, bone, 0.62)
    thick = np.minimum(thick, 1.9)
    if finding == "osteoarthritis":
        middle = (anatomy.joint[0] + move[0] / 2, anatomy.joint[1] + move[1] / 2)
        across = float(np.arctan2(move[1], move[0]) + np.pi / 2)  # square to the way that closes the joint
        thick += 0.75 * canvas.ellipse_mask(g, middle, (0.15, 0.07), across)
    if finding == "fracture":
        thick -= (thick - 0.34) * _fracture_gap(g, anatomy.shaft)
    if finding == "lesion":
        thick -= 0.8 * (thick - 0.25) * canvas.ellipse_mask(g, anatomy.lesion, (0.085, 0.085), soft=4)
    picture = 245 * (1 - np.exp(-1.15 * ndimage.gaussian_filter(thick, 0.6)))
    if finding == "plate":
        canvas.paint_mask(picture, _plate_and_screws(g, anatomy.shaft), 252)
    return picture


def _move_bone(bone: Bone, by: Point) -> Bone:
    if isinstance(bone, Knob):
        return Knob((bone.at[0] + by[0], bone.at[1] + by[1]), bone.radii, bone.turn)
    return Rod(tuple((x + by[0], y + by[1]) for x, y in bone.points), bone.radius)


def _bone_mask(g: CanvasGrid, bone: Bone, shrink: float = 1.0) -> Array:
    if isinstance(bone, Knob):
        return canvas.ellipse_mask(g, bone.at, (bone.radii[0] * shrink, bone.radii[1] * shrink), bone.turn)
    return canvas.stroke_mask(g, bone.points, bone.radius * shrink)


def _flesh_absorption(g: CanvasGrid, bones: Sequence[Bone]) -> Array:
    wide = [
        canvas.ellipse_mask(g, bone.at, (bone.radii[0] + 0.2, bone.radii[1] + 0.2), soft=10)
        if isinstance(bone, Knob)
        else canvas.stroke_mask(g, bone.points, bone.radius + 0.18, 10)
        for bone in bones
    ]
    return canvas.unite_masks(wide)


def _point_along(shaft: Rod, fraction: float) -> tuple[Point, Point]:
    """The point at ``fraction`` (0 to 1) of a shaft and its direction there."""
    (ax, ay), (bx, by) = shaft.points[0], shaft.points[-1]
    length = float(np.hypot(bx - ax, by - ay))
    return (ax + fraction * (bx - ax), ay + fraction * (by - ay)), ((bx - ax) / length, (by - ay) / length)


def _fracture_gap(g: CanvasGrid, shaft: Rod) -> Array:
    (x, y), (ux, uy) = _point_along(shaft, 0.45)
    reach = shaft.radius * 1.7
    dx, dy = reach * (uy - 0.5 * ux), reach * (ux + 0.5 * uy)
    return canvas.stroke_mask(g, [(x - dx, y + dy), (x + dx, y - dy)], 0.034, 2)


def _plate_and_screws(g: CanvasGrid, shaft: Rod) -> Array:
    offset = shaft.radius * 0.95
    ends = [_point_along(shaft, fraction) for fraction in (0.12, 0.78)]
    plate = [(x + offset * uy, y - offset * ux) for (x, y), (ux, uy) in ends]
    masks = [canvas.stroke_mask(g, plate, 0.035)]
    for fraction in (0.18, 0.34, 0.56, 0.72):
        (x, y), (ux, uy) = _point_along(shaft, fraction)
        screw = [(x + offset * uy, y - offset * ux), (x - offset * uy, y + offset * ux)]
        masks.append(canvas.stroke_mask(g, screw, 0.018))
    return canvas.unite_masks(masks)
