"""Confidence and the Dunning-Kruger figures of MedQ-Deg: models that are alike, models that do not change, guessers.

Replies to a question with four options are drawn with chances of the question. "Alike" models share them, a model "does
not change" where both levels do. Effects are planted by how often a question's likeliest option is the right one.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.calibration import Confidence, calibrated_shift, calibration_draw, measure_calibration
from lmms_medtasks.statistics.dunning_kruger import inter_model_dkes, intra_model_dke
from lmms_medtasks.statistics.intervals import estimate_intervals
from lmms_medtasks.statistics.ranks import find_significant_swaps
from lmms_medtasks.statistics.sums import make_sum_group
from lmms_medtasks.statistics.votes import VoteTable
from simulations.claims import Claim, average, holds, percent

_OPTIONS = 4
_EXCHANGES = 499


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """All claims of this part."""
    yield from _inter_model(repeats, seed)
    yield from _intra_model(repeats, seed)
    yield from _calibration(repeats, seed)
    yield from _orders(repeats, seed)


def _table(
    chances: np.ndarray, answers: np.ndarray, trials: int, images: np.ndarray, rng: np.random.Generator
) -> VoteTable:
    """T replies to each question, drawn with ``chances`` (n, options)."""
    count = len(chances)
    votes = np.zeros((count, _OPTIONS + 1), dtype=np.int32)
    votes[:, :_OPTIONS] = rng.multinomial(trials, chances)
    ids = tuple(f"{number:05d}" for number in range(count))
    labels = tuple(f"image {image:05d}" for image in images)
    return VoteTable(
        ids, ids, labels, votes, np.full(count, _OPTIONS, dtype=np.int32), answers, np.zeros(count, dtype=np.int32)
    )


def _drawn_questions(count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Chances of each question's options (Dirichlet, 0.5 each), and the right one, any of the four."""
    return rng.dirichlet([0.5] * _OPTIONS, count), rng.integers(0, _OPTIONS, count).astype(np.int32)


def _peaked(top: np.ndarray, peak: float | np.ndarray) -> np.ndarray:
    """(n, options) chances: ``peak`` of the option ``top``, the others share the rest."""
    chances = np.tile(((1 - np.asarray(peak)) / (_OPTIONS - 1)).reshape(-1, 1), (len(top) if np.ndim(peak) == 0 else 1,
                                                                                _OPTIONS))  # fmt: skip
    chances[np.arange(len(top)), top] = peak
    return chances


# --- Equation 6 -------------------------------------------------------------------------------------------------------


def _inter_model(repeats: int, seed: int) -> Iterator[Claim]:
    """Twelve models that are alike, 350 images of three questions."""
    found = []
    for repeat in range(repeats):
        rng = seeded_generator("alike", seed, repeat)
        chances, answers = _drawn_questions(1050, rng)
        tables = {f"m{number:02d}": _table(chances, answers, 10, np.arange(1050) // 3, rng) for number in range(12)}
        dke = inter_model_dkes([(tables, "entropy")], exchanges=50)[0]
        found.append((dke.paper.share, dke.alike_share, dke.paper.spearman, dke.alike_spearman))
    share, alike, rho, alike_rho = np.array(found, dtype=float).T
    setting = "12 models all alike, 1,050 questions on 350 images, T = 10"
    for about, own, expected, factor in (("share", share, alike, 100), ("Spearman", rho, alike_rho, 1)):
        figures = average(factor * own), average(factor * expected, "if all models are alike")
        yield Claim(f"equation 6, the paper's {about}", setting, "as if all are alike", figures, repeats)


# --- Equation 5 -------------------------------------------------------------------------------------------------------


def _forms(table: VoteTable, clean: np.ndarray) -> VoteTable:
    """The table as degraded forms of the clean questions at these places."""
    ids = tuple(f"{question:05d}" for question in clean)
    return VoteTable(
        table.ids, ids, table.image_ids, table.counts, table.option_counts, table.answers, table.failed
    )  # fmt: skip


def _intra_model(repeats: int, seed: int) -> Iterator[Claim]:
    for images, on_image, trials in ((20, 1, 10), (60, 2, 10), (200, 1, 10), (60, 2, 3)):
        rows = []
        for repeat in range(repeats):
            rng = seeded_generator("no change", seed, images, on_image, trials, repeat)
            count = images * on_image
            chances, answers = _drawn_questions(count, rng)
            rows.append(_levels(chances, chances, answers, on_image, trials, rng))
        holds, null, p, parts = np.array(rows, dtype=float).T
        setting = f"{images} images, {on_image} question(s) each, three forms, T = {trials}; nothing changes"
        yield Claim(
            "equation 5 is true",
            setting,
            "as dke_intra_null",
            (percent(holds), average(100 * null, "dke_intra_null")),
            repeats,
        )
        yield Claim("equation 5: p at most .05", setting, "5 %", (percent(p <= 0.05),), repeats)
        yield Claim("equation 5: both parts' p at most .05", setting, "at most 5 %", (percent(parts <= 0.05),), repeats)
    planted: tuple[tuple[str, tuple[float, float], tuple[float, float], Confidence, str], ...] = (
        ("accuracy .73 to .53, confidence stays", (0.85, 0.85), (0.6, 0.85), "entropy", "finds the effect"),
        ("accuracy .73 to .53, C falls more", (0.85, 0.85), (0.85, 0.6), "entropy", "at most 5 %"),
        ("accuracy and agreement .73 to .53", (0.85, 0.85), (0.708, 0.708), "agreement", "at most 5 %"),
    )
    for said, before, after, kind, claimed in planted:
        for images in (60, 200):
            rows = []
            for repeat in range(repeats):
                rng = seeded_generator("change", seed, said, images, repeat)
                right = rng.random(images)
                wrong = rng.integers(1, _OPTIONS, images)
                chances = [_peaked(np.where(right < share, 0, wrong), peak) for share, peak in (before, after)]
                rows.append(_levels(*chances, np.zeros(images, dtype=np.int32), 1, 10, rng, kind))
            _, _, p, parts = np.array(rows, dtype=float).T
            setting = f"{images} images, three forms, T = 10; {said}"
            rejects = "more than 5 %: something changes" if kind == "agreement" else claimed
            yield Claim("equation 5: p at most .05", setting, rejects, (percent(p <= 0.05),), repeats)
            yield Claim("equation 5: both parts' p at most .05", setting, claimed, (percent(parts <= 0.05),), repeats)


def _levels(
    before: np.ndarray,
    after: np.ndarray,
    answers: np.ndarray,
    on_image: int,
    trials: int,
    rng: np.random.Generator,
    kind: Confidence = "entropy",
) -> tuple[float, float, float, float]:
    """Whether equation 5 holds of a made-up run, how often where nothing changes, p, and the larger p of the parts."""
    images = np.arange(len(answers)) // on_image
    of_form = np.repeat(np.arange(len(answers)), 3)
    clean = _table(before, answers, trials, images, rng)
    degraded = _forms(_table(after[of_form], answers[of_form], trials, images[of_form], rng), of_form)
    found = intra_model_dke(clean, degraded, kind=kind, exchanges=_EXCHANGES)
    null = found.no_change
    if null is None or found.paired.holds is None:
        raise ValueError(f"No test: {found.untested}")
    return float(found.paired.holds), null.holds, null.p, max(null.accuracy_p, null.shift_p)


# --- Confidence -------------------------------------------------------------------------------------------------------


def _calibration(repeats: int, seed: int) -> Iterator[Claim]:
    count = 300
    guesser = np.full((count, _OPTIONS), 1 / _OPTIONS)
    always = np.tile([0.7, 0.1, 0.1, 0.1], (count, 1))
    for trials in (3, 10):
        for said in ("guesser", "calibrated", "right in .7 of the trials, .1 each other option"):
            rows, covered = [], []
            for repeat in range(repeats):
                rng = seeded_generator("calibration", seed, said, trials, repeat)
                if said == "calibrated":
                    chances = rng.dirichlet([0.5] * _OPTIONS, count)
                    # An option of chance p is right with probability p.
                    below = chances.cumsum(axis=1) < rng.random((count, 1))
                    answers = np.minimum(below.sum(axis=1), _OPTIONS - 1).astype(np.int32)
                else:
                    chances = guesser if said == "guesser" else always
                    answers = np.zeros(count, dtype=np.int32)
                table = _table(chances, answers, trials, np.arange(count), rng)
                agreeing = measure_calibration(table, "agreement").shift
                rows.append((measure_calibration(table).shift, calibrated_shift(table), agreeing))
                interval = estimate_intervals(*calibration_draw(table, "agreement"))["shift"]
                truth = 0.52 - 0.7 if said.startswith("right") else 0.0
                covered.append(holds(interval, truth))
            paper, reference, agreement = np.array(rows, dtype=float).T
            setting = f"{said}; {count} questions, T = {trials}"
            truth_said = "-.180" if said.startswith("right") else "0"
            yield Claim(
                "the paper's shift",
                setting,
                "(no claim)",
                (average(paper), average(reference, "if calibrated")),
                repeats,
            )
            yield Claim("agreement less accuracy", setting, truth_said, (average(agreement),), repeats)
            yield Claim("interval of agreement less accuracy", setting, "covers 95 %", (percent(covered),), repeats)


# --- Orders -----------------------------------------------------------------------------------------------------------


def _orders(repeats: int, seed: int) -> Iterator[Claim]:
    orders = (
        ("second set: all alike", 0, "at most 5 %"),
        ("one order", 1, "at most 5 %"),
        ("reversed", -1, "finds some"),
    )
    for models in (6, 12):
        for images in (60, 1000):
            for said, factor, claimed in orders:
                swapped = []
                for repeat in range(repeats):
                    rng = seeded_generator("orders", seed, said, models, images, repeat)
                    own = np.linspace(-1, 1, models)
                    # What an image and a model have in common is the same in both sets.
                    common = rng.normal(0, 1.5, images) + rng.normal(0, 0.7, (models, images))
                    labels = [f"i{number}" for number in range(images)]
                    both = []
                    for skill in (own, factor * own):
                        chance = 1 / (1 + np.exp(-(skill[:, None] + common)))
                        scores = rng.binomial(3, chance) / 3
                        both.append(
                            {f"m{number:02d}": make_sum_group(labels, each) for number, each in enumerate(scores)}
                        )
                    swapped.append(bool(find_significant_swaps(*both)[1]))
                setting = f"{models} models, {images:,} images in both sets, T = 3; {said}"
                yield Claim("a swap is beyond chance", setting, claimed, (percent(swapped),), repeats)
