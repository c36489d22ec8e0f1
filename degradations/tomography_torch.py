"""The scans of :mod:`.tomography` for a batch of images in torch, on any device.

The same sums as the compiled loops take, in another order, so results differ by rounding alone: on images in [0, 1] by
less than 5e-4 up to 1024 pixels a side (:data:`TOLERANCE`), from float32 positions on the detector. torch is imported
when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import Shape
from lmms_medtasks.degradations.tomography import Scan, Weights, cosine_weights, ramp_response

if TYPE_CHECKING:
    from torch import Tensor

TOLERANCE = 5e-4
"""Largest difference from the compiled loops that is allowed, for images in [0, 1]."""


def project(images: Tensor, scan: Scan) -> Tensor:
    """Line integrals of images (B, H, W), in pixels times intensity: float32 (B, V, M) on the same device."""
    import torch

    views = images.new_zeros((len(images), len(scan.angles), scan.detectors))
    both = []
    for grid in (images, images.transpose(1, 2)):
        first = (-(grid.shape[1] - 1) / 2, -(grid.shape[2] - 1) / 2)
        both.append((torch.nn.functional.pad(grid, (1, 2)), first))
    for k, angle in enumerate(scan.angles):
        for axis, (grid, first) in enumerate(both):
            start, slope, length, where = _rays(angle, scan, axis, first)
            if len(where) == 0:
                continue
            on_device = [torch.from_numpy(values).to(images.device) for values in (start, slope, length, where)]
            views[:, k, on_device[3]] = _along_rays(grid, *on_device[:3])
    return views


def back_project(views: Tensor, scan: Scan, shape: Shape, weights: Weights = "plain") -> Tensor:
    """The sum over all views (B, V, M) of their values at each pixel's shadow, weighted: float32 (B, *shape)."""
    import torch

    padded = torch.nn.functional.pad(views, (1, 2))
    y, x = (torch.arange(n, device=views.device, dtype=torch.float32) - (n - 1) / 2 for n in shape)
    y = y[:, None]
    images = views.new_zeros((len(views), *shape))
    for k, angle in enumerate(scan.angles):
        sine, cosine = float(np.sin(angle)), float(np.cos(angle))
        magnification = 1.0 / (1.0 - scan.curvature * (sine * x + cosine * y))
        position = (sine * y - cosine * x) * magnification + ((scan.detectors - 1) / 2 + 1)
        values = _interpolated(padded[:, k], position.clamp_(0.0, scan.detectors + 1.0))
        images += values * (magnification**2 if weights == "exact" else magnification)
    return images


def reconstruct(views: Tensor, scan: Scan, shape: Shape, weights: Weights = "plain") -> Tensor:
    """Filtered back-projection of (B, V, M) to (B, *shape), normalised by the number of views."""
    import torch
    from scipy import fft

    if weights == "exact":
        views = views * torch.from_numpy(cosine_weights(scan)).to(views.device)
    length = int(fft.next_fast_len(2 * scan.detectors, real=True))
    response = torch.from_numpy(ramp_response(length)).to(views.device)
    filtered = torch.fft.irfft(torch.fft.rfft(views, length) * response, length)[..., : scan.detectors]
    return back_project(filtered, scan, shape, weights) * (np.pi / len(scan.angles))


def _rays(
    angle: float, scan: Scan, axis: int, first: tuple[float, float]
) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32], NDArray[np.int64]]:
    """Start and slope of a view's rays across the rows of a padded grid, their length a row, and which they are.

    Those nearer to axis 0 than to axis 1 of the grid, which is transposed if ``axis`` is 1.
    """
    u = np.arange(scan.detectors) - (scan.detectors - 1) / 2
    x, y = -u * np.cos(angle), u * np.sin(angle)
    dx, dy = scan.curvature * x - np.sin(angle), scan.curvature * y - np.cos(angle)
    if axis == 1:
        x, y, dx, dy = y, x, dy, dx
    where = np.flatnonzero((abs(dy) > abs(dx)) | ((axis == 0) & (abs(dy) == abs(dx))))
    slope = dx[where] / dy[where]
    start = x[where] + (first[0] - y[where]) * slope - first[1] + 1
    return start.astype(np.float32), slope.astype(np.float32), np.hypot(1.0, slope).astype(np.float32), where


def _along_rays(grid: Tensor, start: Tensor, slope: Tensor, length: Tensor) -> Tensor:
    import torch

    rows = torch.arange(grid.shape[1], device=grid.device)
    position = (start[:, None] + slope[:, None] * rows).clamp_(0.0, grid.shape[2] - 2.0)
    flat = grid.reshape(len(grid), -1)
    return _interpolated(flat, position, rows * grid.shape[2]).sum(dim=2) * length


def _interpolated(values: Tensor, position: Tensor, offset: Tensor | int = 0) -> Tensor:
    """``values`` (B, n) at ``offset + position``, of any shape, interpolated linearly: (B, *position.shape)."""
    whole = position.long()
    fraction = position - whole
    index = (whole + offset).reshape(-1)
    low = values.index_select(1, index).reshape(-1, *position.shape)
    high = values.index_select(1, index + 1).reshape(-1, *position.shape)
    return low + fraction * (high - low)
