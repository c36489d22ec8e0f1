"""SURE-VQA, several methods: RR on common questions, tests of it, ranks, what it depends on, wins and losses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.paired_robustness import SwapTest, swap_test
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.sums import scored as scored_group
from lmms_medtasks.statistics.versus import Answer as Scored
from lmms_medtasks.statistics.versus import Versus, versus
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, RANGES, ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_baselines import Condition, Standing, standings
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method, model_of
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, groups, scores
from lmms_medtasks.task_configs.sure_vqa.resampled_tests import (
    PAPER_ALPHA,
    RESAMPLES,
    Comparison,
    WinLoss,
    resampled,
    welch,
    win_loss,
)
from lmms_medtasks.task_configs.sure_vqa.robustness import Sides, differences
from lmms_medtasks.task_configs.sure_vqa.variability import Anova, Spread, anova, anova_of_methods, ranks, spread


@dataclass(frozen=True)
class Compared:
    """The methods under one condition, each on the questions that all of them have a score for.

    ``rr``: method to its RR, the mean over its seeds; None without a value. ``values``: its resampled RR, those of its
    seeds one after the other. ``differences`` and ``swaps``: of each pair of methods the difference in RR with its
    interval, and the paired test of it, on each question's mean score over the seeds. ``questions``: in both tests;
    ``left_out``: questions that some method has no score for.
    """

    condition: Condition
    rr: Mapping[str, float | None]
    values: Mapping[str, np.ndarray]
    differences: Mapping[tuple[str, str], Interval]
    swaps: Mapping[tuple[str, str], SwapTest]
    questions: int
    left_out: int


@dataclass(frozen=True)
class Depends:
    """What RR depends on within a dataset: analyses of variance and spreads over its conditions and the methods."""

    dataset: str
    methods: tuple[str, ...]
    conditions: int
    between_shifts: Anova
    between_methods: Anova
    spread: Spread


class Rank(NamedTuple):
    """A rank by RR (1: the highest, tied ones share their mean), and the ranks that the paired tests leave open."""

    rank: float
    low: int
    high: int


@dataclass(frozen=True)
class Across:
    """Everything about several methods.

    Attributes:
        standings: by condition and method, whether it is better than its baselines.
        ranks: by condition, of the methods that are, where two or more are; see :func:`_ranks`.
        tests: paired by image, all corrected together (Holm).
        welch, welch_wins: tests as the paper does them, and what is counted from these.
    """

    methods: tuple[str, ...]
    compared: Mapping[Condition, Compared]
    standings: Mapping[tuple[Condition, str], Standing]
    ranks: Mapping[Condition, Mapping[str, Rank]]
    tests: tuple[Comparison, ...]
    welch: tuple[Comparison, ...]
    welch_wins: WinLoss
    depends: tuple[Depends, ...]


class Duel(NamedTuple):
    """Wins, ties and losses of one method against another on one test."""

    first: str
    second: str
    condition: Condition
    side: str
    versus: Versus
    adjusted: float | None = None


def across(methods: Sequence[Method], *, resamples: int, every: Sequence[Method] = ()) -> Across:
    """Compare methods under each condition that all of them were run on, corrupted tests apart: no real shifts.

    ``every``: all methods of the report, among which the baselines are looked for.
    """
    shared = set.intersection(*(set(each.shifts) for each in methods)) if methods else set()
    asked = [set(groups(source)) for method in methods for source in method.sources]
    conditions = [
        Condition(shift, kind)
        for shift in sorted(shared, key=lambda each: each.place)
        for kind in KINDS
        if not shift.strength and all((shift, kind) in each for each in asked)
    ]
    compared = {each: _compared(each, methods, resamples) for each in conditions}
    table = {
        condition: {name: value for name, value in each.rr.items() if value is not None}
        for condition, each in compared.items()
        if all(value is not None for value in each.rr.values())
    }
    standing = standings(every or methods, methods, conditions)
    tests = _paired_tests(compared) if resamples else []
    as_paper = welch({condition: each.values for condition, each in compared.items()}) if resamples else []
    return Across(
        methods=tuple(method.name for method in methods),
        compared=compared,
        standings=standing,
        ranks=_ranks(table, standing, tests),
        tests=tuple(tests),
        welch=tuple(as_paper),
        welch_wins=win_loss(as_paper, alpha=PAPER_ALPHA),
        depends=tuple(_depends(table)),
    )


def _paired_tests(compared: Mapping[Condition, Compared]) -> list[Comparison]:
    """The swap test of each pair under each condition, corrected together with Holm."""
    found = [(condition, *pair, swap) for condition, each in compared.items() for pair, swap in each.swaps.items()]
    adjusted = iter(adjust([swap.p for *_, swap in found if swap.p is not None]))
    return [
        Comparison(condition, first, second, swap.difference, swap.p, None if swap.p is None else next(adjusted))
        for condition, first, second, swap in found
    ]


def _ranks(
    table: Mapping[Condition, Mapping[str, float]],
    standing: Mapping[tuple[Condition, str], Standing],
    tests: Sequence[Comparison],
) -> dict[Condition, dict[str, Rank]]:
    """The ranks by RR of the methods that are better than their baselines, where there are two or more.

    A method's best rank is 1 more than the number of methods that the paired tests find more robust, its worst the
    number of methods less those that they find less robust. All of these hold together, since the tests are
    corrected together. Without tests every rank is open.
    """
    found = {}
    for condition, row in table.items():
        own = {name: rr for name, rr in row.items() if standing[condition, name].better}
        if len(own) < 2:
            continue
        above, below = dict.fromkeys(own, 0), dict.fromkeys(own, 0)
        for test in tests:
            if test.condition != condition or test.adjusted is None or test.difference is None:
                continue
            if test.adjusted < confidence.alpha() and test.first in own and test.second in own:
                better, worse = (test.first, test.second) if test.difference > 0 else (test.second, test.first)
                above[worse] += 1
                below[better] += 1
        (places,) = ranks({condition: own}).values()
        found[condition] = {name: Rank(places[name], 1 + above[name], len(own) - below[name]) for name in own}
    return found


def _compared(condition: Condition, methods: Sequence[Method], resamples: int) -> Compared:
    kind = condition.kind
    asked = {
        (method.name, number): source.rows.where(condition.shift.where(kind))
        for method in methods
        for number, source in enumerate(method.sources)
    }
    scored = {key: _scored_keys(rows, kind) for key, rows in asked.items()}
    common = set.intersection(*scored.values())
    every = {key for rows in asked.values() for key in _keys(rows)}
    rows = {key: own.take(np.array([each in common for each in _keys(own)], dtype=bool)) for key, own in asked.items()}
    by_method = {method.name: [rows[method.name, number] for number in range(len(method.sources))]
                 for method in methods}  # fmt: skip
    images, ood = _clusters(next(iter(rows.values())))
    scores = {
        method.name: np.mean([_sorted_scores(rows[method.name, number], kind) for number in range(len(method.sources))],
                             axis=0)
        for method in methods
    }  # fmt: skip
    sides = {
        name: Sides(*(scored_group(images[side].tolist(), own[side]) for side in (~ood, ood)))
        for name, own in scores.items()
    }
    pairs = itertools.combinations(scores, 2) if resamples else ()
    return Compared(
        condition=condition,
        rr={name: _mean_rr([ROBUSTNESS[kind].value(each) for each in own]) for name, own in by_method.items()},
        # All are over the same questions: resamples of one seed draw the same images of each.
        values={
            name: np.concatenate([resampled_rr(kind, each, min(resamples, RESAMPLES)) for each in own])
            for name, own in by_method.items()
        },
        differences={(each.first, each.second): each.difference for each in differences(sides, bounds=RANGES[kind])},
        swaps={pair: swap_test(images.tolist(), ood, *(scores[name] for name in pair)) for pair in pairs},
        questions=len(common),
        left_out=len(every) - len(common),
    )


def _mean_rr(of_seeds: Sequence[float | None]) -> float | None:
    values = [value for value in of_seeds if value is not None]
    return float(np.mean(values)) if len(values) == len(of_seeds) else None


def resampled_rr(kind: str, rows: Samples, resamples: int) -> np.ndarray:
    """(resamples,) RR of closed or open questions on draws of the images."""
    estimate = ROBUSTNESS[kind]
    drawn = estimate.draw(rows.where(estimate.where))
    return resampled(drawn.groups, drawn.statistics["ratio"], resamples) if drawn else np.empty(0)


def _order(rows: Samples) -> list[int]:
    """The places of the questions sorted by test and id: the same questions in every run."""
    keys = _keys(rows)
    return sorted(range(len(keys)), key=keys.__getitem__)


def _clusters(rows: Samples) -> tuple[np.ndarray, np.ndarray]:
    """The image of each question, and whether it is of the OoD test."""
    ordered = rows.take(np.array(_order(rows), dtype=np.intp))
    return ordered.column("cluster").astype(str), ordered.column("set") == "ood"


def _sorted_scores(rows: Samples, kind: str) -> np.ndarray:
    return rows.take(np.array(_order(rows), dtype=np.intp)).column(f"{kind}.score")


def _keys(rows: Samples) -> list[tuple[str, str]]:
    """Test and id of each question."""
    return list(zip(rows.column("set"), rows.column("id"), strict=True))


def _scored_keys(rows: Samples, kind: str) -> set[tuple[str, str]]:
    """Those with a score. Whether a test has any mean at all is for each test to say."""
    return {key for side in SIDES.values() for key in _keys(rows.where(side).scored(kind))}


def _depends(table: Mapping[Condition, Mapping[str, float]]) -> list[Depends]:
    found = []
    datasets = dict.fromkeys(condition.shift.dataset for condition in table)
    for dataset in datasets:
        own = {condition: row for condition, row in table.items() if condition.shift.dataset == dataset}
        methods = tuple(next(iter(own.values())))
        found.append(Depends(dataset, methods, len(own), anova(own), anova_of_methods(own), spread(own)))
    return found


def with_and_without(methods: Sequence[Method]) -> list[tuple[Method, Method]]:
    """The methods that were run both with images and without, as pairs."""
    without = {model_of(method.sources[0]): method for method in methods if not method.image_shown}
    return [
        (method, without[model])
        for method in methods
        if method.image_shown and (model := model_of(method.sources[0])) in without
    ]


def duels(pairs: Sequence[tuple[Method, Method]]) -> list[Duel]:
    """Each pair's wins, ties and losses by shift, kind and test; runs of several seeds are paired seed by seed."""
    found = []
    for first, second in pairs:
        runs = _paired_runs(first, second)
        shared = set(first.shifts) & set(second.shifts)
        for shift in sorted(shared, key=lambda each: each.place):
            for kind, side in itertools.product(KINDS, SIDES):
                one, other = ({
                    key: answer
                    for number, pair in enumerate(runs)
                    for key, answer in _scored(pair[place], shift, side, kind, number)
                } for place in (0, 1))  # fmt: skip
                if one and other:
                    result = versus(one, other)
                    found.append(Duel(first.name, second.name, Condition(shift, kind), side, result))
    adjusted = iter(adjust([each.versus.p for each in found if each.versus.p is not None]))
    return [each if each.versus.p is None else each._replace(adjusted=next(adjusted)) for each in found]


def _paired_runs(first: Method, second: Method) -> list[tuple[Source, Source]]:
    """Runs with the same seed; without any in common the first run of each."""
    other = dict(zip(second.seeds, second.sources, strict=True))
    pairs = [(each, other[seed]) for seed, each in zip(first.seeds, first.sources, strict=True) if seed in other]
    return pairs or [(first.sources[0], second.sources[0])]


def _scored(source: Source, shift: Shift, side: str, kind: str, number: int) -> Iterator[tuple[str, Scored]]:
    """Keyed by question, not by answer: the ids of a task without images may differ."""
    rows = source.rows.where(shift.where(kind, side))
    for question, image, score in zip(rows.column("pair"), rows.column("cluster"), scores(rows, kind), strict=True):
        yield f"{number}\n{question}", Scored(image, score)
