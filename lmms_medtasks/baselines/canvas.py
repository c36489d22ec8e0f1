"""Drawing primitives for the phantoms: soft-edged masks on a square grid of unit coordinates, noise, and painting."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

Array = NDArray[np.float64]
Point = tuple[float, float]


@dataclass(frozen=True)
class CanvasGrid:
    """Pixel centres of a square picture in unit coordinates: ``x`` to the right, ``y`` down, both (n, n) in [-1, 1]."""

    x: Array
    y: Array

    @property
    def n(self) -> int:
        """Side of the picture in pixels."""
        return int(self.x.shape[0])

    @property
    def pixel(self) -> float:
        """Width of a pixel in unit coordinates."""
        return 2.0 / self.n


def make_grid(n: int) -> CanvasGrid:
    """The undistorted grid of an ``n`` by ``n`` picture."""
    axis = (np.arange(n) + 0.5) * (2.0 / n) - 1.0
    x, y = np.meshgrid(axis, axis)
    return CanvasGrid(x, y)


def smooth_noise(rng: np.random.Generator, n: int, sigma: float | Sequence[float]) -> Array:
    """(n, n) Gaussian noise of zero mean and unit standard deviation, smoothed with ``sigma`` pixels (0: white)."""
    field = rng.standard_normal((n, n))
    if np.any(np.asarray(sigma) > 0):
        field = ndimage.gaussian_filter(field, sigma, mode="wrap")
    field -= field.mean()
    return field / field.std()


def bend_grid(g: CanvasGrid, rng: np.random.Generator, amount: float, sigma: float = 24.0) -> CanvasGrid:
    """``g`` displaced by a smooth random field of standard deviation ``amount`` (unit coordinates)."""
    return CanvasGrid(g.x + amount * smooth_noise(rng, g.n, sigma), g.y + amount * smooth_noise(rng, g.n, sigma))


def _window_slices(g: CanvasGrid, low: Point, high: Point, margin: float) -> tuple[slice, slice]:
    """The rows and columns that can lie within ``margin`` of the rectangle from ``low`` to ``high``."""
    rows = (g.y.min(axis=1) <= high[1] + margin) & (g.y.max(axis=1) >= low[1] - margin)
    columns = (g.x.min(axis=0) <= high[0] + margin) & (g.x.max(axis=0) >= low[0] - margin)
    return _covering_slice(rows), _covering_slice(columns)


def _covering_slice(chosen: NDArray[np.bool_]) -> slice:
    where = np.flatnonzero(chosen)
    return slice(int(where[0]), int(where[-1]) + 1) if where.size else slice(0, 0)


def ellipse_mask(g: CanvasGrid, at: Point, radii: Point, turn: float = 0.0, soft: float = 2.0) -> Array:
    """Mask in [0, 1] of an ellipse turned by ``turn`` radians, with an edge ``soft`` pixels wide."""
    mask = np.zeros_like(g.x)
    # An edge as wide as the ellipse reaches further along the longer axis.
    reach = max(radii) * (1.0 + soft * g.pixel / min(radii))
    window = _window_slices(g, at, at, reach)
    dx, dy = g.x[window] - at[0], g.y[window] - at[1]
    c, s = np.cos(turn), np.sin(turn)
    u, v = (c * dx + s * dy) / radii[0], (c * dy - s * dx) / radii[1]
    distance = (np.sqrt(u * u + v * v) - 1.0) * min(radii)
    mask[window] = np.clip(0.5 - distance / (soft * g.pixel), 0.0, 1.0)
    return mask


def stroke_mask(g: CanvasGrid, points: Sequence[Point], radius: float, soft: float = 2.0) -> Array:
    """Mask in [0, 1] of a line through ``points`` with half-width ``radius`` and an edge ``soft`` pixels wide."""
    mask = np.zeros_like(g.x)
    xs, ys = zip(*points, strict=True)
    window = _window_slices(g, (min(xs), min(ys)), (max(xs), max(ys)), radius + soft * g.pixel)
    x, y = g.x[window], g.y[window]
    nearest = np.full(x.shape, np.inf)
    for (ax, ay), (bx, by) in zip(points[:-1], points[1:], strict=True):
        length = max((bx - ax) ** 2 + (by - ay) ** 2, 1e-12)
        t = np.clip(((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length, 0.0, 1.0)
        np.minimum(nearest, np.hypot(x - ax - t * (bx - ax), y - ay - t * (by - ay)), out=nearest)
    mask[window] = np.clip(0.5 - (nearest - radius) / (soft * g.pixel), 0.0, 1.0)
    return mask


def arc_points(centre: Point, radii: Point, start: float, stop: float, steps: int = 16) -> list[Point]:
    """Points of an elliptic arc from angle ``start`` to ``stop`` (radians, clockwise on screen, 0 to the right)."""
    angles = np.linspace(start, stop, steps)
    return [(centre[0] + radii[0] * float(np.cos(a)), centre[1] + radii[1] * float(np.sin(a))) for a in angles]


def blob_mask(g: CanvasGrid, at: Point, radius: float) -> Array:
    """A Gaussian bump of peak 1 and standard deviation ``radius``."""
    return np.exp(-((g.x - at[0]) ** 2 + (g.y - at[1]) ** 2) / (2 * radius * radius))


def unite_masks(masks: Iterable[Array]) -> Array:
    """The largest of several masks at every pixel."""
    return np.maximum.reduce(list(masks))


def paint_mask(picture: Array, mask: Array, value: float | Array | Sequence[float]) -> None:
    """Blend ``value`` (a level, a colour, or a picture) into ``picture`` where ``mask`` is, in place."""
    weight = mask if picture.ndim == mask.ndim else mask[..., None]
    picture += weight * (np.asarray(value, dtype=np.float64) - picture)


def outline_mask(mask: Array, width: int = 2) -> NDArray[np.bool_]:
    """The pixels along the border of ``mask``, ``width`` pixels wide, outside it."""
    inside = mask > 0.5
    return ndimage.binary_dilation(inside, iterations=width + 1) & ~ndimage.binary_dilation(inside, iterations=1)


def box_mask(g: CanvasGrid, at: Point, half: Point, width: int = 2) -> NDArray[np.bool_]:
    """The pixels of a rectangle's border, ``width`` pixels wide."""
    u, v = np.abs(g.x - at[0]) - half[0], np.abs(g.y - at[1]) - half[1]
    outer = np.maximum(u, v)
    return (outer <= 0) & (outer > -width * g.pixel)


def to_bytes(picture: Array, step: int = 1) -> NDArray[np.uint8]:
    """Levels rounded to multiples of ``step`` and clipped to 0..255.

    A coarser step keeps the bundled PNG files small: the lowest bits of a noisy picture cannot be compressed.
    """
    return np.clip(np.rint(picture / step) * step, 0, 255).astype(np.uint8)


def mark_pixels(
    picture: NDArray[np.uint8], where: NDArray[np.bool_], colour: tuple[int, int, int]
) -> NDArray[np.uint8]:
    """An RGB copy of ``picture`` with the pixels ``where`` drawn in ``colour``."""
    rgb = np.repeat(picture[..., None], 3, axis=2) if picture.ndim == 2 else picture.copy()
    rgb[where] = colour
    return rgb
