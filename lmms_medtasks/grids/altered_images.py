"""Images made wrong: turned or mirrored, or with a violation of their integrity.

Orientation: which turns and flips are wrong for an image, and making them. Integrity violations: what no acquisition
of the modality can give, made in one place of an image.

``texture``: a soft-edged region filled with the texture of another modality, at the region's own mean and contrast.
``shifted_blocks``: blocks exchanged with each other, as when a file's parts are put together in the wrong order.
``dropped_band``: a band of rows that holds one row again and again, as when a transfer stalled.
``garbage``: a band of rows read at a wrong width, each row moved further to the side than the one before.

``texture`` is the paper's "modality-incompatible textures" (section 1), the others its "corrupted slice"; the paper
gives no parameters, these are ours.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.errors import unknown_name_error
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

ORIENTATIONS = {
    "flip_horizontal": ("FLIP_LEFT_RIGHT", "horizontally flipped (left and right exchanged)"),
    "flip_vertical": ("FLIP_TOP_BOTTOM", "vertically flipped"),
    "rotate_90": ("ROTATE_90", "rotated by 90 degrees counter-clockwise"),
    "rotate_180": ("ROTATE_180", "rotated by 180 degrees"),
    "rotate_270": ("ROTATE_270", "rotated by 90 degrees clockwise"),
}
"""Transform -> Pillow's name for it, and what it is in words."""


@functools.cache
def _load_orientation_rules() -> dict[str, frozenset[str]]:
    import yaml

    text = resources.files("lmms_medtasks.grids").joinpath("orientation.yaml").read_text("utf-8")
    return {name: frozenset(value.casefold() for value in values) for name, values in yaml.safe_load(text).items()}


def has_up(category: Category, label: bool | None = None) -> bool:
    """Whether a picture of ``category`` has an up; ``label`` is what the picture's own label says."""
    if label is not None:
        return label
    rules = _load_orientation_rules()
    return (
        category.modality.casefold() in rules["has_up"] and category.anatomy.casefold() not in rules["loose_anatomies"]
    )


def is_lateralised(pictures: Sequence[Picture]) -> bool:
    """Whether mirroring one of ``pictures``, all of one category, is a laterality error.

    It is where the anatomy is lateralised and the view shows both sides, and where all pictures are labelled with the
    same side (a mirrored left knee among left knees looks like a right one).
    """
    rules, category = _load_orientation_rules(), pictures[0].category
    if category.modality.casefold() in rules["no_fixed_left"]:
        return False
    sides = {picture.laterality.strip().casefold() for picture in pictures}
    if len(sides) == 1 and sides <= {"left", "right"}:
        return True
    return (
        category.anatomy.casefold() in rules["lateralised_anatomies"]
        and category.view.casefold() in rules["two_sided_views"]
    )


def wrong_orientations(picture: Picture, image: Image, inliers: Sequence[Picture]) -> list[str]:
    """The transforms that make ``picture``, which shows ``image``, visibly wrong among ``inliers``."""
    if not has_up(picture.category, picture.up):
        return []
    allowed = [*([MIRROR] if is_lateralised([picture, *inliers]) else []), *TURNS]
    if abs(image.width / image.height - 1) > SQUARE_WITHIN:
        allowed = [name for name in allowed if name not in ("rotate_90", "rotate_270")]
    limits = {MIRROR: MIRRORED_SEEN_BELOW}
    return [
        name for name in allowed if image_likeness(image, apply_orientation(image, name)) < limits.get(name, SEEN_BELOW)
    ]


def apply_orientation(image: Image, transform: str) -> Image:
    """The picture flipped or turned; no pixel is interpolated."""
    from PIL import Image as Images

    return image.transpose(Images.Transpose[ORIENTATIONS[transform][0]])


def image_likeness(first: Image, second: Image) -> float:
    """Correlation of two pictures' grey levels at 48 by 48 pixels, from -1 to 1; 1 where either is flat."""
    a, b = (np.asarray(image.convert("L").resize((48, 48)), dtype=np.float64).ravel() for image in (first, second))
    if a.std() < 1e-9 or b.std() < 1e-9:
        return 1.0
    return float(np.corrcoef(a, b)[0, 1])


CORRUPTIONS = ("shifted_blocks", "dropped_band", "garbage")
VIOLATIONS = ("texture", *CORRUPTIONS)


@dataclass(frozen=True)
class IntegrityViolation:
    """What is done: ``name`` of :data:`VIOLATIONS`, the place ``at`` (row, column) and ``extent`` (rows, columns) in
    fractions of the picture, and ``seed`` for what else is drawn."""

    name: str
    _: KW_ONLY
    at: tuple[float, float]
    extent: tuple[float, float]
    seed: int


def sample_violation(name: str, rng: np.random.Generator) -> IntegrityViolation:
    """Parameters of violation ``name``: in the picture's middle, and large enough to be seen at a glance."""
    if name not in VIOLATIONS:
        raise unknown_name_error("integrity violation", name, VIOLATIONS)
    extent = (float(rng.uniform(0.22, 0.32)), 1.0)
    if name == "texture":
        extent = (float(rng.uniform(0.36, 0.46)), float(rng.uniform(0.36, 0.46)))
    if name == "shifted_blocks":
        extent = (0.75, 0.75)
    at = tuple(float(np.clip(rng.uniform(0.36, 0.64), side / 2, 1 - side / 2)) for side in extent)
    return IntegrityViolation(name, at=(at[0], at[1]), extent=extent, seed=int(rng.integers(2**32)))


def apply_violation(image: Image, violation: IntegrityViolation, texture: Image | None = None) -> Image:
    """``image`` (RGB) with the violation; ``texture`` is the picture whose texture "texture" takes."""
    from PIL import Image as Images

    pixels = np.asarray(image, dtype=np.float64)
    changed = pixels.copy()
    rows, columns = _violated_region(pixels.shape[:2], violation)
    rng = np.random.Generator(np.random.PCG64(violation.seed))
    if violation.name == "texture":
        if texture is None:
            raise ValueError("The violation 'texture' needs an image to take the texture from.")
        changed = _fill_with_texture(pixels, np.asarray(texture, dtype=np.float64), rows, columns)
    elif violation.name == "shifted_blocks":
        changed = _shuffle_blocks(pixels, rows, columns, rng)
    elif violation.name == "dropped_band":
        changed[rows] = pixels[rows.start]
    else:
        slope = float(rng.uniform(1.5, 3.0)) * (1 if rng.random() < 0.5 else -1)
        for step, row in enumerate(range(rows.start, rows.stop), start=1):
            changed[row] = np.roll(pixels[row], round(slope * step * pixels.shape[1] / 100), axis=0)
    return Images.fromarray(np.clip(np.rint(changed), 0, 255).astype(np.uint8))


def _violated_region(shape: tuple[int, ...], violation: IntegrityViolation) -> tuple[slice, slice]:
    spans = []
    for length, at, extent in zip(shape, violation.at, violation.extent, strict=True):
        size = max(2, round(length * extent))
        start = min(max(0, round(length * at - size / 2)), max(0, length - size))
        spans.append(slice(start, start + size))
    return spans[0], spans[1]


def _fill_with_texture(
    pixels: NDArray[np.float64], texture: NDArray[np.float64], rows: slice, columns: slice
) -> NDArray[np.float64]:
    from PIL import Image as Images

    height, width = rows.stop - rows.start, columns.stop - columns.start
    # The donor's middle, which shows tissue; its large-scale shading stays behind, only texture comes over.
    top, left = texture.shape[0] // 4, texture.shape[1] // 4
    middle = texture[top : texture.shape[0] - top, left : texture.shape[1] - left].mean(axis=2)
    patch = Images.fromarray(middle.astype(np.float32)).resize((width, height), Images.Resampling.BICUBIC)
    grain = np.asarray(patch, dtype=np.float64)
    grain = (grain - grain.mean()) / max(grain.std(), 1.0)
    region = pixels[rows, columns]
    mean, spread = region.mean(axis=(0, 1)), max(float(region.mean(axis=2).std()), 30.0)
    y, x = np.mgrid[-1 : 1 : height * 1j, -1 : 1 : width * 1j]  # type: ignore[misc]
    weight = np.clip((1.0 - np.hypot(x, y)) / 0.15, 0.0, 1.0)[..., None]
    changed = pixels.copy()
    changed[rows, columns] = region + weight * (mean + spread * grain[..., None] - region)
    return changed


def _shuffle_blocks(
    pixels: NDArray[np.float64], rows: slice, columns: slice, rng: np.random.Generator, side: int = 3
) -> NDArray[np.float64]:
    """``side`` by ``side`` blocks of the region, none where it was."""
    height, width = (rows.stop - rows.start) // side, (columns.stop - columns.start) // side
    places = [(rows.start + r * height, columns.start + c * width) for r in range(side) for c in range(side)]
    order = rng.permutation(len(places))
    # A rotation of a random order leaves no block in its place.
    changed = pixels.copy()
    for source, target in zip(order, np.roll(order, 1), strict=True):
        (top, left), (to_top, to_left) = places[source], places[target]
        changed[to_top : to_top + height, to_left : to_left + width] = pixels[top : top + height, left : left + width]
    return changed
