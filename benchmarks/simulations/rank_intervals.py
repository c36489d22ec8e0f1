"""Ranks that chance leaves open: how often equal models are told apart, and how often different ones are.

A model's score on a question is right or wrong; images differ in how hard they are. "Some pair told apart" is counted
over data sets in which all models are equally good; with two better models, over the pairs of the equal ones. "Told
apart" beside it is the power: the share of the pairs of truly different models.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from simulations.claims import Claim

_ABOUT = "rank intervals"
_ALPHA = 0.05
_SETTINGS = ((10, 5), (10, 12), (20, 10), (60, 12), (100, 10), (400, 10))
_HARD = {"shares about .67": (2.0, 1.0), "shares about .9": (9.0, 1.0)}


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each setting."""
    for images, models in _SETTINGS:
        for said, shape in _HARD.items():
            for questions in (1, 4):
                rng = generator("rank intervals", seed, images, models, said, questions)
                wrong = sum(_told(_scores(rng, images, models, questions, shape)).any() for _ in range(repeats))
                setting = f"{models} equal models, {_data(images, questions)}, {said}"
                yield Claim(_ABOUT, setting, "some pair told apart: at most 5 %", f"{wrong / repeats:.1%}", repeats)
    for images, models in ((20, 6), (100, 6), (400, 6)):
        for gap in (0.1, 0.2):
            rng = generator("rank intervals, two better", seed, images, models, gap)
            wrong, found = 0, 0.0
            for _ in range(repeats):
                told = _told(_scores(rng, images, models, 3, (6.0, 5.0), better=2, gap=gap))
                wrong += bool(told[2:, 2:].any() or told[2:, :2].any() or told[:2, :2].any())
                found += told[:2, 2:].mean()
            setting = f"4 equal models and 2 that are {100 * gap:.0f} points better, {_data(images, 3)}"
            yield Claim(_ABOUT, setting, "some pair told apart wrongly: at most 5 %", f"{wrong / repeats:.1%}", repeats)
            yield Claim(_ABOUT, setting, "power: different models told apart", f"{found / repeats:.0%}", repeats)


def _data(images: int, questions: int) -> str:
    return f"{images} images, {questions} {'question' if questions == 1 else 'questions'} an image"


def _scores(
    rng: np.random.Generator,
    images: int,
    models: int,
    questions: int,
    shape: tuple[float, float],
    better: int = 0,
    gap: float = 0.0,
) -> np.ndarray:
    """(images, models) right answers; the first ``better`` models are right in ``gap`` more of the questions."""
    shares = np.repeat(rng.beta(*shape, (images, 1)), models, axis=1)
    shares[:, :better] += gap * shares[:, :better] * (1 - shares[:, :better]) / _spread(shape)
    return rng.binomial(questions, np.clip(shares, 0, 1)).astype(float)


def _spread(shape: tuple[float, float]) -> float:
    """Mean of share times one less share of a beta distribution."""
    first, second = shape
    return first * second / ((first + second) * (first + second + 1))


def _told(sums: np.ndarray) -> np.ndarray:
    """(models, models) whether the row's model is told to be better than the column's."""
    found = rank_intervals(sums)
    if found is None:
        raise ValueError("too few images to rank")
    return found.p <= _ALPHA
