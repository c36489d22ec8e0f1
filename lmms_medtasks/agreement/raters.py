"""Whoever rated: a person, the mean of several, a judge, or one of its judgings, as numbers by answer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmms_medtasks.agreement.judged_answers import TOTAL, Answer, AnswerKey, Judged
from lmms_medtasks.agreement.ratings import Scores

Numbers = Mapping[AnswerKey, float]


@dataclass(frozen=True)
class Side:
    """A rater's numbers in one measure. ``labels``: they are labels of the scale, not means of several."""

    name: str
    numbers: Numbers
    labels: bool


def mean_of(raters: Sequence[Side]) -> Side:
    """The mean of each answer's ratings; the rater, if there is but one."""
    if len(raters) == 1:
        return raters[0]
    numbers: dict[AnswerKey, list[float]] = {}
    for rater in raters:
        for key, number in rater.numbers.items():
            numbers.setdefault(key, []).append(number)
    labels = raters[0].labels and max(map(len, numbers.values()), default=1) == 1
    means = {key: math.fsum(each) / len(each) for key, each in numbers.items()}
    return Side(f"mean of {len(raters)} people", means, labels)


def of_rater(rows: Mapping[AnswerKey, Mapping[str, float]], measure: str) -> Numbers:
    return {key: numbers[measure] for key, numbers in rows.items() if measure in numbers}


def with_totals(people: Scores, judged: Judged) -> Scores:
    """The ratings, with the total where a rater rated all dimensions of an answer."""
    total, names = judged.protocol.total, {each.name for each in judged.protocol.dimensions}
    if total is None:
        return people
    return {
        rater: {key: {**each, TOTAL: total(each)} if names <= each.keys() else each for key, each in rows.items()}
        for rater, rows in people.items()
    }


def has_verdicts(judged: Judged, judge: str, settled: bool) -> bool:
    """Whether there is anything to compare of this judge: a run without a judge names one that gave no verdict."""
    return bool(of_judge(judged, judge, judged.measures[0], settled).numbers)


def of_judge(judged: Judged, judge: str, measure: str, settled: bool) -> Side:
    """The judge's numbers, each the mean over the judgings of the answer that were had."""
    numbers = {}
    for answer in judged.answers:
        number = number_of(answer, measure)
        if answer.judge == judge and number is not None and (settled or not answer.settled):
            numbers[answer.key] = number
    return Side(judge, numbers, labels=judged.protocol.trials == 1 and measure != TOTAL)


def majority_of_judge(judged: Judged, judge: str, measure: str, settled: bool) -> Side | None:
    """The label that more than half of the judgings of an answer gave; None where there is one judging, or no label.

    Labels of the same number are one here. An answer without a majority is not in it.
    """
    if judged.protocol.trials == 1 or measure == TOTAL:
        return None
    numbers = {}
    for answer in judged.answers:
        had = [number for number in answer.scores[measure] if number is not None]
        most = max(had, key=had.count, default=None)
        if answer.judge == judge and most is not None and 2 * had.count(most) > len(had):
            if settled or not answer.settled:
                numbers[answer.key] = most
    return Side(f"{judge}, majority", numbers, labels=True)


def number_of(answer: Answer, measure: str) -> float | None:
    had = [number for number in answer.scores[measure] if number is not None]
    return math.fsum(had) / len(had) if had else None


def judgings(judged: Judged, judge: str, measure: str) -> list[Side]:
    """The repeated judgings of the same answers as raters; [] if there was one each."""
    answers = [each for each in judged.answers if each.judge == judge and not each.settled]
    count = max((len(each.scores[measure]) for each in answers), default=0)
    if count < 2:
        return []
    sides = []
    for place in range(count):
        numbers = {
            each.key: number
            for each in answers
            if place < len(each.scores[measure]) and (number := each.scores[measure][place]) is not None
        }
        sides.append(Side(f"{judge}, judging {place + 1}", numbers, measure != TOTAL))
    return sides
