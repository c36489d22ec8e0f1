"""The change of a statistic that is known as a function of all rows only: by resampling units, two conditions at once.

For statistics of others (a macro F1, a correlation) that are neither a mean over rows nor a function of sums, so that
:mod:`lmms_medtasks.statistics.intervals` can't be used. Each resample draws as many units (pictures, with all their
rows) as there are, with replacement, the same ones of both conditions. The interval is the expanded percentile interval
(Hesterberg 2015, "What teachers should know about the bootstrap", section 4.2): percentiles further out than 2.5 and
97.5 by as much as Student's t and the bootstrap's too small variance ask for with few units.

The p value is that of a permutation test: each unit's two conditions change places together. All assignments are
evaluated where they are no more than the resamples, else as many random ones, and the seen one is counted in.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import ALIKE, FEW, MINIMUM

RESAMPLES = 1000
UNDEFINED = "the aggregation gives no number on too many resamples"
_MOST_WITHOUT = 0.05
"""Share of resamples without a value up to which the interval is made of the others."""
_SAME = 1e-9

AnyStatistic = Callable[[Sequence[Any]], "float | None"]


@dataclass(frozen=True)
class ResampledChange:
    """A statistic under two conditions, and its change with interval and test.

    Attributes:
        low, high: ends of the interval of ``second`` less ``first``; None where there is none, for ``reason``.
        p: two-sided; None where the statistic has no value. units, rows: numbers of them.
        resamples: resamples with a value, of which the interval is made. permutations: assignments that were evaluated.
    """

    first: float
    second: float
    low: float | None
    high: float | None
    p: float | None
    units: int
    rows: int
    resamples: int
    permutations: int
    reason: str = ""


def resampled_change(
    statistic: AnyStatistic,
    first: Sequence[Any],
    second: Sequence[Any],
    units: Sequence[str],
    *,
    seed: str | int = 0,
    resamples: int = RESAMPLES,
) -> ResampledChange | None:
    """The change of ``statistic`` from the rows ``first`` to ``second``, which are paired by their place.

    ``units`` names each row's unit. ``statistic`` is called on lists of rows; None or NaN stands for no value. None is
    returned where the data themselves give no value.
    """
    before, after = _value(statistic, first), _value(statistic, second)
    if before is None or after is None:
        return None
    own = rows_of_units(units)
    p, permutations = _permuted(statistic, first, second, own, after - before, seed, resamples)
    made = ResampledChange(before, after, None, None, p, len(own), len(units), 0, permutations, FEW)
    if len(own) < MINIMUM:
        return made
    drawn = [
        _difference(statistic, [first[row] for row in rows], [second[row] for row in rows])
        for rows in resampled_rows(own, resamples, seed)
    ]
    values = np.array([each for each in drawn if each is not None])
    low, high, reason = _interval(values, resamples, len(own))
    return ResampledChange(
        before, after, low, high, p, len(own), len(units), len(values), permutations, reason
    )  # fmt: skip


def rows_of_units(units: Sequence[str]) -> list[np.ndarray]:
    """The numbers of each unit's rows, units in the order in which they come first."""
    found: dict[str, list[int]] = {}
    for row, unit in enumerate(units):
        found.setdefault(unit, []).append(row)
    return [np.array(rows) for rows in found.values()]


def resampled_rows(own: Sequence[np.ndarray], resamples: int, seed: str | int) -> Iterator[np.ndarray]:
    """The rows of each resample. ``own``: as :func:`rows_of_units` gives them. A resample's rows depend on its number
    and the seed, not on how many there are."""
    rng = generator("paired resampling", seed)
    for _ in range(resamples):
        yield np.concatenate([own[unit] for unit in rng.integers(0, len(own), len(own))])


def _interval(values: np.ndarray, resamples: int, units: int) -> tuple[float | None, float | None, str]:
    if len(values) < (1 - _MOST_WITHOUT) * resamples:
        return None, None, UNDEFINED
    if np.ptp(values) <= _SAME * max(1.0, float(np.abs(values).max())):
        return None, None, ALIKE
    from scipy.special import ndtr, stdtrit

    tail = float(ndtr(math.sqrt(units / (units - 1)) * stdtrit(units - 1, (1 - confidence.level()) / 2)))
    low, high = (float(each) for each in np.quantile(values, [tail, 1 - tail]))
    return low, high, ""


def _permuted(
    statistic: AnyStatistic,
    first: Sequence[Any],
    second: Sequence[Any],
    own: Sequence[np.ndarray],
    seen: float,
    seed: str | int,
    most: int,
) -> tuple[float, int]:
    """The p value, and how many assignments it is of. One without a value counts as far out: that is the safe side."""
    exact = len(own) <= math.log2(most)
    far = 0 if exact else 1
    margin = _SAME * max(1.0, abs(seen))
    for swapped in _assignments(len(own), exact, most, seed):
        one, other = list(first), list(second)
        for unit in np.flatnonzero(swapped).tolist():
            for row in own[unit]:
                one[row], other[row] = other[row], one[row]
        found = _difference(statistic, one, other)
        far += found is None or abs(found) >= abs(seen) - margin
    count = 2 ** len(own) if exact else most + 1
    return far / count, count


def _assignments(units: int, exact: bool, most: int, seed: str | int) -> Iterator[np.ndarray]:
    if exact:
        for number in range(2**units):
            yield (number >> np.arange(units)) & 1
        return
    rng = generator("paired permutation", seed)
    for _ in range(most):
        yield rng.integers(0, 2, units)


def _difference(statistic: AnyStatistic, one: Sequence[Any], other: Sequence[Any]) -> float | None:
    before, after = _value(statistic, one), _value(statistic, other)
    return None if before is None or after is None else after - before


def _value(statistic: AnyStatistic, rows: Sequence[Any]) -> float | None:
    found = statistic(rows)
    return found if found is not None and math.isfinite(found) else None
