"""Several models side by side: the inter-model Dunning-Kruger effect, and whether task sets rank models alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lmms_medtasks.report.medq_deg.analysis import Analysis
from lmms_medtasks.samples.runs import distinct_names
from lmms_medtasks.statistics import accuracy as _accuracy
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Part, part
from lmms_medtasks.statistics.calibration import Calibration, calibration, calibration_part
from lmms_medtasks.statistics.ranks import (
    InterModelDKE,
    InterModelDKEIntervals,
    RankConsistency,
    RankConsistencyIntervals,
    inter_model_dke,
    inter_model_dke_intervals,
    rank_consistency,
    rank_consistency_intervals,
)
from lmms_medtasks.statistics.votes import VoteTable, common

_SEVERITY = {0: "clean", 1: "mild", 2: "severe"}


@dataclass(frozen=True)
class Condition:
    """A task set at a level, and the models' votes on the questions that all of them were asked there.

    ``left_out``: questions that only some of the models were asked.
    """

    label: str
    tables: Mapping[str, VoteTable]
    questions: int
    left_out: int

    def accuracies(self) -> dict[str, float | None]:
        """Accuracy by model."""
        return {
            model: _accuracy.accuracy([{"score": float(score)} for score in table.scores if not np.isnan(score)])
            for model, table in self.tables.items()
        }

    def score_parts(self) -> dict[str, Part]:
        """The bootstrap's rows of each model: the scores of the questions with a reply."""
        return {model: _score_part(table) for model, table in self.tables.items()}


@dataclass(frozen=True)
class Overconfidence:
    """Equation 6 in one condition, and the figures that it is of."""

    condition: Condition
    points: Mapping[str, Calibration]
    dke: InterModelDKE
    intervals: InterModelDKEIntervals


@dataclass(frozen=True)
class Agreement:
    """How alike two conditions rank the models."""

    first: str
    second: str
    ranks: RankConsistency
    intervals: RankConsistencyIntervals


@dataclass(frozen=True)
class Comparison:
    """``bump`` has each condition's ranks of the models that are in all of them, 1 is best; {} with fewer than two."""

    overconfidence: tuple[Overconfidence, ...]
    agreements: tuple[Agreement, ...]
    bump: Mapping[str, Mapping[str, float]]
    not_in_bump: tuple[str, ...]


def model_names(analyses: Sequence[Analysis]) -> list[str]:
    """A name for each: the model's, with the run's date and then a number where two runs of a task set share it."""
    return distinct_names([each.source.run for each in analyses], [each.source.kind for each in analyses])


def compare(analyses: Sequence[Analysis], *, resamples: int = RESAMPLES) -> Comparison:
    """Compare at least two analyses. Conditions with fewer than two models have nothing to compare and are left out."""
    found = _conditions(analyses)
    bump, missing = _bump(found)
    return Comparison(
        overconfidence=tuple(_overconfidence(condition, resamples) for condition in found),
        agreements=tuple(_agreement(*two, resamples) for two in combinations(found, 2)),
        bump=bump,
        not_in_bump=missing,
    )


def _conditions(analyses: Sequence[Analysis]) -> list[Condition]:
    names = model_names(analyses)
    # Simulated before release: the order of the paper's bump chart.
    kinds = sorted({each.source.kind for each in analyses}, key=lambda kind: (kind[0] == "release", *kind[1:]))
    found = []
    for kind in kinds:
        label = next(each.source.label for each in analyses if each.source.kind == kind)
        for level, severity in _SEVERITY.items():
            tables = {
                name: each.tables[level]
                for name, each in zip(names, analyses, strict=True)
                if each.source.kind == kind and level in each.tables
            }
            if len(tables) > 1:
                cut = common(tables)
                questions = len(next(iter(cut.values())))
                asked = len(set().union(*(table.ids for table in tables.values())))
                found.append(Condition(f"{severity} ({label})", cut, questions, asked - questions))
    return found


def _overconfidence(condition: Condition, resamples: int) -> Overconfidence:
    points = {model: calibration(table) for model, table in condition.tables.items()}
    parts = {model: calibration_part(table) for model, table in condition.tables.items()}
    return Overconfidence(
        condition=condition,
        points=points,
        dke=inter_model_dke(
            {model: point.accuracy for model, point in points.items()},
            {model: point.shift for model, point in points.items()},
        ),
        intervals=inter_model_dke_intervals(parts, resamples=resamples),
    )


def _agreement(first: Condition, second: Condition, resamples: int) -> Agreement:
    return Agreement(
        first=first.label,
        second=second.label,
        ranks=rank_consistency(first.accuracies(), second.accuracies()),
        intervals=rank_consistency_intervals(first.score_parts(), second.score_parts(), resamples=resamples),
    )


def _bump(conditions: Sequence[Condition]) -> tuple[dict[str, dict[str, float]], tuple[str, ...]]:
    """Ranks by condition and model, among the models that all conditions have an accuracy of."""
    accuracies = [condition.accuracies() for condition in conditions]
    everyone = sorted(set().union(*accuracies))
    shared = [model for model in everyone if all(each.get(model) is not None for each in accuracies)]
    if len(conditions) < 2 or len(shared) < 2:
        return {}, tuple(everyone)
    cut = [{model: each[model] for model in shared} for each in accuracies]
    ranks = {
        condition.label: {each.model: each.second for each in rank_consistency(cut[0], own).ranks}
        for condition, own in zip(conditions, cut, strict=True)
    }
    return ranks, tuple(model for model in everyone if model not in shared)


def _score_part(table: VoteTable) -> Part:
    used = np.flatnonzero(~np.isnan(table.scores))
    return part([table.image_ids[row] for row in used], table.scores[used])
