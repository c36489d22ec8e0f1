"""Bones and Joints: do models differ, do tasks differ, paired by case: every model and task meets the same cases.

The unit of independence is the case: the images that Tasks III to VII share, with all questions about them. A question
of Tasks I and II, which has no case, is a unit of its own. Task VIII shows each text with the images of another case:
its answers belong to two cases, so that it is tested by itself only, by the images.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from lmms_medtasks.report.cells import count, label, p_value, percent, percent_of, points, probability, share
from lmms_medtasks.report.detectable import detectable, note
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.views import Source
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.statistics.intervals import Interval, mean_interval
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.within_blocks import BlockTest, within_blocks
from lmms_medtasks.task_configs.bones_joints.forms import forms
from lmms_medtasks.task_configs.bones_joints.measures import AS_PUBLISHED, REPORTS
from lmms_medtasks.task_configs.bones_joints.report_groups import SHOWN, find_group, task_groups

TWO_CASES = "t8"
OF_CASES = ("t3", "t4", "t5", "t6", "t7")
"""Tasks about the same cases, one question on each."""

_UNIT = (
    "Unit of independence: the case, with all its questions; a question of Tasks I and II is a case of its own. Cases "
    "that differ: those whose values are not all the same; p is 1 where there are none."
)
_BY_CASE = (
    "Statistic: Cochran's Q of the scores (0 to 1), summed by case. p: share of the orders within cases whose Q is as "
    "large, of all orders or of 9,999 drawn ones."
)
_HOLM = "Adjusted: Holm over all rows of this table."
_DIFFERENCES = (-1.0, 1.0)
"""The range of a difference of scores, whichever sign the seen ones have."""


class Scored(NamedTuple):
    """A question's score, and the images of its case."""

    case: str
    score: float


class CasePair(NamedTuple):
    """Two treatments: the mean difference (first less second) with its interval over cases, and the sign-flip test."""

    first: str
    second: str
    difference: Interval
    p: float | None


@dataclass(frozen=True)
class CaseTest:
    """The test of several treatments (models, or tasks) within cases.

    Attributes:
        label: names the row. means: each treatment's accuracy. questions: those that the values are of, of each model.
        cases: their names. values: (cases, treatments) floats, permuted within cases; NaN where a case lacks one.
        differences: of two treatments the case and the difference (first less second) of each question or case.
        left_out: questions that some model has no score for.
    """

    label: str
    means: Mapping[str, float]
    questions: int
    cases: Sequence[str]
    values: np.ndarray
    differences: Callable[[int, int], tuple[Sequence[str], np.ndarray]]
    left_out: int

    @property
    def range(self) -> float:
        """The highest accuracy less the lowest."""
        return max(self.means.values()) - min(self.means.values())

    @functools.cached_property
    def test(self) -> BlockTest:
        """All treatments together."""
        return within_blocks(self.values)

    def pairs(self) -> Iterator[CasePair]:
        """Each pair of treatments."""
        for (place, one), (other_place, other) in itertools.combinations(enumerate(self.means), 2):
            own = self.values[:, place] - self.values[:, other_place]
            own = own[~np.isnan(own)]
            p = sign_flip(own)
            difference = mean_interval(*self.differences(place, other_place), bounds=_DIFFERENCES)
            yield CasePair(one, other, difference, 1.0 if p is None and len(own) else p)


# --- Models -----------------------------------------------------------------------------------------------------------


def model_tests(sources: Sequence[Source]) -> list[CaseTest]:
    """The models within cases: each task that two models or more have scores for, then all of these but Task VIII.

    Over the questions that all models of the row have a score for. All together: of the models that have each task.
    """
    by_task: dict[str, dict[str, dict[str, Scored]]] = {}
    for source in sources:
        groups = task_groups(source)
        for key in forms():
            group = find_group(groups, key, *SHOWN)
            scored = group.rows.scored("accuracy") if group else None
            if scored is not None and len(scored):
                columns = (scored.column(name) for name in ("id", "cluster", "accuracy.score"))
                by_task.setdefault(key, {})[source.name] = {
                    f"{key} {name}": Scored(str(case), float(score)) for name, case, score in zip(*columns, strict=True)
                }
    compared = {key: models for key, models in sorted(by_task.items()) if len(models) > 1}
    found = [_of_models(forms()[key].numeral, models) for key, models in compared.items()]
    joined = [key for key in compared if key != TWO_CASES]
    names = [each.name for each in sources if all(each.name in compared[key] for key in joined)]
    if len(joined) > 1 and len(names) > 1:
        together = {name: {question: scored for key in joined for question, scored in compared[key][name].items()}
                    for name in names}  # fmt: skip
        label = "all but VIII" if TWO_CASES in compared else "all tasks"
        found.append(_of_models(label, together))
    return [each for each in found if each is not None]


def _of_models(label: str, models: Mapping[str, Mapping[str, Scored]]) -> CaseTest | None:
    common = sorted(set.intersection(*map(set, models.values())))
    if not common:
        return None
    every = set().union(*models.values())
    first = next(iter(models.values()))
    cases, codes = np.unique([first[question].case for question in common], return_inverse=True)
    scores = {name: np.array([own[question].score for question in common]) for name, own in models.items()}
    own = list(scores.values())
    return CaseTest(
        label,
        {name: float(each.mean()) for name, each in scores.items()},
        len(common),
        cases.tolist(),
        np.column_stack([np.bincount(codes, weights=each, minlength=len(cases)) for each in own]),
        lambda one, other: (cases[codes].tolist(), own[one] - own[other]),
        len(every) - len(common),
    )


def models_table(sources: Sequence[Source]) -> Frame | None:
    """Do the models differ, a row a task; None where no two models were asked the same task."""
    notes = (
        "Hypothesis: the models do not differ; within a case their answers could as well be each other's. "
        f"{_BY_CASE} {_UNIT} {_HOLM}",
        "Over the questions that all models of the row have a score for. Task VIII shows each text with another case's "
        "images: its answers belong to two cases, and are not joined with the others.",
    )
    return _tests_table(
        "models_by_case", "Do the models differ, by case", "task", "models", model_tests(sources), notes
    )


def model_pairs_table(sources: Sequence[Source]) -> Frame | None:
    """Each pair of models, where three or more were asked a task; None where there is none."""
    found = [each for each in model_tests(sources) if len(each.means) > 2]
    notes = (
        "Hypothesis: the two models do not differ. Sign-flip test of the case's summed differences, exact up to 2,000 "
        f"cases. {_UNIT} {_HOLM}",
        f"In brackets: {LEVEL} interval over cases, not corrected.",
    )
    return _pairs_table("model_pairs_by_case", "Pairs of models, by case", "task", found, notes)


# --- Tasks ------------------------------------------------------------------------------------------------------------


def task_tests(source: Source) -> list[CaseTest]:
    """The tasks about the same cases within cases, one model, by what stands for the images in Tasks IV to VII.

    A case may lack a task. Of several cases with the same images the mean.
    """
    groups = task_groups(source)
    found = []
    for imaging, condition in (("images", AS_PUBLISHED), ("reports", REPORTS)):
        scores: dict[str, dict[str, list[float]]] = {}
        for key in OF_CASES:
            group = find_group(groups, key, condition)
            if group is None or not group.measured:
                continue
            rows = group.rows.scored("accuracy")
            own = scores.setdefault(forms()[key].numeral, {})
            for case, score in zip(rows.column("cluster"), rows.column("accuracy.score"), strict=True):
                own.setdefault(str(case), []).append(float(score))
        if len(scores) > 1:
            found.append(_of_tasks(f"{', '.join(scores)}; {imaging}", scores))
    return found


def _of_tasks(label: str, tasks: Mapping[str, Mapping[str, list[float]]]) -> CaseTest:
    cases = sorted(set().union(*tasks.values()))
    values = np.array([[np.mean(own[case]) if case in own else np.nan for own in tasks.values()] for case in cases])
    scores = {name: [score for scores in own.values() for score in scores] for name, own in tasks.items()}
    return CaseTest(
        label,
        {name: float(np.mean(own)) for name, own in scores.items()},
        sum(map(len, scores.values())),
        cases,
        values,
        lambda one, other: (cases, values[:, one] - values[:, other]),
        0,
    )


def tasks_table(sources: Sequence[Source]) -> Frame | None:
    """Do the tasks about the same cases differ; None where fewer than two were asked."""
    notes = (
        "Hypothesis: the tasks do not differ; within a case their scores could as well be each other's. "
        f"{_BY_CASE} A case that lacks a task is permuted among those that it has. Unit of independence: the case. "
        f"Cases that differ: those whose scores are not all the same; p is 1 where there are none. {_HOLM}",
        "Tasks I and II are about no cases, and Task VIII shows each text with another case's images: they can't be "
        "paired.",
    )
    found = task_tests(sources[0])
    return _tests_table("tasks_by_case", "Do the tasks differ, by case", "tasks", "tasks compared", found, notes)


def task_pairs_table(sources: Sequence[Source]) -> Frame | None:
    """Each pair of tasks about the same cases; None where fewer than three were asked."""
    found = [each for each in task_tests(sources[0]) if len(each.means) > 2]
    notes = (
        "Hypothesis: the two tasks do not differ. Sign-flip test of the case's difference, exact up to 2,000 cases, "
        f"over the cases that have both. Unit of independence: the case. {_HOLM}",
        f"In brackets: {LEVEL} interval over cases, not corrected.",
    )
    return _pairs_table("task_pairs_by_case", "Pairs of tasks, by case", "tasks", found, notes)


# --- Tables -----------------------------------------------------------------------------------------------------------


def _tests_table(
    key: str, title: str, head: str, treatments: str, found: Sequence[CaseTest], notes: tuple[str, ...]
) -> Frame | None:
    adjusted = _adjusted([each.test.p for each in found])
    rows = tuple(
        FrameRow((Cell(each.label), Cell(len(each.means)), Cell(each.questions), Cell(each.test.blocks),
             Cell(each.test.differing), percent_of(min(each.means.values())), percent_of(max(each.means.values())),
             Cell(100 * each.range), Cell(each.test.statistic), Cell(each.test.df), probability(each.test.p),
             probability(corrected)))
        for each, corrected in zip(found, adjusted, strict=True)
    )  # fmt: skip
    columns = (
        label(head), count(treatments), count("questions"), count("cases"), count("cases that differ"),
        share("lowest accuracy"), share("highest accuracy"), points("highest - lowest"), FrameColumn("Q", digits=2),
        count("df"), p_value("p"), p_value("adjusted p"),
    )  # fmt: skip
    left_out = [f"{each.label} {each.left_out:,}" for each in found if each.left_out]
    more = (f"Questions that some model has no score for, left out: {'; '.join(left_out)}.",) if left_out else ()
    return Frame(key, title, columns, rows, (*notes, *more)) if rows else None


def _pairs_table(key: str, title: str, head: str, found: Sequence[CaseTest], notes: tuple[str, ...]) -> Frame | None:
    pairs = [(each.label, pair) for each in found for pair in each.pairs()]
    adjusted = _adjusted([pair.p for _, pair in pairs])
    rows = tuple(_pair_row(name, pair, corrected) for (name, pair), corrected in zip(pairs, adjusted, strict=True))
    columns = (
        label(head), label("first"), label("second"), points("first - second"), p_value("p"), p_value("adjusted p"),
    )  # fmt: skip
    said = note(detectable([pair.difference for _, pair in pairs]))
    return Frame(key, title, columns, rows, (*notes, said) if said else notes, long=True) if rows else None


def _adjusted(p: Sequence[float | None]) -> list[float | None]:
    """Those that are there, corrected together with Holm."""
    adjusted = iter(adjust([each for each in p if each is not None]))
    return [None if each is None else next(adjusted) for each in p]


def _pair_row(name: str, pair: CasePair, corrected: float | None) -> FrameRow:
    cells = (Cell(name), Cell(pair.first), Cell(pair.second), percent(pair.difference), probability(pair.p))
    return FrameRow((*cells, probability(corrected)))
