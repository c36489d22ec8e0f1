"""Krippendorff's alpha for any number of raters, ratings missing or not.

K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), section D; nominal, ordinal and interval data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from lmms_medtasks.statistics.agreement.measure import Measure, coded
from lmms_medtasks.statistics.intervals import intervals
from lmms_medtasks.statistics.sums import Group, Statistic, StatisticFunction, group

Level = Literal["nominal", "ordinal", "interval"]
ALPHA_LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")


def alpha_of(
    ratings: Sequence[Sequence[float]] | np.ndarray,
    clusters: Sequence[str],
    level: Level,
    *,
    coverage: float | None = None,
) -> Measure:
    """Alpha of (raters, items) ratings with its interval.

    ``clusters``: what is independent, a label an item. Items with fewer than two ratings say nothing and are left out:
    ``interval.n`` is the number of the others. ``coverage`` is the interval's. The value is None when all ratings of
    these are the same. Raises ValueError when the shapes do not fit.
    """
    values = np.asarray(ratings, dtype=float)
    if values.ndim != 2 or values.shape[1] != len(clusters):
        raise ValueError(f"Expected ratings as (raters, {len(clusters)} items), got {values.shape}.")
    used = np.flatnonzero((~np.isnan(values)).sum(0) >= 2)
    kept = values[:, used]
    numbers = coded(kept[~np.isnan(kept)])[0]
    rows, cells = _coincidences(kept, [clusters[item] for item in used.tolist()])
    statistic = _statistic(numbers, cells, level)
    found = intervals({"": rows}, {"": Statistic(statistic, ("",), (-1.0, 1.0), mean=False)}, level=coverage)[""]
    interval = replace(found, n=len(used))
    if interval.estimate is not None:
        return Measure(interval)
    return Measure(interval, "all ratings are the same" if len(used) else "no item has two ratings")


def _coincidences(values: np.ndarray, clusters: Sequence[str]) -> tuple[Group, np.ndarray]:
    """A row for each ordered pair of ratings of an item, that weighs 1 / (ratings of the item - 1).

    ``values``: (raters, items), two ratings at least for each item. The sums over the group's cells are those entries
    of Krippendorff's coincidence matrix that are not 0; the second of what is returned says which, as row * V + column
    of V distinct ratings, ascending.
    """
    given = ~np.isnan(values)
    codes = np.zeros(values.shape, dtype=np.intp)
    numbers, codes[given] = coded(values[given])
    weights = 1 / np.maximum(given.sum(0) - 1, 1)
    places, entries = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for one in range(len(values)):
        for other in range(len(values)):
            if one != other:
                both = np.flatnonzero(given[one] & given[other])
                places.append(both)
                entries.append(codes[one, both] * len(numbers) + codes[other, both])
    order = np.concatenate(places)
    occurring, cells = np.unique(np.concatenate(entries), return_inverse=True)
    labels = [clusters[item] for item in order.tolist()]
    return group(labels, weights[order], cells=cells, cell_count=max(1, len(occurring))), occurring


def _statistic(numbers: np.ndarray, cells: np.ndarray, level: Level) -> StatisticFunction:
    one, other = np.divmod(cells, max(1, len(numbers)))

    def statistic(sums: np.ndarray) -> np.ndarray:
        if not len(cells):
            return np.full(sums.shape[:-2], np.nan)
        pairs = sums[..., 1]
        given = np.add.reduceat(pairs, np.flatnonzero(np.diff(one, prepend=-1)), axis=-1)
        count = given.sum(-1)
        if level == "nominal":
            observed = (pairs * (one != other)).sum(-1)
            expected = count**2 - (given**2).sum(-1)
        else:
            places = _places(numbers, given, level)
            observed = (pairs * (places[..., one] - places[..., other]) ** 2).sum(-1)
            # The squared distances of all pairs are twice the count times those from the mean.
            mean = (given * places).sum(-1) / count
            expected = 2 * count * (given * (places - mean[..., None]) ** 2).sum(-1)
        differ = (given > 0).sum(-1) > 1
        alpha: np.ndarray = 1 - (count - 1) * observed / np.where(differ, expected, np.nan)
        return alpha

    return statistic


def _places(numbers: np.ndarray, given: np.ndarray, level: Level) -> np.ndarray:
    """Where the ratings stand on the scale, (..., V); ``given``: (..., V), how often each was given.

    Ordinal: the ratings given from one to the other, both ends half, are the difference of their middle ranks.
    """
    return given.cumsum(-1) - given / 2 if level == "ordinal" else np.broadcast_to(numbers, given.shape)
