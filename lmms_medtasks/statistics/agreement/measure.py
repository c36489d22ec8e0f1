"""A coefficient as it is told: with its interval, or with the reason why it has no value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.intervals import Interval

DECIMALS = 9
"""Ratings that agree this far are the same: means of the same labels may differ in the last bit."""


@dataclass(frozen=True)
class Measure:
    """An estimate with its interval (``interval.n`` items were rated), and ``reason`` where the estimate is None."""

    interval: Interval
    reason: str = ""

    @property
    def value(self) -> float | None:
        """The estimate."""
        return self.interval.estimate


def without_value(count: int, reason: str) -> Measure:
    """What is told of ``count`` items for which the coefficient makes no sense, whatever their ratings."""
    return Measure(Interval(None, None, None, count, 0), reason)


def coded(ratings: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct ratings in order, (V,) floats, and which of them each rating is, integers in the ratings' shape."""
    values, codes = np.unique(np.round(ratings, DECIMALS) + 0.0, return_inverse=True)
    return values, codes.reshape(ratings.shape)
