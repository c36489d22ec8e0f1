"""Win rates: whether a judge orders the answers of models as people do.

Med-CMR (section 4.3) reports a "win ratio difference" between people and its judge, at most 0.0449 over its four
dimensions; its formula is not in what we have seen of the paper. Ours:

- A pair is two models' answers to one question (and trial), both rated by one person and both judged.
- In a pair, a model's win is 1 if its answer got the higher rating, 0 if the lower, 1/2 if both got the same; once by
  the person's ratings, once by the judge's.
- A model's win rate is the mean of its wins over all its pairs, whoever the other model is.
- The difference is the win rate by people less that by the judge. Over several models the largest absolute difference
  is told; with two models it is the absolute difference of either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.statistics.agreement import DECIMALS
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals, point_estimates
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    IntervalFrom,
    SumGroup,
    SumStatistic,
    make_sum_group,
    mean,
    mean_of_column,
    mean_statistic,
)


@dataclass(frozen=True)
class ModelContest:
    """The pairs of two models: their clusters, and the wins (0, 1/2, 1) of ``first`` by people and by the judge."""

    first: str
    second: str
    clusters: Sequence[str]
    people: np.ndarray
    judge: np.ndarray


@dataclass(frozen=True)
class ModelWins:
    """Win rates by people and by the judge, and the first less the second. ``n`` of each: pairs."""

    people: IntervalEstimate
    judge: IntervalEstimate
    difference: IntervalEstimate


@dataclass(frozen=True)
class WinRates:
    """Win rates of several models.

    Attributes:
        models: each model over all its pairs.
        largest: the largest absolute difference of any model (its ``n``: pairs of all contests). An absolute value
            has no sign to average out: chance alone makes it greater than 0. It has no interval.
    """

    models: Mapping[str, ModelWins]
    largest: IntervalEstimate


def score_wins(one: Sequence[float] | np.ndarray, other: Sequence[float] | np.ndarray) -> np.ndarray:
    """(n,) wins of the first of two answers' ratings in n pairs: 1, 0, or 1/2 where both are alike."""
    return np.asarray((np.sign(np.round(np.subtract(one, other, dtype=float), DECIMALS)) + 1) / 2)


def compute_win_rates(contests: Sequence[ModelContest]) -> WinRates:
    """Win rates of all models in ``contests``, with intervals over clusters."""
    models = sorted({name for contest in contests for name in (contest.first, contest.second)})
    groups = {name: _group_of_model(name, contests) for name in models}
    statistics: dict[str, AnyStatistic] = {}
    for name in models:
        statistics[f"people {name}"] = mean_of_column(3, name)
        statistics[f"judge {name}"] = mean_of_column(4, name)
        statistics[f"difference {name}"] = IntervalFrom(
            SumStatistic(_win_difference, (name,)), mean_statistic(name, (-1.0, 1.0))
        )
    results = estimate_intervals(groups, statistics)
    largest = SumStatistic(_largest_difference, tuple(models))
    pairs = sum(len(contest.clusters) for contest in contests)
    largest_difference = point_estimates(groups, {"": largest})[""]
    return WinRates(
        models={
            name: ModelWins(results[f"people {name}"], results[f"judge {name}"], results[f"difference {name}"])
            for name in models
        },
        largest=replace(largest_difference, n=pairs, reason="the largest of several has no interval"),
    )


def _group_of_model(name: str, contests: Sequence[ModelContest]) -> SumGroup:
    """Columns: wins by people less by the judge, its parts above and below 0; the wins by people, by the judge."""
    clusters: list[str] = []
    columns: list[tuple[np.ndarray, np.ndarray]] = []
    for contest in contests:
        if name in (contest.first, contest.second):
            clusters += contest.clusters
            columns.append(
                (contest.people, contest.judge) if name == contest.first else (1 - contest.people, 1 - contest.judge)
            )
    people, judge = (np.concatenate([pair[side] for pair in columns]) for side in (0, 1))
    less = people - judge
    return make_sum_group(clusters, less, np.maximum(less, 0), np.maximum(-less, 0), people, judge)


def _win_difference(sums: np.ndarray) -> np.ndarray:
    return np.asarray(mean(sums, 3) - mean(sums, 4))


def _largest_difference(*models: np.ndarray) -> np.ndarray:
    """NaN only where no model has a pair."""
    if not models:
        return np.array([np.nan])
    differences = np.abs(np.stack([_win_difference(sums) for sums in models]))
    known = ~np.isnan(differences)
    return np.where(known.any(0), np.where(known, differences, 0).max(0), np.nan)
