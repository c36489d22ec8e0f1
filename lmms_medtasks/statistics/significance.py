"""p values: corrected for several tests, and written the same way everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

Correction = Literal["holm", "none"]
"""holm: Holm (1979), the chance of any false win."""


def adjust_p_values(p: Sequence[float], correction: Correction = "holm") -> list[float]:
    """p values corrected for multiple testing, in their order.

    >>> [round(value, 4) for value in adjust_p_values([0.01, 0.04, 0.03])]  # 3 x 0.01; 2 x 0.03; at least that
    [0.03, 0.06, 0.06]
    """
    adjusted = np.array(p, dtype=float)
    if correction == "holm":
        order = np.argsort(adjusted, kind="stable")
        stepped = np.maximum.accumulate(adjusted[order] * np.arange(len(adjusted), 0, -1))
        adjusted[order] = np.minimum(stepped, 1.0)
    corrected: list[float] = adjusted.tolist()
    return corrected


def adjust_known_p_values(p: Sequence[float | None]) -> list[float | None]:
    """Holm's correction over the tests that were made; None (no test) stays None and is not counted.

    >>> adjust_known_p_values([0.01, None, 0.5])
    [0.02, None, 0.5]
    """
    adjusted = iter(adjust_p_values([value for value in p if value is not None]))
    return [None if value is None else next(adjusted) for value in p]


SMALL = 1e-4
"""Below it a p value is written in powers of ten."""


def format_p_value(p: float) -> str:
    """A p value with four decimals; a smaller one in powers of ten, so that none is shown as 0.

    >>> format_p_value(0.0314159), format_p_value(0.000012), format_p_value(0.0)
    ('0.0314', '1.2e-05', '<1e-300')
    """
    if p == 0:
        return "<1e-300"  # smaller than a float can say
    return f"{p:.1e}" if p < SMALL else f"{p:.4f}"
