"""What difference data can show: the power of a paired test over images, and what a wanted difference takes.

The test is of the mean change of the same questions between two runs, its unit the image: Student's t over images. The
permutation test over images agrees with it up to its steps: where the sums of images are whole numbers of a unit, its
p-values have steps too, and on average it takes one unit more. The power follows from the noncentral t distribution
(Cohen 1988, chapter 2) and from the variance of the change, which has three parts: images, the questions of an image,
and the trials of a question (``docs/intervals_and_tests.md``). Questions of one image are not independent: their
number alone says little.
"""

from __future__ import annotations

import bisect
import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import ALIKE, FEW, MINIMUM

BEYOND = "only a difference beyond the scale would have been shown"
"""Why there is no smallest difference."""

MOST_IMAGES = 10_000_000
"""More are not looked for."""

_STEP = 1e-12
_MOST_STEPS = 10**18
"""Differences are looked for in steps of so many standard errors, and as many steps at most."""


@dataclass(frozen=True)
class TestCriterion:
    """When a difference counts as shown, and how surely it shall be.

    Attributes:
        alpha: the chance of a false finding among all comparisons, between 0 and 1. comparisons: how many are made;
            each is tested at ``alpha / comparisons``, as Holm's correction asks of the smallest p-value.
        power: the chance to find a difference that is there, above ``level`` and below 1.
        sides: 2: it may go either way; 1: only one way is looked for, as by a gate.

    Raises UserError for a number out of range.
    """

    alpha: float = field(default_factory=confidence.current_alpha)
    power: float = 0.8
    comparisons: int = 1
    sides: int = 2

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UserError(f"alpha is {self.alpha!r}: the chance of a false finding is above 0 and below 1.")
        if self.comparisons < 1 or self.sides not in (1, 2):
            raise UserError(
                f"comparisons is {self.comparisons!r} and sides {self.sides!r}: expected 1 comparison or more, and "
                "1 or 2 sides."
            )
        if not self.level < self.power < 1:
            raise UserError(
                f"power is {self.power!r}: the chance to find a difference is above {self.level:g}, which pure chance "
                "has, and below 1, say 0.8."
            )

    @property
    def level(self) -> float:
        """What a p-value must be below, after the correction."""
        return self.alpha / self.comparisons


@dataclass(frozen=True)
class DetectableDifference:
    """The smallest true difference that a test of these data would have shown with the wanted power.

    ``difference``: None where it can't be told, with the ``reason``. ``standard_error``: of the mean change, by the
    jackknife over images. ``clusters``: images.
    """

    difference: float | None
    standard_error: float | None
    clusters: int
    reason: str = ""


@dataclass(frozen=True)
class ChangeVariances:
    """Variances of the change of one question, all 0 or more: between images, between questions of an image, and of one
    trial (both runs together).

    ``trials_known``: whether trials were told apart from questions. Without that (one trial a question) they are part
    of ``questions``, and more trials seem to gain nothing.
    """

    images: float
    questions: float
    trials: float
    trials_known: bool = True

    def of_mean(self, images: float, questions: float = 1, trials: float = 1) -> float:
        """Variance of the mean change over so many images, with so many questions each and trials of each."""
        return (self.images + (self.questions + self.trials / trials) / questions) / images


def compute_power(
    difference: float, standard_error: float, clusters: int, criterion: TestCriterion | None = None
) -> float:
    """The chance that a paired t-test over ``clusters`` images finds a true ``difference``."""
    # Not of scipy.stats, whose import takes longer than most that a report does with it.
    from scipy.special import nctdtr, stdtrit

    test = criterion or TestCriterion()
    freedom = clusters - 1
    critical = -stdtrit(freedom, test.level / test.sides)
    away = abs(difference) / standard_error
    # Far out, scipy's noncentral t has no value where the chance is 0 or 1; in its lower tail also at scattered points.
    below = nctdtr(freedom, away, critical)
    if np.isnan(below):
        below = 0.0 if away > critical else 1.0
    opposite_tail = nctdtr(freedom, away, -critical) if test.sides == 2 else 0.0
    return float(np.clip(1 - below + np.nan_to_num(opposite_tail), 0, 1))


@functools.cache
def standard_errors_needed(clusters: int, criterion: TestCriterion | None = None) -> float:
    """How many standard errors a true difference must be, to be found with the wanted power. Two clusters at least.

    With many clusters it is the sum of two normal quantiles, of 1 - alpha / 2 and of the power: 1.96 + 0.84.
    """
    test = criterion or TestCriterion()
    # Not by a root finder of scipy.optimize: a tenth of a second for its import, when a board has one entry more.
    steps = _find_smallest(lambda step: compute_power(_STEP * step, 1.0, clusters, test) >= test.power, 1, _MOST_STEPS)
    return math.inf if steps is None else _STEP * steps


def detectable_difference(
    clusters: Sequence[str],
    changes: np.ndarray | Sequence[float],
    criterion: TestCriterion | None = None,
    *,
    largest: float = math.inf,
) -> DetectableDifference:
    """The smallest true mean change that these data would have shown, from their own variance over images.

    ``changes``: of n questions, second run less first. ``clusters``: the image of each. ``largest``: the largest change
    that the scale allows; where it takes a larger one, none would have been shown.
    """
    numbers = np.asarray(changes, dtype=float)
    sums, sizes = _sum_by_cluster(clusters, numbers)
    count = len(sums)
    if count < MINIMUM:
        return DetectableDifference(None, None, count, FEW)
    left_out = (sums.sum() - sums) / (sizes.sum() - sizes)
    error = math.sqrt((count - 1) / count * ((left_out - left_out.mean()) ** 2).sum())
    if error < 1e-12:
        return DetectableDifference(None, 0.0, count, ALIKE)
    difference = standard_errors_needed(count, criterion or TestCriterion()) * error + _common_unit(sums) / len(numbers)
    if difference > largest:
        return DetectableDifference(None, error, count, BEYOND)
    return DetectableDifference(difference, error, count)


def detectable_with_error(
    standard_error: float | None, clusters: int, criterion: TestCriterion | None = None
) -> float | None:
    """The smallest true difference that a test over ``clusters`` would have shown, from the standard error of one.

    For differences that are no mean change of the same questions. None without a standard error above 0 or with fewer
    than five clusters.
    """
    if not standard_error or standard_error < 1e-12 or clusters < MINIMUM:
        return None
    return standard_errors_needed(clusters, criterion) * standard_error


def estimate_variances(
    clusters: Sequence[str],
    changes: np.ndarray | Sequence[float],
    trial_variances: np.ndarray | Sequence[float] | None = None,
    trials: int = 1,
) -> ChangeVariances:
    """The three variances of the change, by the analysis of variance with unequal groups (Searle et al. 1992, ch. 3).

    ``changes``: of n questions, each of the means over ``trials`` trials. ``trial_variances``: of each question the
    variance of one trial, that of both runs added (with T - 1 below the line); None where there was one trial.

    With one question an image, images and questions can't be told apart: ``images`` has both. Raises UserError with
    fewer than five images.
    """
    numbers = np.asarray(changes, dtype=float)
    sums, sizes = _sum_by_cluster(clusters, numbers)
    count, total = len(sums), len(numbers)
    if count < MINIMUM:
        raise UserError(
            f"{count} images with a score in both runs are too few to plan with: at least {MINIMUM} are needed. Run "
            "both models on more, such as the whole mini data."
        )
    known = trial_variances is not None and trials > 1
    noise = float(np.mean(trial_variances)) if known and trial_variances is not None else 0.0
    means = sums / sizes
    between = float((sizes * (means - numbers.mean()) ** 2).sum() / (count - 1))
    if total == count:
        return ChangeVariances(max(0.0, between - noise / trials), 0.0, noise, known)
    within = float(((numbers**2).sum() - (sums**2 / sizes).sum()) / (total - count))
    usual = (total - (sizes**2).sum() / total) / (count - 1)
    return ChangeVariances(max(0.0, (between - within) / usual), max(0.0, within - noise / trials), noise, known)


def images_needed(
    difference: float,
    varied: ChangeVariances,
    *,
    questions: float = 1,
    trials: int = 1,
    criterion: TestCriterion | None = None,
) -> int | None:
    """How many images show a true ``difference`` with the wanted power; None where ten million do not.

    ``questions``: of each image, on average. Of an exact test a step is taken off, one trial of one question. Raises
    UserError for a difference of 0 or less, or below one question or trial.
    """
    if trials < 1:
        raise UserError(f"trials is {trials!r}: a question has 1 trial or more.")
    test = criterion or TestCriterion()
    if not difference > 0 or questions < 1:
        raise UserError(
            f"difference is {difference!r}, questions {questions!r}: the difference is above 0, such as 0.02 for two "
            "points; an image has 1 question or more."
        )

    def is_enough(images: int) -> bool:
        left = difference - 1 / (trials * questions * images)
        error = math.sqrt(varied.of_mean(images, questions, trials))
        return left > 0 and (error == 0 or compute_power(left, error, images, test) >= test.power)

    return _find_smallest(is_enough, MINIMUM, MOST_IMAGES)


def _find_smallest(is_enough: Callable[[int], bool], low: int, most: int) -> int | None:
    """The smallest number from ``low`` to ``most`` that is enough, where all above it are too; None without one."""
    candidates = range(low, most + 1)
    index = bisect.bisect_left(candidates, True, key=is_enough)
    return candidates[index] if index < len(candidates) else None


def _sum_by_cluster(clusters: Sequence[str], numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, codes = np.unique(np.asarray(clusters, dtype=str), return_inverse=True)
    return np.bincount(codes, weights=numbers), np.bincount(codes).astype(float)


def _common_unit(sums: np.ndarray) -> float:
    """The largest unit, 1/1 to 1/60, that all sums are whole numbers of; 0 where there is none."""
    for parts in range(1, 61):
        whole = np.round(sums * parts)
        if np.abs(sums * parts - whole).max() < 1e-6:
            return float(np.gcd.reduce(np.abs(whole).astype(np.int64))) / parts
    return 0.0
