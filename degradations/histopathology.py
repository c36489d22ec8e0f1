"""What lies on or under the cover slip of a tissue section: bubbles, dark spots; blood cells are in blood_cells.

Lengths are fractions of the image's shorter side, cut to whole pixels and at least one, as the authors' images show.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.degradations.blood_cells import BLOOD_CELLS
from lmms_medtasks.degradations.spread import spread
from lmms_medtasks.degradations.threads import each, strips


@dataclass(frozen=True)
class DarkSpotParameters(Parameters):
    """``row``, ``column``: the centre; ``sigma``: width, in pixels; ``peak``: how much light is lost at the centre."""

    row: int
    column: int
    sigma: int
    peak: float


@dataclass(frozen=True)
class BubbleParameters(Parameters):
    """``row``, ``column``: the centre; ``radius`` and ``sigma`` (of the blur inside): in pixels."""

    row: int
    column: int
    radius: int
    sigma: float


def sample_dark_spot(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> DarkSpotParameters:
    """A centre uniform in ``centre_range`` of height and of width; ``sigma`` and ``peak`` within their spreads.

    With the same generator, a stronger and wider spot is darker at every pixel.
    """
    row, column = _centre(rng, settings, shape)
    sigma = _pixels(spread(rng, settings, "sigma"), shape)
    return DarkSpotParameters(row=row, column=column, sigma=sigma, peak=min(1.0, spread(rng, settings, "peak")))


def darken(image: FloatImage, parameters: DarkSpotParameters) -> FloatImage:
    """``v (1 - peak exp(-r^2 / (2 sigma^2)))``, r the distance from the centre. Exact on the authors' images.

    The paper speaks of irregular regions; their images show one round spot, and so do these.
    """
    rows, columns = (
        np.exp(-0.5 * ((np.arange(length) - centre) / parameters.sigma) ** 2)
        for length, centre in zip(image.shape[:2], (parameters.row, parameters.column), strict=True)
    )
    gain = np.multiply.outer((-parameters.peak * rows).astype(np.float32), columns.astype(np.float32))
    gain += np.float32(1.0)
    return image * (gain if image.ndim == 2 else gain[..., None])


def sample_bubble(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> BubbleParameters:
    """A centre uniform in ``centre_range`` of height and of width; radius and blur within their spreads."""
    row, column = _centre(rng, settings, shape)
    radius = _pixels(spread(rng, settings, "radius"), shape)
    return BubbleParameters(row=row, column=column, radius=radius, sigma=spread(rng, settings, "sigma"))


def add_bubble(image: FloatImage, parameters: BubbleParameters) -> FloatImage:
    """``image`` blurred inside a disc (r < radius) with a hard edge, no tint, no rim. Exact on the authors' images.

    The paper speaks of semi-transparent circles; their images show the blur alone.
    """
    from scipy import ndimage

    halo = math.ceil(4.0 * parameters.sigma + 1.0)  # SciPy's kernel reaches 4 sigma: no need to blur what is farther
    sigmas = (parameters.sigma, parameters.sigma, 0.0)[: image.ndim]
    height, width = image.shape[:2]
    reach = parameters.radius - 1
    top, bottom = max(0, parameters.row - reach), min(height, parameters.row + reach + 1)
    left, right = max(0, parameters.column - reach), min(width, parameters.column + reach + 1)
    result = image.copy()

    def fill(strip: slice) -> None:
        start, end = top + strip.start, top + strip.stop
        first, leftmost = max(0, start - halo), max(0, left - halo)
        blurred = ndimage.gaussian_filter(image[first : end + halo, leftmost : right + halo], sigmas)
        blurred = blurred[start - first :, left - leftmost :][: end - start, : right - left]
        rows, columns = np.ogrid[start:end, left:right]
        inside = (rows - parameters.row) ** 2 + (columns - parameters.column) ** 2 < parameters.radius**2
        np.copyto(result[start:end, left:right], blurred, where=inside if image.ndim == 2 else inside[..., None])

    samples_per_row = (right - left) * (1 if image.ndim == 2 else image.shape[2])
    # Strips overlap by the halo on both sides: high enough that little is computed twice.
    each(fill, strips(bottom - top, samples_per_row, max(1 << 17, 6 * halo * samples_per_row)))
    return result


def _centre(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> tuple[int, int]:
    low, high = settings["centre_range"]
    row, column = (min(int(rng.uniform(low, high) * length), length - 1) for length in shape)
    return row, column


def _pixels(fraction: float, shape: Shape) -> int:
    return max(1, int(float(fraction) * min(shape)))


DEGRADATIONS: tuple[Degradation, ...] = (
    BLOOD_CELLS,
    Degradation("dark_spots_artifact", sample_dark_spot, darken, record=DarkSpotParameters),
    Degradation("bubble", sample_bubble, add_bubble, record=BubbleParameters),
)
