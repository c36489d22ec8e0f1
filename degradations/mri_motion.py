"""Movement during an MRI scan; the phase-encode direction is along y (axis 0, image rows run down).

Bands of k-space were measured with the patient in different places. A line of k-space is one ky, all kx of it
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

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape, map_planes
from lmms_medtasks.degradations.threads import run_in_threads, split_rows

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


def apply_movement(image: FloatImage, parameters: MovementParameters) -> FloatImage:
    """Real part of the image whose k-space bands come from copies of ``image`` in the given poses.

    With n bands, each is ``height // n`` rows of the centred spectrum high, the last one takes the rest (an image of
    fewer than n rows takes the last pose for all of k-space). Copies are resampled bilinearly, mirrored at the border
    (the border pixel is repeated). Colour is degraded channel by channel; the authors turn it to grey first.
    """
    return map_planes(image, lambda plane: _move_plane(plane, parameters))


def _move_plane(plane: FloatImage, parameters: MovementParameters) -> FloatImage:
    from scipy import fft

    from lmms_medtasks.degradations.kernels import turned_and_mirrored

    height, width = plane.shape
    result = np.empty_like(plane)
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

    run_in_threads(measure_columns, split_rows(width, height))
    return result


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
    Degradation("object_movement", sample_movement, apply_movement, record=MovementParameters),
)
