"""SURE-VQA: whether a method that guesses is called better than its baselines, and so more robust than it is.

Made-up closed questions: half of the images are of the i.i.d. test, half of the OoD test. Images differ in difficulty,
so that the answers to questions on one image go together, and those of two methods on one question too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.task_configs.sure_vqa.report_paper import (
    MOST_FREQUENT,
    NO_IMAGE,
    Against,
    ImageScore,
    MethodStanding,
    compare_with_baseline,
    corrected_comparisons,
)
from lmms_medtasks.task_configs.sure_vqa.report_published import PublishedShift, ShiftCondition
from simulations.claims import Claim, percent

QUESTIONS = 3
"""Questions on an image."""
_SPREAD = 1.0
"""Standard deviation of the images' difficulty, in logits."""


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """Two models and one that guesses, with baselines: who is the most robust, and who is better than its baselines."""
    images = 200
    shares = {"good": (0.8, 0.6), "fair": (0.75, 0.55), "guesser": (0.5, 0.56), "blind": (0.5, 0.5),
              "frequent": (0.5, 0.5)}  # fmt: skip
    first, called, good = [], [], []
    for number in range(repeats):
        answers = _answers(seeded_generator("guesser", seed, number), images, shares)
        ood = _is_ood(images)
        rr = {name: answers[name][ood].mean() / answers[name][~ood].mean() for name in ("good", "fair", "guesser")}
        first.append(max(rr, key=rr.__getitem__) == "guesser")
        better = _better(answers)
        called.append(better["guesser"])
        good.append(better["good"] and better["fair"])
    setting = f"a guesser (.5 i.i.d., .56 OoD) beside two models (.8/.6, .75/.55), {images} images"
    rule = "SURE-VQA, better than its baselines"
    for about, claimed, found in (
        ("SURE-VQA, the highest RR", "the guesser has it in at most 5 %", first),
        (rule, "the guesser is in at most 5 %", called),
        (rule, "(power: both models are)", good),
    ):
        yield Claim(about, setting, claimed, (percent(found),), len(found))


def _answers(rng: np.random.Generator, images: int, shares: Mapping[str, tuple[float, float]]) -> dict[str, np.ndarray]:
    """Each method's answers, (images, questions) of 0 and 1; ``shares``: right on i.i.d. and OoD images, about."""
    hard = rng.normal(0, _SPREAD, (images, 1)) + rng.normal(0, 0.5 * _SPREAD, (images, QUESTIONS))
    ood = _is_ood(images)[:, None]
    return {
        name: (rng.random((images, QUESTIONS)) < _shifted(np.where(ood, other, iid), hard)).astype(float)
        for name, (iid, other) in shares.items()
    }


def _shifted(share: np.ndarray, hard: np.ndarray) -> np.ndarray:
    """Probabilities around ``share`` with a difficulty in logits added; their mean over images is ``share``, about."""
    slope = np.sqrt(1 + 1.25 * _SPREAD**2 * 0.346)  # a logit's shrinkage under normal noise of this variance
    logits = slope * np.log(share / (1 - share)) - hard
    return np.asarray(1 / (1 + np.exp(-logits)))


def _is_ood(images: int) -> np.ndarray:
    return np.arange(images) % 2 == 1


def _better(answers: Mapping[str, np.ndarray]) -> dict[str, bool]:
    condition = ShiftCondition(PublishedShift("slake", "modality"), "closed")
    baselines = {NO_IMAGE: "blind", MOST_FREQUENT: "frequent"}
    found = [
        MethodStanding(name, condition, {known: _against(answers, name, other) for known, other in baselines.items()})
        for name in ("good", "fair", "guesser")
    ]
    return {each.method: each.better for each in corrected_comparisons(found)}


def _against(answers: Mapping[str, np.ndarray], name: str, baseline: str) -> Against:
    iid = np.flatnonzero(~_is_ood(len(answers[name])))
    method, other = (
        {
            f"{image}/{place}": ImageScore(str(image), score)
            for image in iid
            for place, score in enumerate(answers[each][image])
        }
        for each in (name, baseline)
    )
    return compare_with_baseline(method, other)
