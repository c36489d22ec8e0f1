"""MRI artefacts: coil shading, missing k-space lines, ghosts, movement during the scan.

Axes: image rows run down (axis 0, y), columns to the right (axis 1, x). Ghosts and movement have their phase-encode
direction along y, undersampling along x, as the authors' images show; so k-space lines are columns there.

Movement: bands of k-space were measured with the patient in different places. A line of k-space is one ky, all kx of it
are read at once, and between two neighbouring bands of ky the patient moves. Seen in the authors' images (MedQ-Deg,
object_movement on MRI), and exact there once the poses are known.

TorchIO's RandomMotion follows the same paper (Shaw et al. 2019, MIDL) but the authors' images differ from it in four
ways: their central band is moved like any other, so the whole object is seen turned and shifted, where TorchIO swaps
the unmoved spectrum into the centre; their bands are equal, TorchIO's edges are jittered; outside the field of view
they mirror the image, TorchIO fills with the minimum; and TorchIO splits k-space along the last of its three axes,
which has length one for a two-dimensional image, so that there the result is one moved copy and no artefact.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, spread
from lmms_medtasks.degradations.threads import each, strips
from lmms_medtasks.errors import UserError

POWERS: tuple[tuple[int, int], ...] = ((0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (3, 0))
"""Powers (i, j) of x and y that the bias field's coefficients multiply, in their order."""


@dataclass(frozen=True)
class BiasFieldParameters(Parameters):
    """``coefficients``: one for each of :data:`POWERS`; ``floor``: the least gain."""

    coefficients: tuple[float, ...]
    floor: float


@dataclass(frozen=True)
class UndersamplingParameters(Parameters):
    """Which k-space lines were measured.

    ``width``: how many lines there are, the image's width in pixels. ``lines``: a bit field for each colour channel (a
    grey image uses the first) as hexadecimal bytes; bit ``k % 8`` (counted from the lowest) of byte ``k // 8`` stands
    for frequency k of the unshifted discrete Fourier transform along x, in cycles over the width.
    """

    width: int
    lines: tuple[str, ...]


@dataclass(frozen=True)
class GhostingParameters(Parameters):
    """``ghosts``: how many there are; ``intensity``: the weight that falls linearly from the first to the last."""

    ghosts: int
    intensity: float


def sample_bias_field(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> BiasFieldParameters:
    """Magnitudes uniform up to ``coefficient_max``, positive with the chance ``positive_share``.

    With the same generator, a larger maximum gives the same field, stronger: every pixel is at least as dark.
    """
    sign = np.where(rng.random(len(POWERS)) < float(settings["positive_share"]), 1.0, -1.0)
    coefficients = float(settings["coefficient_max"]) * sign * rng.random(len(POWERS))
    return BiasFieldParameters(coefficients=tuple(map(float, coefficients)), floor=float(settings["floor"]))


def bias_field(shape: Shape, parameters: BiasFieldParameters) -> NDArray[np.float32]:
    """(H, W) gain ``max(floor, P / max P)``, ``P = 1 + sum c_ij x^i y^j`` with x and y from -1 to 1 over the image.

    The largest gain is 1: the field only darkens. TorchIO's RandomBiasField (Sudre et al. 2017) has the same basis,
    but takes the exponential, is not divided by its maximum (so it also brightens, and clips) and has no floor; the
    authors' images have none of the three (99.9 % of the pixels equal with the polynomial itself).
    """
    table = np.zeros((4, 4))
    table[0, 0] = 1.0
    for (i, j), coefficient in zip(POWERS, parameters.coefficients, strict=True):
        table[i, j] = coefficient
    x, y = (_from_minus_one_to_one(length) for length in (shape[1], shape[0]))
    # Horner's scheme in x; each coefficient is a polynomial of y. Elementwise: the same bits with any thread count.
    of_y = [np.polynomial.polynomial.polyval(y, row).astype(np.float32)[:, None] for row in table]
    x32 = x.astype(np.float32)[None, :]
    field = of_y[3] * x32
    for coefficient_of_x in (of_y[2], of_y[1]):
        field += coefficient_of_x
        field *= x32
    field += of_y[0]
    field *= np.float32(1.0 / max(float(field.max()), float(np.finfo(np.float32).tiny)))
    return np.maximum(field, np.float32(parameters.floor), out=field)


def _from_minus_one_to_one(length: int) -> NDArray[np.float64]:
    """``length`` equally spaced numbers from -1 to 1; a single pixel is the centre, 0."""
    return np.linspace(-1.0, 1.0, length) if length > 1 else np.zeros(1)


def shade(image: FloatImage, parameters: BiasFieldParameters) -> FloatImage:
    """``image`` times its bias field."""
    field = bias_field((image.shape[0], image.shape[1]), parameters)
    return image * field if image.ndim == 2 else image * field[..., None]


def sample_undersampling(
    rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape
) -> UndersamplingParameters:
    """Lines for each of three channels: the central ones, the rest drawn at random.

    ``kept`` is the share of all lines, to a power drawn for each channel within ``kept_spread`` of 1.
    The central block is ``centre`` of the width, at least the zero frequency. The others are drawn without replacement
    with Gaussian weights of the frequency (``density_sigma``, fraction of the width). Every line gets its lot in one
    draw and those with the smallest are kept: with the same generator, the lines of a smaller share are a subset.
    """
    width = shape[1]
    distance = np.abs(np.fft.fftfreq(width))
    central_count = max(1, int(float(settings["centre"]) * width))
    first = -(central_count // 2)
    central = np.arange(first, first + central_count) % width
    weight = np.exp(-0.5 * (distance / float(settings["density_sigma"])) ** 2)
    lines = []
    for _ in range(3):
        share = float(settings["kept"]) ** (1.0 + float(settings["kept_spread"]) * rng.uniform(-1.0, 1.0))
        lots = rng.exponential(size=width) / weight
        lots[central] = -1.0
        measured_lines = np.argsort(lots, kind="stable")[: max(central_count, round(share * width))]
        measured = np.zeros(width, bool)
        measured[measured_lines] = True
        lines.append(np.packbits(measured, bitorder="little").tobytes().hex())
    return UndersamplingParameters(width=width, lines=tuple(lines))


def undersample(image: FloatImage, parameters: UndersamplingParameters) -> FloatImage:
    """Real part of ``image`` without the k-space lines that were not measured (zero-filled), each channel its own.

    TorchIO has no undersampling. Exact on the authors' images, all channels, with the lines read off their k-space.

    Raises:
        UserError: The record was drawn for another width, or the image has more channels than the record.
    """
    channels = 1 if image.ndim == 2 else image.shape[2]
    if parameters.width != image.shape[1] or len(parameters.lines) < channels:
        raise UserError(
            f"Undersampling parameters for {parameters.width} columns and {len(parameters.lines)} channels do not fit "
            f"an image of shape {image.shape}. Draw them for its size."
        )
    if image.ndim == 2:
        return _filter_lines(image, line_weights(parameters.lines[0], parameters.width))
    result = np.empty(image.shape, np.float32)
    for channel, lines in enumerate(parameters.lines[:channels]):
        result[..., channel] = _filter_lines(image[..., channel], line_weights(lines, parameters.width))
    return result


def line_weights(lines: str, width: int) -> NDArray[np.float32]:
    """(width // 2 + 1,) weight of each non-negative frequency: the mean of what was kept at it and at its negative.

    That is what the real part makes of a mask that is not symmetric; so whole rows need no complex transform.
    """
    packed = np.frombuffer(bytes.fromhex(lines), np.uint8)
    is_measured = np.unpackbits(packed, count=width, bitorder="little").astype(np.float32)
    frequency = np.arange(width // 2 + 1)
    return (is_measured[frequency] + is_measured[-frequency % width]) * np.float32(0.5)


def _filter_lines(image: FloatImage, weights: NDArray[np.float32]) -> FloatImage:
    from scipy import fft

    # One thread: the result must not depend on how many there are.
    spectrum = fft.rfft(np.ascontiguousarray(image), axis=1, workers=1)
    spectrum *= weights
    return np.asarray(fft.irfft(spectrum, n=image.shape[1], axis=1, overwrite_x=True, workers=1), np.float32)


def sample_ghosting(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> GhostingParameters:
    """``ghosts`` and one fewer or more, ``intensity`` within ``intensity_spread``; the same draw at both levels."""
    ghosts = int(settings["ghosts"]) + int(rng.integers(-1, 2))
    return GhostingParameters(ghosts=ghosts, intensity=spread(rng, settings, "intensity"))


def add_ghosts(image: FloatImage, parameters: GhostingParameters) -> FloatImage:
    """For k from 1 to n: ``v += intensity (1 - k/(n+1)) v[shifted down by k (H // (n+1)) rows]``, one after the other.

    Later ghosts are those of the image that has the earlier ones. Nothing wraps around, nothing is clipped before the
    end. TorchIO's RandomGhosting weakens every n-th k-space line instead, which gives ghosts on both sides that wrap
    around, and darkens as well as brightens; the authors' images show neither (100 % of their pixels are equal here).
    """
    result = image.copy()
    n = parameters.ghosts
    step = image.shape[0] // (n + 1)
    for k in range(1, n + 1):
        rows = image.shape[0] - k * step
        weight = np.float32(parameters.intensity * (1.0 - k / (n + 1)))
        result[k * step :] += weight * result[:rows]
    return result


Pose = tuple[float, float, float]
"""Counter-clockwise turn in degrees about the image centre, then shift to the right and down, in pixels."""

Reading = tuple[float, float, float, float]
"""Cosine, sine, x and y: output pixel (i, j) is read at (x + cos i - sin j, y + sin i + cos j)."""


@dataclass(frozen=True)
class MovementParameters(Parameters):
    """``poses``: the patient's pose in each band of ky, from the most negative frequency to the most positive."""

    poses: tuple[Pose, ...]


def sample_movement(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> MovementParameters:
    """A pose for each of ``bands`` bands.

    Turn and shifts are uniform up to ``rotation_max`` (degrees) and ``shift_max`` (fraction of the shorter side), both
    senses. The central band, which decides where the object is seen, is drawn first: with the same generator, a level
    with larger maxima moves it the same way, only further.
    """
    largest = np.array([1.0, min(shape), min(shape)]) * [
        settings["rotation_max"],
        settings["shift_max"],
        settings["shift_max"],
    ]
    bands = int(settings["bands"])
    centre, *others = (largest * rng.uniform(-1.0, 1.0, 3) for _ in range(bands))
    drawn = [*others[: bands // 2], centre, *others[bands // 2 :]]
    return MovementParameters(poses=tuple((float(turn), float(right), float(down)) for turn, right, down in drawn))


def move(image: FloatImage, parameters: MovementParameters) -> FloatImage:
    """Real part of the image whose k-space bands come from copies of ``image`` in the given poses.

    With n bands, each is ``height // n`` rows of the centred spectrum high, the last one takes the rest (an image of
    fewer than n rows takes the last pose for all of k-space). Copies are resampled bilinearly, mirrored at the border
    (the border pixel is repeated). Colour is degraded channel by channel; the authors turn it to grey first.
    """
    result = np.empty_like(image)
    if image.ndim == 2:
        _move_plane(image, parameters, result)
    else:
        for channel in range(image.shape[2]):
            _move_plane(image[..., channel], parameters, result[..., channel])
    return result


def _move_plane(plane: FloatImage, parameters: MovementParameters, result: FloatImage) -> None:
    from scipy import fft

    from lmms_medtasks.degradations.kernels import turned_and_mirrored

    height, width = plane.shape
    readings = [_reading_of_pose(pose, height, width) for pose in parameters.poses]
    padded = np.pad(plane, 1, mode="edge")
    weights = band_weights(height, len(readings))[1:]
    # A band and its mirror image in ky make one range of the frequencies that are not negative.
    held = [(band, slice(int(k[0]), int(k[-1]) + 1)) for band, k in enumerate(map(np.flatnonzero, weights)) if k.size]

    def measure_columns(columns: slice) -> None:
        copies = np.empty((len(readings), height, columns.stop - columns.start), np.float32)
        for (cos, sin, x, y), copy in zip(readings, copies, strict=True):
            turned_and_mirrored(padded, cos, sin, x + cos * columns.start, y + sin * columns.start, copy)
        # The bands' weights add up to 1: the first copy, and of every other band how it differs. Cutting k-space along
        # ky alone leaves the columns independent, so one transform along y is enough. One thread each: the result must
        # not depend on how many there are.
        first, others = copies[0], copies[1:]
        others -= first
        spectrum = np.zeros((height // 2 + 1, first.shape[1]), np.complex64)
        for band, rows in held:
            part = fft.rfft(others[band], axis=0, overwrite_x=True, workers=1)[rows]
            part *= weights[band, rows, None]
            spectrum[rows] += part
        first += fft.irfft(spectrum, n=height, axis=0, overwrite_x=True, workers=1)
        result[:, columns] = first

    each(measure_columns, strips(width, height))


def band_weights(height: int, bands: int) -> NDArray[np.float32]:
    """(bands, height // 2 + 1): how much of each non-negative frequency comes from each band.

    Taking the real part of an image whose spectrum was cut at ``ky`` and not at ``-ky`` averages the two, so a line
    has weight 1 in a band that holds both, one half in a band that holds one of them.
    """
    rows_each = height // bands
    frequency = np.arange(height // 2 + 1)
    weights = np.zeros((bands, frequency.size), np.float32)
    for row in ((height // 2 + frequency) % height, height // 2 - frequency):
        band = np.minimum(row // rows_each, bands - 1) if rows_each else np.full_like(row, bands - 1)
        np.add.at(weights, (band, frequency), np.float32(0.5))
    return weights


def _reading_of_pose(pose: Pose, height: int, width: int) -> Reading:
    """Where the output's pixels are read: turning counter-clockwise (y points down) and shifting, inverted."""
    turn, right, down = pose
    cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
    centre_x, centre_y = (width - 1) / 2, (height - 1) / 2
    x = centre_x - cos * (centre_x + right) + sin * (centre_y + down)
    y = centre_y - sin * (centre_x + right) - cos * (centre_y + down)
    return cos, sin, x, y


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("bias_field_artifact", sample_bias_field, shade, record=BiasFieldParameters),
    Degradation(
        "undersampling_artifact",
        sample_undersampling,
        undersample,
        channels="independent",
        record=UndersamplingParameters,
    ),
    Degradation("ghosting_artifact", sample_ghosting, add_ghosts, record=GhostingParameters),
    Degradation("object_movement", sample_movement, move, record=MovementParameters),
)
