"""The gate's operating curve: how often it says worse, not worse and can't tell, by the true drop.

Each image has its own share of questions that the candidate loses and wins. A fifth of the questions changes, or as
many as the drop needs where that is more; "few change" has no more changes than the drop itself. One measure, a margin
of 2 points, alpha 0.05. The last rows are of gates with ten measures, and of the hypothesis "no drop" at margin 0.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from lmms_medtasks.board.comparison.gate import GateRule, read_rules, test_outcomes
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.non_inferiority import margin_test
from simulations.claims import Claim, percent

_ABOUT = "gate"
_MARGIN = 0.02
_DROPS = (0.0, 0.005, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.08)
_IMAGES = (4, 12, 60, 400)
_OUTCOMES = ("worse", "can't tell", "not worse")


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A claim for each setting; shares of worse / can't tell / not worse."""
    for images in _IMAGES:
        for drop in _DROPS:
            yield _curve(images, 3, drop, 0.2, repeats, seed)
    for images in (*_IMAGES, 2000):
        for questions in (1, 3):
            for changed in (_MARGIN, 0.2):
                if (questions, changed) == (3, 0.2) and images in _IMAGES:
                    continue  # a point of the curve
                yield _curve(images, questions, _MARGIN, changed, repeats, seed)
    for images in (60, 400):
        yield _curve(images, 1, 0.0, 0.2, repeats, seed, margin=0.0)
        yield _many(images, repeats, seed)
    for images in (20, 60):
        yield _few_gain(images, repeats, seed)


def _curve(
    images: int, questions: int, drop: float, changed: float, repeats: int, seed: int, margin: float = _MARGIN
) -> Claim:
    rng = seeded_generator("gate", seed, images, questions, str(drop), str(changed), str(margin))
    said = np.array(
        [_outcomes([_drops(rng, images, questions, drop, changed)], questions, margin)[0] for _ in range(repeats)]
    )
    claimed = []
    if drop <= margin:
        claimed.append("worse at most 5 %")
    if drop >= margin:
        claimed.append("not worse at most 5 %")
    change = "few change" if changed <= drop else f"{100 * changed:.0f} % change"
    data = f"{images} images, {questions} {'question' if questions == 1 else 'questions'} an image, {change}"
    setting = f"true drop {100 * drop:g} points, margin {100 * margin:g}, {data}"
    return Claim(_ABOUT, setting, "; ".join(claimed), tuple(percent(said == each, each) for each in _OUTCOMES), repeats)


def _many(images: int, repeats: int, seed: int) -> Claim:
    """A gate of ten measures of which none has dropped by more than the margin."""
    rng = seeded_generator("gate of ten", seed, images)
    failed = [
        "worse" in _outcomes([_drops(rng, images, 3, _MARGIN, 0.2) for _ in range(10)], 3, _MARGIN)
        for _ in range(repeats)
    ]
    setting = f"ten measures, true drop 2 points in each, margin 2, {images} images, 3 questions an image"
    return Claim(_ABOUT, setting, "any worse: at most 5 %", (percent(failed),), repeats)


def _few_gain(images: int, repeats: int, seed: int) -> Claim:
    """Nearly all images lose a little, 2 % gain all their six questions: the drop is the margin on the whole."""
    rng = seeded_generator("gate, few gain", seed, images)
    found = []
    for _ in range(repeats):
        gains = rng.random(images) < 0.02
        lost = rng.random((images, 6)) < (_MARGIN + 0.02) / 0.98
        drops = np.where(gains, -6.0, lost.sum(axis=1))
        found.append(_outcomes([drops], 6, _MARGIN)[0] == "worse")
    setting = (
        f"true drop 2 points, margin 2, {images} images, 6 questions an image, of 2 % of the images all are gained"
    )
    return Claim(_ABOUT, setting, "worse at most 5 %", (percent(found, "worse"),), repeats)


def _outcomes(drops: list[np.ndarray], questions: int, margin: float) -> list[str]:
    rule = _rule()
    tests = [margin_test(drop, np.full(len(drop), questions), margin) for drop in drops]
    counted = [test for test in tests if test is not None and test.clusters >= rule.min_images]
    found = iter(test_outcomes(counted, [rule.alpha] * len(counted), "holm"))
    return [next(found)[0] if len(drop) >= rule.min_images else "can't tell" for drop in drops]


@functools.cache
def _rule() -> GateRule:
    """The built-in one of any measure."""
    return read_rules().of("any task", "any measure")


def _drops(rng: np.random.Generator, images: int, questions: int, drop: float, changed: float) -> np.ndarray:
    """(images,) floats: each image's questions lost less those won; the mean over questions is ``drop``."""
    changed = max(changed, drop)
    # Images differ twofold in how many of their questions change; never more than all.
    own = rng.uniform(0.5, 1.5, (images, 1))
    lost, won = own * (changed + drop) / 2, own * (changed - drop) / 2
    drawn = rng.random((images, questions))
    return ((drawn < lost).astype(float) - (drawn > 1 - won)).sum(axis=1)
