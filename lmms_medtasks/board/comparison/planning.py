"""``lmms-medtasks power``: what a comparison of two models can show, and how many images a difference requires."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.board.comparison import compared_entries
from lmms_medtasks.board.comparison.compared_entries import ComparedRuns, pair_scores
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.errors import UserError
from lmms_medtasks.report.cells import count_column, label_column
from lmms_medtasks.report.document import (
    EMPTY,
    Cell,
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportSection,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.statistics import power
from lmms_medtasks.statistics.intervals import FEW, MINIMUM
from lmms_medtasks.statistics.power import ChangeVariances, TestCriterion

TRIALS = (1, 3, 10)
ALL = "overall"
"""The measure planned before any run: the mean over all questions of a task."""


@dataclass(frozen=True)
class PowerPlan:
    """The requested difference and when it counts as shown.

    ``difference``: a share of the measure's range, above 0 and at most 1. ``trials``: numbers of trials to plan for.
    """

    difference: float
    criterion: TestCriterion
    trials: tuple[int, ...] = TRIALS

    def __post_init__(self) -> None:
        if not 0 < self.difference <= 1:
            raise UserError(
                f"The requested difference is {100 * self.difference:g} points: give one above 0 and at most 100, such "
                "as --difference 2."
            )
        wrong = [number for number in self.trials if number < 1]
        if wrong or not self.trials:
            raise UserError(f"--trials has {wrong[0] if wrong else 'nothing'}: trials are whole numbers from 1.")


@dataclass(frozen=True)
class PlannedPower:
    """What a measure of a task can show.

    Attributes:
        images, questions, trials: of the data planned with; ``trials`` per question. ``questions`` is None for a number
            that is not a mean over questions: the variance of its trials is unknown.
        shown: the smallest difference that these show, None if unknown, with the ``reason``.
        needed: number of trials -> images that the requested difference requires; None if no number suffices.
    """

    task: str
    measure: str
    images: int
    questions: int | None
    trials: int
    shown: float | None
    reason: str
    needed: Mapping[int, int | None]


def of_runs(first: ComparedRuns, second: ComparedRuns, plan: PowerPlan) -> list[PlannedPower]:
    """Plan with the variances of the changes between two runs of the same tasks.

    Raises UserError without a common task, or a common number of one.
    """
    planned = [
        _of_entries(one, other, metric, plan)
        for one, other in compared_entries.match_entries(first, second)
        for metric in one.main_metrics
        if metric in other.metrics
    ]
    if not planned:
        raise UserError(f"{first.path} and {second.path} have tasks in common, and no number of them: nothing to plan.")
    return planned


def plan_before_run(
    sizes: Mapping[str, tuple[int, int, int]], plan: PowerPlan, changed: float, correlation: float
) -> list[PlannedPower]:
    """Plan before any run; ``sizes``: task -> images, questions, trials.

    ``changed``: the share of questions that one model has right and the other wrong; ``correlation``: of the changes of
    two questions about one image. Both are assumptions. The variance of trials is unknown, so one is planned.

    Raises UserError for a share or a correlation out of range.
    """
    if not 0 < changed <= 1 or not 0 <= correlation <= 1:
        raise UserError(
            f"--changed is {changed:g} and --correlation {correlation:g}: the first is a share above 0 and at most 1, "
            "the second from 0 to 1."
        )
    if plan.difference > changed:
        raise UserError(
            f"A difference of {100 * plan.difference:g} points takes at least as many questions that change: "
            f"--changed {changed:g} is {100 * changed:g} %. Give a larger share, or a smaller --difference."
        )
    total = changed - plan.difference**2
    varied = ChangeVariances(correlation * total, (1 - correlation) * total, 0.0, trials_known=False)
    planned = []
    for task, (images, questions, trials) in sizes.items():
        per_image = questions / images
        error = float(np.sqrt(varied.of_mean(images, per_image)))
        shown = power.detectable_with_error(error, images, plan.criterion)
        reason = FEW if shown is None else ""
        if shown is not None:
            shown += 1 / questions  # a step of an exact test, which the number of images has too
            if shown > changed:  # no difference is larger than the share of questions that change
                shown, reason = None, power.BEYOND
        needed = {1: power.images_needed(plan.difference, varied, questions=per_image, criterion=plan.criterion)}
        planned.append(PlannedPower(task, ALL, images, questions, trials, shown, reason, needed))
    return planned


def power_report(found: Sequence[PlannedPower], plan: PowerPlan, notes: Sequence[str]) -> ReportDocument:
    """A row a task and measure; ``notes``: where its numbers are from."""
    trials = list(dict.fromkeys(each for planned in found for each in planned.needed)) or [1]
    heads = (replace(label_column("task, measure"), letters=40), *map(count_column, ("images", "questions", "T")))
    columns = (*heads, FrameColumn("shows", digits=1), *(count_column(f"T={number}") for number in trials))
    rows = tuple(
        FrameRow((
            Cell(f"{each.task}, {each.measure}"), Cell(each.images), Cell(each.questions), Cell(each.trials),
            Cell(None if each.shown is None else 100 * each.shown), *(Cell(each.needed.get(many)) for many in trials),
        ))
        for each in found
    )  # fmt: skip
    sections = (
        ReportSection("plan", "", tables=(Frame("plan", "", columns, rows),)),
        ReportSection("meaning", "", (_plan_meaning(plan), *notes)),
    )
    title = f"What a comparison can show, and what {100 * plan.difference:g} points take"
    return ReportDocument(title, (ReportChapter("power", "", (), (), sections),))


def _plan_meaning(plan: PowerPlan) -> str:
    asked = plan.criterion
    corrected = "" if asked.comparisons == 1 else f", corrected for {asked.comparisons} comparisons"
    return (
        f"Shows: the smallest true difference between two models on the same questions that is found with "
        f"{100 * asked.power:g} % probability, by a two-sided test over images at {asked.alpha:g}{corrected}; in "
        f"points, of which a measure's whole scale has 100 (so one of a change, from -100 to 100 %, is two percentage "
        f"points). T=1, T=3 and so on: how many images a difference of "
        f"{100 * plan.difference:g} points takes, with so many trials and as many questions each as here. "
        f"{EMPTY} under 'shows': fewer "
        f"than five images, no variation, or a difference larger than the scale. {EMPTY} there: more "
        "than ten million, fewer than five images to plan from, or no data on that number of trials."
    )


def _of_entries(one: LeaderboardEntry, other: LeaderboardEntry, metric: str, plan: PowerPlan) -> PlannedPower:
    scale, joined = one.scale(metric), pair_scores(one, other, metric)
    clusters, changes = joined.clusters.tolist(), joined.differences / (scale.high - scale.low)
    trials = max(map(len, one.samples.column("trials")), default=1)
    seen = power.detectable_difference(clusters, changes, plan.criterion, largest=1.0)
    needed: dict[int, int | None] = {}
    if seen.clusters >= MINIMUM:
        several = trials > 1 and joined.of_questions
        noise, other_noise = (_trial_variances(each, joined.ids) if several else None for each in (one, other))
        both = noise + other_noise if noise is not None and other_noise is not None else None
        varied = power.estimate_variances(clusters, changes, both, trials)
        each = len(changes) / seen.clusters
        for number in plan.trials if varied.trials_known else (trials,):
            planned = number if varied.trials_known else 1
            needed[number] = power.images_needed(
                plan.difference, varied, questions=each, trials=planned, criterion=plan.criterion
            )
    count = len(changes) if joined.of_questions else None
    return PlannedPower(one.task, metric, seen.clusters, count, trials, seen.difference, seen.reason, needed)


def _trial_variances(entry: LeaderboardEntry, ids: np.ndarray) -> np.ndarray | None:
    """The variance of one trial for each of these questions; None without right answers or several trials."""
    rows = entry.samples.take(np.searchsorted(entry.questions.ids, ids))
    variances = []
    for expected, trials in zip(rows.column("expected"), rows.column("trials"), strict=True):
        if expected is None or len(trials) < 2:
            return None
        variances.append(np.var([float(trial == expected) for trial in trials], ddof=1))
    return np.array(variances)
