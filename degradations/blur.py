"""Blur and low resolution (paper, 0.A.4, "Resolution & Blur")."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import SHARE, Degradation, FloatImage, Parameters, Shape, map_planes, scale_length
from lmms_medtasks.degradations.threads import run_in_threads, split_tiles, thread_count
from lmms_medtasks.errors import unknown_name_error

_SUPPORT_SIGMAS = 4.0  # SciPy's default, which the authors' images have


@dataclass(frozen=True)
class GaussianBlurParameters(Parameters):
    """``sigma``: native pixels."""

    sigma: float


@dataclass(frozen=True)
class MotionBlurParameters(Parameters):
    """``kernel``: "rotated_row" or "line"; ``length``: pixels; ``angle``: degrees, counter-clockwise."""

    kernel: str
    length: int
    angle: float


def sample_gaussian_blur(_: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> GaussianBlurParameters:
    """Nothing is drawn: one value a level, less on small images."""
    return GaussianBlurParameters(sigma=float(settings["sigma"]) * scale_length(settings, shape))


def gaussian_blur(image: FloatImage, parameters: GaussianBlurParameters) -> FloatImage:
    """``scipy.ndimage.gaussian_filter`` with its defaults (border reflected, kernel cut at 4 sigma), but faster.

    With a reflected border a symmetric kernel is diagonal in the cosine basis (DCT-II), so the filter is two transforms
    and one product, whatever sigma is. In float32: equal to the direct sum to about 1e-6 of full scale.
    """
    from scipy import fft

    # Channels first: transforms of planes that lie together are much faster than of interleaved ones.
    planes = (image if image.ndim == 2 else np.moveaxis(image, 2, 0)).copy()
    rows = _cosine_response(parameters.sigma, image.shape[0]).astype(np.float32)
    columns = _cosine_response(parameters.sigma, image.shape[1]).astype(np.float32)
    workers = thread_count()
    spectrum = fft.dctn(planes, axes=(-2, -1), overwrite_x=True, workers=workers)
    spectrum *= rows[:, None]
    spectrum *= columns
    blurred = fft.idctn(spectrum, axes=(-2, -1), overwrite_x=True, workers=workers)
    return blurred if image.ndim == 2 else np.ascontiguousarray(np.moveaxis(blurred, 0, 2))


def _cosine_response(sigma: float, side: int) -> NDArray[np.float64]:
    """What the cut and normalised kernel does to each of ``side`` cosines."""
    radius = int(_SUPPORT_SIGMAS * sigma + 0.5)
    weights = np.exp(-0.5 * (np.arange(radius + 1) / sigma) ** 2)
    weights[1:] *= 2.0
    weights /= weights.sum()
    frequency = np.arange(side) * (np.pi / side)
    return weights @ np.cos(np.arange(radius + 1)[:, None] * frequency)


def sample_motion_blur(_: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> MotionBlurParameters:
    """Nothing is drawn: one kernel a level, another one on X-ray, shorter (at least 3 pixels) on small images.

    As a share of a small image, a length below 3 pixels is 1, which blurs nothing.
    """
    length = round(float(settings["length"]) * scale_length(settings, shape))
    length = length if length >= 3 else 1 if settings.get("lengths") == SHARE else 3
    return MotionBlurParameters(kernel=str(settings["kernel"]), length=length, angle=float(settings["angle"]))


def motion_blur(image: FloatImage, parameters: MotionBlurParameters) -> FloatImage:
    """The image convolved with a short line, border reflected, as ``scipy.ndimage.convolve`` does."""
    kernel = _KERNELS.get(parameters.kernel)
    if kernel is None:
        raise unknown_name_error("motion blur kernel", parameters.kernel, _KERNELS)
    if image.min() == image.max():
        return image.copy()  # truncating the sum would darken it by a level, with no blur to see
    taps = _kernel_taps(kernel(parameters.length, parameters.angle))
    return map_planes(image, lambda plane: _convolve_plane(plane, taps))


Taps = list[tuple[int, int, float]]
"""Row and column offset of a pixel that enters the sum, and its weight."""


def _convolve_plane(plane: FloatImage, taps: Taps) -> FloatImage:
    blurred = np.empty_like(plane)
    reach_y = max(abs(down) for down, _, _ in taps)
    reach_x = max(abs(right) for _, right, _ in taps)

    def fill_tile(tile: tuple[slice, slice]) -> None:
        rows, columns = (
            _reflected_indices(part.start - reach, part.stop + reach, side)
            for part, reach, side in zip(tile, (reach_y, reach_x), plane.shape, strict=True)
        )
        padded = plane[rows[:, None], columns].astype(np.float64)
        height, width = tile[0].stop - tile[0].start, tile[1].stop - tile[1].start
        total = np.zeros((height, width))
        for down, right, weight in taps:
            top, left = reach_y + down, reach_x + right
            total += weight * padded[top : top + height, left : left + width]
        blurred[tile] = total

    run_in_threads(fill_tile, split_tiles(*plane.shape))
    return blurred


def _reflected_indices(start: int, stop: int, side: int) -> NDArray[np.intp]:
    """Indices from ``start`` to ``stop`` with the border mirrored, the outermost pixel repeated (d c b a | a b c d)."""
    index = np.arange(start, stop) % (2 * side)
    return np.minimum(index, 2 * side - 1 - index)


def _kernel_taps(kernel: NDArray[np.float64]) -> Taps:
    """The offsets at which ``scipy.ndimage.convolve`` reads: the kernel is flipped."""
    flipped = kernel[::-1, ::-1]
    rows, columns = kernel.shape
    centre_y, centre_x = (rows - 1) // 2, (columns - 1) // 2
    return [(int(y) - centre_y, int(x) - centre_x, float(flipped[y, x])) for y, x in np.argwhere(flipped)]


@functools.lru_cache(maxsize=64)
def _rotated_row_kernel(length: int, angle: float) -> NDArray[np.float64]:
    """A row of ones through a square of ``length`` pixels, turned bilinearly within it, of sum 1."""
    from scipy import ndimage

    row = np.zeros((length, length))
    row[length // 2] = 1.0 / length
    kernel = ndimage.rotate(row, angle, reshape=False, order=1)
    return kernel / kernel.sum()


@functools.lru_cache(maxsize=64)
def _line_kernel(length: int, angle: float) -> NDArray[np.float64]:
    """One-pixel line: the pixels that hold the points at -length/2 .. length/2 steps from the centre, of sum 1."""
    reach = length // 2
    turn = math.radians(angle)
    kernel = np.zeros((2 * reach + 1, 2 * reach + 1))
    for step in range(-reach, reach + 1):
        row, column = math.floor(reach - step * math.sin(turn)), math.floor(reach + step * math.cos(turn))
        kernel[row, column] = 1.0
    return kernel / kernel.sum()


_KERNELS = {"rotated_row": _rotated_row_kernel, "line": _line_kernel}


@dataclass(frozen=True)
class ResolutionParameters(Parameters):
    """``factor``: pixels from sample to sample of the coarse grid, at least 1.

    ``unlimited_factor``: what the level asked for; larger than ``factor`` where the image is too small for it.
    """

    factor: float
    unlimited_factor: float


def sample_resolution(_: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> ResolutionParameters:
    """The level's factor, less where the shorter side would keep fewer than ``least_samples`` samples.

    That limit never takes a factor below ``least_factor``, so that a small image is degraded too. As a share of the
    image there is no limit: as many samples as on the authors' image, or all pixels of a smaller one.
    """
    factor = float(settings["factor"])
    if settings.get("lengths") == SHARE:
        factor = max(1.0, round(factor * scale_length(settings, shape), 6))
        return ResolutionParameters(factor=factor, unlimited_factor=factor)
    most = max(float(settings["least_factor"]), min(shape) / float(settings["least_samples"]))
    return ResolutionParameters(factor=min(factor, most), unlimited_factor=factor)


def reduce_resolution(image: FloatImage, parameters: ResolutionParameters) -> FloatImage:
    """Bilinear samples on a corner-aligned grid, without anti-aliasing, then the nearest sample for every pixel.

    What ``scipy.ndimage.zoom`` by 1 / factor with order 1 and then by factor with order 0 does. Both round the number
    of pixels, so the enlarged image may be a pixel or two longer or shorter than the first; it is cut, or its last
    pixel is repeated. The authors' images show both: the second half of a picture is then moved by a pixel.
    """
    height, width = image.shape[:2]
    rows, columns = (_coarse_side(side, parameters.factor) for side in (height, width))
    coarse = _sample_axis(_sample_axis(image, rows, axis=0), columns, axis=1)
    return coarse[:, _nearest_samples(width, columns, parameters.factor)][
        _nearest_samples(height, rows, parameters.factor)
    ]


def _coarse_side(side: int, factor: float) -> int:
    return max(1, round(side / factor))


def _sample_axis(image: FloatImage, count: int, axis: int) -> FloatImage:
    """``count`` equidistant positions along ``axis`` from its first to its last pixel, interpolated linearly."""
    side = image.shape[axis]
    position = np.linspace(0.0, side - 1.0, count)
    before = np.minimum(position.astype(np.intp), max(side - 2, 0))
    weight = (position - before).astype(np.float32)
    weight = weight.reshape([-1 if along == axis else 1 for along in range(image.ndim)])
    low = image.take(before, axis=axis)
    return low + weight * (image.take(np.minimum(before + 1, side - 1), axis=axis) - low)


def _nearest_samples(side: int, count: int, factor: float) -> NDArray[np.intp]:
    """For each of ``side`` pixels, the nearest of ``count`` samples, corner-aligned over ``count * factor`` pixels."""
    last = max(1, round(count * factor) - 1)
    nearest = np.floor(np.arange(side) * ((count - 1) / last) + 0.5).astype(np.intp)
    return np.minimum(nearest, count - 1)


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("gaussian_blur", sample_gaussian_blur, gaussian_blur, record=GaussianBlurParameters),
    Degradation("motion_blur", sample_motion_blur, motion_blur, record=MotionBlurParameters),
    Degradation(
        "low_resolution",
        sample_resolution,
        reduce_resolution,
        rounding="nearest",
        keep_annotations_on=("CT", "MRI", "X-ray", "Ultrasound"),
        record=ResolutionParameters,
    ),
)
