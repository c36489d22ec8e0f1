"""Inner loops of tomography and of moved images, compiled by Numba when they are first used.

Importing this module imports Numba, so it is imported where a kernel is called. Compiling the two loops of tomography
takes two seconds of one core, once for an installation.

Each loop is split into one that computes indices, one that fetches and one that interpolates, because LLVM vectorises
the first and the last but not all three together. A fetch is one load of two neighbours (:func:`pair_neighbours`). No
sum runs along a vector, so a result depends neither on the width of the machine's vectors nor on how the work is shared
between threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


def compile_function(function: Callable[..., None]) -> Any:
    """``function`` compiled when it is first called, without "fast math": the same bits on every processor.

    The machine code is kept on disk (beside the source, where NUMBA_CACHE_DIR says, or in the user's cache folder) and
    loaded by the next process; where no folder can be written, every process compiles it again.
    """
    # error_model: without it every division has a branch. nogil: strips of an image run at the same time.
    options: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # Numba found no folder that it may write to
        return numba.njit(**options)(function)


_NONE, _ONE, _TWO = np.uint64(0), np.uint64(1), np.uint64(2)


_BLOCK = 128
"""Rays that are followed together through the rows that any of them meets."""

_ROWS = 32
"""Rows of an image that all views are led through before the next."""


def pair_neighbours(values: NDArray[np.float32]) -> NDArray[np.uint64]:
    """A view of ``values``, (rows, N): each value and the one after it as the halves of 64 bits, (rows, N - 1)."""
    rows, length = values.shape
    return np.ndarray((rows, length - 1), np.uint64, np.ascontiguousarray(values), 0, (4 * length, 4))


@compile_function
def _gather_pairs(pairs: Any, index: Any, begin: Any, end: Any, both: Any) -> None:
    """Copies the pairs at ``index`` to ``both``, from ``begin`` to ``end``."""
    for i in range(begin, end):
        # Unsigned, or Numba would test every index for being negative.
        both[i] = pairs[np.uint64(np.uint32(index[i]))]


@compile_function
def _interpolate_pairs(both: Any, fraction: Any, total: Any) -> None:
    """Adds the values between the halves of ``both``, (2 n), at ``fraction`` to ``total``."""
    for i in range(np.uint64(total.size)):
        low = both[_TWO * i]
        total[i] += low + fraction[i] * (both[_TWO * i + _ONE] - low)


@compile_function
def _interpolate_weighted(both: Any, fraction: Any, weight: Any, begin: Any, end: Any, total: Any) -> None:
    """As :func:`_interpolate_pairs`, times ``weight``, from ``begin`` to ``end``."""
    for i in range(begin, end):
        low = both[_TWO * i]
        total[i] += (low + fraction[i] * (both[_TWO * i + _ONE] - low)) * weight[i]


@compile_function
def _sample_positions(start: Any, slope: Any, step: Any, last: Any, index: Any, fraction: Any) -> None:
    """Positions ``start + slope * step``, kept within [0, last], as whole part and fraction."""
    for i in range(start.size):
        position = min(max(start[i] + slope[i] * step, np.float32(0)), last)
        whole = np.int32(position)
        index[i] = whole
        fraction[i] = position - np.float32(whole)


@compile_function
def _shadow_positions(
    columns: Any, row_terms: Any, last: Any, begin: Any, end: Any, index: Any, fraction: Any, weight: Any
) -> None:
    """Where the pixels of a row cast their shadow on the detector, and their magnification, that view's weight.

    ``row_terms``: position and magnification are (p0 + p1 x) / (m0 + m1 x) + centre and 1 / (m0 + m1 x).
    """
    p0, p1, m0, m1, centre = row_terms
    for i in range(begin, end):
        magnification = np.float32(1) / (m0 + m1 * columns[i])
        position = min(max((p0 + p1 * columns[i]) * magnification + centre, np.float32(0)), last)
        whole = np.int32(position)
        index[i] = whole
        fraction[i] = position - np.float32(whole)
        weight[i] = magnification


@compile_function
def _rows_met(start: Any, slope: Any, first: Any, last: Any, rows: Any) -> Any:
    """Rows, from and to, outside which no position ``start + slope * row`` is between ``first`` and ``last``.

    A few rows too many, for positions are rounded: those add exact zeros.
    """
    low, high = rows, 0
    for i in range(start.size):
        position, step = np.float64(start[i]), np.float64(slope[i])
        if abs(step) * rows < 0.25:  # nearly upright
            if first - 1 < position < last + 1:
                return 0, rows
            continue
        one, other = (first - 1 - position) / step, (last + 1 - position) / step
        low = min(low, max(0, int(max(min(one, other), 0.0)) - 1))
        high = max(high, min(rows, int(min(max(max(one, other), -2.0), np.float64(rows))) + 2))
    return low, high


@compile_function
def _row_terms(sine: Any, cosine: Any, curvature: Any, y: Any, left: Any, centre: Any) -> Any:
    """Of :func:`_shadow_positions`, for the row at ``y`` whose first pixel is at ``left``."""
    return (
        np.float32(sine * y - cosine * left),
        np.float32(-cosine),
        np.float32(1 - curvature * (sine * left + cosine * y)),
        np.float32(-curvature * sine),
        centre,
    )


@compile_function
def _columns_seen(first_row: Any, final_row: Any, last: Any, width: Any) -> Any:
    """Columns, from and to, outside which no pixel of rows next to each other casts its shadow on the detector.

    ``first_row``, ``final_row``: :func:`_row_terms`. A few columns too many, for positions are rounded: those add exact
    zeros, as all that are left out would.
    """
    _, p1, _, m1, centre = first_row
    low, high = np.float64(0), np.float64(width)
    # One element beyond each end. Left of it, right of it: p0 + p1 x against position * (m0 + m1 x), m0 + m1 x > 0.
    for position, sign in ((-1.0 - centre, 1.0), (last + 1.0 - centre, -1.0)):
        slope = sign * (p1 - position * m1)
        # Seen from this end is what has slope * x > offset, and the offset is linear in the row.
        offset = min(sign * (position * first_row[2] - first_row[0]), sign * (position * final_row[2] - final_row[0]))
        if abs(slope) * width < 1e-3:  # the end's ray is as good as parallel to the rows
            if offset > 1.0:
                return 0, 0
        elif slope > 0:
            low = max(low, offset / slope - 1)
        else:
            high = min(high, offset / slope + 2)
    low = min(low, np.float64(width))
    return int(low), int(max(low, high))


@compile_function
def project_rays(
    pairs: Any,
    filled: Any,
    top: Any,
    left: Any,
    transposed: Any,
    sines: Any,
    cosines: Any,
    curvature: Any,
    views: Any,
) -> None:
    """Writes to ``views``, (V, M), the rays nearer to the direction of columns than of rows (Joseph's method).

    ``pairs``: :func:`pair_neighbours` of an image (rows, 1 + columns + 2), the outer columns zero; ``filled``: its
    first and last column that are not empty; ``top``, ``left``: where its first sample is, from the centre. If
    ``transposed``, x and y are swapped: image and rays are those nearer to the direction of rows.
    """
    number, size = views.shape
    start, slope = np.empty((number, size), np.float32), np.empty((number, size), np.float32)
    length, where = np.empty((number, size), np.float32), np.empty((number, size), np.int64)
    total, counts = np.zeros((number, size), np.float32), np.zeros(number, np.int64)
    met = np.empty((number, (size + _BLOCK - 1) // _BLOCK, 2), np.int64)
    for k in range(number):
        count = 0
        for i in range(size):
            u = i - (size - 1) / 2
            # The ray goes through the point at distance u from the centre, on the line square to the central ray.
            x, y = -u * cosines[k], u * sines[k]
            dx, dy = curvature * x - sines[k], curvature * y - cosines[k]
            if transposed:
                x, y, dx, dy = y, x, dy, dx
            if abs(dy) > abs(dx) or (abs(dy) == abs(dx) and not transposed):
                slope[k, count] = dx / dy
                start[k, count] = x + (top - y) * dx / dy - left + 1
                length[k, count] = np.sqrt(1 + (dx / dy) ** 2)
                where[k, count] = i
                count += 1
        counts[k] = count
        for block, begin in enumerate(range(0, count, _BLOCK)):
            part = slice(begin, min(begin + _BLOCK, count))
            low, high = _rows_met(start[k, part], slope[k, part], filled[0] - 1, filled[1] + 1, pairs.shape[0])
            met[k, block, 0], met[k, block, 1] = low, high

    index, fraction = np.empty(_BLOCK, np.int32), np.empty(_BLOCK, np.float32)
    both = np.empty(_BLOCK, np.uint64)
    halves = both.view(np.float32)
    last = np.float32(pairs.shape[1] - 1)
    # A few rows at a time, which stay in a core's cache for all views.
    for band in range(0, pairs.shape[0], _ROWS):
        for k in range(number):
            for block, begin in enumerate(range(0, counts[k], _BLOCK)):
                part = slice(begin, min(begin + _BLOCK, counts[k]))
                low, high = max(band, met[k, block, 0]), min(band + _ROWS, met[k, block, 1])
                starts, slopes, totals = start[k, part], slope[k, part], total[k, part]
                for row in range(low, high):
                    _sample_positions(starts, slopes, np.float32(row), last, index, fraction)
                    _gather_pairs(pairs[row], index, _NONE, np.uint64(totals.size), both)
                    _interpolate_pairs(halves, fraction, totals)
    for k in range(number):
        for i in range(counts[k]):
            views[k, where[k, i]] = total[k, i] * length[k, i]


@compile_function
def back_project(pairs: Any, sines: Any, cosines: Any, curvature: Any, top: Any, left: Any, image: Any) -> None:
    """Adds every view's values along its rays to ``image``: (rows, columns), the first pixel at (top, left).

    ``pairs``: :func:`pair_neighbours` of the views, (V, 1 + M + 2), the outer values zero.
    """
    width = image.shape[1]
    columns = np.arange(width).astype(np.float32)
    index, fraction = np.empty(width, np.int32), np.empty(width, np.float32)
    weight, both = np.empty(width, np.float32), np.empty(width, np.uint64)
    halves = both.view(np.float32)
    last = np.float32(pairs.shape[1] - 1)
    centre = np.float32((pairs.shape[1] - 3) / 2 + 1)
    for k in range(pairs.shape[0]):
        s, c, view = sines[k], cosines[k], pairs[k]
        first_row = _row_terms(s, c, curvature, top, left, centre)
        final_row = _row_terms(s, c, curvature, top + image.shape[0] - 1, left, centre)
        low, high = _columns_seen(first_row, final_row, last, width)
        begin, end = np.uint64(low), np.uint64(high)
        for row in range(image.shape[0]):
            terms = _row_terms(s, c, curvature, top + row, left, centre)
            _shadow_positions(columns, terms, last, begin, end, index, fraction, weight)
            _gather_pairs(view, index, begin, end, both)
            _interpolate_weighted(halves, fraction, weight, begin, end, image[row])


@compile_function
def _mirrored_positions(start: Any, step: Any, length: Any, first: Any, weights: Any, stride: Any) -> None:
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


@compile_function
def _interpolate_bilinear(pixels: Any, width: Any, first: Any, weights_x: Any, weights_y: Any, row: Any) -> None:
    """Fills ``row`` from the four pixels around each position."""
    one, below = np.uint64(1), np.uint64(width)
    for i in range(np.uint64(row.size)):
        # Unsigned, or Numba would test every index for being negative.
        upper = np.uint64(np.uint32(first[i]))
        lower = upper + below
        upper_value = pixels[upper] + weights_x[i] * (pixels[upper + one] - pixels[upper])
        lower_value = pixels[lower] + weights_x[i] * (pixels[lower + one] - pixels[lower])
        row[i] = upper_value + weights_y[i] * (lower_value - upper_value)


@compile_function
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
        _mirrored_positions(x - sin * j, cos, width, first, weights_x, np.int32(1))
        _mirrored_positions(y + cos * j, sin, height, first, weights_y, stride)
        _interpolate_bilinear(pixels, stride, first, weights_x, weights_y, moved[j])
