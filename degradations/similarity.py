"""How far a degraded image is from the clean one: PSNR and SSIM, as scikit-image computes them by default."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

_WINDOW = 7
_K1, _K2 = 0.01, 0.03


def psnr(clean: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Peak signal-to-noise ratio in dB for a full scale of 255; infinity for equal images.

    >>> psnr(np.zeros((2, 2), np.uint8), np.full((2, 2), 255, np.uint8))
    0.0
    """
    error = float(np.square(clean.astype(np.float64) - other).mean())
    return math.inf if error == 0 else 10 * math.log10(255**2 / error)


def ssim(clean: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    """Mean structural similarity (Wang et al. 2004): 7 x 7 uniform window, K1 0.01, K2 0.03, sample covariance.

    (H, W) or (H, W, C): the mean over the channels. The outer three pixels, where the window does not fit, are left
    out; an image smaller than the window is NaN.
    """
    if clean.ndim == 3:
        return float(np.mean([ssim(clean[..., c], other[..., c]) for c in range(clean.shape[2])]))
    if min(clean.shape) < _WINDOW:
        return math.nan
    from scipy.ndimage import uniform_filter

    x, y = clean.astype(np.float64), other.astype(np.float64)
    mean_x, mean_y = uniform_filter(x, _WINDOW), uniform_filter(y, _WINDOW)
    sample = _WINDOW**2 / (_WINDOW**2 - 1)
    variance_x = sample * (uniform_filter(x * x, _WINDOW) - mean_x**2)
    variance_y = sample * (uniform_filter(y * y, _WINDOW) - mean_y**2)
    covariance = sample * (uniform_filter(x * y, _WINDOW) - mean_x * mean_y)
    c1, c2 = (_K1 * 255) ** 2, (_K2 * 255) ** 2
    quality = (2 * mean_x * mean_y + c1) * (2 * covariance + c2)
    quality /= (mean_x**2 + mean_y**2 + c1) * (variance_x + variance_y + c2)
    edge = _WINDOW // 2
    return float(quality[edge:-edge, edge:-edge].mean())
