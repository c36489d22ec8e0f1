"""``--subset``: how often the interval of a subset's mean holds the mean of all questions."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lmms_medtasks.data.subsets import DataSubset, draw_subset, strata_of
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.suites.estimates import Mean
from simulations.claims import Claim, average, percent

_GROUPS = 7
_ACCURACY = 0.62


def simulate(repeats: int, seed: int) -> Iterator[Claim]:
    """A benchmark of 25,000 questions and one of the mini data's size; subsets of both, one a repeat."""
    for images, size in ((4306, 1000), (4306, 100), (140, 40), (140, 12)):
        rows, right = _benchmark(images, seed)
        places = strata_of((row["cluster"], (row["group"],)) for row in rows)
        clusters = np.array([row["cluster"] for row in rows])
        truth, covered, widths, errors = right.mean(), [], [], []
        for repeat in range(repeats):
            chosen = draw_subset(places, DataSubset(size, repeat))
            kept = np.flatnonzero(np.isin(clusters, list(chosen)))
            found = Mean().of(QuestionTable.of_rows(rows[row] for row in kept))["mean"]
            assert found.estimate is not None and found.low is not None and found.high is not None
            covered.append(found.low <= truth <= found.high)
            widths.append(100 * (found.high - found.low))
            errors.append(100 * (found.estimate - truth))
        setting = f"{size} of {images} images, {len(rows):,} questions in {_GROUPS} unlike groups"
        yield Claim("subset: interval of a mean", setting, "covers at least 95 %", (percent(covered),), repeats)
        measured = (average(errors, "bias, points"), average(widths, "width, points"))
        yield Claim("subset: the mean itself", setting, "no bias", measured, repeats)


def _benchmark(images: int, seed: int) -> tuple[list[dict[str, object]], np.ndarray]:
    """Questions of images of groups that differ in difficulty and size; 1 to 11 questions an image, 5.8 on average."""
    rng = seeded_generator("subset", images, seed)
    group = rng.choice(_GROUPS, size=images, p=rng.dirichlet(np.full(_GROUPS, 3.0)))
    logit = np.log(_ACCURACY / (1 - _ACCURACY)) + rng.normal(0, 0.8, _GROUPS)[group] + rng.normal(0, 1.0, images)
    counts = 1 + rng.binomial(10, 0.48, images)
    image = np.repeat(np.arange(images), counts)
    right = (rng.random(len(image)) < 1 / (1 + np.exp(-logit[image]))).astype(float)
    rows = [
        {"id": f"q{number}", "cluster": f"i{which}", "group": str(group[which]), "accuracy.score": score,
         "accuracy.asked": True}
        for number, (which, score) in enumerate(zip(image, right, strict=True))
    ]  # fmt: skip
    return rows, right
