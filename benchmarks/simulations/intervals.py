"""How often the interval of each kind of number covers the truth, on made-up images, questions and trials.

An image has its own chance of a right answer (beta with the intra-image correlation), a question its own around that of
its image (correlation of its trials 0.5), and the score of a question is the mean of its trials. Means, changes and
ratios are of many data sets at once, through the functions that the package's intervals are made by; calibration errors
and coefficients of agreement through :func:`lmms_medtasks.statistics.intervals.estimate_intervals` itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.agreement import measure_agreement
from lmms_medtasks.statistics.intervals import (
    StatisticLimits,
    difference_limits,
    estimate_intervals,
    ratio_limits,
    share_limits,
    student_limits,
)
from lmms_medtasks.statistics.reliability import reliability_draw
from lmms_medtasks.statistics.votes import VoteTable
from simulations.claims import Claim, Figure, holds, percent

IMAGES = (5, 8, 12, 20, 60)
SHARES = (0.02, 0.06, 0.1, 0.18, 0.26, 0.34, 0.42, 0.5, 0.58, 0.66, 0.74, 0.82, 0.9, 0.94, 0.98)
_CLAIM = "mean 93 to 97 %, least 90 %"


class Design(NamedTuple):
    """Questions an image (0: one to six, by turns), trials a question, correlation within an image, the score."""

    questions: int
    trials: int
    correlation: float
    majority: bool = False

    def __str__(self) -> str:
        questions = f"{self.questions or '1 to 6'} an image"
        return f"{questions}, T = {self.trials}{' (majority)' * self.majority}, correlation {self.correlation:g}"

    def sizes(self, images: int) -> np.ndarray:
        """(images,) questions of each image."""
        return np.full(images, self.questions) if self.questions else np.arange(images) % 6 + 1


DESIGNS = (
    Design(1, 1, 0), Design(1, 3, 0), Design(1, 10, 0), Design(2, 1, 0.3), Design(3, 3, 0.1), Design(3, 10, 0.3, True),
    Design(6, 1, 0), Design(6, 1, 0.6), Design(6, 10, 0), Design(6, 10, 0.3), Design(6, 10, 0.6), Design(0, 3, 0.3),
)  # fmt: skip
PAIRS = ((0.02, 0.02), (0.05, 0.1), (0.2, 0.2), (0.5, 0.5), (0.5, 0.7), (0.8, 0.9), (0.95, 0.95), (0.98, 0.9))
RATIOS = ((0.3, 0.3), (0.5, 0.3), (0.5, 0.6), (0.7, 0.5), (0.8, 0.8), (0.9, 0.4), (0.95, 0.95), (0.9, 0.98))


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """Every claim; 2,000 repeats take one to two minutes of one core."""
    for images in IMAGES:
        for design in DESIGNS:
            yield _shares(images, design, repeats, seed)
    for images in IMAGES:
        for design in (Design(1, 1, 0.3), Design(3, 3, 0.3), Design(6, 10, 0.3)):
            yield from _changes(images, design, repeats // 2, seed)
    for images in IMAGES:
        for design in (Design(1, 1, 0), Design(6, 10, 0.1), Design(6, 3, 0.6)):
            yield from _apart(images, design, repeats // 2, seed)
    for images in (20, 50, 100, 200):
        yield _macro(images, repeats, seed)
    for images in (10, 20, 60, 200):
        yield from _uneven(images, repeats, seed)
    for images in (10, 30, 100):
        yield _unbounded(images, repeats, seed)
    for images in (20, 60, 200, 600):
        yield from _others(images, max(1, repeats // 5), seed)


def _shares(images: int, design: Design, repeats: int, seed: int) -> Claim:
    rng = seeded_generator("intervals", "shares", seed, images, str(design))
    sizes = design.sizes(images)
    covered = []
    for share in SHARES:
        scores = _scores(rng, repeats, sizes, design, share)
        limits = _limits(scores, sizes)
        covered.append(_covers(limits, _truth(design, share, seed)))
    return _claim("share", f"{images} images, {design}", covered, SHARES, repeats)


def _changes(images: int, design: Design, repeats: int, seed: int) -> Iterator[Claim]:
    """Two models on the same questions: paired by question, and the difference of the two means as they are."""
    rng = seeded_generator("intervals", "changes", seed, images, str(design))
    sizes = design.sizes(images)
    paired, whole = [], []
    for first, second in PAIRS:
        one, other = _two_models(rng, repeats, sizes, design.trials, first, second)
        change = other - one
        gain, loss = _limits(np.maximum(change, 0), sizes), _limits(np.maximum(-change, 0), sizes)
        paired.append(_covers(difference_limits(gain, loss), second - first))
        whole.append(_covers(difference_limits(_limits(other, sizes), _limits(one, sizes)), second - first))
    setting = f"{images} images, {design.questions} an image, T = {design.trials}"
    yield _claim("paired change", setting, paired, PAIRS, repeats)
    yield _claim("change of means, same images", setting, whole, PAIRS, repeats)


def _apart(images: int, design: Design, repeats: int, seed: int) -> Iterator[Claim]:
    """Two tests on images of their own: their difference, and their ratio."""
    rng = seeded_generator("intervals", "apart", seed, images, str(design))
    sizes = design.sizes(images)
    nothing = np.zeros((repeats, images))
    differences, ratios = [], []
    for first, second in RATIOS:
        one, other = (_limits(_scores(rng, repeats, sizes, design, share), sizes) for share in (first, second))
        one = one._replace(deviations=np.concatenate([one.deviations, nothing], axis=1))
        other = other._replace(deviations=np.concatenate([nothing, other.deviations], axis=1))
        differences.append(_covers(difference_limits(other, one), second - first))
        ratios.append(_covers(ratio_limits(other, one), second / first))
    setting = f"{images} and {images} images, {design}"
    yield _claim("difference, other images", setting, differences, RATIOS, repeats)
    yield _claim("ratio (relative robustness)", setting, ratios, RATIOS, repeats)


def _macro(images: int, repeats: int, seed: int) -> Claim:
    """Three groups of six, three and one tenth of the images, of shares p, p + (1 - p)/3 and p/2."""
    rng = seeded_generator("intervals", "macro", seed, images)
    design = Design(2, 3, 0.3)
    covered = []
    for share in SHARES:
        truths = (share, share + (1 - share) / 3, share / 2)
        parts = []
        for part, truth in zip((0.6, 0.3, 0.1), truths, strict=True):
            sizes = design.sizes(round(part * images))
            scores = _scores(rng, repeats, sizes, design, truth)
            found = _limits(scores, sizes)
            parts.append((scores.sum(-1) / sizes.sum() / 3, sizes / sizes.sum() / 3, found.deviations / 3))
        means, deviations = (np.concatenate([part[place] for part in parts], axis=1) for place in (0, 2))
        weights = np.concatenate([part[1] for part in parts])
        limits = StatisticLimits(means.sum(-1), *share_limits(means, weights, deviations), deviations)
        covered.append(_covers(limits, float(np.mean(truths))))
    return _claim("macro mean of 3 groups", f"{images} images (60, 30, 10 %), {design}", covered, SHARES, repeats)


HARDER = (("1 to 40", 2.0, -1.0), ("1 to 40", 3.0, -1.5), ("1 to 6", 3.0, -1.5))
"""Questions an image, and the logit of their chance: the first number, and the second for each unit of their log."""


def sizes_of(rng: np.random.Generator, said: str, shape: tuple[int, ...]) -> np.ndarray:
    """Drawn numbers of questions: 1 to 40 is log-normal (median 3.3), 1 to 6 uniform."""
    if said == "1 to 6":
        return rng.integers(1, 7, shape)
    return np.clip(np.exp(rng.normal(1.2, 1.0, shape)), 1, 40).astype(int)


def harder_images(
    rng: np.random.Generator, said: str, first: float, slope: float, repeats: int, images: int
) -> tuple[np.ndarray, np.ndarray, float, str]:
    """(repeats, images) right answers and questions where harder images have more of these, the truth, in words.

    The truth is the share of all questions of very many images that are answered right.
    """
    of_size = 1 / (1 + np.exp(-(first + slope * np.log(np.arange(1, 41)))))
    every = sizes_of(rng, said, (1_000_000,))
    truth = float((every * of_size[every - 1]).sum() / every.sum())
    sizes = sizes_of(rng, said, (repeats, images))
    sums = rng.binomial(sizes, _beta(rng, of_size[sizes - 1], 0.3)).astype(float)
    most = 6 if said == "1 to 6" else 40
    chances = f"{100 * of_size[0]:.0f} % right with one, {100 * of_size[most - 1]:.0f} % with {most}"
    return sums, sizes, truth, f"{images} images, {said} an image, {chances}"


def _uneven(images: int, repeats: int, seed: int) -> Iterator[Claim]:
    """Images with unlike numbers of questions; where the harder ones have more, their number tells of the score."""
    rng = seeded_generator("intervals", "uneven", seed, images)
    for setting in HARDER:
        sums, sizes, truth, said = harder_images(rng, *setting, repeats, images)
        limits = _limits_of_sums(sums, sizes)
        below, above = limits.high < truth, limits.low > truth
        figures = (percent(~(below | above), "mean"), percent(below, "too low"), percent(above, "too high"))
        yield Claim("share, harder images have more questions", said, "covers 95 %", figures, repeats)
    for said, sizes, correlation in (
        ("60 an image for a tenth, else 1", np.where(np.arange(images) % 10 == 0, 60, 1), 0.9),
        ("1 to 40 an image", sizes_of(rng, "1 to 40", (images,)), 0.6),
    ):
        design = Design(1, 1, correlation)
        covered = [_covers(_limits(_scores(rng, repeats, sizes, design, share), sizes), share) for share in SHARES]
        setting = f"{images} images, {said}, correlation {correlation}"
        yield _claim("share, uneven images", setting, covered, SHARES, repeats)


def _unbounded(images: int, repeats: int, seed: int) -> Claim:
    """Student's t of a skewed score (log-normal) without a known range."""
    scores = seeded_generator("intervals", "unbounded", seed, images).lognormal(0, 1, (repeats, images))
    deviations = (scores - scores.mean(-1, keepdims=True)) / (images - 1)
    low, high = student_limits(scores.mean(-1), deviations)
    truth = np.exp(0.5)
    return Claim("mean without a range", f"{images} images, log-normal scores", "covers 95 %",
                 (percent((low <= truth) & (truth <= high)),), repeats)  # fmt: skip


def _others(images: int, repeats: int, seed: int) -> Iterator[Claim]:
    """Calibration errors of T = 10 votes on two questions an image, and agreement of two raters on five stars."""
    rng = seeded_generator("intervals", "others", seed, images)
    for calibrated, names in ((False, ("ece", "brier", "aurc")), (True, ("ece",))):
        truths = _calibration(seeded_generator("intervals", "truth", seed), 20000, calibrated)
        held: dict[str, list[bool]] = {name: [] for name in names}
        for _ in range(repeats):
            found = estimate_intervals(*reliability_draw(_votes(rng, images, calibrated)))
            for name in names:
                held[name].append(holds(found[name], truths[name]))
        for name in names:
            setting = f"{images} images, 2 an image, T = 10; truth {truths[name]:.3f}"
            yield Claim(name, setting, "95 %", (percent(held[name]),), repeats)
    coefficients = ("kappa", "kappa_quadratic", "spearman", "exact")
    first, second, _ = _ratings(seeded_generator("intervals", "ratings", seed), 20000)
    labels = [str(item) for item in range(len(first))]
    wanted = {
        name: each.value for name, each in measure_agreement(first, second, labels[:], names=coefficients).items()
    }
    held = {name: [] for name in coefficients}
    for _ in range(repeats):
        one, other, clusters = _ratings(rng, images)
        for name, each in measure_agreement(one, other, clusters, names=coefficients).items():
            truth = wanted[name]
            held[name].append(truth is not None and holds(each.interval, truth))
    for name in coefficients:
        setting = f"{images} images, 2 answers an image; truth {wanted[name]:.3f}"
        yield Claim(f"agreement: {name}", setting, "95 %", (percent(held[name]),), repeats)


# --- Made-up data -----------------------------------------------------------------------------------------------------


def _scores(rng: np.random.Generator, repeats: int, sizes: np.ndarray, design: Design, share: float) -> np.ndarray:
    """(repeats, images, most questions) scores; 0 where an image has no such question."""
    shape = (repeats, len(sizes), int(sizes.max()))
    chance = np.full((*shape[:2], 1), share)
    if design.correlation:
        chance = _beta(rng, chance, design.correlation)
    chance = np.broadcast_to(chance, shape)
    if design.trials > 1:
        chance = _beta(rng, chance, 0.5)
    right = rng.binomial(design.trials, chance) / design.trials
    scores = np.where(right > 0.5, 1.0, np.where(right == 0.5, 0.5, 0.0)) if design.majority else right
    return scores * (np.arange(shape[2]) < sizes[:, None])


def _beta(rng: np.random.Generator, chance: np.ndarray, correlation: float) -> np.ndarray:
    """Chances around ``chance`` whose draws of one place have this correlation."""
    total = (1 - correlation) / correlation
    return np.nan_to_num(rng.beta(np.maximum(chance * total, 1e-9), np.maximum((1 - chance) * total, 1e-9)))


def _truth(design: Design, share: float, seed: int) -> float:
    if not design.majority:
        return share
    rng = seeded_generator("intervals", "majority", seed)
    return float(_scores(rng, 1, np.full(400_000, 1), design, share).mean())


def _two_models(
    rng: np.random.Generator, repeats: int, sizes: np.ndarray, trials: int, first: float, second: float
) -> list[np.ndarray]:
    """Scores of two models whose replies share image and question, by a Gaussian copula."""
    from scipy.special import ndtri

    shape = (repeats, len(sizes), int(sizes.max()), 1)
    shared = np.sqrt(0.25) * rng.standard_normal((*shape[:2], 1, 1)) + np.sqrt(0.25) * rng.standard_normal(shape)
    found = []
    for share in (first, second):
        own = np.sqrt(0.15) * rng.standard_normal((*shape[:2], 1, 1)) + np.sqrt(0.1) * rng.standard_normal(shape)
        replies = shared + own + np.sqrt(0.25) * rng.standard_normal((*shape[:3], trials))
        found.append((replies < ndtri(share)).mean(-1))
    return found


def _votes(rng: np.random.Generator, images: int, calibrated: bool) -> VoteTable:
    """Votes on four options: right as often as the model's chances say, or of one that is too sure of itself."""
    count = 2 * images
    image = np.repeat(np.arange(images), 2)
    right = _beta(rng, _beta(rng, np.full(images, 0.6), 0.1)[image], 0.6)
    rest = rng.dirichlet((0.3, 0.3, 0.3), count) * (1 - right)[:, None]
    chances = np.concatenate([right[:, None], rest], axis=1)
    votes = rng.multinomial(10, chances / chances.sum(1, keepdims=True))
    counts = np.concatenate([votes, np.zeros((count, 1), dtype=int)], axis=1)
    answers = (rng.random((count, 1)) > np.cumsum(chances / chances.sum(1, keepdims=True), axis=1)).sum(1)
    answers = np.minimum(answers, 3) * calibrated
    names = tuple(map(str, range(count)))
    failed = np.zeros(count, dtype=int)
    return VoteTable(names, names, tuple(map(str, image)), counts, np.full(count, 4), answers, failed)


def _calibration(rng: np.random.Generator, images: int, calibrated: bool) -> dict[str, float]:
    from lmms_medtasks.statistics.intervals import point_estimates

    found = point_estimates(*reliability_draw(_votes(rng, images, calibrated)))
    return {name: float(each.estimate or 0) for name, each in found.items()}


def _ratings(rng: np.random.Generator, images: int) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Two raters' stars, 1 to 5, for two answers an image."""
    image = np.repeat(rng.standard_normal(images), 2)
    answer = 0.6 * image + 0.8 * rng.standard_normal(2 * images)
    one, other = (np.digitize(answer + 0.5 * rng.standard_normal(2 * images), (-1.2, -0.4, 0.3, 1.0)) + 1.0
                  for _ in range(2))  # fmt: skip
    return one, other, [str(each) for each in np.repeat(np.arange(images), 2)]


# --- Counting ---------------------------------------------------------------------------------------------------------


def _limits(scores: np.ndarray, sizes: np.ndarray) -> StatisticLimits:
    """The interval of each data set's mean, as :func:`estimate_intervals` makes it of the jackknife over images."""
    return _limits_of_sums(scores.sum(-1), sizes)


def _limits_of_sums(sums: np.ndarray, sizes: np.ndarray) -> StatisticLimits:
    total = sizes.sum(-1, keepdims=True)
    value = sums.sum(-1) / total[..., 0]
    left_out = (sums.sum(-1, keepdims=True) - sums) / (total - sizes)
    deviations = left_out.mean(-1, keepdims=True) - left_out
    return StatisticLimits(value, *share_limits(sums / total, sizes / total, deviations), deviations)


def _covers(limits: StatisticLimits, truth: float) -> float:
    """Share of the data sets with an interval whose interval covers the truth."""
    with_one = np.isfinite(limits.low) & np.isfinite(limits.high)
    held = (limits.low <= truth + 1e-9) & (limits.high >= truth - 1e-9)
    return float(held[with_one].mean())


def _claim(about: str, setting: str, covered: Sequence[float], settings: Sequence[object], repeats: int) -> Claim:
    least = int(np.argmin(covered))
    errors = [percent(np.arange(repeats) < share * repeats).error for share in covered]
    figures = (
        Figure("mean", 100 * float(np.mean(covered)), float(np.sqrt(np.sum(np.square(errors)))) / len(errors)),
        Figure(f"least, at {settings[least]}", 100 * covered[least], errors[least]),
    )
    return Claim(about, setting, _CLAIM, figures, repeats)
