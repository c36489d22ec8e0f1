"""What is compared with what: judges with people, people, judges, and repeated judgings with one another."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lmms_medtasks.agreement.judged_answers import TOTAL, AnswerKey, Judged
from lmms_medtasks.agreement.raters import (
    Numbers,
    Side,
    has_verdicts,
    judgings,
    majority_of_judge,
    mean_of,
    number_of,
    of_judge,
    of_rater,
    with_totals,
)
from lmms_medtasks.agreement.ratings import Scores
from lmms_medtasks.statistics.agreement import (
    COEFFICIENTS,
    Contest,
    Level,
    Measure,
    WinRates,
    agreement,
    alpha_of,
    contest,
    win_rates,
    without_value,
)
from lmms_medtasks.statistics.intervals import mean_interval

Kind = Literal["judge and people", "people", "judges", "repeated judgings"]
NAMES = (*COEFFICIENTS, "alpha")
_NO_CATEGORY = "means and totals are no categories"
_TWO_ONLY = "for two raters only"


@dataclass(frozen=True)
class Comparison:
    """Two raters, or all of several, in one measure.

    Attributes:
        group: ``tag = value`` of the answers compared; "" for all. n: answers with two ratings at least.
        alpha_level: ordinal for labels, interval for means and totals. coefficients: by :data:`NAMES`.
    """

    kind: Kind
    raters: tuple[str, ...]
    measure: str
    group: str
    n: int
    alpha_level: Level
    coefficients: Mapping[str, Measure]


@dataclass(frozen=True)
class Wins:
    """The win rates of models in one measure, by people and by one judge."""

    judge: str
    measure: str
    rates: WinRates


@dataclass(frozen=True)
class LeftOut:
    """Answers that people rated and a judge's numbers are not compared for, and why."""

    judge: str
    missing: int
    settled: int


@dataclass(frozen=True)
class Result:
    """All that was compared. ``rated``: answers that people rated."""

    comparisons: tuple[Comparison, ...]
    wins: tuple[Wins, ...]
    left_out: tuple[LeftOut, ...]
    raters: tuple[str, ...]
    rated: int


def compare(
    judged: Judged,
    people: Scores,
    *,
    by: Sequence[str] = (),
    settled: bool = False,
) -> Result:
    """Everything that the runs and the ratings allow to compare, measure by measure.

    What a rule settled says nothing of a judge and is left out, but from comparisons with people if ``settled``, and
    from win rates always not: those are about the benchmark's numbers, whoever they are from. ``by``: tags for whose
    values the judges are compared with people apart.
    """
    people = with_totals(people, judged)
    clusters = {key: answer.cluster for key, answer in judged.by_key().items()}
    compute = _Computer(clusters)
    judges = [name for name in judged.judges if has_verdicts(judged, name, settled)]
    comparisons: list[Comparison] = []
    wins: list[Wins] = []
    for measure in judged.measures:
        raters = [Side(name, of_rater(rows, measure), measure != TOTAL) for name, rows in people.items()]
        raters = [each for each in raters if each.numbers]
        for name in judges:
            side = of_judge(judged, name, measure, settled)
            comparisons += _with_people(compute, side, raters, measure, judged, by)
            majority = majority_of_judge(judged, name, measure, settled)
            if majority:
                comparisons += [compute.two("judge and people", majority, rater, measure) for rater in raters]
            if len(judged.models) > 1 and raters:
                wins.append(Wins(name, measure, _win_rates(judged, name, measure, raters, clusters)))
        comparisons += compute.group("people", raters, measure)
        sides = [of_judge(judged, name, measure, settled=False) for name in judges]
        comparisons += compute.group("judges", sides, measure)
        for name in judges:
            comparisons += compute.group("repeated judgings", judgings(judged, name, measure), measure)
    order: list[Kind] = ["judge and people", "people", "judges", "repeated judgings"]
    comparisons.sort(key=lambda each: order.index(each.kind))
    return Result(
        comparisons=tuple(comparisons),
        wins=tuple(wins),
        left_out=tuple(_left_out(judged, name, people, settled) for name in judges) if people else (),
        raters=tuple(people),
        rated=len({key for rows in people.values() for key in rows}),
    )


class _Computer:
    """Computes comparisons of answers in ``clusters``."""

    def __init__(self, clusters: Mapping[AnswerKey, str]) -> None:
        self._clusters = clusters

    def group(self, kind: Kind, sides: Sequence[Side], measure: str) -> Iterator[Comparison]:
        """All raters together if they are more than two, and each two of them."""
        if len(sides) > 2:
            yield self.several(kind, sides, measure)
        for one, other in itertools.combinations(sides, 2):
            yield self.two(kind, one, other, measure)

    def two(self, kind: Kind, one: Side, other: Side, measure: str, group: str = "") -> Comparison:
        """Two raters, over the answers that both rated."""
        keys = sorted(one.numbers.keys() & other.numbers.keys())
        ratings = np.array([[side.numbers[key] for key in keys] for side in (one, other)])
        clusters = [self._clusters[key] for key in keys]
        found = agreement(ratings[0], ratings[1], clusters)
        labels = one.labels and other.labels
        if not labels:
            found |= {name: without_value(len(keys), _NO_CATEGORY) for name in ("kappa", "exact")}
        return self._comparison(kind, (one.name, other.name), measure, group, ratings, clusters, labels, found)

    def several(self, kind: Kind, sides: Sequence[Side], measure: str) -> Comparison:
        """All raters: alpha, and the share of answers that all who rated them (two at least) rated alike."""
        keys = sorted({key for side in sides for key in side.numbers})
        ratings = np.array([[side.numbers.get(key, math.nan) for key in keys] for side in sides])
        kept = np.flatnonzero((~np.isnan(ratings)).sum(0) >= 2)
        ratings, clusters = ratings[:, kept], [self._clusters[keys[place]] for place in kept.tolist()]
        found = {name: without_value(len(kept), _TWO_ONLY) for name in COEFFICIENTS}
        labels = all(side.labels for side in sides)
        if len(kept) and labels:
            alike = np.isclose(np.nanmax(ratings, 0), np.nanmin(ratings, 0))
            found["exact"] = Measure(mean_interval(clusters, alike.astype(float)))
        else:
            found["exact"] = without_value(len(kept), "no item has two ratings" if labels else _NO_CATEGORY)
        names = tuple(side.name for side in sides)
        return self._comparison(kind, names, measure, "", ratings, clusters, labels, found)

    def _comparison(
        self,
        kind: Kind,
        raters: tuple[str, ...],
        measure: str,
        group: str,
        ratings: np.ndarray,
        clusters: Sequence[str],
        labels: bool,
        found: dict[str, Measure],
    ) -> Comparison:
        level: Level = "ordinal" if labels else "interval"
        found["alpha"] = alpha_of(ratings, clusters, level)
        return Comparison(kind, raters, measure, group, len(clusters), level, found)


def _with_people(
    compute: _Computer, judge: Side, raters: Sequence[Side], measure: str, judged: Judged, by: Sequence[str]
) -> Iterator[Comparison]:
    """The judge with people's mean, in each tag's values apart too, and with each of several raters."""
    if not raters:
        return
    people = mean_of(raters)
    yield compute.two("judge and people", judge, people, measure)
    answers = judged.by_key()
    for tag in by:
        values = sorted({str(answers[key].tags.get(tag, "")) for key in people.numbers})
        for value in values:
            numbers = {
                key: each for key, each in people.numbers.items() if str(answers[key].tags.get(tag, "")) == value
            }
            group = f"{tag} = {value or '(none)'}"
            yield compute.two("judge and people", judge, Side(people.name, numbers, people.labels), measure, group)
    if len(raters) > 1:
        for rater in raters:
            yield compute.two("judge and people", judge, rater, measure)


def _win_rates(
    judged: Judged,
    judge: str,
    measure: str,
    raters: Sequence[Side],
    clusters: Mapping[AnswerKey, str],
) -> WinRates:
    verdicts = of_judge(judged, judge, measure, settled=True).numbers
    contests = [
        _contest(one, other, raters, verdicts, clusters) for one, other in itertools.combinations(judged.models, 2)
    ]
    return win_rates(contests)


def _contest(
    one: str, other: str, raters: Sequence[Side], verdicts: Numbers, clusters: Mapping[AnswerKey, str]
) -> Contest:
    """The pairs of two models: the same question and trial, rated by the same person."""
    rows: list[tuple[str, float, float, float, float]] = []
    for rater in raters:
        for key in sorted(rater.numbers):
            rival = AnswerKey(other, key.id, key.trial)
            if key.model != one or rival not in rater.numbers or not {key, rival} <= verdicts.keys():
                continue
            rows.append((clusters[key], rater.numbers[key], rater.numbers[rival], verdicts[key], verdicts[rival]))
    names, *numbers = zip(*rows, strict=True) if rows else ((),) * 5
    return contest(one, other, names, (numbers[0], numbers[1]), (numbers[2], numbers[3]))


def _left_out(judged: Judged, judge: str, people: Scores, settled: bool) -> LeftOut:
    rated = {key for rows in people.values() for key in rows}
    own = {answer.key: answer for answer in judged.answers if answer.judge == judge}
    measure = judged.measures[0]
    missing = sum(key not in own or number_of(own[key], measure) is None for key in rated)
    by_rule = sum(key in own and own[key].settled for key in rated)
    return LeftOut(judge, missing, 0 if settled else by_rule)
