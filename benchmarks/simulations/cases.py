"""Bones and Joints: models that do not differ, by Kruskal-Wallis over answers, and two of them by case, as in compare.

Made-up answers to six questions on each case. Cases differ in difficulty for all models alike, and each model knows
some cases better than others: its six answers about a case go together. That is no difference between models.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.rank_tests import kruskal_wallis
from lmms_medtasks.statistics.sign_flip import sign_flip
from simulations.claims import Claim, percent

TASKS = 6
"""Questions on a case."""
LEVEL = 0.05


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """The claims of the tests of models."""
    for cases, models in ((10, 3), (25, 2), (25, 5), (203, 3)):
        yield from _models(cases, models, 0.0, repeats, seed)
        yield from _models(cases, models, 1.5, repeats, seed)


def _answers(rng: np.random.Generator, cases: int, models: int, own: float) -> np.ndarray:
    """(cases, tasks, models) of 0 and 1. ``own``: how much models differ in which cases they know, in logits."""
    hard = rng.normal(0, 1.5, (cases, 1, 1)) + rng.normal(0, own, (cases, 1, models))
    return (rng.random((cases, TASKS, models)) < 1 / (1 + np.exp(hard))).astype(float)


def _kruskal(answers: np.ndarray) -> bool:
    """Whether Kruskal-Wallis over the answers finds a difference between the last axis' columns."""
    p = kruskal_wallis({str(number): own.ravel() for number, own in enumerate(np.moveaxis(answers, -1, 0))}).p
    return p is not None and p < LEVEL


def _models(cases: int, models: int, own: float, repeats: int, seed: int) -> Iterator[Claim]:
    ranks, blocks = [], []
    for number in range(repeats):
        answers = _answers(seeded_generator("models", seed, cases, models, str(own), number), cases, models, own)
        ranks.append(_kruskal(answers))
        if models == 2:
            sums = answers.sum(axis=1)
            p = sign_flip(sums[:, 0] - sums[:, 1])
            blocks.append(p is not None and p < LEVEL)
    known = "each knows other cases" if own else "all know the same cases"
    setting = f"{models} models that do not differ ({known}), {cases} cases of {TASKS} questions"
    yield _share("Bones and Joints, Kruskal-Wallis (the paper's)", setting, "different in 5 %", ranks)
    if blocks:
        yield _share("Bones and Joints, by case", setting, "different in 5 %", blocks)


def _share(about: str, setting: str, claimed: str, found: list[bool]) -> Claim:
    return Claim(about, setting, claimed, (percent(found),), len(found))
