"""Two entries' scores on the same questions, and what can be said of their difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.paired_tests import paired_tests
from lmms_medtasks.suites.contributions import PairedChange, paired_change

_SAME = 1e-9


@dataclass(frozen=True)
class Pairs:
    """The scores of the n questions that both entries have a score for, sorted by id; the number they make, compared.

    Of a number that is no mean over questions a row is an image: what it adds to the number, so that the mean over
    images is the number.

    Attributes:
        of_questions: whether a row is a question.
        ids: (n,) strings. clusters: the first entry's image of each row, (n,) strings.
        first, second: (n,) floats.
        change: the numbers, the change, its interval and test.
        unscored: questions of both without a score in one of them (a failed request, a missing judgement).
        only_first, only_second: questions of this measure that the other entry was not asked.
    """

    of_questions: bool
    ids: np.ndarray
    clusters: np.ndarray
    first: np.ndarray
    second: np.ndarray
    change: PairedChange
    unscored: int
    only_first: int
    only_second: int

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def differences(self) -> np.ndarray:
        """(n,) floats: second less first."""
        return self.second - self.first

    @property
    def images(self) -> int:
        """Distinct images."""
        return len(set(self.clusters))

    @property
    def binary(self) -> bool:
        """Whether all scores are 0 or 1."""
        return bool(np.isin(self.first, (0.0, 1.0)).all() and np.isin(self.second, (0.0, 1.0)).all())

    @property
    def linear(self) -> bool:
        """Whether the test is exact; else it is asymptotic."""
        return self.change.contributions is None or self.change.contributions.linear

    @property
    def lacking(self) -> str:
        """Why there is nothing to test; "" where there is."""
        if len(self):
            return ""
        if self.change.contributions:
            return f"No test: {self.change.contributions.reason}."
        return f"{'No question has a score' if self.of_questions else 'There is no value'} in both."


def pairs(first: Entry, second: Entry, metric: str) -> Pairs:
    """Join two entries by question id for a metric that both have; of one that is no mean over questions by image."""
    change = paired_change(first.make_samples, second.make_samples, first.estimate(metric), metric)
    rows, others = first.scored(metric).rows, second.scored(metric).rows
    one, other, only_first, only_second = rows, others, 0, 0
    if first.questions.digest != second.questions.digest:
        one, other = first.questions.ids[rows], second.questions.ids[others]
        only_first = int((~np.isin(one, second.questions.ids)).sum())
        only_second = int((~np.isin(other, first.questions.ids)).sum())
    unscored = len(np.setxor1d(one, other, assume_unique=True)) - only_first - only_second
    if not first.is_mean(metric):
        found = change.contributions
        images = found.clusters if found else np.array([], dtype=str)
        before, after = (found.sums * (len(images) / found.rows)).T if found else np.zeros((2, 0))
        return Pairs(False, images, images, before, after, change, unscored, only_first, only_second)
    _, own, its = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    rows, others = rows[own], others[its]
    return Pairs(
        of_questions=True,
        ids=first.questions.ids[rows],
        clusters=first.samples.column("cluster")[rows],
        first=first.scores(metric)[rows],
        second=second.scores(metric)[others],
        change=change,
        unscored=unscored,
        only_first=only_first,
        only_second=only_second,
    )


@dataclass(frozen=True)
class Difference:
    """How the second entry fared against the first on a measure.

    Attributes:
        first, second: the means over the same questions; None without any. mean: second less first, with its
            interval over images.
        wins, ties, losses: questions (of a number that is no mean over questions, images) on which the second is
            better, as good, worse.
        p: of the permutation test over images, two-sided (:mod:`lmms_medtasks.statistics.sign_flip`).
        test, question_p: "McNemar" (exact) for scores of 0 and 1, else "Wilcoxon": takes questions as independent.
            sign_p: the sign test's; McNemar's exact test is the same. Of a number that is no mean over questions there
            is ``p`` alone, and ``test`` is its: "signs flipped", of a smooth one "signs flipped, asymptotic".
        cohens_h: 2 asin sqrt(second) - 2 asin sqrt(first) (Cohen 1988; 0.2 is small, 0.5 medium, 0.8 large), for scores
            of 0 and 1. odds: the matched pairs' odds ratio, wins to losses, (wins + 1/2) / (losses + 1/2).
        rank_biserial: the matched pairs' rank-biserial correlation, from -1 to 1, for other scores.

    What has no value is None; where no question differs ``p`` is 1, and ``question_p`` and effects are None.
    """

    pairs: Pairs
    first: float | None
    second: float | None
    mean: Interval
    wins: int
    ties: int
    losses: int
    p: float | None
    test: str
    question_p: float | None
    sign_p: float | None
    cohens_h: float | None
    odds: float | None
    rank_biserial: float | None


def difference(
    found: Pairs,
    *,
    higher_is_better: bool = True,
    share: bool = True,
) -> Difference:
    """Compare the second with the first on a measure of which more, or less, is better.

    ``share``: the measure is from 0 to 1; only then are scores of 0 and 1 wrong and right.
    """
    gains = found.differences if higher_is_better else -found.differences
    binary = share and found.of_questions and found.binary
    tested = paired_tests(gains if found.of_questions else gains[:0])
    flipped = "signs flipped" if found.linear else "signs flipped, asymptotic"
    wins, losses = int((gains > _SAME).sum()), int((gains < -_SAME).sum())
    first, second = found.change.first, found.change.second
    return Difference(
        pairs=found,
        first=first,
        second=second,
        mean=found.change.interval,
        wins=wins,
        ties=len(found) - wins - losses,
        losses=losses,
        p=found.change.p,
        test="McNemar" if binary else "Wilcoxon" if found.of_questions else flipped,
        question_p=tested.sign_p if binary else tested.wilcoxon_p,
        sign_p=tested.sign_p,
        cohens_h=cohens_h(first, second) if binary and first is not None and second is not None else None,
        odds=(wins + 0.5) / (losses + 0.5) if binary and wins + losses else None,
        rank_biserial=None if binary else tested.effect,
    )


def cohens_h(first: float, second: float) -> float:
    """Cohen's h of two shares.

    >>> round(cohens_h(0.5, 0.6), 4)
    0.2014
    """
    return 2 * math.asin(math.sqrt(second)) - 2 * math.asin(math.sqrt(first))


def most_telling(found: Pairs, count: int, seed: str = "") -> Sequence[int]:
    """The rows of the ``count`` questions that differ most. Among equals the choice is by a hash of the id, so that
    it is the same every time and does not favour the beginning of the data; ties between models are none."""
    from lmms_medtasks.seeding import stable_seed

    away = np.round(np.abs(found.differences), 9)
    rows = np.flatnonzero(away > _SAME).tolist()
    return sorted(rows, key=lambda row: (-away[row], stable_seed("telling", seed, str(found.ids[row]))))[:count]
