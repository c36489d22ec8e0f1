"""Where each model stands on a measure: its mean, its rank, and the ranks that chance leaves open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.measures import scale
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Distribution, Figure, Interval, bootstrap, mean, part
from lmms_medtasks.statistics.shares import share

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
    entries: Sequence[Entry], measure: str, *, higher_is_better: bool, resamples: int = RESAMPLES
) -> list[Standing]:
    """The standing of each of ``entries`` (all of one task, with this measure), in their order.

    The same entries give the same standings whatever else is on the board, and whatever their order.
    """
    means = [mean_of(entry, measure, resamples) for entry in entries]
    found = _common(entries, measure, resamples)
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


def mean_of(entry: Entry, measure: str, resamples: int = RESAMPLES) -> Interval:
    """The mean of an entry's measure with its interval, as the suite's report has it; no estimate without a score."""
    values = entry.measures[measure].score.floats()
    used = np.flatnonzero(~np.isnan(values))
    if scale(entry.task, measure).interval == "share" and resamples:
        return _share(entry, values, used, resamples)
    return _bootstrap({"": (entry, values, used)}, resamples)[0].interval()


def _share(entry: Entry, values: np.ndarray, used: np.ndarray, resamples: int) -> Interval:
    labels = entry.questions.cluster_labels()
    found = share([{"image_id": labels[row], "score": values[row]} for row in used.tolist()], resamples=resamples)
    clusters = len({labels[row] for row in used.tolist()})
    return Interval(found.estimate, found.low, found.high, found.n, clusters)


def _common(entries: Sequence[Entry], measure: str, resamples: int) -> list[Distribution]:
    """The means on the questions that all have a score for, on the same resamples; [] without such a question."""
    scores = [entry.measures[measure].score.floats() for entry in entries]
    used = [np.flatnonzero(~np.isnan(values)) for values in scores]
    ids = reduce(
        lambda left, right: left if left is right or np.array_equal(left, right) else np.intersect1d(left, right),
        [entry.questions.ids[rows] for entry, rows in zip(entries, used, strict=True)],
    )
    if not len(ids):
        return []
    rows = [np.searchsorted(entry.questions.ids, ids) for entry in entries]
    named = {str(number): each for number, each in enumerate(zip(entries, scores, rows, strict=True))}
    return _bootstrap(named, resamples)


def _bootstrap(parts: Mapping[str, tuple[Entry, np.ndarray, np.ndarray]], resamples: int) -> list[Distribution]:
    rows = {}
    for name, (entry, values, used) in parts.items():
        labels = entry.questions.cluster_labels()
        rows[name] = part([labels[row] for row in used.tolist()], values[used])
    figures = {name: Figure(mean, (name,)) for name in parts}
    # The seed is the reports': a mean of the same questions has the same interval there.
    return list(bootstrap(rows, figures, seed=0, resamples=resamples).values())


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
