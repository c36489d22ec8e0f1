"""From source pictures to the panels of one grid, and to the grid as one picture.

All panels get the same treatment, so that none gives the outlier away.

With ``match``, the panels of a grid are cropped to one shape, brought to one resolution (a little below the smallest
source's, so that every panel is resampled), given one JPEG quality where the sources' differ, and one mean brightness,
standard deviation and file size (:func:`level_panels`). Both grids of an item have the same resolution and quality.
Without, each is only fitted into the square.

The mean and deviation are the middle ones of the inliers: the outlier takes their tone. The file size (of the luminance
as a PNG) lies halfway between the inliers' middle one and the outlier's: smaller panels get white noise, larger ones
are smoothed, as little as it takes, and no more than :data:`MOST_NOISE` and :data:`MOST_BLUR`. What a picture shows is
left alone, so its entropy (how grey levels are spread: much air, little air) and its colours stay what they were.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.grids import leaks
from lmms_medtasks.grids.pool import SourceFacts

if TYPE_CHECKING:
    from PIL.Image import Image

MARGIN = 0.96
"""The common resolution, as a part of the smallest source's."""

SMALLEST = 8
"""Pixels that a side keeps, however small the sources are."""


class PanelContent(NamedTuple):
    """What a panel is to show, not larger than the panel, and the facts about its source."""

    image: Image
    facts: SourceFacts


class FinishedPanel(NamedTuple):
    """A finished square panel, with the size in pixels and the JPEG quality that its content went through."""

    image: Image
    width: int
    height: int
    quality: int
    letterboxed: bool


def shrink_to_panel(image: Image, panel: int) -> Image:
    """The picture, made smaller if a side is longer than ``panel``; nothing is enlarged."""
    from PIL import Image as Images

    scale = panel / max(image.size)
    if scale >= 1:
        return image
    size = tuple(max(1, round(side * scale)) for side in image.size)
    return image.resize((size[0], size[1]), Images.Resampling.LANCZOS, reducing_gap=3.0)


def finish_panels(
    contents: Sequence[PanelContent],
    outlier: int | None,
    panel: int,
    match: bool,
    rng: np.random.Generator,
    beside: Sequence[PanelContent] = (),
) -> list[FinishedPanel]:
    """The panels of a grid in order; ``outlier`` is the index of the one that the others set the tone for.

    ``rng`` draws the noise of :func:`level_panels`. ``beside`` is the content of the item's other grid, whose
    resolution and JPEG quality count as well: else they tell which of the two has the outlier.
    """
    if not match:
        return [
            _letterbox_image(_fit_image(image, panel), panel, image.size, facts.quality) for image, facts in contents
        ]
    images = _same_shape([content.image for content in contents], [content.image for content in beside])
    qualities = {content.facts.quality for content in (*contents, *beside)}
    quality = min(qualities)
    if len(qualities) > 1:
        images = [_encode_jpeg(image, quality) for image in images]
    size = images[0].size
    levelled = level_panels([_fit_image(image, panel) for image in images], outlier, rng)
    return [_letterbox_image(image, panel, size, quality) for image in levelled]


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


def _encode_jpeg(image: Image, quality: int) -> Image:
    from PIL import Image as Images

    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=quality)
    return Images.open(buffer).convert("RGB")


def _fit_image(image: Image, panel: int) -> Image:
    """Enlarged or reduced until the longer side has ``panel`` pixels."""
    from PIL import Image as Images

    scale = panel / max(image.size)
    size = (max(1, round(image.width * scale)), max(1, round(image.height * scale)))
    return image if size == image.size else image.resize(size, Images.Resampling.BICUBIC)


def _letterbox_image(image: Image, panel: int, size: tuple[int, int], quality: int) -> FinishedPanel:
    from PIL import Image as Images

    square = Images.new("RGB", (panel, panel))
    square.paste(image, ((panel - image.width) // 2, (panel - image.height) // 2))
    return FinishedPanel(square, *size, quality, min(image.size) < panel)


MOST_NOISE = 12.0
"""Standard deviation of the noise, in levels, that a panel gets at most."""

MOST_BLUR = 1.2
"""Standard deviation of the Gaussian, in pixels, that a panel is smoothed with at most."""

CLOSE = 0.002
"""Relative difference of file sizes that is good enough."""

STEPS = 9
BINS = 256
GAINS = (0.05, 20.0)


def level_panels(images: Sequence[Image], outlier: int | None, rng: np.random.Generator) -> list[Image]:
    """The RGB pictures, all of one size, with the same mean, standard deviation and file size."""
    arrays = [_pixel_values(image) for image in images]
    moments = [(measure_luminance(array).mean(), measure_luminance(array).std()) for array in arrays]
    inliers = [index for index in range(len(images)) if index != outlier]
    mean, spread = (float(np.median([moments[index][k] for index in inliers])) for k in (0, 1))
    toned = [match_tone(array, mean, spread) for array in arrays]
    sizes = np.log([leaks.file_size(image) for image in toned])
    target = float(np.median(sizes[inliers]))
    if outlier is not None:
        target = (target + float(sizes[outlier])) / 2
    levelled = []
    for image, array, size in zip(toned, arrays, sizes, strict=True):
        noise = rng.standard_normal(array.shape[:2])
        if abs(size - target) >= CLOSE:
            image = _bring_to_size(array, image, float(size) - target, target, noise, mean, spread)
        levelled.append(image.convert("RGB"))
    return levelled


def _pixel_values(image: Image) -> NDArray[np.float64]:
    """(h, w) where the channels are alike, else (h, w, 3)."""
    pixels = np.asarray(image, dtype=np.float64)
    alike = np.array_equal(pixels[..., 0], pixels[..., 1]) and np.array_equal(pixels[..., 0], pixels[..., 2])
    return pixels[..., 0] if alike else pixels


def _bring_to_size(
    array: NDArray[np.float64],
    toned: Image,
    excess: float,
    target: float,
    noise: NDArray[np.float64],
    mean: float,
    spread: float,
) -> Image:
    """``array`` with the tone asked for, and with the noise (or smoothing) that brings its log file size to target.

    ``toned`` is what it is without either, ``excess`` how far its log file size is above the target.
    """
    from scipy.ndimage import gaussian_filter

    # The tone is changed after noise is added: in levels of the finished panel it is asked for, so it is scaled back.
    unit = noise * (max(float(measure_luminance(array).std()), 1e-6) / max(spread, 1e-6))
    added = unit if array.ndim == 2 else unit[..., None]

    def change_by(amount: float) -> Image:
        if excess < 0:
            return match_tone(array + amount * added, mean, spread)
        sigmas = (amount, amount, 0.0)[: array.ndim]
        return match_tone(gaussian_filter(array, sigmas), mean, spread)

    return _search_amount(change_by, toned, MOST_NOISE if excess < 0 else MOST_BLUR, excess, target)


def _search_amount(
    change_by: Callable[[float], Image], start: Image, most: float, excess: float, target: float
) -> Image:
    """The picture whose log file size is nearest to ``target`` among those met between amounts 0 and ``most``.

    Regula falsi (Illinois) once the target is bracketed, from a quarter of ``most`` upwards before.
    """
    best, nearest = start, abs(excess)
    low, high = (0.0, excess), (most, np.nan)
    amount = most / 4
    for _ in range(STEPS):
        image = change_by(amount)
        miss = float(np.log(leaks.file_size(image))) - target
        if abs(miss) < nearest:
            best, nearest = image, abs(miss)
        if nearest < CLOSE or amount == most and miss * excess > 0:
            break
        if miss * excess > 0:  # not enough yet
            low = (amount, miss)
            high = (high[0], high[1] / 2)
        else:
            low, high = (low[0], low[1] / 2), (amount, miss)
        if np.isnan(high[1]):
            amount = min(most, 2 * amount)
        else:
            amount = float(np.clip(high[0] - high[1] * (high[0] - low[0]) / (high[1] - low[1]), low[0], high[0]))
    return best


def measure_luminance(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Grey levels of (h, w, 3) pixels, weighted as ITU-R BT.601 does; (h, w) pixels are grey levels."""
    weighted: NDArray[np.float64] = pixels if pixels.ndim == 2 else pixels @ np.array([0.299, 0.587, 0.114])
    return weighted


def match_tone(pixels: NDArray[np.float64], mean: float, spread: float) -> Image:
    """(h, w) or (h, w, 3) pixels with gain and offset on their luminance such that, clipped to 0..255, it has the mean
    and standard deviation asked for, within half a level where clipping allows it; a flat picture stays flat.

    A pixel keeps its colour difference from grey, less only as far as a channel would leave 0..255.
    """
    from PIL import Image as Images

    grey = measure_luminance(pixels)
    counts, edges = np.histogram(grey, bins=BINS, range=(float(grey.min()), max(float(grey.max()), grey.min() + 1)))
    levels, share = (edges[:-1] + edges[1:]) / 2, counts / counts.sum()
    goal_mean, goal_spread = mean, spread
    best, nearest = grey, np.inf
    for _ in range(4):
        gain, offset = _solve_gain(levels, share, goal_mean, goal_spread)
        result = _clip_levels(gain * grey + offset)
        miss = mean - float(result.mean()), spread - float(result.std())
        if abs(miss[0]) + abs(miss[1]) < nearest:
            best, nearest = result, abs(miss[0]) + abs(miss[1])
        if nearest < 0.1:
            break
        # What the histogram foretold is corrected by what came out.
        goal_mean, goal_spread = goal_mean + miss[0], max(goal_spread + miss[1], 0.0)
    if pixels.ndim == 3:
        best = _add_colour(best, pixels - grey[..., None])
    return Images.fromarray(np.rint(best).astype(np.uint8))


def _add_colour(grey: NDArray[np.float64], difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """``grey`` with the colour ``difference`` added, in every pixel as much of it as fits into 0..255."""
    room = np.where(difference > 0, 255.0 - grey[..., None], grey[..., None])
    size = np.abs(difference)
    fits = np.divide(room, size, out=np.ones_like(room), where=size > room).min(axis=2, keepdims=True)
    return _clip_levels(grey[..., None] + fits * difference)


def _clip_levels(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(np.maximum(values, 0.0), 255.0)


def _solve_gain(
    levels: NDArray[np.float64], share: NDArray[np.float64], mean: float, spread: float
) -> tuple[float, float]:
    """Gain and offset for which the clipped levels, weighted by ``share``, have the mean and spread."""
    low, high = (float(np.log(gain)) for gain in GAINS)
    gain, offset = 1.0, 0.0
    for _ in range(16):
        gain = float(np.exp((low + high) / 2))
        offset = _solve_offset(gain * levels, share, mean)
        values = _clip_levels(gain * levels + offset)
        if float(share @ (values - float(share @ values)) ** 2) < spread * spread:
            low = float(np.log(gain))
        else:
            high = float(np.log(gain))
    return gain, offset


def _solve_offset(levels: NDArray[np.float64], share: NDArray[np.float64], mean: float) -> float:
    low, high = -float(levels.max()), 255.0 - float(levels.min())
    for _ in range(14):
        middle = (low + high) / 2
        if float(share @ _clip_levels(levels + middle)) < mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2


GUTTER = 8
"""Pixels between panels and around them."""

GUTTER_COLOUR = (255, 255, 255)
BOX_COLOUR = (255, 0, 0)
BOX_WIDTH = 5
"""The red box lies in the gutter: it covers no pixel of a panel."""


def panel_box(size: GridSize, index: int, panel: int) -> tuple[int, int, int, int]:
    """Left, top, right, bottom (exclusive) in pixels of panel ``index`` (reading order, from 0)."""
    row, column = divmod(index, size.side)
    left, top = GUTTER + column * (panel + GUTTER), GUTTER + row * (panel + GUTTER)
    return left, top, left + panel, top + panel


def compose_grid(panels: Sequence[Image], size: GridSize) -> Image:
    """One RGB picture of square panels of the same side, in reading order, with gutters."""
    from PIL import Image as Images

    panel = panels[0].width
    whole = GUTTER + size.side * (panel + GUTTER)
    grid = Images.new("RGB", (whole, whole), GUTTER_COLOUR)
    for index, picture in enumerate(panels):
        grid.paste(picture.convert("RGB"), panel_box(size, index, panel)[:2])
    return grid


def draw_box(grid: Image, size: GridSize, index: int, panel: int) -> Image:
    """A copy of ``grid`` with a red box around panel ``index``."""
    from PIL import ImageDraw

    marked = grid.copy()
    left, top, right, bottom = panel_box(size, index, panel)
    corners = (left - BOX_WIDTH, top - BOX_WIDTH, right - 1 + BOX_WIDTH, bottom - 1 + BOX_WIDTH)
    ImageDraw.Draw(marked).rectangle(corners, outline=BOX_COLOUR, width=BOX_WIDTH)
    return marked
