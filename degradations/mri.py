"""MRI artefacts: coil shading, missing k-space lines, ghosts. Movement during the scan is in mri_motion.py.

Axes: image rows run down (axis 0, y), columns to the right (axis 1, x). Ghosts have their phase-encode direction
along y, undersampling along x, as the authors' images show; so k-space lines are columns there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, sample_spread
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


def apply_bias_field(image: FloatImage, parameters: BiasFieldParameters) -> FloatImage:
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


def apply_undersampling(image: FloatImage, parameters: UndersamplingParameters) -> FloatImage:
    """Real part of ``image`` without the k-space lines that were not measured (zero-filled), each channel its own.

    TorchIO has no undersampling. Exact on the authors' images, all channels, with the lines read off their k-space.

    Raises UserError for a record of another width or of fewer channels than the image has.
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
    return GhostingParameters(ghosts=ghosts, intensity=sample_spread(rng, settings, "intensity"))


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


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("bias_field_artifact", sample_bias_field, apply_bias_field, record=BiasFieldParameters),
    Degradation(
        "undersampling_artifact",
        sample_undersampling,
        apply_undersampling,
        channels="independent",
        record=UndersamplingParameters,
    ),
    Degradation("ghosting_artifact", sample_ghosting, add_ghosts, record=GhostingParameters),
)
