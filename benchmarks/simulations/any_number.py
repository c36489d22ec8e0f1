"""Numbers of equal models, whatever they are made of: how often the tests and ranks of images tell the models apart.

Each image is more or less hard, the same for all models; how well a model does on it differs by chance. So models are
exchangeable on each image. The tests of linear numbers (means of any kind) then hold exactly, those of others
(fractions, ratios, calibration) to first order. Of five replies the first one is scored, and all
are votes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import numpy as np
import pyarrow as pa

from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from lmms_medtasks.statistics.reliability import reliability_draw
from lmms_medtasks.statistics.votes import VoteTable
from lmms_medtasks.suites.contributions import image_contributions, paired_change
from lmms_medtasks.suites.estimates import Contrast, Custom, Draw, Estimate, Fraction, Macro, Mean
from simulations.claims import Claim, holds, percent

Outcome = tuple[bool, tuple[bool, bool, bool]]
"""Of a number and a data set: whether it is linear, and three findings."""
Drawn = TypeVar("Drawn")

_ABOUT = "any number, equal models"
_ALPHA = 0.05
_SIZES = ((12, 4), (30, 4), (100, 2))
_TRIALS = 5
_MODELS = 4


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each number and size; all numbers are of the same data sets."""
    for images, questions in _SIZES:
        rng = seeded_generator("any number", seed, images, questions)
        drawn = (tables(images, questions, rng.beta(2, 1, images), rng, _MODELS) for _ in range(repeats))
        for name, linear, own in outcomes(NUMBERS, drawn, lambda name, made: _outcome(made, NUMBERS[name])):
            claimed = "at most 5 %" if linear else "5 % of many images"
            figures = zip(("two models, p at most .05", "interval of the change misses 0", "some pair of 4 told apart"),
                          np.array(own).T, strict=True)  # fmt: skip
            setting = f"{name}, {images} images, {questions} questions an image"
            yield Claim(_ABOUT, setting, claimed, tuple(percent(each, said) for said, each in figures), len(own))


def outcomes(
    names: Iterable[str], data_sets: Iterable[Drawn], outcome_of: Callable[[str, Drawn], Outcome | None]
) -> Iterator[tuple[str, bool, list[tuple[bool, bool, bool]]]]:
    """Of each number whether it is linear, and what was found in each data set that has an outcome of it."""
    found: dict[str, list[tuple[bool, bool, bool]]] = {name: [] for name in names}
    linear: dict[str, bool] = {}
    for drawn in data_sets:
        for name, told in found.items():
            outcome = outcome_of(name, drawn)
            if outcome is not None:
                linear[name], own = outcome
                told.append(own)
    return ((name, linear[name], told) for name, told in found.items())


def _outcome(made: Sequence[Callable[[], QuestionTable]], estimate: Estimate) -> Outcome | None:
    """Whether the number is linear, and what was told apart; None where a model has no number or there is no test."""
    two, all_models = paired_change(*made[:2], estimate), image_contributions(made, estimate)
    if two.contributions is None or two.p is None or all_models is None or all_models.reason:
        return None
    ranks = rank_intervals(all_models.sums, sizes=all_models.sizes)
    misses = two.interval.low is not None and two.interval.high is not None and not holds(two.interval, 0)
    return two.contributions.linear, (two.p <= _ALPHA, misses, ranks is not None and bool(ranks.better.any()))


def tables(
    images: int, questions: int, easy: np.ndarray, rng: np.random.Generator, models: int
) -> list[Callable[[], QuestionTable]]:
    """Tables of equal models on the same questions; ``easy``: (images,) shares of right answers."""
    image = np.repeat(np.arange(images), questions)
    group, truth = rng.choice(3, len(image), p=(0.6, 0.3, 0.1)), rng.random(len(image)) < 0.3
    found = []
    for _ in range(models):
        own = np.clip(easy + rng.normal(0, 0.15, images), 0, 1)[image]
        right = rng.random((_TRIALS, len(image))) < own
        options = np.where(right, 0, rng.integers(1, 4, right.shape))
        votes = {f"votes_{option}": (options == option).sum(axis=0) for option in range(4)}
        found.append(table(image, right[0], group, truth, votes))
    return found


def table(
    image: np.ndarray, right: np.ndarray, group: np.ndarray, truth: np.ndarray, votes: Mapping[str, np.ndarray]
) -> Callable[[], QuestionTable]:
    """A model's table: a row a question, whose side is 0 or 1 in turn."""
    rows = QuestionTable(pa.table({
        "id": [f"{number:05d}" for number in range(len(image))], "cluster": [f"{each:04d}" for each in image],
        "accuracy.score": right.astype(float), "accuracy.asked": np.ones(len(image), bool), "group": group,
        "side": np.arange(len(image)) % 2, "truth": truth, **votes,
    }))  # fmt: skip
    return lambda: rows


def _top(rows: QuestionTable) -> np.ndarray:
    """Of F1 of the truth: twice the true positives."""
    return 2.0 * rows.column("truth").astype(float) * rows.column("accuracy.score")


def _bottom(rows: QuestionTable) -> np.ndarray:
    """Twice the true positives, and the wrong answers, which are false positives or false negatives."""
    return _top(rows) + 1.0 - rows.column("accuracy.score")


def _calibration(rows: QuestionTable) -> Draw:
    count = len(rows)
    votes = np.column_stack([*(rows.column(f"votes_{each}").astype(int) for each in range(4)), np.zeros(count, int)])
    ids, images = tuple(rows.column("id")), tuple(rows.column("cluster"))
    none = np.zeros(count, int)
    return Draw(*reliability_draw(VoteTable(ids, ids, images, votes, none + 4, none, none)))


NUMBERS: dict[str, Estimate] = {
    "mean": Mean(),
    "macro mean of 3 groups": Macro(by="group"),
    "balanced accuracy": Macro(by="truth"),
    "contrast": Contrast(first={"side": 0}, second={"side": 1}),
    "Brier score": Custom(main="brier", function=_calibration),
    "ratio": Contrast(main="ratio", first={"side": 0}, second={"side": 1}, ratio=True),
    "F1": Fraction(top=_top, bottom=_bottom),
    "ECE": Custom(main="ece", function=_calibration),
    "AURC": Custom(main="aurc", function=_calibration),
}
LINEAR = tuple(NUMBERS)[:5]
"""Those whose tests are exact."""
