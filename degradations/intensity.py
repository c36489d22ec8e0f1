"""Intensity jitter: a shift, a gamma, a narrower range (paper, 0.A.4, "Intensity Jitter")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape

_GREY_LEVELS = 255


@dataclass(frozen=True)
class BrightnessParameters(Parameters):
    """``offset``: grey levels of 255 that are added."""

    offset: int


@dataclass(frozen=True)
class ExposureParameters(Parameters):
    """``gamma``: exponent on intensity in [0, 1]; ``offset``: grey levels of 255 added afterwards."""

    gamma: float
    offset: int


@dataclass(frozen=True)
class ContrastParameters(Parameters):
    """``factor``: multiplies every sample's distance from the mean of all samples."""

    factor: float


def sample_brightness(_: np.random.Generator, settings: Mapping[str, Any], __: Shape) -> BrightnessParameters:
    """Nothing is drawn: the authors use one value a level."""
    return BrightnessParameters(offset=int(settings["offset"]))


def adjust_brightness(image: FloatImage, parameters: BrightnessParameters) -> FloatImage:
    """``v + offset``; the caller clips. Exact on the authors' images."""
    return image + np.float32(parameters.offset / _GREY_LEVELS)


def sample_exposure(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> ExposureParameters:
    """Under- or over-exposed: with the same generator the same at both levels, one value each."""
    over = "over_" if rng.random() < float(settings["over_share"]) else ""
    return ExposureParameters(gamma=float(settings[f"{over}gamma"]), offset=int(settings[f"{over}offset"]))


def apply_exposure(image: FloatImage, parameters: ExposureParameters) -> FloatImage:
    """``v ** gamma + offset``; the caller clips and floors, as in the authors' ``floor(255 v^gamma) + offset``."""
    exposed = np.power(image, np.float32(parameters.gamma))
    exposed += np.float32(parameters.offset / _GREY_LEVELS)
    return exposed


def sample_contrast(_: np.random.Generator, settings: Mapping[str, Any], __: Shape) -> ContrastParameters:
    """Nothing is drawn: one value a level."""
    return ContrastParameters(factor=float(settings["factor"]))


def reduce_contrast(image: FloatImage, parameters: ContrastParameters) -> FloatImage:
    """``m + factor (v - m)`` with ``m`` the mean of all samples of all channels. Exact on the authors' images."""
    factor = np.float32(parameters.factor)
    # The mean is summed in float64 so that it does not depend on how the array is split.
    mean = float(image.mean(dtype=np.float64))
    reduced = image * factor
    reduced += np.float32(mean * (1.0 - parameters.factor))
    return reduced


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("adjust_brightness", sample_brightness, adjust_brightness, record=BrightnessParameters),
    Degradation("exposure", sample_exposure, apply_exposure, record=ExposureParameters),
    Degradation("reduce_contrast", sample_contrast, reduce_contrast, record=ContrastParameters),
)
