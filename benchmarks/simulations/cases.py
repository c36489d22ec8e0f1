"""Bones and Joints: models, and tasks, that do not differ, by Kruskal-Wallis over answers and by the test by case.

Made-up answers to six questions on each case. Cases differ in difficulty for all models alike, and each model knows
some cases better than others: its six answers about a case go together. That is no difference between models.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.rank_tests import kruskal_wallis
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.within_blocks import within_blocks
from simulations.claims import Claim, percent

TASKS = 6
"""Questions on a case."""
LEVEL = 0.05
_PERMUTATIONS = 999


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """The claims of the tests of models and of tasks."""
    for cases, models in ((10, 3), (25, 2), (25, 5), (203, 3)):
        yield from _models(cases, models, 0.0, repeats, seed)
        yield from _models(cases, models, 1.5, repeats, seed)
    yield from _nine(repeats, seed)
    for cases in (10, 25, 203):
        yield from _tasks(cases, repeats, seed)
    yield from _power(repeats, seed)


def _answers(
    rng: np.random.Generator, cases: int, models: int, own: float, shift: tuple[float, ...] = ()
) -> np.ndarray:
    """(cases, tasks, models) of 0 and 1. ``own``: how much models differ in which cases they know, in logits."""
    hard = rng.normal(0, 1.5, (cases, 1, 1)) + rng.normal(0, own, (cases, 1, models))
    hard = hard - np.array(shift or (0.0,) * models)
    return (rng.random((cases, TASKS, models)) < 1 / (1 + np.exp(hard))).astype(float)


def _kruskal(answers: np.ndarray) -> bool:
    """Whether Kruskal-Wallis over the answers finds a difference between the last axis' columns."""
    p = kruskal_wallis({str(number): own.ravel() for number, own in enumerate(np.moveaxis(answers, -1, 0))}).p
    return p is not None and p < LEVEL


def _by_case(values: np.ndarray, seed: int) -> bool:
    p = within_blocks(values, seed=seed, permutations=_PERMUTATIONS).p
    return p is not None and p < LEVEL


def _models(cases: int, models: int, own: float, repeats: int, seed: int) -> Iterator[Claim]:
    ranks, blocks = [], []
    for number in range(repeats):
        answers = _answers(generator("models", seed, cases, models, str(own), number), cases, models, own)
        ranks.append(_kruskal(answers))
        blocks.append(_by_case(answers.sum(axis=1), number))
    known = "each knows other cases" if own else "all know the same cases"
    setting = f"{models} models that do not differ ({known}), {cases} cases of {TASKS} questions"
    yield _share("Bones and Joints, Kruskal-Wallis (the paper's)", setting, "different in 5 %", ranks)
    yield _share("Bones and Joints, by case", setting, "different in 5 %", blocks)


def _nine(repeats: int, seed: int) -> Iterator[Claim]:
    """The report's tests: one a task and one of all together, corrected; is any of them a false finding?"""
    cases, models, found, raw = 25, 3, [], []
    for number in range(repeats):
        answers = _answers(generator("nine", seed, number), cases, models, 1.5)
        tests = [within_blocks(answers[:, task], seed=number, permutations=_PERMUTATIONS) for task in range(TASKS)]
        tests.append(within_blocks(answers.sum(axis=1), seed=number, permutations=_PERMUTATIONS))
        p = [1.0 if test.p is None else test.p for test in tests]
        raw.append(min(p) < LEVEL)
        found.append(min(adjust(p)) < LEVEL)
    setting = f"{models} models that do not differ, {cases} cases, a test for each of {TASKS} tasks and for all"
    yield _share("Bones and Joints, by case, not corrected", setting, "any test different in (no claim)", raw)
    yield _share("Bones and Joints, by case, Holm", setting, "any test different in at most 5 %", found)


def _tasks(cases: int, repeats: int, seed: int) -> Iterator[Claim]:
    """One model, five tasks that do not differ; in every fifth case one task was not asked."""
    ranks, blocks = [], []
    for number in range(repeats):
        rng = generator("tasks", seed, cases, number)
        answers = _answers(rng, cases, 1, 0.0)[:, :5, 0]
        answers[np.flatnonzero(rng.random(cases) < 0.2), 0] = np.nan
        ranks.append(_kruskal(answers))
        blocks.append(_by_case(answers, number))
    setting = f"five tasks that do not differ, {cases} cases, of which a fifth lack one task"
    yield _share("Bones and Joints, Kruskal-Wallis over tasks", setting, "different in 5 %", ranks)
    yield _share("Bones and Joints, tasks by case", setting, "different in 5 %", blocks)


def _power(repeats: int, seed: int) -> Iterator[Claim]:
    for cases in (25, 203):
        ranks, blocks = [], []
        for number in range(repeats):
            answers = _answers(generator("power", seed, cases, number), cases, 3, 0.0, (0.0, 0.0, 0.7))[:, :1]
            ranks.append(_kruskal(answers))
            blocks.append(_by_case(answers.sum(axis=1), number))
        setting = f"three models, one better by about 12 points, one task of {cases} cases"
        yield _share("Bones and Joints, Kruskal-Wallis (the paper's)", setting, "(power, nothing claimed)", ranks)
        yield _share("Bones and Joints, by case", setting, "(power, nothing claimed)", blocks)


def _share(about: str, setting: str, claimed: str, found: list[bool]) -> Claim:
    return Claim(about, setting, claimed, (percent(found),), len(found))
