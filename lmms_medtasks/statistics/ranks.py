"""Order of models: the inter-model Dunning-Kruger effect, and whether two task sets rank models alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.bootstrap import RESAMPLES, Group, Interval, Statistic, StatisticFunction, bootstrap, mean

_DECIMALS = 12
"""Numbers that agree this far are tied."""


@dataclass(frozen=True)
class InterModelDKE:
    """Equation 6 over all pairs of models.

    Attributes:
        models: the models with both numbers. left_out: those with one of them only, or None for it.
        pairs: pairs of models with different accuracy. same_accuracy: pairs with the same, of which equation 6 says
            nothing. fulfilled: pairs whose less accurate model has the higher shift (a tie in shift is not higher).
        share: fulfilled / pairs; None without pairs. spearman, kendall: of accuracy against shift (tau-b); None where
            a number is the same for all models, or there are fewer than two.
    """

    models: tuple[str, ...]
    left_out: tuple[str, ...]
    pairs: int
    same_accuracy: int
    fulfilled: int
    share: float | None
    spearman: float | None
    kendall: float | None


@dataclass(frozen=True)
class InterModelDKEIntervals:
    """Intervals of an :class:`InterModelDKE` over images, the models being these and no sample of others."""

    share: Interval
    spearman: Interval
    kendall: Interval


@dataclass(frozen=True)
class RankedModel:
    """A model's ranks in two task sets: 1 is best, tied models share their mean rank."""

    model: str
    first: float
    second: float


@dataclass(frozen=True)
class Swap:
    """Two models in opposite order: ``first_better`` is ahead in the first set, ``second_better`` in the second."""

    first_better: str
    second_better: str


@dataclass(frozen=True)
class RankConsistency:
    """How alike two task sets rank the models that both have (section 4.6).

    Attributes:
        ranks: in the order of the first set. only_first, only_second: models that the other set lacks, or has None for.
        swaps: pairs in opposite order; pairs tied in a set are none. pairs: all pairs of models.
        kendall (tau-b), spearman: with ties; None with fewer than two models or all models tied in a set.
    """

    ranks: tuple[RankedModel, ...]
    only_first: tuple[str, ...]
    only_second: tuple[str, ...]
    pairs: int
    swaps: tuple[Swap, ...]
    kendall: float | None
    spearman: float | None


@dataclass(frozen=True)
class RankConsistencyIntervals:
    """Intervals of a :class:`RankConsistency` over the images of both sets, the models being given."""

    kendall: Interval
    spearman: Interval


def inter_model_dke(accuracy: Mapping[str, float | None], shift: Mapping[str, float | None]) -> InterModelDKE:
    """Inter-model Dunning-Kruger effect (equation 6): accuracy of f1 < accuracy of f2 and shift of f1 > shift of f2.

    Equation 6 is of two models; this gives the share of pairs that fulfil it. The numbers are by model, of one set of
    questions at one level. As shift is confidence less accuracy, models of the same confidence fulfil it in every pair,
    and Spearman and Kendall are then -1: the effect is in part arithmetic, so look at confidence beside it.
    """
    models = tuple(sorted(name for name in accuracy if _known(accuracy, name) and _known(shift, name)))
    first, second = (np.array([numbers[name] for name in models], dtype=float) for numbers in (accuracy, shift))
    ahead, more = _signs(first), _signs(second)
    pairs = int((ahead != 0).sum()) // 2
    fulfilled = int((ahead * more < 0).sum()) // 2
    return InterModelDKE(
        models=models,
        left_out=tuple(sorted({*accuracy, *shift} - {*models})),
        pairs=pairs,
        same_accuracy=len(models) * (len(models) - 1) // 2 - pairs,
        fulfilled=fulfilled,
        share=_value(fulfilled_share(first, second)),
        spearman=_value(spearman(first, second)),
        kendall=_value(kendall(first, second)),
    )


def inter_model_dke_intervals(
    models: Mapping[str, Group], *, seed: int | str = 0, resamples: int = RESAMPLES, level: float = 0.95
) -> InterModelDKEIntervals:
    """Intervals over images, the same ones drawn for all models.

    A group for each model, its columns accuracy and confidence
    (:func:`lmms_medtasks.statistics.calibration.calibration_group`).
    Cut the tables to common questions first (:func:`lmms_medtasks.statistics.votes.common`).
    """

    def of(statistic: StatisticFunction) -> StatisticFunction:
        def of_sums(*sums: np.ndarray) -> np.ndarray:
            if not sums:
                return np.full(1, np.nan)
            accuracy = _stacked(sums, 0)
            return statistic(accuracy, _stacked(sums, 1) - accuracy)

        return of_sums

    functions: dict[str, StatisticFunction] = {"share": fulfilled_share, "spearman": spearman, "kendall": kendall}
    statistics = {name: Statistic(of(statistic), tuple(models)) for name, statistic in functions.items()}
    found = bootstrap(models, statistics, seed=seed, resamples=resamples)
    return InterModelDKEIntervals(**{name: each.interval(level) for name, each in found.items()})


def rank_consistency(first: Mapping[str, float | None], second: Mapping[str, float | None]) -> RankConsistency:
    """Compare the order of models in two task sets by a number of which more is better (accuracy), by model."""
    shared = sorted(name for name in first if _known(first, name) and _known(second, name))
    one, other = (np.array([numbers[name] for name in shared], dtype=float) for numbers in (first, second))
    ranks_one, ranks_other = _ranks(-one), _ranks(-other)
    rows = np.lexsort((ranks_other, ranks_one))
    ahead, behind = np.nonzero((_signs(one) > 0) & (_signs(other) < 0))
    return RankConsistency(
        ranks=tuple(RankedModel(shared[row], float(ranks_one[row]), float(ranks_other[row])) for row in rows),
        only_first=tuple(sorted(name for name in first if name not in shared and _known(first, name))),
        only_second=tuple(sorted(name for name in second if name not in shared and _known(second, name))),
        pairs=len(shared) * (len(shared) - 1) // 2,
        swaps=tuple(Swap(shared[better], shared[worse]) for better, worse in zip(ahead, behind, strict=True)),
        kendall=_value(kendall(one, other)),
        spearman=_value(spearman(one, other)),
    )


def rank_consistency_intervals(
    first: Mapping[str, Group],
    second: Mapping[str, Group],
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> RankConsistencyIntervals:
    """Intervals over images for the models that both sets have; a group for each model, its first column the score.

    Images that both sets have are drawn for both alike. A resample in which a model has no rows is left out.
    """
    shared = [name for name in first if name in second]
    groups = {**{f"1/{name}": first[name] for name in shared}, **{f"2/{name}": second[name] for name in shared}}

    def of(statistic: StatisticFunction) -> StatisticFunction:
        def of_sums(*sums: np.ndarray) -> np.ndarray:
            if not sums:
                return np.full(1, np.nan)
            return statistic(_stacked(sums[: len(shared)], 0), _stacked(sums[len(shared) :], 0))

        return of_sums

    functions: dict[str, StatisticFunction] = {"kendall": kendall, "spearman": spearman}
    statistics = {name: Statistic(of(statistic), tuple(groups)) for name, statistic in functions.items()}
    found = bootstrap(groups, statistics, seed=seed, resamples=resamples)
    return RankConsistencyIntervals(**{name: each.interval(level) for name, each in found.items()})


def fulfilled_share(accuracy: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """(...) share of the pairs with different accuracy that fulfil equation 6, of (..., models) numbers.

    NaN without such pairs, or with a NaN among the numbers.
    """
    ahead, more = _signs(accuracy), _signs(shift)
    return _ratio((ahead * more < 0).sum((-2, -1)), (ahead != 0).sum((-2, -1)), accuracy + shift)


def kendall(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) Kendall's tau-b of (..., models) numbers: (concordant - discordant) / sqrt of the pairs untied in each.

    NaN where all are tied, with fewer than two models, or with a NaN among them.
    """
    one, other = _signs(first), _signs(second)
    untied = np.sqrt((one != 0).sum((-2, -1)) * (other != 0).sum((-2, -1)).astype(float))
    return _ratio((one * other).sum((-2, -1)), untied, first + second)


def spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """(...) Spearman's rho of (..., models) numbers: Pearson's correlation of their mean ranks. NaN as Kendall's."""
    # The mean of the ranks is (models + 1) / 2, ties or not.
    one, other = (_ranks(numbers) - (numbers.shape[-1] + 1) / 2 for numbers in (first, second))
    return _ratio((one * other).sum(-1), np.sqrt((one**2).sum(-1) * (other**2).sum(-1)), first + second)


def _known(numbers: Mapping[str, float | None], name: str) -> bool:
    value = numbers.get(name)
    return value is not None and not np.isnan(value)


def _signs(numbers: np.ndarray) -> np.ndarray:
    """(..., models, models) integers: 1 where the row's model has more than the column's, 0 where tied."""
    rounded = np.round(numbers, _DECIMALS)
    above = rounded[..., :, None] > rounded[..., None, :]
    return above.astype(np.int8) - np.swapaxes(above, -1, -2)


def _ranks(numbers: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return rankdata(np.round(numbers, _DECIMALS), axis=-1) if numbers.shape[-1] else numbers


def _ratio(above: np.ndarray, below: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(np.isnan(numbers).any(-1), np.nan, np.asarray(above, dtype=float) / below)


def _stacked(sums: Sequence[np.ndarray], column: int) -> np.ndarray:
    """(..., models) means of a column."""
    return np.stack([mean(each, column) for each in sums], axis=-1)


def _value(number: np.ndarray) -> float | None:
    return None if np.isnan(number) else float(number)
