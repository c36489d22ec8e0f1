"""How a p value is written, everywhere."""

from __future__ import annotations

SMALL = 1e-4
"""Below it a p value is written in powers of ten."""


def p_text(p: float) -> str:
    """A p value with four decimals; a smaller one in powers of ten, so that none is shown as 0.

    >>> p_text(0.0314159), p_text(0.000012), p_text(0.0)
    ('0.0314', '1.2e-05', '<1e-300')
    """
    if p == 0:
        return "<1e-300"  # smaller than a float can say
    return f"{p:.1e}" if p < SMALL else f"{p:.4f}"
