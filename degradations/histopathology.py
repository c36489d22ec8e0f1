"""What lies on or under the cover slip of a tissue section: bubbles, dark spots, red blood cells.

Lengths of bubbles and spots are fractions of the image's shorter side, cut to whole pixels and at least one, as the
authors' images show.

Blood cells: the authors blend photographed cells over the image at opacity 0.3 (fitted to their images). Ours are drawn
from random shapes, so nobody's cut-outs are used: an elongated disc with a wavy, ragged outline, shaded as a biconcave
cell is (purple rim, orange-red middle), with folds. The colours and sizes are those measured in the authors' overlays
(severity.yaml); the cells are not theirs, so pixels agree in the statistics (area, PSNR, SSIM, colour) and in the look,
not one by one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, sample_spread
from lmms_medtasks.degradations.threads import run_in_threads, split_rows
from lmms_medtasks.seeding import seeded_generator


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
    return BubbleParameters(row=row, column=column, radius=radius, sigma=sample_spread(rng, settings, "sigma"))


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


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("blood_cell_artifact", sample_blood_cells, add_blood_cells, record=BloodCellParameters),
    Degradation("dark_spots_artifact", sample_dark_spot, apply_dark_spot, record=DarkSpotParameters),
    Degradation("bubble", sample_bubble, add_bubble, record=BubbleParameters),
)
