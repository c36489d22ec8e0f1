"""One mean brightness, standard deviation and file size for all panels of a grid.

The mean and deviation are the middle ones of the inliers: the outlier takes their tone. The file size (of the luminance
as a PNG) lies halfway between the inliers' middle one and the outlier's: smaller panels get white noise, larger ones
are smoothed, as little as it takes, and no more than :data:`MOST_NOISE` and :data:`MOST_BLUR`. What a picture shows is
left alone, so its entropy (how grey levels are spread: much air, little air) and its colours stay what they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.grids import features

if TYPE_CHECKING:
    from PIL.Image import Image

MOST_NOISE = 12.0
"""Standard deviation of the noise, in levels, that a panel gets at most."""

MOST_BLUR = 1.2
"""Standard deviation of the Gaussian, in pixels, that a panel is smoothed with at most."""

CLOSE = 0.002
"""Relative difference of file sizes that is good enough."""

STEPS = 9
BINS = 256
GAINS = (0.05, 20.0)


def level(images: Sequence[Image], outlier: int | None, rng: np.random.Generator) -> list[Image]:
    """The RGB pictures, all of one size, with the same mean, standard deviation and file size."""
    arrays = [_pixels(image) for image in images]
    moments = [(luminance(array).mean(), luminance(array).std()) for array in arrays]
    inliers = [index for index in range(len(images)) if index != outlier]
    mean, spread = (float(np.median([moments[index][k] for index in inliers])) for k in (0, 1))
    toned = [matched(array, mean, spread) for array in arrays]
    sizes = np.log([features.file_size(image) for image in toned])
    target = float(np.median(sizes[inliers]))
    if outlier is not None:
        target = (target + float(sizes[outlier])) / 2
    levelled = []
    for image, array, size in zip(toned, arrays, sizes, strict=True):
        noise = rng.standard_normal(array.shape[:2])
        if abs(size - target) >= CLOSE:
            image = _to_size(array, image, float(size) - target, target, noise, mean, spread)
        levelled.append(image.convert("RGB"))
    return levelled


def _pixels(image: Image) -> NDArray[np.float64]:
    """(h, w) where the channels are alike, else (h, w, 3)."""
    pixels = np.asarray(image, dtype=np.float64)
    alike = np.array_equal(pixels[..., 0], pixels[..., 1]) and np.array_equal(pixels[..., 0], pixels[..., 2])
    return pixels[..., 0] if alike else pixels


def _to_size(
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
    unit = noise * (max(float(luminance(array).std()), 1e-6) / max(spread, 1e-6))
    added = unit if array.ndim == 2 else unit[..., None]

    def changed(amount: float) -> Image:
        if excess < 0:
            return matched(array + amount * added, mean, spread)
        sigmas = (amount, amount, 0.0)[: array.ndim]
        return matched(gaussian_filter(array, sigmas), mean, spread)

    return _search(changed, toned, MOST_NOISE if excess < 0 else MOST_BLUR, excess, target)


def _search(changed: Callable[[float], Image], start: Image, most: float, excess: float, target: float) -> Image:
    """The picture whose log file size is nearest to ``target`` among those met between amounts 0 and ``most``.

    Regula falsi (Illinois) once the target is bracketed, from a quarter of ``most`` upwards before.
    """
    best, nearest = start, abs(excess)
    low, high = (0.0, excess), (most, np.nan)
    amount = most / 4
    for _ in range(STEPS):
        image = changed(amount)
        miss = float(np.log(features.file_size(image))) - target
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


def luminance(pixels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Grey levels of (h, w, 3) pixels, weighted as ITU-R BT.601 does; (h, w) pixels are grey levels."""
    weighted: NDArray[np.float64] = pixels if pixels.ndim == 2 else pixels @ np.array([0.299, 0.587, 0.114])
    return weighted


def matched(pixels: NDArray[np.float64], mean: float, spread: float) -> Image:
    """(h, w) or (h, w, 3) pixels with gain and offset on their luminance such that, clipped to 0..255, it has the mean
    and standard deviation asked for, within half a level where clipping allows it; a flat picture stays flat.

    A pixel keeps its colour difference from grey, less only as far as a channel would leave 0..255.
    """
    from PIL import Image as Images

    grey = luminance(pixels)
    counts, edges = np.histogram(grey, bins=BINS, range=(float(grey.min()), max(float(grey.max()), grey.min() + 1)))
    levels, share = (edges[:-1] + edges[1:]) / 2, counts / counts.sum()
    goal_mean, goal_spread = mean, spread
    best, nearest = grey, np.inf
    for _ in range(4):
        gain, offset = _solved(levels, share, goal_mean, goal_spread)
        result = _clipped(gain * grey + offset)
        miss = mean - float(result.mean()), spread - float(result.std())
        if abs(miss[0]) + abs(miss[1]) < nearest:
            best, nearest = result, abs(miss[0]) + abs(miss[1])
        if nearest < 0.1:
            break
        # What the histogram foretold is corrected by what came out.
        goal_mean, goal_spread = goal_mean + miss[0], max(goal_spread + miss[1], 0.0)
    if pixels.ndim == 3:
        best = _coloured(best, pixels - grey[..., None])
    return Images.fromarray(np.rint(best).astype(np.uint8))


def _coloured(grey: NDArray[np.float64], difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """``grey`` with the colour ``difference`` added, in every pixel as much of it as fits into 0..255."""
    room = np.where(difference > 0, 255.0 - grey[..., None], grey[..., None])
    size = np.abs(difference)
    fits = np.divide(room, size, out=np.ones_like(room), where=size > room).min(axis=2, keepdims=True)
    return _clipped(grey[..., None] + fits * difference)


def _clipped(values: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.minimum(np.maximum(values, 0.0), 255.0)


def _solved(levels: NDArray[np.float64], share: NDArray[np.float64], mean: float, spread: float) -> tuple[float, float]:
    """Gain and offset for which the clipped levels, weighted by ``share``, have the mean and spread."""
    low, high = (float(np.log(gain)) for gain in GAINS)
    gain, offset = 1.0, 0.0
    for _ in range(16):
        gain = float(np.exp((low + high) / 2))
        offset = _offset(gain * levels, share, mean)
        values = _clipped(gain * levels + offset)
        if float(share @ (values - float(share @ values)) ** 2) < spread * spread:
            low = float(np.log(gain))
        else:
            high = float(np.log(gain))
    return gain, offset


def _offset(levels: NDArray[np.float64], share: NDArray[np.float64], mean: float) -> float:
    low, high = -float(levels.max()), 255.0 - float(levels.min())
    for _ in range(14):
        middle = (low + high) / 2
        if float(share @ _clipped(levels + middle)) < mean:
            low = middle
        else:
            high = middle
    return (low + high) / 2
