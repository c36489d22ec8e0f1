"""Motion interference on every modality: a rotation, a translation (paper, 0.A.4). MRI's is in mri_motion.py."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.degradations.threads import run_in_threads, split_rows


@dataclass(frozen=True)
class RotationParameters(Parameters):
    """``angle``: degrees, counter-clockwise."""

    angle: float


@dataclass(frozen=True)
class TranslationParameters(Parameters):
    """``down``, ``right``: pixels that the image moves by; negative is up and left."""

    down: int
    right: int


def sample_rotation(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> RotationParameters:
    """A magnitude from the level's range, either sign."""
    magnitude = rng.uniform(*settings["angle_range"])
    return RotationParameters(angle=float(magnitude if rng.random() < 0.5 else -magnitude))


def rotate_image(image: FloatImage, parameters: RotationParameters) -> FloatImage:
    """Turned about its centre on the same canvas, bilinear, black outside.

    What ``scipy.ndimage.rotate`` does with ``reshape=False, order=1``, at a third of its time.
    """
    turn = math.radians(parameters.angle)
    cosine, sine = math.cos(turn), math.sin(turn)
    height, width = image.shape[:2]
    middle_y, middle_x = (height - 1) / 2, (width - 1) / 2
    across = np.arange(width) - middle_x
    turned = np.empty_like(image)

    def fill_strip(rows: slice) -> None:
        down = (np.arange(rows.start, rows.stop) - middle_y)[:, None]
        y = (cosine * down + middle_y) + sine * across
        x = (middle_x - sine * down) + cosine * across
        turned[rows] = _sample_bilinear(image, y, x)

    run_in_threads(fill_strip, split_rows(height, width, samples=1 << 14))
    return turned


def _sample_bilinear(image: FloatImage, y: NDArray[np.float64], x: NDArray[np.float64]) -> FloatImage:
    """``image`` at the positions (y, x), 0 where they are outside of its outermost pixels' centres."""
    height, width = image.shape[:2]
    inside = (y >= 0) & (y <= height - 1) & (x >= 0) & (x <= width - 1)
    top, left = y.astype(np.intp), x.astype(np.intp)
    weight_y, weight_x = (y - top).astype(np.float32), (x - left).astype(np.float32)
    pixels = image.reshape(height * width, *image.shape[2:])
    corner = top * width + left
    if image.ndim == 3:
        weight_y, weight_x, inside = weight_y[..., None], weight_x[..., None], inside[..., None]

    def interpolate_row(index: NDArray[np.intp]) -> FloatImage:
        # Beyond the last column or row the weight is 0, so which pixel is read there does not matter.
        low = pixels.take(index, axis=0, mode="clip")
        step = pixels.take(index + 1, axis=0, mode="clip")
        step -= low
        step *= weight_x
        low += step
        return low

    upper, lower = interpolate_row(corner), interpolate_row(corner + width)
    lower -= upper
    lower *= weight_y
    upper += lower
    upper *= inside
    return upper


def sample_translation(rng: np.random.Generator, settings: Mapping[str, Any], shape: Shape) -> TranslationParameters:
    """A length from the level's range (in shorter sides) in a direction drawn uniformly, in whole pixels."""
    length = rng.uniform(*settings["shift_range"]) * min(shape)
    direction = rng.uniform(0.0, 2 * math.pi)
    return TranslationParameters(down=round(length * math.sin(direction)), right=round(length * math.cos(direction)))


def translate_image(image: FloatImage, parameters: TranslationParameters) -> FloatImage:
    """Moved as a whole on the same canvas; what comes in is black. Whole pixels, so nothing is blurred."""
    height, width = image.shape[:2]
    down, right = parameters.down, parameters.right
    moved = np.zeros_like(image)
    if abs(down) < height and abs(right) < width:
        moved[max(down, 0) : height + min(down, 0), max(right, 0) : width + min(right, 0)] = image[
            max(-down, 0) : height + min(-down, 0), max(-right, 0) : width + min(-right, 0)
        ]
    return moved


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("object_rotation", sample_rotation, rotate_image, rounding="nearest", record=RotationParameters),
    Degradation(
        "object_movement", sample_translation, translate_image, rounding="nearest", record=TranslationParameters
    ),
)
