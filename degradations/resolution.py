"""Low resolution: sampled on a coarse grid and enlarged again (paper, 0.A.4, "Resolution & Blur")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape


@dataclass(frozen=True)
class ResolutionParameters(Parameters):
    """``factor``: pixels from sample to sample of the coarse grid, at least 1.

    ``unlimited_factor``: what the level asked for; larger than ``factor`` where the image is too small for it.
    """

    factor: float
    unlimited_factor: float


def sample_resolution(_: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> ResolutionParameters:
    """The level's factor, less where the shorter side would keep fewer than ``least_samples`` samples.

    That limit never takes a factor below ``least_factor``, so that a small image is degraded too.
    """
    asked = float(settings["factor"])
    most = max(float(settings["least_factor"]), min(shape) / float(settings["least_samples"]))
    return ResolutionParameters(factor=min(asked, most), unlimited_factor=asked)


def reduce_resolution(image: FloatImage, parameters: ResolutionParameters) -> FloatImage:
    """Bilinear samples on a corner-aligned grid, without anti-aliasing, then the nearest sample for every pixel.

    What ``scipy.ndimage.zoom`` by 1 / factor with order 1 and then by factor with order 0 does. Both round the number
    of pixels, so the enlarged image may be a pixel or two longer or shorter than the first; it is cut, or its last
    pixel is repeated. The authors' images show both: the second half of a picture is then moved by a pixel.
    """
    height, width = image.shape[:2]
    rows, columns = (_coarse_side(side, parameters.factor) for side in (height, width))
    coarse = _sampled(_sampled(image, rows, axis=0), columns, axis=1)
    return coarse[:, _enlarged(width, columns, parameters.factor)][_enlarged(height, rows, parameters.factor)]


def _coarse_side(side: int, factor: float) -> int:
    return max(1, round(side / factor))


def _sampled(image: FloatImage, count: int, axis: int) -> FloatImage:
    """``count`` equidistant positions along ``axis`` from its first to its last pixel, interpolated linearly."""
    side = image.shape[axis]
    position = np.linspace(0.0, side - 1.0, count)
    before = np.minimum(position.astype(np.intp), max(side - 2, 0))
    weight = (position - before).astype(np.float32)
    weight = weight.reshape([-1 if along == axis else 1 for along in range(image.ndim)])
    low = image.take(before, axis=axis)
    return low + weight * (image.take(np.minimum(before + 1, side - 1), axis=axis) - low)


def _enlarged(side: int, count: int, factor: float) -> NDArray[np.intp]:
    """For each of ``side`` pixels, the nearest of ``count`` samples, corner-aligned over ``count * factor`` pixels."""
    last = max(1, round(count * factor) - 1)
    nearest = np.floor(np.arange(side) * ((count - 1) / last) + 0.5).astype(np.intp)
    return np.minimum(nearest, count - 1)


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation(
        "low_resolution",
        sample_resolution,
        reduce_resolution,
        rounding="nearest",
        keep_annotations_on=("CT", "MRI", "X-ray", "Ultrasound"),
        record=ResolutionParameters,
    ),
)
