"""Low resolution: sampled on a coarse grid and enlarged again (paper, 0.A.4, "Resolution & Blur")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.degradations.levels import grey_levels, lower_near_misses


@dataclass(frozen=True)
class ResolutionParameters(Parameters):
    """``rows``, ``columns``: of the coarse grid, at least 1 each."""

    rows: int
    columns: int


def sample_resolution(_: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> ResolutionParameters:
    """The grid that ``scipy.ndimage.zoom(image, 1 / factor)`` has: each side divided by the factor and rounded."""
    rows, columns = (max(1, round(side / settings["factor"])) for side in shape)
    return ResolutionParameters(rows=rows, columns=columns)


def reduce_resolution(image: FloatImage, parameters: ResolutionParameters) -> FloatImage:
    """Bilinear samples on a corner-aligned grid, without anti-aliasing, then the nearest sample for every pixel.

    What ``scipy.ndimage.zoom`` does with order 1 and then order 0, which gives the authors' image to the last pixel. At
    one size in fifty (128 to 91, say) its default border makes the last row and column black by a rounding error; ours
    continues the border there.
    """
    height, width = image.shape[:2]
    rows, columns = _nearest(parameters.rows, height), _nearest(parameters.columns, width)
    if image.ndim == 2:
        return _coarse(image, parameters)[:, columns][rows]
    channels = [_coarse(image[..., channel], parameters) for channel in range(image.shape[2])]
    return np.stack(channels, axis=2)[:, columns][rows]


def _coarse(plane: FloatImage, parameters: ResolutionParameters) -> FloatImage:
    from scipy import ndimage

    levels, exact = grey_levels(plane)
    factors = (parameters.rows / plane.shape[0], parameters.columns / plane.shape[1])
    coarse = ndimage.zoom(levels, factors, order=1, mode="nearest")
    if exact:
        lower_near_misses(coarse, at=0.5)
    coarse /= 255
    return coarse.astype(np.float32)


def _nearest(count: int, side: int) -> NDArray[np.intp]:
    """For each of ``side`` pixels, the nearest of ``count`` corner-aligned samples; halves go up, as in SciPy."""
    if side == 1:
        return np.zeros(1, np.intp)
    return np.floor(np.arange(side) * ((count - 1) / (side - 1)) + 0.5).astype(np.intp)


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation(
        "low_resolution",
        sample_resolution,
        reduce_resolution,
        rounding="nearest",
        keep_annotations_on=("X-ray", "MRI", "Ultrasound"),
        record=ResolutionParameters,
    ),
)
