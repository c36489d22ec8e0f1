"""SURE-VQA: which methods are better than their baselines, and so may have a robustness rank at all.

A method that guesses loses nothing out of distribution: its relative robustness is about 1, or above. A rank therefore
asks first for something to lose. The rule, for each shift and kind of question: on the i.i.d. test the method is better
than its own run without the image, and than the most frequent answers of the training set, both by more than chance.

Each of the two is a one-sided sign-flip test over images of "no better", on the questions that both have a score for;
of the most frequent answers on those that they answer at all (the paper leaves them out where these are too few). The
larger of the two p values counts (both must be fulfilled), and these are corrected with Holm over all methods and
conditions of the report: the probability that any method that is no better gets a rank is at most 5 %.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method, model_of
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift, answered, is_most_frequent

NO_IMAGE, MOST_FREQUENT = "no image", "most frequent"


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


@dataclass(frozen=True)
class AgainstBaseline:
    """A method and a baseline on the n i.i.d. questions that both have a score for.

    ``method`` and ``baseline`` are their means. ``p``: one-sided, of "no better than the baseline"; 1 where no image
    differs. All None where n is 0.
    """

    method: float | None
    baseline: float | None
    n: int
    images: int
    p: float | None


@dataclass(frozen=True)
class Standing:
    """Whether a method may have a rank under a condition.

    Attributes:
        no_image, most_frequent: against each baseline; None where it was not run on this shift.
        silent: the most frequent baseline was run and answers none of the i.i.d. questions: it is no baseline here.
        adjusted: the larger p of both, Holm-corrected over all methods and conditions; None where a baseline lacks.
    """

    method: str
    condition: Condition
    no_image: AgainstBaseline | None
    most_frequent: AgainstBaseline | None
    silent: bool = False
    adjusted: float | None = None

    @property
    def lacking(self) -> tuple[str, ...]:
        """The baselines that were not run."""
        needed = {NO_IMAGE: self.no_image, MOST_FREQUENT: self.most_frequent or self.silent or None}
        return tuple(name for name, found in needed.items() if found is None)

    @property
    def tests(self) -> Mapping[str, AgainstBaseline]:
        """The baselines that were run, by name."""
        both = {NO_IMAGE: self.no_image, MOST_FREQUENT: self.most_frequent}
        return {name: found for name, found in both.items() if found is not None}

    @property
    def better(self) -> bool:
        """Whether it is better than both baselines by more than chance."""
        return self.adjusted is not None and self.adjusted < confidence.alpha()

    @property
    def p(self) -> float | None:
        """The larger p of the baselines, not corrected; None where one was not run or has no question in common."""
        values = [found.p for found in self.tests.values()]
        known = [value for value in values if value is not None]
        return max(known) if known and len(known) == len(values) and not self.lacking else None


def standings(
    methods: Sequence[Method], competing: Sequence[Method], conditions: Sequence[Condition]
) -> dict[tuple[Condition, str], Standing]:
    """The standing of each competing method under each condition; baselines are looked for among ``methods``."""
    frequent = next((each for each in methods if is_most_frequent(each.sources[0]) and each.image_shown), None)
    without = {model_of(each.sources[0]): each for each in methods if not each.image_shown and not each.baseline}
    found = {}
    for condition in conditions:
        guesses = iid_scores(frequent, condition, only_answered=True) if frequent else None
        for method in competing:
            blind = without.get(model_of(method.sources[0]))
            blind_scores = iid_scores(blind, condition) if blind else None
            own = iid_scores(method, condition) or {}
            found[condition, method.name] = Standing(
                method.name,
                condition,
                against(own, blind_scores) if blind_scores is not None else None,
                against(own, guesses) if guesses else None,
                silent=guesses == {},
            )
    return corrected(found)


def corrected(
    found: Mapping[tuple[Condition, str], Standing],
) -> dict[tuple[Condition, str], Standing]:
    """The standings with their p values corrected together."""
    known = {key: each.p for key, each in found.items() if each.p is not None}
    adjusted = dict(zip(known, adjust([p for p in known.values() if p is not None]), strict=True))
    return {key: replace(each, adjusted=adjusted.get(key)) for key, each in found.items()}


def against(method: Mapping[str, Scored], baseline: Mapping[str, Scored]) -> AgainstBaseline:
    """Compare a method with a baseline by question; the image is the method's."""
    common = sorted(set(method) & set(baseline))
    if not common:
        return AgainstBaseline(None, None, 0, 0, None)
    one, other = (np.array([each[question].score for question in common]) for each in (method, baseline))
    _, codes = np.unique([method[question].image for question in common], return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=one - other), "greater")
    return AgainstBaseline(
        float(one.mean()), float(other.mean()), len(common), int(codes.max()) + 1, 1.0 if p is None else p
    )


def iid_scores(method: Method, condition: Condition, *, only_answered: bool = False) -> dict[str, Scored] | None:
    """The i.i.d. scores of the questions that all runs of a method have one for, their mean over the runs.

    By question, not by answer: the ids of a task without images may differ. None where it was not asked any.
    """
    where = condition.shift.where(condition.kind, "iid")
    asked = [source.rows.where(where) for source in method.sources]
    if not all(map(len, asked)):
        return None
    scores: dict[str, list[float]] = {}
    images: dict[str, str] = {}
    for rows in asked:
        own = (answered(rows) if only_answered else rows).scored(condition.kind)
        columns = (own.column(name) for name in ("pair", "cluster", f"{condition.kind}.score"))
        for question, image, score in zip(*columns, strict=True):
            scores.setdefault(question, []).append(float(score))
            images.setdefault(question, image)
    return {name: Scored(images[name], float(np.mean(own))) for name, own in scores.items() if len(own) == len(asked)}
