"""Two entries' scores on the same questions, and what can be said of their difference."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Interval
from lmms_medtasks.statistics.paired_tests import paired_tests
from lmms_medtasks.statistics.sign_flip import Alternative, sign_flip
from lmms_medtasks.suites.estimates import Contrast

_SAME = 1e-9


@dataclass(frozen=True)
class Pairs:
    """The scores of the n questions that both entries have a score for, sorted by id.

    Attributes:
        ids: (n,) strings. clusters: the first entry's image of each question, (n,) strings.
        first, second: (n,) floats.
        unscored: questions of both without a score in one of them (a failed request, a missing judgement).
        only_first, only_second: questions of this measure that the other entry was not asked.
    """

    ids: np.ndarray
    clusters: np.ndarray
    first: np.ndarray
    second: np.ndarray
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

    def by_image(self) -> np.ndarray:
        """(images,) floats: the summed differences of each image."""
        _, codes = np.unique(self.clusters.astype(str), return_inverse=True)
        return np.bincount(codes, weights=self.differences)

    def table(self) -> Samples:
        """A row a question and side ("first", "second"), with the measure ``score``."""
        sides = (("first", self.first), ("second", self.second))
        return Samples.of_rows(
            {"id": name, "cluster": cluster, "side": side, "score.score": score, "score.asked": True}
            for side, scores in sides
            for name, cluster, score in zip(self.ids, self.clusters, scores, strict=True)
        )


def pairs(first: Entry, second: Entry, metric: str) -> Pairs:
    """Join two entries by question id for a metric that both have."""
    one, other = (entry.scores(metric) for entry in (first, second))
    ids = first.questions.ids
    if first.questions.digest == second.questions.digest:
        rows, others = np.arange(len(ids)), np.arange(len(ids))
    else:
        _, rows, others = np.intersect1d(ids, second.questions.ids, assume_unique=True, return_indices=True)
    had_one, had_other = ~np.isnan(one), ~np.isnan(other)
    both = had_one[rows] & had_other[others]
    return Pairs(
        ids=ids[rows][both],
        clusters=first.samples.column("cluster")[rows][both],
        first=one[rows][both],
        second=other[others][both],
        unscored=int((had_one[rows] ^ had_other[others]).sum()),
        only_first=int(had_one.sum() - had_one[rows].sum()),
        only_second=int(had_other.sum() - had_other[others].sum()),
    )


DIFFERENCE = Contrast(measure="score", first={"side": "first"}, second={"side": "second"}, pair=("id",))
"""Second less first over the same questions: the draw that reports and boards take for such a change too."""


@dataclass(frozen=True)
class Difference:
    """How the second entry fared against the first on a measure.

    Attributes:
        first, second: the means over the same questions; None without any. mean: second less first, with its bootstrap
            interval over images.
        wins, ties, losses: questions on which the second is better, as good, worse.
        p: of the permutation test over images, two-sided (:mod:`lmms_medtasks.statistics.sign_flip`).
        test, question_p: "McNemar" (exact) for scores of 0 and 1, else "Wilcoxon": takes questions as independent.
            sign_p: the sign test's; McNemar's exact test is the same.
        cohens_h: 2 asin sqrt(second) - 2 asin sqrt(first) (Cohen 1988; 0.2 is small, 0.5 medium, 0.8 large), for scores
            of 0 and 1. odds: the matched pairs' odds ratio, wins to losses, (wins + 1/2) / (losses + 1/2).
        rank_biserial: the matched pairs' rank-biserial correlation, from -1 to 1, for other scores.

    What has no value is None, as p and effects are where no question differs.
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
    resamples: int = RESAMPLES,
) -> Difference:
    """Compare the second with the first on a measure of which more, or less, is better.

    ``share``: the measure is from 0 to 1; only then are scores of 0 and 1 wrong and right.
    """
    gains = found.differences if higher_is_better else -found.differences
    binary = share and found.binary
    tested = paired_tests(gains)
    wins, losses = int((gains > _SAME).sum()), int((gains < -_SAME).sum())
    estimated = DIFFERENCE.of(found.table(), resamples)
    first, second = estimated["first"].estimate, estimated["second"].estimate
    return Difference(
        pairs=found,
        first=first,
        second=second,
        mean=estimated["change"],
        wins=wins,
        ties=len(found) - wins - losses,
        losses=losses,
        p=sign_flip(found.by_image()),
        test="McNemar" if binary else "Wilcoxon",
        question_p=tested.sign_p if binary else tested.wilcoxon_p,
        sign_p=tested.sign_p,
        cohens_h=cohens_h(first, second) if binary and first is not None and second is not None else None,
        odds=(wins + 0.5) / (losses + 0.5) if binary and wins + losses else None,
        rank_biserial=None if binary else tested.effect,
    )


def drop_p(found: Pairs, *, higher_is_better: bool = True) -> float | None:
    """One-sided p value of "the second is no worse", by the permutation test over images; None where none differs."""
    alternative: Alternative = "less" if higher_is_better else "greater"
    return sign_flip(found.by_image(), alternative)


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
