"""Contributions of images to a metric of several models: the basis of comparison, gate and ranks.

A number is a statistic of sums over rows (:mod:`lmms_medtasks.statistics.sums`). Its *contributions* are what each
image adds to it, for each model, on the questions that all of them answered:

* **Linear** statistics (a mean, a macro mean, a mean over units, a contrast of means): each row's value times a weight
  that is the same for all models. Exchanging two models on an image flips the sign of their difference there, so the
  tests that flip signs hold exactly (:mod:`lmms_medtasks.statistics.sign_flip`, ``rank_intervals``).
* **Smooth** ones (a ratio, a fraction, a calibration error): jackknife pseudo-values (Miller 1974). An image adds its
  part to first order only, so the same tests hold for many images ("asymptotic").

A linear statistic whose models do not have the same rows (a unit without a value in one of them) counts as smooth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import FAILED
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.intervals import (
    FEW,
    FEW_IN_GROUP,
    MINIMUM,
    IntervalEstimate,
    estimate_intervals,
    jackknife_deviations,
)
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    DifferenceOf,
    IntervalFrom,
    SumGroup,
    SumStatistic,
    evaluate_statistic,
    make_scored_group,
    mean,
    mean_of_means,
    mean_statistic,
    statistic_bounds,
)
from lmms_medtasks.suites.estimates import EMPTY, Estimate

SCORE_DIGITS = 9
"""Decimals of a score that count: a difference beyond them, the same on every image, would be beyond all chance."""
_WEIGHT_DIGITS = 12
"""Decimals of a row's weight, so that a plain mean's is exactly 1."""
_SAME = 1e-7

MakeRows = Callable[[], QuestionTable]
"""Makes the table of a model's rows, whose ids are distinct: many large tables need not be in memory at once."""


@dataclass(frozen=True)
class Contributions:
    """What k images add to the metric of m models. The numbers are ``sums.sum(0) / sizes.sum()``.

    Attributes:
        sums: (k, m) floats; of smooth numbers to first order, though they add up.
        sizes: (k,) floats, the weight of each image: of a mean its questions. They add up to ``rows``.
        clusters: (k,) names of the images, sorted.
        linear: whether tests that flip signs are exact; else they are asymptotic.
        rows: rows that the number is made of.
        reason: why there are numbers and no contributions (``sums`` is then (0, m)); "" where there are.
        other_rows: whether it is not linear only since the models have not the same rows.
    """

    sums: np.ndarray
    sizes: np.ndarray
    clusters: np.ndarray
    linear: bool
    rows: int
    reason: str = ""
    other_rows: bool = False


@dataclass(frozen=True)
class PairedChange:
    """A number of two models on the same questions, the change (second less first), and its test.

    Attributes:
        first, second: the numbers; None where there is none.
        interval: of the change.
        contributions: of both; None where one of them has no number.
        sums: (k,) floats, what each image adds to the change, in the weight of ``contributions.sizes``.
        p: two-sided, of "on each image the change may as well have the other sign"; None without contributions.
    """

    first: float | None
    second: float | None
    interval: IntervalEstimate
    contributions: Contributions | None
    sums: np.ndarray
    p: float | None


def image_contributions(tables: Sequence[MakeRows], estimate: Estimate, name: str = "") -> Contributions | None:
    """The contributions to ``estimate`` on the rows common to all ``tables``; None if a model has no value there.

    ``name``: of the metric, for the message. Raises UserError where a statistic is declared linear
    (``Statistic(mean=True)``) and its rows do not add up to it.
    """
    chosen = _common_rows(tables, estimate)
    return _linear_contributions(_model_numbers(tables, chosen, estimate), name) or _smooth_contributions(
        _model_numbers(tables, chosen, estimate)
    )


def paired_change(first: MakeRows, second: MakeRows, estimate: Estimate, name: str = "") -> PairedChange:
    """Compare two models by ``estimate``; see :func:`image_contributions`."""
    tables = (first, second)
    first_number, second_number = numbers = list(_model_numbers(tables, _common_rows(tables, estimate), estimate))
    contributions = _linear_contributions(numbers, name) or _smooth_contributions(numbers)
    if contributions is None or first_number is None or second_number is None:
        before, after = (None if number is None else number.value for number in numbers)
        return PairedChange(before, after, EMPTY, None, np.zeros(0), None)
    if contributions.linear:
        apart = {name: rows.columns - first_number.own[name].columns for name, rows in second_number.own.items()}
        sums = _Weighed(first_number).by_image(apart)
    else:
        sums = contributions.sums[:, 1] - contributions.sums[:, 0]
    estimates = _paired_intervals(first_number, second_number, contributions.linear)
    p = None if contributions.reason else sign_flip(sums)
    before, after = estimates["first"].estimate, estimates["second"].estimate
    return PairedChange(before, after, estimates["change"], contributions, sums, p)


@dataclass(frozen=True)
class _MetricGroups:
    """A model's value: the estimate's main statistic, and the groups of all its rows."""

    groups: Mapping[str, SumGroup]
    statistic: AnyStatistic

    @functools.cached_property
    def own(self) -> dict[str, SumGroup]:
        """The groups that the value is of."""
        return {name: self.groups[name] for name in self.statistic.groups}

    @property
    def rows(self) -> int:
        return sum(len(group.clusters) for group in self.own.values())

    @functools.cached_property
    def value(self) -> float | None:
        totals = {}
        for name, each in self.own.items():
            columns = [np.bincount(each.cells, weights, each.cell_count) for weights in (None, *each.columns.T)]
            totals[name] = np.stack(columns, axis=-1)[None]
        (value,) = evaluate_statistic(self.statistic, totals).tolist()
        return None if np.isnan(value) else float(value)


def _common_rows(tables: Sequence[MakeRows], estimate: Estimate) -> list[np.ndarray]:
    """Indices of the rows, in each table, that an estimate is about and that all tables have, question by question.

    Those of a measure have a score of it. Of an estimate that names none, a question is left out where a model has no
    score of a measure since no reply or judgement came, and another has one, unless a model has no score of the measure
    at all.
    """
    shared_tables = [make().shared for make in tables]
    alike = shared_tables[0] is not None and all(shared_table is shared_tables[0] for shared_table in shared_tables)
    rows: list[np.ndarray] = []
    keys: list[np.ndarray] = []
    for make in tables:
        table = make()
        estimated = _estimated_rows(table, estimate)
        rows.append(np.flatnonzero(np.isin(table.rows, estimated.rows)))
        # Of the same questions the numbers of rows do for their ids, which are much larger.
        own = estimated.rows if alike else estimated.column("id").astype(str)
        keys.append(keys[0] if keys and np.array_equal(own, keys[0]) else own)
    if any(key is not keys[0] for key in keys):
        distinct = {id(key): key for key in keys}.values()
        common = functools.reduce(functools.partial(np.intersect1d, assume_unique=True), distinct)
        for model, own in enumerate(keys):
            order = np.argsort(own, kind="stable")
            rows[model] = rows[model][order[np.searchsorted(own[order], common)]]
    if getattr(estimate, "measure", None):
        return rows
    lacking = [_lacks_scores(make().take(each)) for make, each in zip(tables, rows, strict=True)]
    has_scores = np.ones(len(rows[0]), dtype=bool)
    for name, own in lacking[0].items():
        if all(name in model for model in lacking):
            has_scores &= functools.reduce(np.logical_and, (model[name] == own for model in lacking))
    return [indices[has_scores] for indices in rows]


def _lacks_scores(rows: QuestionTable) -> dict[str, np.ndarray]:
    """Measure -> (n,) True where no score exists because no reply or judgement came; a reply may also have no score."""
    came = np.ones(len(rows), dtype=bool)
    if "trials" in rows.columns:
        of, trials = rows.texts("trials")
        came = np.bincount(of[pc.not_equal(trials, FAILED).to_numpy(zero_copy_only=False)], minlength=len(rows)) > 0
    lacking = {}
    for name in rows.measures:
        none = np.isnan(rows.column(f"{name}.score"))
        if not none.all():
            lacking[name] = none & (~came | (rows.column(f"{name}.requested") > 0))
    return lacking


def _estimated_rows(rows: QuestionTable, estimate: Estimate) -> QuestionTable:
    restricted, measure = rows.where(estimate.where), getattr(estimate, "measure", None)
    return restricted.scored(measure) if measure else restricted


def _model_numbers(
    tables: Sequence[MakeRows], chosen: Sequence[np.ndarray], estimate: Estimate
) -> Iterator[_MetricGroups | None]:
    for make, rows in zip(tables, chosen, strict=True):
        drawn = estimate.draw(make().take(rows))
        has_statistic = drawn is not None and estimate.main in drawn.statistics
        yield _MetricGroups(drawn.groups, drawn.statistics[estimate.main]) if drawn and has_statistic else None


class _Weighed:
    """The rows of a linear statistic, their weights in it, and the images that they are of."""

    def __init__(self, number: _MetricGroups) -> None:
        self.groups, self.rows = number.own, number.rows
        images = sorted(set().union(*(group.clusters for group in self.groups.values())))
        self.images = np.array(images, dtype=str)
        codes = {image: code for code, image in enumerate(images)}
        self._codes = {name: np.array([codes[image] for image in each.clusters], dtype=np.intp)
                       for name, each in self.groups.items()}  # fmt: skip
        self._weights = dict(self._find_weights(number.statistic))

    def _find_weights(self, statistic: AnyStatistic) -> Iterator[tuple[tuple[str, int], np.ndarray]]:
        """(group, column) -> (rows,) what a unit of each row adds: the value of sums that are 0 but for one unit."""
        still = {name: np.zeros((each.cell_count, 1 + each.columns.shape[1])) for name, each in self.groups.items()}
        for name, each in self.groups.items():
            still[name][:, 0] = np.bincount(each.cells, minlength=each.cell_count)
        for name, each in self.groups.items():
            for column in range(each.columns.shape[1]):
                units = np.repeat(still[name][None], each.cell_count, axis=0)
                np.fill_diagonal(units[..., 1 + column], 1.0)
                weights = np.round(self.rows * evaluate_statistic(statistic, {**still, name: units}), _WEIGHT_DIGITS)
                if weights.any():
                    yield (name, column), weights[each.cells]

    def has_rows_of(self, number: _MetricGroups) -> bool:
        """Whether another model's value has the same images in the same cells, row by row."""
        others = number.own
        return others.keys() == self.groups.keys() and all(
            each.cell_count == others[name].cell_count
            and each.clusters == others[name].clusters
            and np.array_equal(each.cells, others[name].cells)
            for name, each in self.groups.items()
        )

    def by_image(self, columns: Mapping[str, np.ndarray], digits: int | None = None) -> np.ndarray:
        """(k,) the weighted sums of the values ``columns``, (rows, columns) of each group, of each image."""
        added = np.zeros(len(self.images))
        for (name, column), weights in self._weights.items():
            values = columns[name][:, column]
            values = values if digits is None else np.round(values, digits)
            added += np.bincount(self._codes[name], values * weights, len(added))
        return added

    def contributions(self, sums: Sequence[np.ndarray]) -> Contributions:
        """Those of models with these (k,) sums."""
        sizes = np.zeros(len(self.images))
        for (name, _), weights in self._weights.items():
            sizes += np.bincount(self._codes[name], np.abs(weights), len(sizes))
        sizes *= self.rows / sizes.sum()  # the weights of a contrast add up to the rows on each side
        return Contributions(np.stack(sums, axis=1), sizes, self.images, True, self.rows)


def _is_linear(statistic: AnyStatistic) -> bool:
    if isinstance(statistic, IntervalFrom):
        return _is_linear(statistic.value)
    if isinstance(statistic, SumStatistic):
        return statistic.mean
    return isinstance(statistic, DifferenceOf) and _is_linear(statistic.first) and _is_linear(statistic.second)


def _linear_contributions(numbers: Iterable[_MetricGroups | None], name: str) -> Contributions | None:
    """Contributions to linear statistics; None if one is not linear, rows differ, or a model has no value."""
    base: _Weighed | None = None
    sums: list[np.ndarray] = []
    for number in numbers:
        if number is None or number.value is None or not _is_linear(number.statistic):
            return None
        base = base or _Weighed(number)
        if not base.has_rows_of(number):
            return None
        sums.append(base.by_image({each: rows.columns for each, rows in number.own.items()}, SCORE_DIGITS))
        _check_adds_up(float(sums[-1].sum()) / base.rows, number.value, name)
    return base.contributions(sums) if base else None


def _check_adds_up(total: float, value: float, name: str) -> None:
    if not abs(total - value) <= _SAME * max(1.0, abs(value)):  # nor NaN
        raise UserError(
            f"The metric {name!r} says that it is linear (Statistic(mean=True)): what its rows add to it must add up "
            f"to its value. They give {total:.9g}, its value is {value:.9g}. Declare the statistic with mean=False."
        )


def _smooth_contributions(numbers: Iterable[_MetricGroups | None]) -> Contributions | None:
    """Pseudo-values of each model: the value, and the jackknife's deviation times the images less one."""
    parts: list[tuple[float, list[str], np.ndarray]] = []
    rows, reason, other_rows = 0, "", True
    for number in numbers:
        if number is None or number.value is None:
            return None
        other_rows &= _is_linear(number.statistic)
        images, deviations, why = jackknife_deviations(number.own, number.statistic)
        parts.append((number.value, images, deviations))
        few_in_group = why == FEW and len(images) >= MINIMUM
        rows, reason = max(rows, number.rows), reason or (FEW_IN_GROUP if few_in_group else why)
    if reason:
        return Contributions(np.zeros((0, len(parts))), np.zeros(0), np.zeros(0, str), False, rows, reason)
    images = sorted(set().union(*(model_images for _, model_images, _ in parts)))
    codes = {image: code for code, image in enumerate(images)}
    pseudo = np.tile([value for value, _, _ in parts], (len(images), 1))
    for model, (_, model_images, deviations) in enumerate(parts):
        # Where a model has no row of an image, leaving it out changes nothing.
        pseudo[[codes[image] for image in model_images], model] += (len(images) - 1) * deviations
    share = rows / len(images)
    sizes = np.full(len(images), share)
    return Contributions(pseudo * share, sizes, np.array(images, dtype=str), False, rows, other_rows=other_rows)


def _paired_intervals(first: _MetricGroups, second: _MetricGroups, same_rows: bool) -> dict[str, IntervalEstimate]:
    """Both numbers, and second less first; of a mean, macro or not, with the interval of the rows' differences."""
    sides = {"first": first, "second": second}
    groups = {f"{side} {name}": rows for side, number in sides.items() for name, rows in number.groups.items()}
    statistics = {side: _rename_groups(number.statistic, side) for side, number in sides.items()}
    change: AnyStatistic = DifferenceOf(statistics["second"], statistics["first"])
    plain = first.statistic.value if isinstance(first.statistic, IntervalFrom) else first.statistic
    if same_rows and isinstance(plain, SumStatistic) and plain.function in (mean, mean_of_means):
        rows, others = (number.groups[plain.groups[0]] for number in (first, second))
        apart = others.columns[:, 0] - rows.columns[:, 0]
        groups["pairs"] = make_scored_group(rows.clusters, apart, cells=rows.cells, cell_count=rows.cell_count)
        ranges = [statistic_bounds(number.statistic) for number in (first, second)]
        ends = [end for each in ranges if each for end in each]
        width = None if None in ranges else (min(ends) - max(ends), max(ends) - min(ends))
        change = IntervalFrom(change, mean_statistic("pairs", width, plain.function))
    return estimate_intervals(groups, {**statistics, "change": change})


def draw_together(**sides: tuple[QuestionTable, Estimate]) -> tuple[dict[str, SumGroup], dict[str, AnyStatistic]]:
    """The groups of several estimates, names prefixed with the side, and each side's statistic if it has one."""
    groups: dict[str, SumGroup] = {}
    statistics: dict[str, AnyStatistic] = {}
    for side, (rows, estimate) in sides.items():
        drawn = estimate.draw(rows.where(estimate.where))
        if drawn is not None:
            groups |= {f"{side} {name}": each for name, each in drawn.groups.items()}
            statistics[side] = _rename_groups(drawn.statistics[estimate.main], side)
    return groups, statistics


def _rename_groups(statistic: AnyStatistic, side: str) -> AnyStatistic:
    if isinstance(statistic, SumStatistic):
        return replace(statistic, groups=tuple(f"{side} {group}" for group in statistic.groups))
    if isinstance(statistic, IntervalFrom):
        return IntervalFrom(_rename_groups(statistic.value, side), _rename_groups(statistic.interval_of, side))
    return type(statistic)(_rename_groups(statistic.first, side), _rename_groups(statistic.second, side))
