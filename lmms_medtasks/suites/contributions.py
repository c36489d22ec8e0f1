"""A number of several models, image by image: what comparison, gate and ranks are made of, whatever the number is.

A number is a statistic of sums over rows (:mod:`lmms_medtasks.statistics.sums`). Its *contributions* are what each
image adds to it, for each model, on the questions that all of them answered:

* **Linear** statistics (a mean, a macro mean, a mean over units, a contrast of means): each row's value times a weight
  that is the same for all models. Exchanging two models on an image flips the sign of their difference there, so the
  tests that flip signs hold exactly (:mod:`lmms_medtasks.statistics.sign_flip`, ``rank_intervals``).
* **Smooth** ones (a ratio, a fraction, a calibration error): jackknife pseudo-values (Miller 1974). They add up to the
  number to first order only, so the same tests hold for many images ("asymptotic").

A linear statistic whose models do not have the same rows (a unit without a value in one of them) counts as smooth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import Interval, estimates, intervals, jackknife
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.sums import (
    AnyStatistic,
    Difference,
    Group,
    Statistic,
    Through,
    evaluate,
    mean,
    mean_of_means,
    mean_statistic,
    scored,
)
from lmms_medtasks.suites.estimates import EMPTY, Draw, Estimate

SCORE_DIGITS = 9
"""Decimals of a score that count: a difference beyond them, the same on every image, would be beyond all chance."""
_WEIGHT_DIGITS = 12
"""Decimals of a row's weight, so that a plain mean's is exactly 1."""
_SAME = 1e-7

MakeRows = Callable[[], Samples]
"""Makes the table of a model's rows: many large tables need not be in memory at once."""
Weights = Mapping[tuple[str, int], np.ndarray]
"""Of a linear statistic: (group, column) -> (cells,) floats. The sum over rows of value times weight, over the number
of rows, is the statistic."""


@dataclass(frozen=True)
class Contributions:
    """What k images add to the number of m models.

    Attributes:
        values: (m,) floats, the numbers on the common rows.
        sums: (k, m) floats; ``sums.sum(0) / sizes.sum()`` are the values, of smooth ones to first order.
        sizes: (k,) floats, the weight of each image: of a mean its questions. They add up to ``rows``.
        clusters: (k,) names of the images, sorted.
        linear: whether tests that flip signs are exact; else they are asymptotic.
        rows: rows that the number is made of.
        reason: why there are numbers and no contributions (``sums`` is then (0, m)); "" where there are.
    """

    values: np.ndarray
    sums: np.ndarray
    sizes: np.ndarray
    clusters: np.ndarray
    linear: bool
    rows: int
    reason: str = ""


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
    interval: Interval
    contributions: Contributions | None
    sums: np.ndarray
    p: float | None


def contributions(tables: Sequence[MakeRows], estimate: Estimate, name: str = "") -> Contributions | None:
    """The contributions to ``estimate`` on the rows common to all ``tables``; None where a model has no number there.

    ``name``: of the metric, for the message. Raises UserError where a statistic is declared linear
    (``Statistic(mean=True)``) and its rows do not add up to it.
    """
    base: Draw | None = None
    values: list[float] = []
    sums: list[np.ndarray] = []
    for drawn in _draws(tables, estimate):
        if drawn is None:
            return None
        base = base or drawn
        if not (_is_linear(drawn.statistics[estimate.main]) and _has_same_rows(base, drawn)):
            return _smooth(list(_draws(tables, estimate)), estimate.main)
        value = _value(drawn, estimate.main)
        if value is None:
            return None
        if not values:
            images, rows = _images(drawn, estimate.main), _rows(drawn, estimate.main)
        values.append(value)
        sums.append(_add_up(drawn, _weights(drawn, estimate.main), images, digits=SCORE_DIGITS))
        _check_adds_up(sums[-1], rows, value, name)
    if base is None:
        return None
    weights = {key: np.abs(each) for key, each in _weights(base, estimate.main).items()}
    sizes = _add_up(base, weights, images, ones=True)
    sizes *= rows / sizes.sum()  # the weights of a contrast add up to one on each side
    return Contributions(np.array(values), np.stack(sums, axis=1), sizes, images, True, rows)


def paired_change(first: MakeRows, second: MakeRows, estimate: Estimate, name: str = "") -> PairedChange:
    """Compare two models by ``estimate``; see :func:`contributions`."""
    found = contributions((first, second), estimate, name)
    one, other = _draws((first, second), estimate) if found is not None else (None, None)
    if found is None or one is None or other is None:
        return PairedChange(None, None, EMPTY, None, np.zeros(0), None)
    sums = found.sums[:, 1] - found.sums[:, 0]
    if found.linear:
        apart = {key: replace(each, columns=other.groups[key].columns - each.columns)
                 for key, each in one.groups.items()}  # fmt: skip
        sums = _add_up(Draw(apart, one.statistics), _weights(one, estimate.main), found.clusters)
    interval = _change(one, other, estimate.main, same_rows=found.linear)
    before, after = found.values.tolist()
    return PairedChange(before, after, interval, found, sums, None if found.reason else sign_flip(sums))


def _draws(tables: Sequence[MakeRows], estimate: Estimate) -> Iterator[Draw | None]:
    """What each model's number is drawn from on the rows common to all, one after the other; None: there is none."""
    common: np.ndarray | None = None
    alike = True
    for make in tables:
        own = _keys(_asked(make(), estimate), estimate)
        alike = alike and (common is None or np.array_equal(common, own))
        common = own if common is None or alike else np.intersect1d(common, own)
    for make in tables:
        rows = _asked(make(), estimate)
        if not alike and common is not None:
            own = _keys(rows, estimate)
            order = np.argsort(own, kind="stable")
            rows = rows.take(order[np.searchsorted(own[order], common)])
        drawn = estimate.draw(rows)
        yield drawn if drawn is not None and estimate.main in drawn.statistics else None


def _asked(rows: Samples, estimate: Estimate) -> Samples:
    """The rows that an estimate is about; of one of a measure those with a score of it."""
    own, measure = rows.where(estimate.where), getattr(estimate, "measure", None)
    return own.scored(measure) if measure else own


def _keys(rows: Samples, estimate: Estimate) -> np.ndarray:
    """(n,) texts that rows common to two models share: the id; without a measure also which measures have a score."""
    ids = rows.column("id").astype(str)
    if getattr(estimate, "measure", None):
        return ids
    had = [~np.isnan(rows.column(f"{each}.score")) for each in sorted(rows.measures)]
    return functools.reduce(np.char.add, (np.where(each, "+", "-") for each in had), ids)


def _is_linear(statistic: AnyStatistic) -> bool:
    if isinstance(statistic, Through):
        return _is_linear(statistic.value)
    if isinstance(statistic, Statistic):
        return statistic.mean and len(statistic.groups) == 1
    return isinstance(statistic, Difference) and _is_linear(statistic.first) and _is_linear(statistic.second)


def _has_same_rows(one: Draw, other: Draw) -> bool:
    """Whether two models' groups have the same images in the same cells, row by row."""
    return one.groups.keys() == other.groups.keys() and all(
        each is other.groups[name]
        or (
            each.cell_count == other.groups[name].cell_count
            and each.clusters == other.groups[name].clusters
            and np.array_equal(each.cells, other.groups[name].cells)
        )
        for name, each in one.groups.items()
    )


def _names(drawn: Draw, main: str) -> list[str]:
    return list(dict.fromkeys(drawn.statistics[main].groups))


def _rows(drawn: Draw, main: str) -> int:
    return sum(len(drawn.groups[name].clusters) for name in _names(drawn, main))


def _images(drawn: Draw, main: str) -> np.ndarray:
    return np.unique(np.concatenate([np.array(drawn.groups[name].clusters, str) for name in _names(drawn, main)]))


def _value(drawn: Draw, main: str) -> float | None:
    groups = {name: drawn.groups[name] for name in _names(drawn, main)}
    return estimates(groups, {main: drawn.statistics[main]})[main].estimate


def _weights(drawn: Draw, main: str) -> Weights:
    """What a unit of each column adds to a linear statistic: its values on sums that are 0 but for one unit."""
    found: dict[tuple[str, int], np.ndarray] = {}
    rows = _rows(drawn, main)

    def walk(statistic: AnyStatistic, sign: float) -> None:
        if isinstance(statistic, Through):
            walk(statistic.value, sign)
        elif isinstance(statistic, Statistic):
            (name,) = statistic.groups
            group = drawn.groups[name]
            counts = np.bincount(group.cells, minlength=group.cell_count)
            for column in range(group.columns.shape[1]):
                units = np.zeros((group.cell_count, group.cell_count, 1 + group.columns.shape[1]))
                units[..., 0] = counts
                units[np.arange(group.cell_count), np.arange(group.cell_count), 1 + column] = 1.0
                added = np.round(sign * rows * evaluate(statistic, {name: units}), _WEIGHT_DIGITS)
                if added.any():
                    found[name, column] = found.get((name, column), 0.0) + added
        else:
            walk(statistic.first, sign)
            walk(statistic.second, -sign)

    walk(drawn.statistics[main], 1.0)
    return found


def _add_up(
    drawn: Draw, weights: Weights, images: np.ndarray, *, digits: int | None = None, ones: bool = False
) -> np.ndarray:
    """(k,) the weighted rows of each image; ``ones``: as if each value were 1."""
    added = np.zeros(len(images))
    for (name, column), weight in weights.items():
        rows = drawn.groups[name]
        values = np.ones(len(rows.clusters)) if ones else rows.columns[:, column]
        values = values if digits is None else np.round(values, digits)
        places = np.searchsorted(images, np.array(rows.clusters, str))
        added += np.bincount(places, values * weight[rows.cells], len(images))
    return added


def _check_adds_up(sums: np.ndarray, rows: int, value: float, name: str) -> None:
    made = float(sums.sum()) / rows
    if abs(made - value) > _SAME * max(1.0, abs(value)):
        raise UserError(
            f"The metric {name!r} says that it is linear (Statistic(mean=True)): what its rows add to it must add up "
            f"to its value. They give {made:.9g}, its value is {value:.9g}. Declare the statistic with mean=False."
        )


def _smooth(draws: Sequence[Draw | None], main: str) -> Contributions | None:
    """Pseudo-values of each model: the value, and the jackknife's deviation times the images less one."""
    there = [each for each in draws if each is not None]
    values = [_value(each, main) for each in there]
    if len(there) < len(draws) or not there or None in values:
        return None
    numbers, rows = np.array(values, dtype=float), max(_rows(each, main) for each in there)
    images = functools.reduce(np.union1d, (_images(each, main) for each in there))
    pseudo = np.repeat(numbers[None], len(images), axis=0)
    for model, each in enumerate(there):
        groups = {name: each.groups[name] for name in _names(each, main)}
        labels, deviations, reason = jackknife(groups, each.statistics[main])
        if reason:
            return Contributions(numbers, np.zeros((0, len(there))), np.zeros(0), images[:0], False, rows, reason)
        pseudo[np.searchsorted(images, labels), model] += (len(labels) - 1) * deviations
    share = rows / len(images)
    return Contributions(numbers, pseudo * share, np.full(len(images), share), images, False, rows)


def _change(one: Draw, other: Draw, main: str, same_rows: bool) -> Interval:
    """Second less first, with the interval of the mean of the rows' differences where it is one, macro or not."""
    (firsts, before), (seconds, after) = (named(each, main, side) for each, side in ((one, "first"), (other, "second")))
    groups = {**firsts, **seconds}
    change: AnyStatistic = Difference(after, before)
    plain = one.statistics[main]
    plain = plain.value if isinstance(plain, Through) else plain
    if same_rows and isinstance(plain, Statistic) and plain.function in (mean, mean_of_means):
        rows, others = one.groups[plain.groups[0]], other.groups[plain.groups[0]]
        apart = others.columns[:, 0] - rows.columns[:, 0]
        groups["pairs"] = scored(rows.clusters, apart, cells=rows.cells, cell_count=rows.cell_count)
        width = plain.bounds and (plain.bounds[0] - plain.bounds[1], plain.bounds[1] - plain.bounds[0])
        change = Through(change, mean_statistic("pairs", width, plain.function))
    return intervals(groups, {"change": change})["change"]


def named(drawn: Draw, main: str, side: str) -> tuple[dict[str, Group], AnyStatistic]:
    """The groups of a draw, and one of its statistics, with ``side`` before their names: to draw two together."""
    groups = {f"{side} {name}": each for name, each in drawn.groups.items()}
    return groups, _renamed(drawn.statistics[main], side)


def _renamed(statistic: AnyStatistic, side: str) -> AnyStatistic:
    if isinstance(statistic, Statistic):
        return replace(statistic, groups=tuple(f"{side} {each}" for each in statistic.groups))
    if isinstance(statistic, Through):
        return Through(_renamed(statistic.value, side), _renamed(statistic.interval_of, side))
    return type(statistic)(_renamed(statistic.first, side), _renamed(statistic.second, side))
