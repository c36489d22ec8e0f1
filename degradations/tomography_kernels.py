"""The two inner loops of tomography, compiled by Numba when they are first used (see :mod:`.compiling`).

Importing this module imports Numba, so it is imported where a kernel is called. Compiling both takes two seconds of one
core, once for an installation.

Each loop is split into one that computes indices and one that gathers, because LLVM vectorises each but not both
together. No sum runs along a vector, so a result depends neither on the width of the machine's vectors nor on how the
work is shared between threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lmms_medtasks.degradations.compiling import compiled

_ONE = np.uint64(1)


@compiled
def _interpolate(values: Any, index: Any, fraction: Any, weight: Any, total: Any) -> None:
    """Adds ``weight`` times ``values``, interpolated at ``index + fraction``, to ``total``."""
    for i in range(np.uint64(total.size)):
        k = np.uint64(np.uint32(index[i]))  # unsigned, or Numba would test every index for being negative
        low = values[k]
        total[i] += (low + fraction[i] * (values[k + _ONE] - low)) * weight[i]


@compiled
def _at(start: Any, slope: Any, step: Any, last: Any, index: Any, fraction: Any) -> None:
    """Positions ``start + slope * step``, kept within [0, last], as whole part and fraction."""
    for i in range(start.size):
        position = min(max(start[i] + slope[i] * step, np.float32(0)), last)
        whole = np.int32(position)
        index[i] = whole
        fraction[i] = position - np.float32(whole)


@compiled
def _shadow(columns: Any, row_terms: Any, last: Any, exact: Any, index: Any, fraction: Any, weight: Any) -> None:
    """Where the pixels of a row cast their shadow on the detector, and the weight of that view for them.

    ``row_terms``: position and magnification are (p0 + p1 x) / (m0 + m1 x) + centre and 1 / (m0 + m1 x).
    """
    p0, p1, m0, m1, centre = row_terms
    for i in range(index.size):
        magnification = np.float32(1) / (m0 + m1 * columns[i])
        position = min(max((p0 + p1 * columns[i]) * magnification + centre, np.float32(0)), last)
        whole = np.int32(position)
        index[i] = whole
        fraction[i] = position - np.float32(whole)
        weight[i] = magnification * (np.float32(1) + exact * (magnification - np.float32(1)))


@compiled
def project(
    image: Any, top: Any, left: Any, transposed: Any, sines: Any, cosines: Any, curvature: Any, views: Any
) -> None:
    """Writes to ``views``, (V, M), the rays nearer to the direction of columns than of rows (Joseph's method).

    ``image``: (rows, 1 + columns + 2), the outer columns zero; ``top``, ``left``: where its first sample is, from the
    centre. If ``transposed``, x and y are swapped: image and rays are those nearer to the direction of rows.
    """
    size = views.shape[1]
    start, slope = np.empty(size, np.float32), np.empty(size, np.float32)
    length, where = np.empty(size, np.float32), np.empty(size, np.int64)
    index, fraction = np.empty(size, np.int32), np.empty(size, np.float32)
    ones, total = np.ones(size, np.float32), np.empty(size, np.float32)
    last = np.float32(image.shape[1] - 2)
    for k in range(views.shape[0]):
        count = 0
        for i in range(size):
            u = i - (size - 1) / 2
            # The ray goes through the point at distance u from the centre, on the line square to the central ray.
            x, y = -u * cosines[k], u * sines[k]
            dx, dy = curvature * x - sines[k], curvature * y - cosines[k]
            if transposed:
                x, y, dx, dy = y, x, dy, dx
            if abs(dy) > abs(dx) or (abs(dy) == abs(dx) and not transposed):
                slope[count] = dx / dy
                start[count] = x + (top - y) * dx / dy - left + 1
                length[count] = np.sqrt(1 + (dx / dy) ** 2)
                where[count] = i
                count += 1
        total[:count] = 0
        for row in range(image.shape[0]):
            _at(start[:count], slope[:count], np.float32(row), last, index, fraction)
            _interpolate(image[row], index, fraction, ones, total[:count])
        for i in range(count):
            views[k, where[i]] = total[i] * length[i]


@compiled
def back_project(
    views: Any, sines: Any, cosines: Any, curvature: Any, exact: Any, top: Any, left: Any, image: Any
) -> None:
    """Adds every view's values along its rays to ``image``: (rows, columns), the first pixel at (top, left).

    ``views``: (V, 1 + M + 2), the outer values zero. ``exact``: 1 for the squared magnification, else 0.
    """
    width = image.shape[1]
    columns = np.arange(width).astype(np.float32)
    index, fraction = np.empty(width, np.int32), np.empty(width, np.float32)
    weight = np.empty(width, np.float32)
    last = np.float32(views.shape[1] - 2)
    centre = np.float32((views.shape[1] - 4) / 2 + 1)
    for k in range(views.shape[0]):
        s, c = sines[k], cosines[k]
        for row in range(image.shape[0]):
            y = top + row
            terms = (
                np.float32(s * y - c * left),
                np.float32(-c),
                np.float32(1 - curvature * (s * left + c * y)),
                np.float32(-curvature * s),
                centre,
            )
            _shadow(columns, terms, last, exact, index, fraction, weight)
            _interpolate(views[k], index, fraction, weight, image[row])
