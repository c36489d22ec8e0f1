"""SURE-VQA, several methods: RR on common questions, tests of it, what it depends on, wins and losses."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.robustness import Sides, differences
from lmms_medtasks.statistics.significance import Comparison, WinLoss, welch, win_loss
from lmms_medtasks.statistics.variability import Anova, Spread, anova, anova_of_methods, ranks, spread
from lmms_medtasks.statistics.versus import Answer as Scored
from lmms_medtasks.statistics.versus import Versus, versus
from lmms_medtasks.suites.estimates import measured
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS, ROBUSTNESS, SIDES
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method, model_of
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, groups, scores

RESAMPLES = 100
"""Resamples of RR that Welch's tests compare (SURE-VQA, appendix C.5.1)."""


class Condition(NamedTuple):
    """A shift, for closed or open questions."""

    shift: Shift
    kind: str

    @property
    def label(self) -> str:
        """``SLAKE, question type, open``."""
        return f"{self.shift.label}, {self.kind}"


@dataclass(frozen=True)
class Compared:
    """The methods under one condition, each on the questions that all of them have a score for.

    ``rr``: method to its RR, the mean over its seeds; None without a value. ``values``: its resampled RR, those of its
    seeds one after the other. ``differences``: of each pair of methods' first runs. ``questions``: in both tests;
    ``left_out``: questions that some method has no score for.
    """

    condition: Condition
    rr: Mapping[str, float | None]
    values: Mapping[str, np.ndarray]
    differences: Mapping[tuple[str, str], Interval]
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


@dataclass(frozen=True)
class Across:
    """Everything about several methods. ``ranks`` are of conditions under which every method has a value."""

    methods: tuple[str, ...]
    compared: Mapping[Condition, Compared]
    ranks: Mapping[Condition, Mapping[str, float]]
    tests: tuple[Comparison, ...]
    win_loss: WinLoss
    depends: tuple[Depends, ...]


class Duel(NamedTuple):
    """Wins, ties and losses of one method against another on one test."""

    first: str
    second: str
    condition: Condition
    side: str
    versus: Versus


def across(methods: Sequence[Method], *, resamples: int) -> Across:
    """Compare methods under each condition that all of them were run on, corrupted tests apart: no real shifts."""
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
    found = welch({condition: each.values for condition, each in compared.items()}) if resamples else []
    return Across(
        methods=tuple(method.name for method in methods),
        compared=compared,
        ranks=ranks(table),
        tests=tuple(found),
        win_loss=win_loss(found),
        depends=tuple(_depends(table)),
    )


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
    # All are over the same questions: resamples of one seed draw the same images of each.
    found = {key: ROBUSTNESS[kind].distributions(own, resamples)["ratio"] for key, own in rows.items()}
    by_method = {method.name: [found[method.name, number] for number in range(len(method.sources))]
                 for method in methods}  # fmt: skip
    estimates = {name: [each.estimate for each in own] for name, own in by_method.items()}
    sides = {method.name: _sides(rows[method.name, 0], kind) for method in methods}
    return Compared(
        condition=condition,
        rr={name: None if np.isnan(own).any() else float(np.mean(own)) for name, own in estimates.items()},
        values={name: np.concatenate([each.values[:RESAMPLES] for each in own]) for name, own in by_method.items()},
        differences={(each.first, each.second): each.difference for each in differences(sides)},
        questions=len(common),
        left_out=len(every) - len(common),
    )


def _keys(rows: Samples) -> list[tuple[str, str]]:
    """Test and id of each question."""
    return list(zip(rows.column("set"), rows.column("id"), strict=True))


def _scored_keys(rows: Samples, kind: str) -> set[tuple[str, str]]:
    """Those with a score. Whether a test has any mean at all is for each test to say."""
    return {key for side in SIDES.values() for key in _keys(rows.where(side).scored(kind))}


def _sides(rows: Samples, kind: str) -> Sides:
    return Sides(*(measured(rows.where(side), kind) for side in SIDES.values()))


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
    return found


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
