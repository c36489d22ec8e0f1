"""Integrity violations: what no acquisition of the modality can give, made in one place of a picture.

``texture``: a soft-edged region filled with the texture of another modality, at the region's own mean and contrast.
``shifted_blocks``: blocks exchanged with each other, as when a file's parts are put together in the wrong order.
``dropped_band``: a band of rows that holds one row again and again, as when a transfer stalled.
``garbage``: a band of rows read at a wrong width, each row moved further to the side than the one before.

``texture`` is the paper's "modality-incompatible textures" (section 1), the others its "corrupted slice"; the paper
gives no parameters, these are ours.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.errors import unknown

if TYPE_CHECKING:
    from PIL.Image import Image

CORRUPTIONS = ("shifted_blocks", "dropped_band", "garbage")
VIOLATIONS = ("texture", *CORRUPTIONS)


@dataclass(frozen=True)
class Violation:
    """What is done: ``name`` of :data:`VIOLATIONS`, the place ``at`` (row, column) and ``extent`` (rows, columns) in
    fractions of the picture, and ``seed`` for what else is drawn."""

    name: str
    at: tuple[float, float]
    extent: tuple[float, float]
    seed: int

    def to_json(self) -> dict[str, Any]:
        """The record as a plain dictionary."""
        return asdict(self)


def sample(name: str, rng: np.random.Generator) -> Violation:
    """Parameters of violation ``name``: in the picture's middle, and large enough to be seen at a glance."""
    if name not in VIOLATIONS:
        raise unknown("integrity violation", name, VIOLATIONS)
    extent = (float(rng.uniform(0.22, 0.32)), 1.0)
    if name == "texture":
        extent = (float(rng.uniform(0.36, 0.46)), float(rng.uniform(0.36, 0.46)))
    if name == "shifted_blocks":
        extent = (0.75, 0.75)
    at = tuple(float(np.clip(rng.uniform(0.36, 0.64), side / 2, 1 - side / 2)) for side in extent)
    return Violation(name, (at[0], at[1]), extent, int(rng.integers(2**32)))


def apply(image: Image, violation: Violation, texture: Image | None = None) -> Image:
    """``image`` (RGB) with the violation; ``texture`` is the picture whose texture "texture" takes."""
    from PIL import Image as Images

    pixels = np.asarray(image, dtype=np.float64)
    rows, columns = _region(pixels.shape[:2], violation)
    rng = np.random.Generator(np.random.PCG64(violation.seed))
    if violation.name == "texture":
        if texture is None:
            raise ValueError("The violation 'texture' needs an image to take the texture from.")
        changed = _textured(pixels, np.asarray(texture, dtype=np.float64), rows, columns)
    elif violation.name == "shifted_blocks":
        changed = _shuffled(pixels, rows, columns, rng)
    elif violation.name == "dropped_band":
        changed = pixels.copy()
        changed[rows] = pixels[rows.start]
    else:
        changed = pixels.copy()
        slope = float(rng.uniform(1.5, 3.0)) * (1 if rng.random() < 0.5 else -1)
        for step, row in enumerate(range(rows.start, rows.stop), start=1):
            changed[row] = np.roll(pixels[row], round(slope * step * pixels.shape[1] / 100), axis=0)
    return Images.fromarray(np.clip(np.rint(changed), 0, 255).astype(np.uint8))


def _region(shape: tuple[int, ...], violation: Violation) -> tuple[slice, slice]:
    spans = []
    for length, at, extent in zip(shape, violation.at, violation.extent, strict=True):
        size = max(2, round(length * extent))
        start = min(max(0, round(length * at - size / 2)), max(0, length - size))
        spans.append(slice(start, start + size))
    return spans[0], spans[1]


def _textured(
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


def _shuffled(
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
