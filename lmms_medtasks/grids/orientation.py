"""Wrongly oriented pictures: which turns and flips are wrong for a picture, and making them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_medtasks.grids.pool import Category, Picture

if TYPE_CHECKING:
    from PIL.Image import Image

MIRROR = "flip_horizontal"
TURNS = ("flip_vertical", "rotate_90", "rotate_180", "rotate_270")

SEEN_BELOW = 0.85
"""A transform is used only where the picture and its transform correlate less than this: else nobody can see it."""

MIRRORED_SEEN_BELOW = 0.95
"""The same for a mirrored picture whose sides differ: a heart or a liver on the wrong side is seen at a glance, but is
a small part of a picture that is else nearly symmetric."""

SQUARE_WITHIN = 0.02
"""Quarter turns are for pictures whose sides differ by no more than this: else the shape gives them away."""

_LABEL = {
    "flip_horizontal": "horizontally flipped (left and right exchanged)",
    "flip_vertical": "vertically flipped",
    "rotate_90": "rotated by 90 degrees counter-clockwise",
    "rotate_180": "rotated by 180 degrees",
    "rotate_270": "rotated by 90 degrees clockwise",
}


def described(transform: str) -> str:
    """The transform in words."""
    return _LABEL[transform]


@functools.cache
def _rules() -> dict[str, frozenset[str]]:
    import yaml

    text = resources.files("lmms_medtasks.grids").joinpath("orientation.yaml").read_text("utf-8")
    return {name: frozenset(value.casefold() for value in values) for name, values in yaml.safe_load(text).items()}


def has_up(category: Category, label: bool | None = None) -> bool:
    """Whether a picture of ``category`` has an up; ``label`` is what the picture's own label says."""
    if label is not None:
        return label
    rules = _rules()
    return (
        category.modality.casefold() in rules["has_up"] and category.anatomy.casefold() not in rules["loose_anatomies"]
    )


def is_lateralised(pictures: Sequence[Picture]) -> bool:
    """Whether mirroring one of ``pictures``, all of one category, is a laterality error.

    It is where the anatomy is lateralised and the view shows both sides, and where all pictures are labelled with the
    same side (a mirrored left knee among left knees looks like a right one).
    """
    rules, category = _rules(), pictures[0].category
    if category.modality.casefold() in rules["no_fixed_left"]:
        return False
    sides = {picture.laterality.strip().casefold() for picture in pictures}
    if len(sides) == 1 and sides <= {"left", "right"}:
        return True
    return (
        category.anatomy.casefold() in rules["lateralised_anatomies"]
        and category.view.casefold() in rules["two_sided_views"]
    )


def candidates(picture: Picture, image: Image, inliers: Sequence[Picture]) -> list[str]:
    """The transforms that make ``picture`` (``image`` is what it shows) visibly wrong among ``inliers``.

    None where it has no up.
    """
    if not has_up(picture.category, picture.up):
        return []
    allowed = [*([MIRROR] if is_lateralised([picture, *inliers]) else []), *TURNS]
    if abs(image.width / image.height - 1) > SQUARE_WITHIN:
        allowed = [name for name in allowed if name not in ("rotate_90", "rotate_270")]
    return [name for name in allowed if likeness(image, apply(image, name)) < _limit(name)]


def _limit(transform: str) -> float:
    return MIRRORED_SEEN_BELOW if transform == MIRROR else SEEN_BELOW


def apply(image: Image, transform: str) -> Image:
    """The picture flipped or turned; no pixel is interpolated."""
    from PIL import Image as Images

    method: dict[str, Any] = {
        "flip_horizontal": Images.Transpose.FLIP_LEFT_RIGHT,
        "flip_vertical": Images.Transpose.FLIP_TOP_BOTTOM,
        "rotate_90": Images.Transpose.ROTATE_90,
        "rotate_180": Images.Transpose.ROTATE_180,
        "rotate_270": Images.Transpose.ROTATE_270,
    }
    return image.transpose(method[transform])


def likeness(first: Image, second: Image) -> float:
    """Correlation of two pictures' grey levels at 48 by 48 pixels, from -1 to 1; 1 where either is flat."""
    a, b = (np.asarray(image.convert("L").resize((48, 48)), dtype=np.float64).ravel() for image in (first, second))
    if a.std() < 1e-9 or b.std() < 1e-9:
        return 1.0
    return float(np.corrcoef(a, b)[0, 1])
