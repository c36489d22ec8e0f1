"""How often a paired test finds the difference that is said to be found in 80 % of data sets.

Two models answer the same questions; their replies share the image and the question. The variance of the change is that
of a large pilot, the planted difference the one that :mod:`lmms_medtasks.statistics.power` names for it, the test the
permutation test over images that comparison and gate use.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.power import (
    ChangeVariances,
    TestCriterion,
    detectable_difference,
    estimate_variances,
    images_needed,
    standard_errors_needed,
)
from lmms_medtasks.statistics.sign_flip import sign_flip
from simulations.claims import Claim, Figure, percent
from simulations.intervals import _two_models as two_models

SETTINGS = ((20, 1, 1, 0.4), (20, 3, 3, 0.6), (60, 1, 1, 0.7), (60, 3, 10, 0.8), (200, 2, 1, 0.5), (200, 3, 3, 0.7))
_CLAIM = "finds 77 to 83 %"
_NAMED = 200
"""Data sets whose own smallest difference is computed."""


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """Every claim; 2,000 repeats take about a minute."""
    for images, questions, trials, share in SETTINGS:
        yield from _planted(images, questions, trials, share, TestCriterion(), repeats, seed)
    yield from _planted(60, 3, 3, 0.6, TestCriterion(comparisons=5), repeats, seed)
    yield from _planted(60, 3, 3, 0.6, TestCriterion(sides=1), repeats, seed)
    yield _number_of_images(repeats, seed)


def _planted(
    images: int, questions: int, trials: int, share: float, criterion: TestCriterion, repeats: int, seed: int
) -> Iterator[Claim]:
    rng = seeded_generator("power", seed, images, questions, trials, share, str(criterion))
    difference = 0.05
    for _ in range(3):  # the variance goes with the difference
        varied = _pilot(rng, questions, trials, share, share + difference)
        error = math.sqrt(varied.of_mean(images, questions, trials))
        step = 1 / (images * questions * trials)
        difference = min(0.98 - share, standard_errors_needed(images, criterion) * error + step)
    found, named = _found(rng, images, questions, trials, share, difference, criterion, repeats)
    sides = "" if criterion.sides == 2 else ", one-sided"
    setting = f"{images} images, {questions} an image, T = {trials}, {criterion.comparisons} comparisons{sides}"
    said = f"{setting}: {share} against {share + difference:.3f}"
    yield Claim("power at the smallest difference", said, _CLAIM, (percent(found),), repeats)
    yield Claim("smallest difference from the data", said, f"{difference:.3f}", (named,), min(repeats, _NAMED))


def _number_of_images(repeats: int, seed: int) -> Claim:
    """Planned from a pilot of 60 images with T = 3: how many with T = 5 show eight points."""
    rng = seeded_generator("power", seed, "images")
    share, difference, questions, trials = 0.6, 0.08, 2, 5
    varied = _pilot(rng, questions, 3, share, share + difference)
    images = images_needed(difference, varied, questions=questions, trials=trials) or 0
    found, _ = _found(rng, images, questions, trials, share, difference, TestCriterion(), repeats)
    setting = f"{share} against {share + difference:.2f}, {questions} an image, T = {trials}: {images} images"
    return Claim("number of images for a difference", setting, _CLAIM, (percent(found),), repeats)


def _pilot(rng: np.random.Generator, questions: int, trials: int, share: float, other: float) -> ChangeVariances:
    count = 20_000
    sizes = np.full(count, questions)
    one, two = two_models(rng, 1, sizes, trials, share, other)
    labels = np.repeat(np.arange(count), questions).astype(str).tolist()
    noise = sum(each * (1 - each) * trials / (trials - 1) for each in (one, two)).ravel() if trials > 1 else None
    return estimate_variances(labels, (two - one).ravel(), noise, trials)


def _found(
    rng: np.random.Generator, images: int, questions: int, trials: int, share: float, difference: float,
    criterion: TestCriterion, repeats: int,
) -> tuple[list[bool], Figure]:  # fmt: skip
    """Whether the test finds it in each data set, and the median of the difference that each names itself."""
    sizes = np.full(images, questions)
    labels = np.repeat(np.arange(images), questions).astype(str).tolist()
    found, named = [], []
    for place in range(repeats):
        one, two = two_models(rng, 1, sizes, trials, share, share + difference)
        changes = (two - one)[0]
        p = sign_flip(changes.sum(-1), "greater" if criterion.sides == 1 else "two-sided")
        found.append(p is not None and p < criterion.level)
        if place < _NAMED:
            named.append(detectable_difference(labels, changes.ravel(), criterion).difference or np.nan)
    quarter, median, other = np.nanquantile(named, (0.25, 0.5, 0.75))
    # Of a normal spread: the error of a median is 1.253 standard deviations over the root of the number.
    error = 1.253 * (other - quarter) / 1.349 / math.sqrt(len(named))
    return found, Figure("median", float(median), float(error))
