"""What the observer's filters see: a picture on a fixed grid, in a few planes, blurred at the scales asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

SIDE = 192
"""Every picture is resampled to SIDE by SIDE pixels; places are in unit coordinates, [-1, 1], x right and y down."""

Plane = NDArray[np.float32]
Point = tuple[float, float]

_LAPLACIAN = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]], dtype=np.float32)

# Weights of red, green and blue in each plane; levels are 0..255.
_PLANES: dict[str, tuple[float, float, float]] = {
    "grey": (0.30, 0.59, 0.11),
    "r": (1.0, 0.0, 0.0),
    "g": (0.0, 1.0, 0.0),
    "b": (0.0, 0.0, 1.0),
    "red": (1.0, -0.5, -0.5),
    "green": (-0.5, 1.0, -0.5),
    "blue": (-0.5, -0.5, 1.0),
}


class View:
    """A picture prepared for filtering; blurred planes are computed once, when first asked for."""

    def __init__(self, image: Image.Image, noise: float = 0.0, rng: np.random.Generator | None = None) -> None:
        """``noise`` adds white Gaussian noise of that standard deviation (levels) from ``rng``, for training."""
        small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        self.rgb = np.asarray(small, dtype=np.float32)
        if noise and rng is not None:
            self.rgb = np.clip(self.rgb + noise * rng.standard_normal(self.rgb.shape, dtype=np.float32), 0, 255)
        self._planes: dict[str, Plane] = {}
        self._blurred: dict[tuple[str, float], Plane] = {}

    def plane(self, name: str) -> Plane:
        """One of the planes in ``_PLANES``, (SIDE, SIDE)."""
        if name not in self._planes:
            self._planes[name] = self.rgb @ np.asarray(_PLANES[name], dtype=np.float32)
        return self._planes[name]

    def blurred(self, name: str, radius: float) -> Plane:
        """A plane smoothed by a Gaussian of standard deviation ``radius`` (unit coordinates)."""
        key = (name, round(radius, 4))
        if key not in self._blurred:
            self._blurred[key] = _smooth(self.plane(name), radius)
        return self._blurred[key]

    def mean(self, name: str, at: Point, radius: float) -> float:
        """The Gaussian-weighted mean of a plane around a place."""
        row, column = _pixel(at)
        return float(self.blurred(name, radius)[row, column])

    def blob(self, name: str, radius: float) -> Plane:
        """The response of a centre-surround filter matched to a disc of ``radius``: positive where it is brighter."""
        return self.blurred(name, 0.6 * radius) - self.blurred(name, 1.3 * radius)

    def energy(self, name: str, fine: float, wide: float) -> Plane:
        """The local standard deviation of detail finer than ``fine``, within a Gaussian of ``wide``."""
        key = (f"{name} energy {fine}", round(wide, 4))
        if key not in self._blurred:
            detail = self.plane(name) - self.blurred(name, fine)
            self._blurred[key] = np.sqrt(_smooth(detail * detail, wide))
        return self._blurred[key]

    def noise_level(self) -> float:
        """The standard deviation of pixel noise in levels, as far as it can be told from texture (Immerkaer, 1996)."""
        response = ndimage.convolve(self.plane("grey"), _LAPLACIAN, mode="nearest")
        return float(np.sqrt(np.pi / 2) / 6 * np.abs(response).mean())


def best(response: Plane, at: Point, reach: float, sign: int = 1) -> tuple[float, Point]:
    """The largest value of ``sign * response`` within ``reach`` of a place, and where it is."""
    row, column = _pixel(at)
    span = round(reach * SIDE / 2)
    top, left = max(row - span, 0), max(column - span, 0)
    window = sign * response[top : row + span + 1, left : column + span + 1]
    number = int(np.argmax(window))
    r, c = divmod(number, window.shape[1])
    return float(window[r, c]), _place(top + r, left + c)


def at_sites(response: Plane, sites: Sequence[Point], reach: float, sign: int = 1) -> NDArray[np.float64]:
    """:func:`best` at each of several places, values only."""
    return np.array([best(response, site, reach, sign)[0] for site in sites])


def ranked(response: Plane, sites: Sequence[Point], reach: float, sign: int = 1) -> NDArray[np.float64]:
    """:func:`at_sites`, largest first: how many signals there are, wherever they are."""
    return np.sort(at_sites(response, sites, reach, sign))[::-1]


def peaks(response: Plane, inside: NDArray[np.bool_], count: int, apart: float) -> NDArray[np.float64]:
    """The ``count`` largest local maxima where ``inside`` holds, ``apart`` from each other; 0 for missing ones."""
    size = 2 * round(apart * SIDE / 2) + 1
    top = ndimage.maximum_filter(response, size=size, mode="nearest")
    values = np.sort(response[(response == top) & inside])[::-1][:count]
    return np.concatenate([values, np.zeros(count - len(values))]).astype(np.float64)


def strongest(sites: Sequence[Point], score: Callable[[Point], tuple[float, Point]]) -> Point:
    """Where ``score`` (value and place for a site) is largest."""
    return max((score(site) for site in sites), key=lambda found: found[0])[1]


def centre_of(bright: Plane, start: Point, radius: float, steps: int = 4) -> Point:
    """The middle of a bright (positive) thing near ``start``: moves to the centre of gravity within ``radius``."""
    axis = (np.arange(SIDE) + 0.5) * (2.0 / SIDE) - 1.0
    x, y = start
    for _ in range(steps):
        row, column = _pixel((x, y))
        span = round(radius * SIDE / 2)
        rows, columns = slice(max(row - span, 0), row + span + 1), slice(max(column - span, 0), column + span + 1)
        away = np.hypot(axis[columns][None, :] - x, axis[rows][:, None] - y)
        weight = np.where(away < radius, np.maximum(bright[rows, columns], 0.0), 0.0) + 1e-6
        total = float(weight.sum())
        x, y = float(weight.sum(axis=0) @ axis[columns]) / total, float(weight.sum(axis=1) @ axis[rows]) / total
    return (x, y)


def marker(view: View) -> NDArray[np.float64]:
    """Where the drawn outline or box is: x, y of its middle, and its half-width and half-height (4 values)."""
    colour = np.maximum(view.blurred("red", 0.02), view.blurred("green", 0.02))
    if float(view.plane("red").mean()) > 12.0:
        # On a picture that is reddish itself only the green box stands out.
        colour = view.blurred("green", 0.02)
    colour = colour - np.median(colour)
    weight = np.where(colour > 0.5 * colour.max(), colour, 0.0)
    total = float(weight.sum()) or 1.0
    axis = (np.arange(SIDE) + 0.5) * (2.0 / SIDE) - 1.0
    across, down = weight.sum(axis=0) / total, weight.sum(axis=1) / total
    x, y = float(across @ axis), float(down @ axis)
    return np.array([x, y, np.sqrt(across @ (axis - x) ** 2), np.sqrt(down @ (axis - y) ** 2)])


def circle(radius: float, count: int = 12, at: Point = (0.0, 0.0)) -> list[Point]:
    """``count`` places on a circle."""
    angles = np.linspace(0, 2 * np.pi, count, endpoint=False)
    return [(at[0] + radius * float(np.cos(a)), at[1] + radius * float(np.sin(a))) for a in angles]


def moved(at: Point, dx: float, dy: float) -> Point:
    """A place shifted."""
    return (at[0] + dx, at[1] + dy)


def _smooth(plane: Plane, radius: float) -> Plane:
    return ndimage.gaussian_filter(plane, radius * SIDE / 2, mode="nearest", truncate=3.0)


def _pixel(at: Point) -> tuple[int, int]:
    column, row = (round((v + 1.0) * SIDE / 2 - 0.5) for v in at)
    return min(max(row, 0), SIDE - 1), min(max(column, 0), SIDE - 1)


def _place(row: int, column: int) -> Point:
    return ((column + 0.5) * 2.0 / SIDE - 1.0, (row + 0.5) * 2.0 / SIDE - 1.0)
