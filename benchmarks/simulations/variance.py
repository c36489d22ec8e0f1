"""Judgements as a source of variance, and the share of the image's benefit that is lost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable, record_to_row
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.intervals import estimate_mean
from lmms_medtasks.suites.image_benefit import LostBenefit
from simulations.claims import Claim, holds, percent

_SEED = "simulations variance"


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """All claims; data sets are drawn from ``seed``."""
    yield from _repeated_judgements(repeats, seed)
    yield from _lost_benefit(repeats, seed)


# --- Repeated judgements --------------------------------------------------------------------------------------------


def _repeated_judgements(repeats: int, seed: int) -> Iterator[Claim]:
    """The interval of a mean over images has the noise of judgements in it, as much as there is."""
    for images, noise in ((20, 0.0), (20, 2.0), (100, 2.0)):
        rng = seeded_generator(_SEED, "repeated", images, int(noise), seed)
        covered = []
        for _ in range(repeats):
            effects = np.repeat(rng.standard_normal(images), 3)
            judged = effects + noise * rng.standard_normal((3 * images, 3)).mean(axis=1)
            interval = estimate_mean([str(row // 3) for row in range(3 * images)], judged)
            covered.append(holds(interval, 0))
        yield Claim(
            "interval of a judged mean, one judge",
            f"{images} images, 3 questions each, 3 judgements of standard deviation {noise:g} to 1 of images",
            "covers 95 %",
            (percent(covered),),
            repeats,
        )


# --- Lost benefit -----------------------------------------------------------------------------------------------------


def _lost_benefit(repeats: int, seed: int) -> Iterator[Claim]:
    """Clean, degraded and no-image accuracies of one model on the same questions; half of the benefit is lost."""
    for images, floor, clean, degraded in (
        (20, 0.25, 0.75, 0.5), (60, 0.25, 0.75, 0.5), (200, 0.25, 0.75, 0.5), (60, 0.25, 0.45, 0.35),
        (200, 0.25, 0.45, 0.35), (200, 0.25, 0.25, 0.25),
    ):  # fmt: skip
        rng = seeded_generator(_SEED, "benefit", images, str(clean), seed)
        covered, shown = [], []
        for _ in range(repeats):
            rows, without = _questions(rng, images, floor, clean, degraded)
            estimate = LostBenefit(
                floor=without, first={"severity": 0}, second={"severity": 2}, pair=("pair",)
            )  # fmt: skip
            found = estimate.of(rows)
            shown.append(found["benefit"].low is not None and found["benefit"].low > 0)
            if shown[-1] and clean > floor:
                covered.append(holds(found["lost"], (clean - degraded) / (clean - floor)))
        yield Claim(
            "share of the image's benefit that is lost",
            f"{images} images, 3 questions each, accuracy {clean:.0%} clean, {degraded:.0%} degraded, {floor:.0%} "
            "without the image",
            "covers 95 %" if clean > floor else "shown in 2.5 %",
            (*([percent(covered, "share of the shown")] if covered else []), percent(shown, "shown")),
            repeats,
        )


def _questions(
    rng: np.random.Generator, images: int, floor: float, clean: float, degraded: float
) -> tuple[QuestionTable, dict[str, float]]:
    """Three questions an image; an image is harder or easier by up to 0.2 for all of them, with T = 3 replies each."""
    records, without = [], {}
    for image in range(images):
        shift = rng.uniform(-0.2, 0.2)
        for question in range(3):
            name = f"{image}/{question}"
            without[name] = float(rng.binomial(3, floor)) / 3
            for severity, share in ((0, clean), (2, degraded)):
                score = float(rng.binomial(3, np.clip(share + shift, 0, 1))) / 3
                measures = {"accuracy": ScoreValue(score)}
                records.append(
                    QuestionRecord(
                        f"{name}/L{severity}", str(image), ("A",), "A", measures, {"severity": severity}, name
                    )
                )
    return QuestionTable.of_rows(map(record_to_row, records)), without
