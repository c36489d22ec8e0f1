"""Two entries' scores on the same questions: what compare, gate and power are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.seeding import stable_seed
from lmms_medtasks.statistics.power import Criterion, Detectable, detectable
from lmms_medtasks.suites.contributions import PairedChange, paired_change

SAME = 1e-9
"""Scores that differ by no more are the same."""


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
        by_words: whether each side's number is of the judge that compares words.
    """

    of_questions: bool
    ids: np.ndarray
    clusters: np.ndarray
    first: np.ndarray
    second: np.ndarray
    change: PairedChange
    unscored: int = 0
    only_first: int = 0
    only_second: int = 0
    by_words: tuple[bool, bool] = (False, False)

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

    def detectable(self, criterion: Criterion, largest: float) -> Detectable:
        """The smallest true difference that these rows would have shown; ``largest``: that the scale allows."""
        return detectable(self.clusters.tolist(), self.differences, criterion, largest=largest)

    def most_telling(self, count: int, seed: str = "") -> Sequence[int]:
        """The ``count`` rows that differ most. Among equals the choice is by a hash of the id, so that it is the same
        every time and does not favour the beginning of the data; ties between models are none."""
        away = np.round(np.abs(self.differences), 9)
        rows = np.flatnonzero(away > SAME).tolist()
        return sorted(rows, key=lambda row: (-away[row], stable_seed("telling", seed, str(self.ids[row]))))[:count]


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
    by_words = (False, False)
    if change.first is not None:  # else the second has none as well: no question has a score in both
        by_words = is_by_words(first, metric), is_by_words(second, metric)
    if not first.is_mean(metric):
        found = change.contributions
        images = found.clusters if found else np.array([], dtype=str)
        before, after = (found.sums * (len(images) / found.rows)).T if found else np.zeros((2, 0))
        return Pairs(False, images, images, before, after, change, unscored, only_first, only_second, by_words)
    _, own, its = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    rows, others = rows[own], others[its]
    ids, images = first.questions.ids[rows], first.samples.column("cluster")[rows]
    before, after = first.scores(metric)[rows], second.scores(metric)[others]
    return Pairs(True, ids, images, before, after, change, unscored, only_first, only_second, by_words)
