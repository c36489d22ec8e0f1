"""The numbers of several methods: RR on common questions, tests of it, what it depends on, wins and losses."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.sure_vqa.methods import Method
from lmms_medtasks.report.sure_vqa.reading import KINDS, SIDES, Answer, Shift, Side, Source, of, tests
from lmms_medtasks.statistics.bootstrap import Interval
from lmms_medtasks.statistics.robustness import Sides, differences, draws
from lmms_medtasks.statistics.significance import Comparison, WinLoss, welch, win_loss
from lmms_medtasks.statistics.variability import Anova, Spread, anova, anova_of_methods, ranks, spread
from lmms_medtasks.statistics.versus import Answer as Scored
from lmms_medtasks.statistics.versus import Versus, versus

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
    side: Side
    versus: Versus


def across(methods: Sequence[Method], *, resamples: int) -> Across:
    """Compare methods under each condition that all of them were run on, corrupted tests apart: no real shifts."""
    shared = set.intersection(*(set(each.shifts) for each in methods)) if methods else set()
    conditions = [
        Condition(shift, kind)
        for shift in sorted(shared, key=lambda each: each.place)
        for kind in KINDS
        if not shift.strength and all(each.get(shift, kind) for method in methods for each in method.analyses)
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
    runs = {
        (method.name, number): analysis.source for method in methods for number, analysis in enumerate(method.analyses)
    }
    answers = {key: of(source.shifts[condition.shift], kind=condition.kind) for key, source in runs.items()}
    scored = [{_key(each) for each in own if each.score is not None} for own in answers.values()]
    common = set.intersection(*scored)
    asked = {_key(each) for own in answers.values() for each in own}
    rows = {key: tests([each for each in own if _key(each) in common], condition.kind) for key, own in answers.items()}
    found = draws({f"{name}\n{number}": own for (name, number), own in rows.items()}, resamples=resamples)
    by_method = {
        method.name: [found[f"{method.name}\n{number}"] for number in range(len(method.analyses))] for method in methods
    }
    estimates = {name: [each.estimate for each in own] for name, own in by_method.items()}
    return Compared(
        condition=condition,
        rr={name: None if np.isnan(own).any() else float(np.mean(own)) for name, own in estimates.items()},
        values={name: np.concatenate([each.values[:RESAMPLES] for each in own]) for name, own in by_method.items()},
        differences=_differences({method.name: rows[method.name, 0] for method in methods}, resamples),
        questions=len(common),
        left_out=len(asked) - len(common),
    )


def _differences(rows: Mapping[str, Sides], resamples: int) -> dict[tuple[str, str], Interval]:
    return {(each.first, each.second): each.difference for each in differences(rows, resamples=resamples)}


def _key(answer: Answer) -> tuple[str, str]:
    return answer.side, answer.id


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
    without = {method.analyses[0].source.model: method for method in methods if not method.image_shown}
    return [
        (method, without[model])
        for method in methods
        if method.image_shown and (model := method.analyses[0].source.model) in without
    ]


def duels(pairs: Sequence[tuple[Method, Method]], *, resamples: int) -> list[Duel]:
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
                    result = versus(one, other, resamples=resamples)
                    found.append(Duel(first.name, second.name, Condition(shift, kind), side, result))
    return found


def _paired_runs(first: Method, second: Method) -> list[tuple[Source, Source]]:
    """Runs with the same seed; without any in common the first run of each."""
    other = dict(zip(second.seeds, second.analyses, strict=True))
    pairs = [(each, other[seed]) for seed, each in zip(first.seeds, first.analyses, strict=True) if seed in other]
    return [(one.source, two.source) for one, two in pairs or [(first.analyses[0], second.analyses[0])]]


def _scored(source: Source, shift: Shift, side: Side, kind: str, number: int) -> list[tuple[str, Scored]]:
    """Keyed by question, not by answer: the ids of a task without images may differ."""
    return [
        (f"{number}\n{each.question_id}", Scored(each.image_id, each.score))
        for each in of(source.shifts[shift], side, kind)
    ]
