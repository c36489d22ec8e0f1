"""What lies on or under the cover slip of a tissue section: bubbles, dark spots, red blood cells.

Lengths of bubbles and spots are fractions of the image's shorter side, cut to whole pixels and at least one, as the
authors' images show.

All three are drawn where there is a picture: black bars, or black around a round field of view, stay black. A record is
drawn from the size of the canvas alone; what it places there is placed within the bars, in proportion.

Blood cells: the authors blend photographed cells over the image at opacity 0.3 (fitted to their images). Ours are drawn
from random shapes, so nobody's cut-outs are used: an elongated disc with a wavy, ragged outline, shaded as a biconcave
cell is (purple rim, orange-red middle), with folds. The colours and sizes are those measured in the authors' overlays
(severity.yaml); the cells are not theirs, so pixels agree in the statistics (area, PSNR, SSIM, colour) and in the look,
not one by one.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, sample_spread, scale_length
from lmms_medtasks.degradations.threads import run_in_threads, split_rows
from lmms_medtasks.seeding import seeded_generator

_BLACK = 16
"""Grey levels of 255 up to which a bar is black; JPEG leaves some."""
_BLACK_BORDER, _BLACK_SHARE = 0.1, 0.03
"""Share of the height and width that is black along the border, and of all pixels, from which black is no tissue."""
_DETAIL_SIGMA, _LEAST_DETAIL, _TISSUE_CELLS = 1.6, 3.0, 16
"""Of 16 x 16 cells those are tissue whose grey levels a mild bubble's blur moves by at least 3 of 255 (rms)."""
_TISSUE_REACH, _TISSUE_SHARE = 0.17, 0.5
"""A mild bubble's least radius in shorter sides, and how much of it is to lie on tissue. All these are our choice."""


@dataclass(frozen=True)
class DarkSpotParameters(Parameters):
    """``row``, ``column``: the centre; ``sigma``: width, in pixels; ``peak``: how much light is lost at the centre."""

    row: int
    column: int
    sigma: int
    peak: float

    def within(self, canvas: Shape, inner: Shape) -> DarkSpotParameters:
        """The record for a picture of ``inner`` pixels, in the proportions that it has on a ``canvas``."""
        row, column = _scale_position(self.row, self.column, canvas, inner)
        sigma = _pixel_length(self.sigma / min(canvas), inner)
        return DarkSpotParameters(row=row, column=column, sigma=sigma, peak=self.peak)


@dataclass(frozen=True)
class BubbleParameters(Parameters):
    """``row``, ``column``: the centre; ``radius`` and ``sigma`` (of the blur inside): in pixels."""

    row: int
    column: int
    radius: int
    sigma: float

    def within(self, canvas: Shape, inner: Shape) -> BubbleParameters:
        """The record for a picture of ``inner`` pixels; the blur, a length in pixels, stays."""
        row, column = _scale_position(self.row, self.column, canvas, inner)
        radius = _pixel_length(self.radius / min(canvas), inner)
        return BubbleParameters(row=row, column=column, radius=radius, sigma=self.sigma)


def sample_dark_spot(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> DarkSpotParameters:
    """A centre uniform in ``centre_range`` of height and of width; ``sigma`` and ``peak`` within their spreads.

    With the same generator, a stronger and wider spot is darker at every pixel.
    """
    row, column = _sample_centre(rng, settings, shape)
    sigma = _pixel_length(sample_spread(rng, settings, "sigma"), shape)
    return DarkSpotParameters(row=row, column=column, sigma=sigma, peak=min(1.0, sample_spread(rng, settings, "peak")))


def apply_dark_spot(image: FloatImage, parameters: DarkSpotParameters) -> FloatImage:
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
    row, column = _sample_centre(rng, settings, shape)
    radius = _pixel_length(sample_spread(rng, settings, "radius"), shape)
    sigma = sample_spread(rng, settings, "sigma") * scale_length(settings, shape)
    return BubbleParameters(row=row, column=column, radius=radius, sigma=sigma)


def add_bubble(image: FloatImage, parameters: BubbleParameters) -> FloatImage:
    """``image`` blurred inside a disc (r < radius) with a hard edge, no tint, no rim. Exact on the authors' images.

    The paper speaks of semi-transparent circles; their images show the blur alone. Where the disc would lie on an
    empty part of the tile, in which a blur is not seen, it moves to the nearest part with tissue.
    """
    from scipy import ndimage

    parameters = _move_to_tissue(image, parameters)
    halo = math.ceil(4.0 * parameters.sigma + 1.0)  # SciPy's kernel reaches 4 sigma: no need to blur what is farther
    sigmas = (parameters.sigma, parameters.sigma, 0.0)[: image.ndim]
    height, width = image.shape[:2]
    reach = parameters.radius - 1
    top, bottom = max(0, parameters.row - reach), min(height, parameters.row + reach + 1)
    left, right = max(0, parameters.column - reach), min(width, parameters.column + reach + 1)
    result = image.copy()

    def fill_strip(strip: slice) -> None:
        start, end = top + strip.start, top + strip.stop
        first, leftmost = max(0, start - halo), max(0, left - halo)
        blurred = ndimage.gaussian_filter(image[first : end + halo, leftmost : right + halo], sigmas)
        blurred = blurred[start - first :, left - leftmost :][: end - start, : right - left]
        rows, columns = np.ogrid[start:end, left:right]
        inside = (rows - parameters.row) ** 2 + (columns - parameters.column) ** 2 < parameters.radius**2
        np.copyto(result[start:end, left:right], blurred, where=inside if image.ndim == 2 else inside[..., None])

    samples_per_row = (right - left) * (1 if image.ndim == 2 else image.shape[2])
    # Strips overlap by the halo on both sides: high enough that little is computed twice.
    run_in_threads(fill_strip, split_rows(bottom - top, samples_per_row, max(1 << 17, 6 * halo * samples_per_row)))
    return result


def _move_to_tissue(image: FloatImage, parameters: BubbleParameters) -> BubbleParameters:
    """The bubble at the place nearest to its own around which half has detail, or else the place with the most.

    The place depends on the image and the centre alone, so that it is the same at every level.
    """
    tissue, rows, columns = _find_tissue(image)
    reach = _TISSUE_REACH * min(image.shape[:2])

    def measure_around(row: float, column: float) -> float:
        around = np.hypot(rows[:, None] - row, columns[None, :] - column) <= reach
        return float(tissue[around].mean()) if around.any() else 0.0

    if not tissue.any() or measure_around(parameters.row, parameters.column) >= _TISSUE_SHARE:
        return parameters
    distances = {(y, x): math.hypot(y - parameters.row, x - parameters.column) for y in rows for x in columns}
    shares = {place: min(_TISSUE_SHARE, measure_around(*place)) for place in distances}
    row, column = min(distances, key=lambda place: (-shares[place], distances[place]))
    return replace(parameters, row=int(row), column=int(column))


def _find_tissue(image: FloatImage) -> tuple[NDArray[np.bool_], NDArray[np.float64], NDArray[np.float64]]:
    """Which cells of a grid over the image have detail; the rows and columns of their centres."""
    from scipy import ndimage

    grey = image if image.ndim == 2 else image @ np.full(3, 1 / 3, np.float32)
    detail = np.square(grey - ndimage.gaussian_filter(grey, _DETAIL_SIGMA))
    centres = []
    for axis, side in enumerate(grey.shape):
        edges = np.linspace(0, side, min(_TISSUE_CELLS, side) + 1).astype(np.intp)
        lengths = np.diff(edges).reshape([-1 if along == axis else 1 for along in (0, 1)])
        detail = np.add.reduceat(detail, edges[:-1], axis=axis) / lengths
        centres.append((edges[:-1] + edges[1:] - 1) / 2)
    return detail >= (_LEAST_DETAIL / 255) ** 2, *centres


def _scale_position(row: int, column: int, canvas: Shape, inner: Shape) -> tuple[int, int]:
    return row * inner[0] // canvas[0], column * inner[1] // canvas[1]


def _sample_centre(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> tuple[int, int]:
    low, high = settings["centre_range"]
    row, column = (min(int(rng.uniform(low, high) * length), length - 1) for length in shape)
    return row, column


def _pixel_length(fraction: float, shape: Shape) -> int:
    return max(1, int(float(fraction) * min(shape)))


Cell = tuple[int, int, float, float, float, int]
"""Centre row and column, long diameter in pixels, short over long diameter, turn in degrees, seed of the look."""

_SPRITE_PIXELS = 64
"""Larger cells are drawn at this diameter and enlarged: they are smooth, and the time stays bounded."""

_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
_TONE = np.array([1.0, 0.3, 0.35], np.float32)  # how red, green and blue follow the folds: the red varies most
_OUTLINE_STEPS = 1024
_OUTLINE_WAVES = np.arange(2, 15)
_FOLDS = 5


@dataclass(frozen=True)
class BloodCellParameters(Parameters):
    """``cells``: laid one on another in this order, each with ``opacity``.

    ``shade``: the colour from the middle of a cell to its rim as rows (distance from the middle over the radius, then
    red, green, blue in grey levels of 255); ``texture``: standard deviation of the folds, in grey levels of 255.
    """

    cells: tuple[Cell, ...]
    opacity: float
    shade: tuple[tuple[float, float, float, float], ...]
    texture: float

    def within(self, canvas: Shape, inner: Shape) -> BloodCellParameters:
        """The record for a picture of ``inner`` pixels, in the proportions that it has on a ``canvas``."""
        scale = min(inner) / min(canvas)
        cells = [
            (*_scale_position(row, column, canvas, inner), diameter * scale, *look)
            for row, column, diameter, *look in self.cells
        ]
        return replace(self, cells=tuple(cells))


def sample_blood_cells(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> BloodCellParameters:
    """``count`` cells, within ``count_spread``, with centres anywhere in the image.

    The long diameter is uniform in ``diameter_range`` (fractions of the shorter side), the short one is that times a
    number from ``aspect_range``. Cells are drawn one after the other: with the same generator, a level with more and
    larger cells has those of the milder level, enlarged, below its own.
    """
    smallest, largest = (float(bound) * min(shape) for bound in settings["diameter_range"])
    cells = []
    for _ in range(round(sample_spread(rng, settings, "count"))):
        row, column = int(rng.integers(shape[0])), int(rng.integers(shape[1]))
        diameter = float(rng.uniform(smallest, largest))
        aspect = float(rng.uniform(*settings["aspect_range"]))
        cells.append((row, column, diameter, aspect, float(rng.uniform(0.0, 360.0)), int(rng.integers(1 << 32))))
    columns = (settings["shade_at"], settings["shade_red"], settings["shade_green"], settings["shade_blue"])
    return BloodCellParameters(
        cells=tuple(cells),
        opacity=float(settings["opacity"]),
        shade=tuple((float(at), float(r), float(g), float(b)) for at, r, g, b in zip(*columns, strict=True)),
        texture=float(settings["texture"]),
    )


def add_blood_cells(image: FloatImage, parameters: BloodCellParameters) -> FloatImage:
    """``image`` with the cells blended over it; on a grey image, with their luma."""
    result = image.copy()
    shade = np.asarray(parameters.shade, np.float32)
    for cell in parameters.cells:
        colour, coverage = draw_cell(cell, shade, parameters.texture)
        coverage = coverage * np.float32(parameters.opacity)
        if image.ndim == 2:
            colour = colour @ _LUMA
        else:
            coverage = coverage[..., None]
        _blend_square(result, colour, coverage, cell[0], cell[1])
    return result


def _blend_square(target: FloatImage, colour: FloatImage, weight: FloatImage, row: int, column: int) -> None:
    """Lays a square of ``colour``, centred on a pixel, over ``target`` in place; what hangs over the border is cut."""
    reach = colour.shape[0] // 2
    rows, from_rows = _overlapping_slices(row - reach, colour.shape[0], target.shape[0])
    columns, from_columns = _overlapping_slices(column - reach, colour.shape[1], target.shape[1])
    region = target[rows, columns]
    region += weight[from_rows, from_columns] * (colour[from_rows, from_columns] - region)


def _overlapping_slices(start: int, length: int, available: int) -> tuple[slice, slice]:
    """Which of ``length`` pixels from ``start`` lie within ``available``: their places there, and their own indices."""
    first, last = min(max(0, start), available), max(0, min(start + length, available))
    return slice(first, last), slice(first - start, last - start)


def draw_cell(cell: Cell, shade: NDArray[np.float32], texture: float) -> tuple[FloatImage, FloatImage]:
    """One cell: its colour (S, S, 3) in [0, 1] and how much of each pixel it covers (S, S), S odd.

    ``shade`` and ``texture`` as in :class:`BloodCellParameters`; the cell's centre is the middle pixel. Its position
    is not used.
    """
    _, __, diameter, aspect, turn, seed = cell
    rng = seeded_generator("blood cell", seed)
    outline = _sample_outline(rng)
    radius = diameter / 2
    drawn = min(radius, _SPRITE_PIXELS / 2)
    # The outline reaches at most `outline.max()` radii; half a pixel of soft edge.
    side = 2 * math.ceil(drawn * float(outline.max()) + 0.5) + 1
    distance, edge = _outline_distances(side, drawn, aspect, turn, outline)
    coverage = np.clip((1.0 - distance) * edge + np.float32(0.5), 0.0, 1.0)
    steps = np.minimum(distance * 255, 255).astype(np.intp)
    at = np.linspace(0.0, 1.0, 256)
    table = np.stack([np.interp(at, shade[:, 0], shade[:, channel]) for channel in (1, 2, 3)], axis=1)
    colour = table.astype(np.float32)[steps]
    tone = np.float32(texture) * _sample_folds(rng, side)
    tone += np.float32(texture / 2 * rng.standard_normal())
    colour += tone[..., None] * _TONE
    colour /= np.float32(255)
    np.clip(colour, 0.0, 1.0, out=colour)
    if radius > drawn:
        return _enlarge_cell(colour, coverage, 2 * round((side * radius / drawn - 1) / 2) + 1)
    return colour, coverage


def _enlarge_cell(colour: FloatImage, coverage: FloatImage, side: int) -> tuple[FloatImage, FloatImage]:
    """Both at (side, side), bilinear; in 8 bits, which a blend at low opacity does not show."""
    from PIL import Image

    planes = np.concatenate([colour, coverage[..., None]], axis=2)
    # CMYK stands for any four channels here: as RGBA, Pillow would multiply the colours by the last one.
    levels = Image.frombytes("CMYK", planes.shape[1::-1], np.rint(planes * 255).astype(np.uint8).tobytes())
    planes = np.asarray(levels.resize((side, side), Image.Resampling.BILINEAR)).astype(np.float32)
    planes /= np.float32(255)
    return planes[..., :3], planes[..., 3]


def _sample_outline(rng: np.random.Generator) -> NDArray[np.float32]:
    """Radius in each direction, 1 on average: a few slow waves for the shape, faint quick ones for the ragged edge."""
    amplitude = np.where(_OUTLINE_WAVES < 6, 0.03, 0.014) * rng.standard_normal(_OUTLINE_WAVES.size)
    phase = rng.uniform(0.0, 2.0 * np.pi, _OUTLINE_WAVES.size)
    spectrum = np.zeros(_OUTLINE_STEPS // 2 + 1, np.complex128)
    spectrum[_OUTLINE_WAVES] = amplitude * np.exp(1j * phase)
    waves = np.fft.irfft(spectrum, n=_OUTLINE_STEPS) * (_OUTLINE_STEPS / 2)
    return np.clip(1.0 + waves, 0.6, 1.3).astype(np.float32)


def _outline_distances(
    side: int, radius: float, aspect: float, turn: float, outline: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Of every pixel: distance from the middle, 1 on the outline; and the outline's radius there, in pixels."""
    axis = (np.arange(side) - side // 2).astype(np.float32)
    cos, sin = np.float32(math.cos(math.radians(turn))), np.float32(math.sin(math.radians(turn)))
    along = cos * axis[None, :] + sin * axis[:, None]
    across = (cos * axis[:, None] - sin * axis[None, :]) / np.float32(aspect)
    direction = np.arctan2(across, along) * np.float32(_OUTLINE_STEPS / (2.0 * np.pi))
    reach = outline[np.rint(direction).astype(np.intp) % _OUTLINE_STEPS] * np.float32(radius)
    return np.hypot(along, across) / reach, reach


def _sample_folds(rng: np.random.Generator, side: int) -> NDArray[np.float32]:
    """(side, side) smooth random field of mean 0 and about unit variance: a few plane waves across the cell."""
    frequency = rng.uniform(-2.5, 2.5, (_FOLDS, 2)) * (2.0 * np.pi)
    phase = rng.uniform(0.0, 2.0 * np.pi, _FOLDS)
    axis = np.linspace(-0.5, 0.5, side)
    field = np.zeros((side, side), np.float32)
    for (along_x, along_y), start in zip(frequency, phase, strict=True):
        # cos(a + b) from one-dimensional cosines and sines.
        x, y = along_x * axis + start, along_y * axis
        field += np.outer(np.cos(y), np.cos(x)).astype(np.float32)
        field -= np.outer(np.sin(y), np.sin(x)).astype(np.float32)
    field *= np.float32(math.sqrt(2.0 / _FOLDS))
    return field


def _within_picture(operator: Callable[[FloatImage, Any], FloatImage]) -> Callable[[FloatImage, Any], FloatImage]:
    """``operator`` on the part of an image that is not black from its border on; the black stays."""

    @functools.wraps(operator)
    def apply_within(image: FloatImage, parameters: Any) -> FloatImage:
        black = _find_black_surround(image)
        if black is None:
            return operator(image, parameters)
        rows, columns = (np.flatnonzero(~black.all(axis=axis)) for axis in (1, 0))
        box = slice(rows[0], rows[-1] + 1), slice(columns[0], columns[-1] + 1)
        inner = image[box]
        drawn = operator(inner, parameters.within(image.shape[:2], inner.shape[:2]))
        result = image.copy()
        kept = black[box] if image.ndim == 2 else black[box][..., None]
        result[box] = np.where(kept, inner, drawn)
        return result

    return apply_within


def _find_black_surround(image: FloatImage) -> NDArray[np.bool_] | None:
    """Which pixels are black and joined to the border by black ones; None if they are few, or the whole image."""
    from scipy import ndimage

    def list_edges(array: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([array[0], array[-1], array[:, 0], array[:, -1]])

    is_dark = (list_edges(image) <= _BLACK / 255).reshape(2 * sum(image.shape[:2]), -1).all(axis=1)
    if is_dark.sum() < _BLACK_BORDER * sum(image.shape[:2]):
        return None
    planes = [image] if image.ndim == 2 else [image[..., channel] for channel in range(image.shape[2])]
    labels, _ = ndimage.label(functools.reduce(np.logical_and, (plane <= _BLACK / 255 for plane in planes)))
    joined = np.unique(list_edges(labels))
    black = np.isin(labels, joined[joined > 0])
    share = float(black.mean())
    return black if _BLACK_SHARE <= share < 1 - _BLACK_SHARE else None


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("blood_cell_artifact", sample_blood_cells, _within_picture(add_blood_cells), BloodCellParameters),
    Degradation("dark_spots_artifact", sample_dark_spot, _within_picture(apply_dark_spot), DarkSpotParameters),
    Degradation("bubble", sample_bubble, _within_picture(add_bubble), BubbleParameters),
)
