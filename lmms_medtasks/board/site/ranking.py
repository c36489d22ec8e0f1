"""Where each model stands on a measure: its mean, its rank, and the ranks that chance leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Distribution, Statistic, mean
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.estimates import Custom, Draw, measured

_TIED = 1e-12
SHORT = (
    "Rank intervals: from the models that are better beyond chance to those that are not worse beyond chance; those of "
    "a column hold together in 95 % of samples. More at the foot of the page."
)
"""For below a table."""

MEANING = (
    "Rank: 1 and the number of models with a better mean on the questions that all of them have a score for; tied "
    "models share it. The interval runs from 1 and the number of models that are better beyond chance to the number of "
    "models that are not worse beyond chance. Differences are paired by question, and images are drawn with all their "
    "questions; a pair counts as different where the largest studentised difference of all pairs would by chance stay "
    "below its own in 95 % of samples, so that all the intervals of a column hold together (Mogstad, Romano, Shaikh "
    "and Wilhelm, 2024). A wide interval says that the questions can't tell the models apart, not that they are alike."
)
"""For the foot of a page with ranks."""


@dataclass(frozen=True)
class Standing:
    """A model on a measure.

    Attributes:
        mean: over all its questions with a score, in the measure's own unit, with the 95 % interval.
        rank, low, high: on the questions common to all; None where there are none. ``low`` and ``high`` are None with
            fewer than two clusters, one model, or without resamples.
        common: number of these questions.
    """

    mean: Interval
    rank: int | None
    low: int | None
    high: int | None
    common: int


def standings(
    entries: Sequence[Entry], metric: str, *, higher_is_better: bool | None = None, resamples: int = RESAMPLES
) -> list[Standing]:
    """The standing of each of ``entries`` (all of one task, with this metric), in their order.

    ``higher_is_better``: as the metric says, unless given.

    The same entries give the same standings whatever else is on the board, and whatever their order.
    """
    means = [entry.interval(metric, resamples > 0) for entry in entries]
    found = _common(entries, metric, resamples)
    if higher_is_better is None and entries:
        higher_is_better = entries[0].scale(metric).higher_is_better
    if not found:
        return [Standing(each, None, None, None, 0) for each in means]
    estimates = np.array([each.estimate for each in found]) * (1 if higher_is_better else -1)
    ahead = estimates[:, None] > estimates[None, :] + _TIED
    better = _beyond_chance(found)
    better = better if higher_is_better else better.T
    counted = resamples > 0 and len(entries) > 1 and found[0].clusters > 1
    return [
        Standing(
            mean=means[row],
            rank=1 + int(ahead[:, row].sum()),
            low=1 + int(better[:, row].sum()) if counted else None,
            high=len(entries) - int(better[row].sum()) if counted else None,
            common=found[0].n,
        )
        for row in range(len(entries))
    ]


def _common(entries: Sequence[Entry], metric: str, resamples: int) -> list[Distribution]:
    """The means on the questions that all have a score for, on the same resamples; [] without such a question."""
    scored = [entry.scored(metric) for entry in entries]
    ids = [entry.questions.ids[rows.rows] for entry, rows in zip(entries, scored, strict=True)]
    common = reduce(
        lambda left, right: left if left is right or np.array_equal(left, right) else np.intersect1d(left, right), ids
    )
    if not len(common):
        return []
    rows = [each.take(np.searchsorted(own, common)) for each, own in zip(scored, ids, strict=True)]
    measure = entries[0].scale(metric).name
    groups = {str(number): measured(each, measure) for number, each in enumerate(rows)}
    together = Draw(groups, {name: Statistic(mean, (name,)) for name in groups})
    return list(Custom(function=lambda _: together).distributions(rows[0], resamples).values())


def _beyond_chance(found: Sequence[Distribution]) -> np.ndarray:
    """(models, models) booleans: the row's mean is higher than the column's, jointly at 5 % over all pairs."""
    estimates = np.array([each.estimate for each in found])
    values = np.stack([each.values for each in found], axis=1)
    above = np.zeros((len(found),) * 2, dtype=bool)
    first, second = np.triu_indices(len(found), k=1)
    if not len(first) or not len(values):
        return above
    differences = estimates[first] - estimates[second]
    drawn = values[:, first] - values[:, second]
    spread = drawn.std(axis=0)
    varied = spread > _TIED
    studentised = np.abs(drawn - differences)[:, varied] / spread[varied]
    critical = np.quantile(studentised.max(axis=1), 0.95) if varied.any() else 0.0
    # Models that differ alike on every image: the bootstrap shows no variation, so a sign test over the images decides.
    certain = 2.0 ** (1 - found[0].clusters) <= 0.05 / len(first)
    told = np.where(varied, np.abs(differences) > critical * spread, (np.abs(differences) > _TIED) & certain)
    above[first, second] = told & (differences > 0)
    above[second, first] = told & (differences < 0)
    return above
