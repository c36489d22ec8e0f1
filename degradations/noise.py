"""Gaussian noise (paper, 0.A.4, "Noise")."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Degradation, FloatImage, Parameters, Shape
from lmms_medtasks.degradations.threads import run_in_threads, split_rows
from lmms_medtasks.seeding import stable_seed


@dataclass(frozen=True)
class NoiseParameters(Parameters):
    """``sigma``: multiples of the standard deviation of all samples; ``noise_seed``: what the noise is made from."""

    sigma: float
    noise_seed: int


def sample_noise(rng: np.random.Generator, settings: Mapping[str, Any], _: Shape) -> NoiseParameters:
    """The level's sigma, and a seed for the noise (below 2^53, so that JSON readers in any language keep it)."""
    return NoiseParameters(sigma=float(settings["sigma"]), noise_seed=int(rng.integers(1 << 53)))


def add_noise(image: FloatImage, parameters: NoiseParameters) -> FloatImage:
    """White Gaussian noise, independent for every sample of every channel, also where the image is grey.

    The standard deviation is ``sigma`` times that of all samples, as the authors' images have it, so a constant image
    stays as it is. Every strip of rows of every channel has a generator of its own: the noise does not depend on the
    threads, and a grey image has that of the first channel.
    """
    scale = np.float32(parameters.sigma * _standard_deviation(image))
    noisy = np.empty_like(image)
    planes, clean = (array[..., None] if array.ndim == 2 else array for array in (noisy, image))

    def fill_strip(rows: slice) -> None:
        noise = np.empty((rows.stop - rows.start, image.shape[1]), np.float32)
        for channel in range(planes.shape[2]):
            seed = stable_seed("gaussian_noise", parameters.noise_seed, channel, rows.start)
            _fill_with_normals(noise.reshape(-1), seed)
            noise *= scale
            np.add(noise, clean[rows, :, channel], out=planes[rows, :, channel])

    run_in_threads(fill_strip, split_rows(*image.shape[:2]))
    return noisy


def _fill_with_normals(samples: NDArray[np.float32], seed: int) -> None:
    """Standard normal numbers, each the sum of two from a table of 65,536 equally likely ones.

    A sum has 2^31 different values up to 6 sigma, moments and quantiles as a normal distribution to about 1e-3. It
    takes less than half the time of NumPy's ziggurat, and the raw bits of PCG64, unlike the ziggurat, are promised
    never to change.
    """
    count = len(samples)
    table = _half_normals()
    bits = np.random.PCG64(seed).random_raw(-(-count // 2)).astype("<u8", copy=False).view("<u2")
    table.take(bits[:count], out=samples, mode="wrap")
    samples += table.take(bits[count : 2 * count], mode="wrap")


@functools.cache
def _half_normals() -> NDArray[np.float32]:
    """The centres of 65,536 equally likely parts of a normal distribution, of variance exactly one half."""
    from scipy.special import ndtri

    parts = 1 << 16
    table = ndtri((np.arange(parts) + 0.5) / parts)
    return (table * math.sqrt(0.5) / table.std()).astype(np.float32)


def _standard_deviation(image: FloatImage) -> float:
    """Over all samples, summed in float64: the same for grey stored as one channel or as three, to float32."""
    parts = split_rows(image.shape[0], image.size // image.shape[0])
    mean = sum(float(image[rows].sum(dtype=np.float64)) for rows in parts) / image.size
    squares = sum(float(np.square(image[rows] - mean, dtype=np.float64).sum()) for rows in parts)
    return math.sqrt(squares / image.size)


DEGRADATIONS: tuple[Degradation, ...] = (
    Degradation("gaussian_noise", sample_noise, add_noise, channels="independent", record=NoiseParameters),
)
