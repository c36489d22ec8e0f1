"""Grey levels of 255 in float64, for operators whose truncation must fall as the authors' does on 8-bit images.

Their operators are SciPy filters on uint8 arrays: a float64 sum, cut or rounded. Where the exact value is a whole
number (or a half, when rounding), as happens in one pixel in thirty, the rounding error of that sum decides between two
grey levels. An operator that takes the same sum in the same order falls on the same side, provided that float32 shows
it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lmms_medtasks.degradations.base import FloatImage

_WHOLE = 1e-4
_MISS = 5e-4  # more than the final rounding's margin, in grey levels
_LOWERED = 2e-3


def grey_levels(image: FloatImage) -> tuple[NDArray[np.float64], bool]:
    """``image`` times 255, and whether it is an 8-bit image, whose levels are then exactly whole."""
    levels = image * np.float32(255)
    whole = np.rint(levels)
    levels -= whole
    if max(-float(levels.min()), float(levels.max())) < _WHOLE:
        return whole.astype(np.float64), True
    return image * np.float64(255), False


def lower_near_misses(levels: NDArray[np.float64], at: float = 0.0) -> None:
    """Moves values that are just below a whole number plus ``at`` further down, in place.

    Far enough (0.002 grey levels) that they stay below after the conversion to float32 and the final rounding, which
    lifts what float32 may have lowered.
    """
    miss = np.rint(levels - at)
    miss += at
    miss -= levels
    levels[(miss > 0) & (miss < _MISS)] -= _LOWERED
