"""A compiled bilinear resampler. Importing this module imports Numba, so it is imported where it is used."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.compiling import compiled


@compiled
def _mirrored(start: Any, step: Any, length: Any, first: Any, weights: Any, stride: Any) -> None:
    """Where a row is read along one axis, in equal steps: adds the first of two pixels to ``first``, times ``stride``.

    Positions outside are mirrored, at any distance. Pixels are counted in an image with one more on each side;
    ``weights`` gets the weight of the second one. On its own, and with 32-bit integers, this loop becomes vector
    instructions.
    """
    period = 2.0 * length
    inverse = 1.0 / period
    for i in range(first.size):
        # From the image's edge, half a pixel before the first pixel's centre, to the edge and back is a period.
        edge = start + step * np.float64(np.int32(i)) + 0.5
        edge -= period * np.floor(edge * inverse)
        position = min(edge, period - edge) + 0.5
        pixel = np.int32(position)
        weights[i] = np.float32(position - pixel)
        first[i] += pixel * stride


@compiled
def _between(pixels: Any, width: Any, first: Any, weights_x: Any, weights_y: Any, row: Any) -> None:
    """Fills ``row`` from the four pixels around each position."""
    one, below = np.uint64(1), np.uint64(width)
    for i in range(np.uint64(row.size)):
        # Unsigned, or Numba would test every index for being negative.
        upper = np.uint64(np.uint32(first[i]))
        lower = upper + below
        upper_value = pixels[upper] + weights_x[i] * (pixels[upper + one] - pixels[upper])
        lower_value = pixels[lower] + weights_x[i] * (pixels[lower + one] - pixels[lower])
        row[i] = upper_value + weights_y[i] * (lower_value - upper_value)


@compiled
def turned_and_mirrored(
    padded: NDArray[np.float32], cos: float, sin: float, x: float, y: float, moved: NDArray[np.float32]
) -> None:
    """Fills (h, w) ``moved``: pixel (column i, row j) with the image at (x + cos i - sin j, y + sin i + cos j).

    ``padded``: the (H, W) image with its border pixels repeated once, (H + 2, W + 2) float32, C-contiguous, of fewer
    than 2^31 pixels. Bilinear; outside, the image is mirrored at its edges again and again (c b a | a b c | c b a).
    """
    height, width = padded.shape[0] - 2, padded.shape[1] - 2
    stride = np.int32(padded.shape[1])
    pixels = padded.ravel()
    first = np.empty(moved.shape[1], np.int32)
    weights_x, weights_y = np.empty(moved.shape[1], np.float32), np.empty(moved.shape[1], np.float32)
    for j in range(moved.shape[0]):
        first[:] = 0
        _mirrored(x - sin * j, cos, width, first, weights_x, np.int32(1))
        _mirrored(y + cos * j, sin, height, first, weights_y, stride)
        _between(pixels, stride, first, weights_x, weights_y, moved[j])
