"""From source pictures to the panels of one grid: all get the same treatment, so that none gives the outlier away.

With ``match``, the panels of a grid are cropped to one shape, brought to one resolution (a little below the smallest
source's, so that every panel is resampled), given one JPEG quality where the sources' differ, and one mean brightness,
standard deviation and file size (:mod:`.levelling`). Both grids of an item have the same resolution and quality.
Without, each is only fitted into the square.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lmms_medtasks.grids import levelling
from lmms_medtasks.grids.pool import SourceFacts

if TYPE_CHECKING:
    from PIL.Image import Image

MARGIN = 0.96
"""The common resolution, as a part of the smallest source's."""

SMALLEST = 8
"""Pixels that a side keeps, however small the sources are."""


class Content(NamedTuple):
    """What a panel is to show, not larger than the panel, and the facts about its source."""

    image: Image
    facts: SourceFacts


class Panel(NamedTuple):
    """A finished square panel, with the size in pixels and the JPEG quality that its content went through."""

    image: Image
    width: int
    height: int
    quality: int
    letterboxed: bool


def shrunk(image: Image, panel: int) -> Image:
    """The picture, made smaller if a side is longer than ``panel``; nothing is enlarged."""
    from PIL import Image as Images

    scale = panel / max(image.size)
    if scale >= 1:
        return image
    size = tuple(max(1, round(side * scale)) for side in image.size)
    return image.resize((size[0], size[1]), Images.Resampling.LANCZOS, reducing_gap=3.0)


def finish(
    contents: Sequence[Content],
    outlier: int | None,
    panel: int,
    match: bool,
    rng: np.random.Generator,
    beside: Sequence[Content] = (),
) -> list[Panel]:
    """The panels of a grid in order; ``outlier`` is the index of the one that the others set the tone for.

    ``rng`` draws the noise of :mod:`.levelling`. ``beside`` is the content of the item's other grid, whose resolution
    and JPEG quality count as well: else they tell which of the two has the outlier.
    """
    if not match:
        return [_letterboxed(_fitted(image, panel), panel, image.size, facts.quality) for image, facts in contents]
    images = _same_shape([content.image for content in contents], [content.image for content in beside])
    qualities = {content.facts.quality for content in (*contents, *beside)}
    quality = min(qualities)
    if len(qualities) > 1:
        images = [_encoded(image, quality) for image in images]
    size = images[0].size
    levelled = levelling.level([_fitted(image, panel) for image in images], outlier, rng)
    return [_letterboxed(image, panel, size, quality) for image in levelled]


def _same_shape(images: Sequence[Image], beside: Sequence[Image]) -> list[Image]:
    """Cropped around the middle to the middle aspect ratio, and resampled to one size, as ``beside`` allows it too."""
    from PIL import Image as Images

    aspect = float(np.median([image.width / image.height for image in images]))
    boxes = []
    for image in (*images, *beside):
        width, height = min(image.width, image.height * aspect), min(image.height, image.width / aspect)
        left, top = (image.width - width) / 2, (image.height - height) / 2
        boxes.append((left, top, left + width, top + height))
    height = max(SMALLEST, round(MARGIN * min(bottom - top for _, top, _, bottom in boxes)))
    size = (max(SMALLEST, round(height * aspect)), height)
    return [image.resize(size, Images.Resampling.LANCZOS, box=box) for image, box in zip(images, boxes, strict=False)]


def _encoded(image: Image, quality: int) -> Image:
    from PIL import Image as Images

    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Images.open(buffer).convert("RGB")


def _fitted(image: Image, panel: int) -> Image:
    """Enlarged or reduced until the longer side has ``panel`` pixels."""
    from PIL import Image as Images

    scale = panel / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image if size == image.size else image.resize(size, Images.Resampling.BICUBIC)


def _letterboxed(image: Image, panel: int, size: tuple[int, int], quality: int) -> Panel:
    from PIL import Image as Images

    square = Images.new("RGB", (panel, panel))
    square.paste(image, ((panel - image.width) // 2, (panel - image.height) // 2))
    return Panel(square, *size, quality, min(image.size) < panel)
