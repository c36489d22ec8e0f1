"""Ranks that chance leaves open: how often equal models are told apart, and how often different ones are.

A model's score on a question is right or wrong; images differ in how hard they are. "Some pair told apart" is counted
over data sets in which all models are equally good; with two better models, over the pairs of the equal ones. "Told
apart" beside it is the power: the share of the pairs of truly different models.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from simulations.claims import Claim, average, percent

_ABOUT = "rank intervals"
_ALPHA = 0.05
_SETTINGS = ((10, 5), (10, 12), (20, 10), (60, 12), (100, 10), (400, 10))
_HARD = {"shares about .67": (2.0, 1.0), "shares about .9": (9.0, 1.0)}


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each setting."""
    yield from _unlike(repeats, seed)
    for images, models in _SETTINGS:
        for said, shape in _HARD.items():
            for questions in (1, 4):
                rng = seeded_generator("rank intervals", seed, images, models, said, questions)
                wrong = [_told(_scores(rng, images, models, questions, shape)).any() for _ in range(repeats)]
                setting = f"{models} equal models, {_data(images, questions)}, {said}"
                yield Claim(_ABOUT, setting, "some pair told apart: at most 5 %", (percent(wrong),), repeats)
    for images, models in ((20, 6), (100, 6), (400, 6)):
        for gap in (0.1, 0.2):
            rng = seeded_generator("rank intervals, two better", seed, images, models, gap)
            wrong, found = [], []
            for _ in range(repeats):
                told = _told(_scores(rng, images, models, 3, (6.0, 5.0), better=2, gap=gap))
                wrong.append(bool(told[2:, 2:].any() or told[2:, :2].any() or told[:2, :2].any()))
                found.append(100 * told[:2, 2:].mean())
            setting = f"4 equal models and 2 that are {100 * gap:.0f} points better, {_data(images, 3)}"
            yield Claim(_ABOUT, setting, "some pair told apart wrongly: at most 5 %", (percent(wrong),), repeats)
            yield Claim(_ABOUT, setting, "power: different models told apart", (average(found),), repeats)


def _unlike(repeats: int, seed: int) -> Iterator[Claim]:
    """Two models with equal means that are not alike: the chance claimed does not hold."""
    for images in (10, 20, 60):
        rng = seeded_generator("rank intervals, unlike", seed, images)
        settings: dict[str, list[bool]] = {
            "6 questions an image: one misses all of an image where the other misses single ones": [],
            "1 question an image, T = 10, .9 right: one always gives the same answer": [],
        }
        whole, single = settings.values()
        for _ in range(repeats):
            missed = 6.0 * (rng.random(images) < 0.9), rng.binomial(6, 0.9, images).astype(float)
            whole.append(bool(_told(np.column_stack(missed)).any()))
            always = (rng.random(images) < 0.9).astype(float), rng.binomial(10, 0.9, images) / 10
            single.append(bool(_told(np.column_stack(always)).any()))
        for said, found in settings.items():
            setting = f"2 models with equal means, {images} images, {said}"
            yield Claim(_ABOUT, setting, "told apart: more than 5 %", (percent(found),), repeats)


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
