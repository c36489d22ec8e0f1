"""SURE-VQA's corruptions: blur, brightness and noise, each with probability 0.5 and at least one always.

That paper's Appendix D and Table 21, and its public code for what the table leaves open. A family of its own: the
benchmark of realistic shifts compares itself with them; they are none of MedQ-Deg's degradations.

Where we differ: OpenCV's 8-bit blur may round differently in single pixels; the noise is drawn by our generator; 16-bit
and float images are not cut to 8 bits between the steps.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from typing import Any, TypeVar

import numpy as np
import yaml

from lmms_medtasks.degradations import images
from lmms_medtasks.degradations.base import FloatImage, Parameters
from lmms_medtasks.degradations.strength import check_seed
from lmms_medtasks.errors import unknown_name_error
from lmms_medtasks.seeding import seeded_generator

AnyImage = TypeVar("AnyImage")


@dataclass(frozen=True)
class CorruptionParameters(Parameters):
    """What is done, in this order; None where a step is left out.

    ``blur_size``: pixels, side of the Gaussian kernel; ``brightness``: factor on intensity; ``noise_mean`` and
    ``noise_sigma``: of the noise, intensity in [0, 1]; ``noise_seed``: what it is made from.
    """

    blur_size: int | None
    brightness: float | None
    noise_mean: float | None
    noise_sigma: float
    noise_seed: int


@functools.cache
def _load_settings() -> Mapping[str, Any]:
    text = resources.files("lmms_medtasks.degradations").joinpath("corruptions.yaml").read_text(encoding="utf-8")
    return yaml.safe_load(text)


def list_strengths() -> tuple[str, ...]:
    """The names of the strengths, the mildest first."""
    return tuple(_load_settings()["strengths"])


def sample(*, strength: str, seed: int | str) -> CorruptionParameters:
    """Which of the three are applied, and how strongly; depends on ``strength`` and ``seed`` alone.

    Raises UserError for a strength other than low, medium or high, or a wrong seed.
    """
    settings = _load_settings()
    if strength not in settings["strengths"]:
        raise unknown_name_error("corruption strength", strength, settings["strengths"])
    numbers = settings["strengths"][strength]
    rng = seeded_generator("corruption", settings["version"], strength, check_seed(seed))
    chosen = rng.random(3) < settings["probability"]
    if not chosen.any():
        chosen[rng.integers(3)] = True
    brightness = float(rng.uniform(*numbers["brightness_range"]))
    noise_mean = float(rng.uniform(*numbers["noise_mean_range"]))
    return CorruptionParameters(
        blur_size=int(numbers["blur_size"]) if chosen[0] else None,
        brightness=brightness if chosen[1] else None,
        noise_mean=noise_mean if chosen[2] else None,
        noise_sigma=float(settings["noise_sigma"]),
        noise_seed=int(rng.integers(1 << 53)),
    )


def apply_parameters(image: AnyImage, parameters: CorruptionParameters) -> AnyImage:
    """``image`` corrupted as the record says; 8-bit images are rounded after every step, as OpenCV does.

    Raises UserError for a kernel size that Table 21 does not have, or an image that cannot be degraded.
    """
    if parameters.blur_size is not None:
        if parameters.blur_size not in _OPENCV_SMALL_KERNELS:
            raise unknown_name_error("blur size", parameters.blur_size, map(str, _OPENCV_SMALL_KERNELS))
        image = images.degrade(image, lambda unit: _blur_image(unit, parameters.blur_size), rounding="nearest")
    if parameters.brightness is not None:
        image = images.degrade(image, lambda unit: unit * np.float32(parameters.brightness), rounding="nearest")
    if parameters.noise_mean is not None:
        image = images.degrade(image, lambda unit: _add_noise(unit, parameters))
    return image


_OPENCV_SMALL_KERNELS = {
    5: (16, 64, 96, 64, 16),
    7: (8, 28, 56, 72, 56, 28, 8),
    11: (2, 7, 17, 31, 45, 52, 45, 31, 17, 7, 2),
}
"""Gaussian kernels for 8-bit images when no sigma is given, in 256ths: OpenCV computes them in fixed point."""


def _blur_image(image: FloatImage, size: int) -> FloatImage:
    from scipy import ndimage

    kernel = np.array(_OPENCV_SMALL_KERNELS[size]) / 256
    once = ndimage.correlate1d(image, kernel, axis=0, mode="mirror")
    return ndimage.correlate1d(once, kernel, axis=1, mode="mirror")


def _add_noise(image: FloatImage, parameters: CorruptionParameters) -> FloatImage:
    """One noise image, added to every channel."""
    noise = seeded_generator("corruption_noise", parameters.noise_seed).standard_normal(
        image.shape[:2], dtype=np.float32
    )
    noise *= np.float32(parameters.noise_sigma)
    noise += np.float32(parameters.noise_mean)
    return image + (noise if image.ndim == 2 else noise[..., None])
