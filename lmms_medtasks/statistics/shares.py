"""Wilson's interval of a share of independent answers that are right or wrong."""

from __future__ import annotations


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927), without continuity correction; ``n`` is 1 or more."""
    from scipy.stats import binomtest

    found = binomtest(successes, n).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)
