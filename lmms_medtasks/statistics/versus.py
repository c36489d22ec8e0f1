"""Wins, ties and losses of two runs that answered the same questions (SURE-VQA, Figures 5 and 6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.intervals import Interval, intervals
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.sums import AnyStatistic, Difference, group, of_column

_SAME = 1e-9


@dataclass(frozen=True)
class Answer:
    """A question's score in one run, None where it has none, and its image (the cluster)."""

    image_id: str
    score: float | None


@dataclass(frozen=True)
class Versus:
    """How the first run fared against the second.

    ``win``, ``tie`` and ``loss`` are shares of the ``n`` questions that both have a score for, with intervals over
    images; ``net`` is win less loss, and ``p`` that of the two-sided sign-flip test over images of "as many wins as
    losses", None without questions. ``unscored``: questions of both runs without a score in one of them (a failed
    request, a missing judgement). ``only_first``, ``only_second``: questions of one run alone.
    """

    win: Interval
    tie: Interval
    loss: Interval
    net: Interval
    p: float | None
    n: int
    unscored: int
    only_first: int
    only_second: int


def _sign_flip(images: Sequence[str], signs: Sequence[int]) -> float | None:
    _, codes = np.unique(np.asarray(images, dtype=str), return_inverse=True)
    p = sign_flip(np.bincount(codes, weights=np.asarray(signs, dtype=float)))
    return 1.0 if p is None and signs else p


def versus(
    first: Mapping[str, Answer],
    second: Mapping[str, Answer],
) -> Versus:
    """Compare two runs by question id; the cluster is the first run's image.

    Scores are compared as they are: one star more is a win, as is 0.5 against 0.
    """
    shared = sorted(set(first) & set(second))
    images, signs = [], []
    for question in shared:
        one, other = first[question].score, second[question].score
        if one is not None and other is not None:
            images.append(first[question].image_id)
            signs.append(0 if abs(one - other) < _SAME else (1 if one > other else -1))
    win, tie, loss, net = _intervals(images, signs)
    return Versus(
        win=win,
        tie=tie,
        loss=loss,
        net=net,
        p=_sign_flip(images, signs),
        n=len(signs),
        unscored=len(shared) - len(signs),
        only_first=len(first) - len(shared),
        only_second=len(second) - len(shared),
    )


def _intervals(images: Sequence[str], signs: Sequence[int]) -> list[Interval]:
    sign = np.array(signs, dtype=float)
    rows = group(images, sign > 0, sign == 0, sign < 0)
    win, tie, loss = (of_column(column) for column in range(3))
    statistics: dict[str, AnyStatistic] = {"win": win, "tie": tie, "loss": loss, "net": Difference(win, loss)}
    return list(intervals({"": rows}, statistics).values())
