"""A share with its 95 % interval, chosen by what the records are.

Wilson's where they are independent answers that are right or wrong, else the bootstrap over clusters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lmms_medtasks.statistics.bootstrap import RESAMPLES, mean_interval
from lmms_medtasks.statistics.votes import Record


@dataclass(frozen=True)
class Share:
    """A mean of values from 0 to 1 and its interval; None where there is nothing to measure.

    ``n``: records with a value; ``unscored``: those without. ``method``: "wilson" where every value is 0 or 1 and no
    two records share a cluster; "bootstrap" over clusters otherwise.
    """

    estimate: float | None
    low: float | None
    high: float | None
    n: int
    unscored: int
    method: Literal["wilson", "bootstrap"]


def share(
    records: Sequence[Record], *, cluster: str = "image_id", level: float = 0.95, resamples: int = RESAMPLES
) -> Share:
    """The mean ``score`` of ``records`` with its interval. A record without a score is counted and left out.

    >>> found = share([{"image_id": str(n), "score": float(n < 8)} for n in range(10)])
    >>> found.estimate, round(found.low, 4), round(found.high, 4), found.method
    (0.8, 0.4902, 0.9433, 'wilson')
    """
    scored = [record for record in records if "score" in record]
    values = np.array([record["score"] for record in scored], dtype=float)
    clusters = [str(record[cluster]) for record in scored]
    unscored = len(records) - len(scored)
    if len(scored) and np.isin(values, (0.0, 1.0)).all() and len(set(clusters)) == len(clusters):
        low, high = wilson(int(values.sum()), len(values), level)
        return Share(float(values.mean()), low, high, len(values), unscored, "wilson")
    # In an order of their own, so that the numbers do not depend on that of the log.
    order = sorted(range(len(scored)), key=lambda row: (clusters[row], values[row]))
    found = mean_interval([clusters[row] for row in order], values[order], level=level, resamples=resamples)
    return Share(found.estimate, found.low, found.high, found.n, unscored, "bootstrap")


def wilson(successes: int, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion (Wilson 1927), without continuity correction; ``n`` is 1 or more."""
    from scipy.stats import binomtest

    found = binomtest(successes, n).proportion_ci(level, method="wilson")
    return float(found.low), float(found.high)
