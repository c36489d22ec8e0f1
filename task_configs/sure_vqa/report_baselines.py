"""SURE-VQA: which methods are better than their baselines, so that their robustness says something.

A method that guesses loses nothing out of distribution: its relative robustness is about 1, or above. So it is asked
first whether there is something to lose. The rule, for each shift and kind of question: on the i.i.d. test the method
is better than its own run without the image, and than the most frequent answers of the training set, both by more than
chance.

Each of the two is a one-sided sign-flip test over images of "no better", on the questions that both have a score for;
of the most frequent answers on those that they answer at all (the paper leaves them out where these are too few). The
larger of the two p values counts (both must be fulfilled), and these are corrected with Holm over all methods and
conditions of the report: the probability that any method that is no better is called better is at most 5 %.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.cells import NONE, count, frame, label, p_value, probability
from lmms_medtasks.report.document import Cell, Flag, Frame
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust_known
from lmms_medtasks.task_configs.sure_vqa import report_shifts
from lmms_medtasks.task_configs.sure_vqa.report_published import Method, score
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, answered, baseline_of, model_of

NO_IMAGE, MOST_FREQUENT = "no image", "most frequent"
_HOW_TO_RUN = {
    NO_IMAGE: "Run the shift's task with _noimage at its end, with the same model.",
    MOST_FREQUENT: "Run the shift's task with --model medtasks_most_frequent.",
}


class Condition(NamedTuple):
    """A shift, for closed or open questions."""

    shift: Shift
    kind: str

    @property
    def label(self) -> str:
        """``SLAKE, question type, open``."""
        return f"{self.shift.label}, {self.kind}"


class Scored(NamedTuple):
    """A question's score, of several seeds their mean, and its image."""

    image: str
    score: float


class Against(NamedTuple):
    """A method and a baseline on the n i.i.d. questions that both have a score for.

    ``method`` and ``baseline`` are their means. ``p``: one-sided, of "no better than the baseline"; 1 where no image
    differs. All None where n is 0.
    """

    n: int
    method: float | None
    baseline: float | None
    p: float | None


@dataclass(frozen=True)
class Standing:
    """Whether a method is better than its baselines under a condition.

    Attributes:
        tests: against each baseline that was run on this shift, by its name.
        adjusted: the larger p of both, Holm-corrected over all methods and conditions; None where a baseline lacks.
    """

    method: str
    condition: Condition
    tests: Mapping[str, Against]
    adjusted: float | None = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """The baselines that were not run."""
        return tuple(name for name in _HOW_TO_RUN if name not in self.tests)

    @property
    def better(self) -> bool:
        """Whether it is better than both baselines by more than chance."""
        return self.adjusted is not None and self.adjusted < confidence.alpha()

    @property
    def p(self) -> float | None:
        """The larger p of the baselines, not corrected; None where one was not run or has no question in common.

        Most frequent answers that answer none of the questions are no baseline here.
        """
        if self.lacking or not self.tests[NO_IMAGE].n:
            return None
        return max(each.p for each in self.tests.values() if each.p is not None)


def standings(
    methods: Sequence[Method], competing: Sequence[Method], conditions: Sequence[Condition]
) -> list[Standing]:
    """The standing of each competing method under each condition; baselines are looked for among ``methods``."""
    most_frequent = (each for each in methods if baseline_of(each.sources[0]) == report_shifts.MOST_FREQUENT)
    frequent = next((each for each in most_frequent if each.image_shown), None)
    without = {model_of(each.sources[0]): each for each in methods if not each.image_shown and not each.baseline}
    found = []
    for condition in conditions:
        guesses = _iid_scores(frequent, condition, only_answered=True)
        for method in competing:
            blind = _iid_scores(without.get(model_of(method.sources[0])), condition)
            own = _iid_scores(method, condition) or {}
            baselines = {NO_IMAGE: blind, MOST_FREQUENT: guesses}
            tests = {name: against(own, known) for name, known in baselines.items() if known is not None}
            found.append(Standing(method.name, condition, tests))
    return corrected(found)


def corrected(found: Sequence[Standing]) -> list[Standing]:
    """The standings with their p values corrected together."""
    adjusted = adjust_known([each.p for each in found])
    return [replace(each, adjusted=p) for each, p in zip(found, adjusted, strict=True)]


def against(method: Mapping[str, Scored], baseline: Mapping[str, Scored]) -> Against:
    """Compare a method with a baseline by question; the image is the method's."""
    common = sorted(set(method) & set(baseline))
    if not common:
        return Against(0, None, None, None)
    one, other = (np.array([each[question].score for question in common]) for each in (method, baseline))
    _, codes = np.unique([method[question].image for question in common], return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=one - other), "greater")
    return Against(len(common), float(one.mean()), float(other.mean()), 1.0 if p is None else p)


def _iid_scores(
    method: Method | None, condition: Condition, *, only_answered: bool = False
) -> dict[str, Scored] | None:
    """The i.i.d. scores of the questions that all runs of a method have one for, their mean over the runs.

    By question, not by answer: the ids of a task without images may differ. None where it was not asked any.
    """
    where = condition.shift.where(condition.kind, "iid")
    asked = [source.rows.where(where) for source in method.sources] if method else []
    if not asked or not all(map(len, asked)):
        return None
    scores: dict[str, list[float]] = {}
    images: dict[str, str] = {}
    for rows in asked:
        own = (answered(rows) if only_answered else rows).scored(condition.kind)
        columns = (own.column(name) for name in ("pair", "cluster", f"{condition.kind}.score"))
        for question, image, found in zip(*columns, strict=True):
            scores.setdefault(question, []).append(float(found))
            images.setdefault(question, image)
    return {name: Scored(images[name], float(np.mean(own))) for name, own in scores.items() if len(own) == len(asked)}


def table(found: Sequence[Standing]) -> Frame | None:
    """Each method against its baselines on the i.i.d. test, a row a condition and method."""
    columns = [label("shift and questions"), label("method")]
    for name in _HOW_TO_RUN:
        columns += [count(f"n, {name}"), score(f"method, {name}"), score(name), p_value(f"p, {name}")]
    notes = (
        "Rule: on the i.i.d. test a method must be better than its own run without the image, and than the most "
        "frequent answers of the training set, or its robustness says nothing: who guesses has nothing to lose out of "
        "distribution, and an RR near 1.",
        "Means over the i.i.d. questions that both have a score for; of the most frequent answers over those that they "
        "answer. Test: no better than the baseline (one-sided sign-flip test). Unit of independence: the image. "
        "Adjusted: the larger of the two p values, corrected with Holm over all rows of this table.",
    )
    columns += [p_value("adjusted p"), label("better than its baselines")]
    return frame("baselines", "Methods against their baselines, i.i.d. test", columns, map(_standing_row, found), notes)


def _standing_row(standing: Standing) -> tuple[Cell | str, ...]:
    against_each = [cell for name in _HOW_TO_RUN for cell in _baseline_cells(name, standing.tests.get(name))]
    adjusted = probability(standing.adjusted)
    return standing.condition.label, standing.method, *against_each, adjusted, _verdict(standing)


def _baseline_cells(name: str, found: Against | None) -> tuple[Cell, ...]:
    if found is None or (name == MOST_FREQUENT and not found.n):
        return (NONE,) * 4
    return Cell(found.n), Cell(found.method), Cell(found.baseline), probability(found.p)


def _verdict(standing: Standing) -> str:
    """Whether it is better than its baselines, or why that is not known."""
    if standing.lacking:
        return f"not known: baseline not run ({', '.join(standing.lacking)})"
    if standing.adjusted is None:
        return "not known: no question in common with a baseline"
    silent = "" if standing.tests[MOST_FREQUENT].n else f"; {MOST_FREQUENT} answers nothing"
    return ("yes" if standing.better else "no") + silent


def flags(found: Sequence[Standing]) -> Iterator[Flag]:
    """A flag for the methods that lack a baseline, and one for each that is not better than its baselines."""
    for baseline, how in _HOW_TO_RUN.items():
        names = dict.fromkeys(each.method for each in found if baseline in each.lacking)
        if names:
            yield Flag(
                "warning",
                f"Baseline not run: {baseline}, on some shift or all, for {', '.join(names)}. Without it nothing tells "
                f"robustness from guessing. {how}",
            )
    for name in dict.fromkeys(each.method for each in found):
        tested = [each for each in found if each.method == name and not each.lacking]
        worse = [each for each in tested if not each.better]
        if worse:
            yield Flag(
                "warning",
                f"{name} is not better than its baselines by more than chance in {len(worse)} of {len(tested)} "
                "conditions, on the i.i.d. test: its robustness there may be that of guessing (the table of baselines "
                "has the numbers).",
            )
