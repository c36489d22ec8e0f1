"""The gate of numbers whatever they are made of, at a true drop of just the margin: how often it is wrong.

The candidate answers as the baseline did but for a few images (3 %), on which all is lost: of contrasts and ratios all
of the second side. "Not worse" is wrong then, and so is "worse". The gate's own test of "not worse" (Gaffke's bound) is
for linear numbers; Student's limit stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.non_inferiority import margin_test
from lmms_medtasks.suites.contributions import paired_change
from simulations.any_number import NUMBERS, Outcome, outcomes, table
from simulations.claims import Claim, percent

_ABOUT = "any number, gate"
_ALPHA = 0.05
_SIZES = ((30, 4), (60, 2), (150, 2))
_LOST = 0.03
_RIGHT, _TRUE = 0.8, 0.3
_DROP = _LOST * _RIGHT


def _f1(right: float) -> float:
    return 2 * _TRUE * right / (2 * _TRUE * right + 1 - right)


_CASES = {
    "mean": (_DROP, 1.0), "macro mean of 3 groups": (_DROP, 1.0), "balanced accuracy": (_DROP, 1.0),
    "contrast": (_DROP, 2.0), "F1": (_f1(_RIGHT) - _f1(_RIGHT - _DROP), 1.0), "ratio": (_LOST, 1.0),
}  # fmt: skip
"""The true drop, and the length of the number's scale."""


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each number and size."""
    for images, questions in _SIZES:
        rng = seeded_generator("any number, gate", seed, images, questions)
        drawn = (_answers(rng, images, questions) for _ in range(repeats))
        for name, linear, own in outcomes(_CASES, drawn, lambda name, answers: _outcome(name, *answers)):
            bound = "not worse, Gaffke's bound" if linear else "not worse, Gaffke's bound (not used)"
            claimed = "each at most 5 %, Student's of many images" if linear else "worse: 5 % of many images"
            figures = zip((bound, "not worse, Student's limit", "worse"), np.array(own).T, strict=True)
            data = f"{images} images, {questions} questions an image"
            setting = f"{name}, true drop and margin {100 * _CASES[name][0]:.2f} points, {data}"
            yield Claim(_ABOUT, setting, claimed, tuple(percent(each, said) for said, each in figures), len(own))


def _answers(rng: np.random.Generator, images: int, questions: int) -> tuple[np.ndarray, ...]:
    """(questions of all,) image, baseline right, lost, group and truth."""
    image = np.repeat(np.arange(images), questions)
    base = rng.random(len(image)) < rng.beta(4, 1, images)[image]  # right in 80 %
    lost = (rng.random(images) < _LOST)[image]
    return image, base, lost, rng.choice(3, len(image), p=(0.6, 0.3, 0.1)), rng.random(len(image)) < _TRUE


def _outcome(
    name: str, image: np.ndarray, base: np.ndarray, lost: np.ndarray, group: np.ndarray, truth: np.ndarray
) -> Outcome | None:
    """Whether the number is linear; "not worse" by both, and "worse". None where a model has no number."""
    if name in ("contrast", "ratio"):
        lost = lost & (np.arange(len(image)) % 2 == 1)
    margin, width = _CASES[name]
    first, second = (table(image, right, group, truth, {}) for right in (base, base & ~lost))
    found = paired_change(first, second, NUMBERS[name])
    if found.contributions is None or found.p is None:
        return None
    test = margin_test(-found.sums, found.contributions.sizes, margin, width)
    if test is None or test.not_worse_p is None:
        return None
    student = _student(-found.sums - margin * found.contributions.sizes)
    return found.contributions.linear, (test.not_worse_p <= _ALPHA, student <= _ALPHA, test.worse_p <= _ALPHA)


def _student(excess: np.ndarray) -> float:
    """One-sided p value of "the mean of (images,) drops beyond the margin is 0 or more"."""
    from scipy.special import stdtr

    error = excess.std(ddof=1) / np.sqrt(len(excess))
    return float(stdtr(len(excess) - 1, excess.mean() / error)) if error > 0 else float(excess.mean() >= 0)
