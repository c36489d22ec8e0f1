"""SURE-VQA: two methods that are alike, by Welch's test of resamples and paired by image; whether a guesser is ranked.

Made-up closed questions: half of the images are of the i.i.d. test, half of the OoD test. Images differ in difficulty,
so that the answers to questions on one image go together, and those of two methods on one question too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations

import numpy as np

from lmms_medtasks.samples.table import Samples
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.paired_robustness import swap_test
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.versus import Answer, versus
from lmms_medtasks.task_configs.sure_vqa.report_across import resampled_rr
from lmms_medtasks.task_configs.sure_vqa.report_baselines import (
    AgainstBaseline,
    Condition,
    Scored,
    Standing,
    against,
    corrected,
)
from lmms_medtasks.task_configs.sure_vqa.report_shifts import Shift
from lmms_medtasks.task_configs.sure_vqa.resampled_tests import PAPER_ALPHA, RESAMPLES, welch
from lmms_medtasks.task_configs.sure_vqa.robustness import relative_robustness
from simulations.claims import Claim, percent

QUESTIONS = 3
"""Questions on an image."""
_SPREAD = 1.0
"""Standard deviation of the images' difficulty, in logits."""


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """The claims of the comparison of methods."""
    for images in (20, 60, 200):
        yield from _alike(images, repeats, seed)
    yield from _equally_robust(repeats, seed)
    yield from _several(repeats, seed)
    yield from _power(repeats, seed)
    yield from _guesser(repeats, seed)


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


def _swap_p(answers: Mapping[str, np.ndarray], first: str, second: str, seed: int) -> float:
    images = len(answers[first])
    clusters = np.repeat(np.arange(images).astype(str), QUESTIONS).tolist()
    scores = (answers[name].ravel() for name in (first, second))
    p = swap_test(clusters, np.repeat(_is_ood(images), QUESTIONS), *scores, seed=seed, swaps=999).p
    return 1.0 if p is None else p


def _welch_p(answers: Mapping[str, np.ndarray]) -> list[float]:
    """Of each pair, not corrected: as the report takes the resamples of each method's robustness."""
    values = {}
    for name, own in answers.items():
        ood = _is_ood(len(own))
        rows = Samples.of_rows(
            {"id": f"{image}/{number}", "cluster": str(image), "set": "ood" if ood[image] else "iid",
             "closed.score": score, "closed.asked": True}
            for image, scores in enumerate(own) for number, score in enumerate(scores.tolist())
        )  # fmt: skip
        values[name] = resampled_rr("closed", rows, RESAMPLES)
    return [1.0 if test.p is None else test.p for test in welch({"": values})]


def _alike(images: int, repeats: int, seed: int) -> Iterator[Claim]:
    found: dict[str, list[bool]] = {"welch": [], "swap": [], "flip": []}
    for number in range(repeats):
        answers = _answers(generator("alike", seed, images, number), images, {"a": (0.8, 0.6), "b": (0.8, 0.6)})
        found["welch"].append(_welch_p(answers)[0] < PAPER_ALPHA)
        found["swap"].append(_swap_p(answers, "a", "b", number) < PAPER_ALPHA)
        scored = ({str(image): Answer(str(image), score) for image, score in enumerate(answers[name].mean(axis=1))}
                  for name in "ab")  # fmt: skip
        flip = versus(*scored).p
        found["flip"].append(flip is not None and flip < PAPER_ALPHA)
    setting = f"two methods that are alike (.8 i.i.d., .6 OoD), {images} images of {QUESTIONS} questions"
    yield _share("SURE-VQA, Welch's test of 100 resamples (the paper's)", setting, "different in 5 %", found["welch"])
    yield _share("SURE-VQA, swap test by image", setting, "different in at most 5 %", found["swap"])
    yield _share("SURE-VQA, wins and losses, sign-flip test", setting, "different in at most 5 %", found["flip"])


def _equally_robust(repeats: int, seed: int) -> Iterator[Claim]:
    for images in (60, 200):
        found = []
        for number in range(repeats):
            rng = generator("equally robust", seed, images, number)
            answers = _answers(rng, images, {"a": (0.9, 0.6), "b": (0.6, 0.4)})
            found.append(_swap_p(answers, "a", "b", number) < PAPER_ALPHA)
        setting = f"equally robust (RR .67), not equally good (.9 and .6 i.i.d.), {images} images"
        yield _share("SURE-VQA, swap test by image", setting, "different in about 5 %", found)


def _several(repeats: int, seed: int) -> Iterator[Claim]:
    """Five methods that are alike: is any pair of ten called different?"""
    images, names = 60, "abcde"
    found: dict[str, list[bool]] = {"welch": [], "swap": []}
    for number in range(max(1, repeats // 4)):
        answers = _answers(generator("several", seed, number), images, dict.fromkeys(names, (0.8, 0.6)))
        swaps = [_swap_p(answers, *pair, number) for pair in combinations(names, 2)]
        found["swap"].append(min(adjust(swaps)) < PAPER_ALPHA)
        found["welch"].append(min(adjust(_welch_p(answers))) < PAPER_ALPHA)
    setting = f"five methods that are alike, {images} images, Holm over ten pairs"
    claimed = "any pair different in {} 5 %"
    yield _share("SURE-VQA, Welch's test (the paper's)", setting, claimed.format("at most"), found["welch"])
    yield _share("SURE-VQA, swap test by image", setting, claimed.format("at most"), found["swap"])


def _power(repeats: int, seed: int) -> Iterator[Claim]:
    for images in (60, 200):
        found = []
        for number in range(repeats):
            answers = _answers(generator("power", seed, images, number), images, {"a": (0.8, 0.7), "b": (0.8, 0.5)})
            found.append(_swap_p(answers, "a", "b", number) < PAPER_ALPHA)
        setting = f"RR .88 against .62, {images} images of {QUESTIONS} questions"
        yield _share("SURE-VQA, swap test by image", setting, "(power, nothing claimed)", found)


def _guesser(repeats: int, seed: int) -> Iterator[Claim]:
    """Two models and one that guesses, with baselines: who has the highest robustness, and who gets a rank."""
    images = 200
    shares = {"good": (0.8, 0.6), "fair": (0.75, 0.55), "guesser": (0.5, 0.56), "blind": (0.5, 0.5),
              "frequent": (0.5, 0.5)}  # fmt: skip
    first, ranked, good = [], [], []
    for number in range(repeats):
        answers = _answers(generator("guesser", seed, number), images, shares)
        ood = _is_ood(images)
        rr = {name: relative_robustness(answers[name][~ood].mean(), answers[name][ood].mean()) or 0.0
              for name in ("good", "fair", "guesser")}  # fmt: skip
        first.append(max(rr, key=rr.__getitem__) == "guesser")
        standings = _standings(answers)
        ranked.append(standings["guesser"])
        good.append(standings["good"] and standings["fair"])
    setting = f"a guesser (.5 i.i.d., .56 OoD) beside two models (.8/.6, .75/.55), {images} images"
    yield _share("SURE-VQA, rank 1 by RR alone (before)", setting, "the guesser is first in at most 5 %", first)
    rule = "SURE-VQA, rank of those better than their baselines"
    yield _share(rule, setting, "the guesser has a rank in at most 5 %", ranked)
    yield _share(rule, setting, "(power: both models have one)", good)


def _standings(answers: Mapping[str, np.ndarray]) -> dict[str, bool]:
    condition = Condition(Shift("slake", "modality"), "closed")
    found = {
        (condition, name): Standing(
            name, condition, _against(answers, name, "blind"), _against(answers, name, "frequent")
        )
        for name in ("good", "fair", "guesser")
    }
    return {name: each.better for (_, name), each in corrected(found).items()}


def _against(answers: Mapping[str, np.ndarray], name: str, baseline: str) -> AgainstBaseline:
    iid = np.flatnonzero(~_is_ood(len(answers[name])))
    method, other = (
        {
            f"{image}/{place}": Scored(str(image), score)
            for image in iid
            for place, score in enumerate(answers[each][image])
        }
        for each in (name, baseline)
    )
    return against(method, other)


def _share(about: str, setting: str, claimed: str, found: list[bool]) -> Claim:
    return Claim(about, setting, claimed, (percent(found),), len(found))
