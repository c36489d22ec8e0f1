"""The inter-model Dunning-Kruger effect (MedQ-Deg, equation 6): do less accurate models have the higher shift.

The paper's figures take a model's accuracy and shift from the same replies. As shift is confidence less accuracy, luck
raises one and lowers the other: models that are all alike fulfil equation 6 in about 70 % of their pairs. Here the
paper's figures stand beside what models that are all alike would show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.calibration import Confidence, calibration_group
from lmms_medtasks.statistics.ranks import known, rounded, spearman
from lmms_medtasks.statistics.sums import sums_by_cluster
from lmms_medtasks.statistics.votes import VoteTable

EXCHANGES = 200


@dataclass(frozen=True)
class Equation6:
    """Equation 6 over all pairs of models, accuracy and shift from the same questions, as in the paper.

    Attributes:
        models: the models with both numbers.
        pairs: pairs of models with different accuracy: of others equation 6 says nothing. fulfilled: pairs whose less
            accurate model has the higher shift (a tie in shift is not higher).
        share: fulfilled / pairs; None without pairs. spearman: of accuracy against shift; None where a number
            is the same for all models, or there are fewer than two.
    """

    models: tuple[str, ...]
    pairs: int
    fulfilled: int
    share: float | None
    spearman: float | None


@dataclass(frozen=True)
class InterModelDKE:
    """Equation 6 as in the paper, and what models that are all alike would show.

    Attributes:
        paper: on all images, of which there are ``images``.
        alike_share, alike_spearman: what the paper's figures are on average if the models are all alike: over exchanges
            of the models' replies, those to an image together, drawn anew for each image.
        untested: why nothing is computed; "" where it is.
    """

    paper: Equation6
    images: int
    alike_share: float | None = None
    alike_spearman: float | None = None
    untested: str = ""


def equation_6(accuracy: Mapping[str, float | None], shift: Mapping[str, float | None]) -> Equation6:
    """Equation 6: accuracy of f1 < accuracy of f2 and shift of f1 > shift of f2, over the pairs of models.

    The numbers are by model, of one set of questions at one level.
    """
    models = tuple(sorted(name for name in accuracy if known(accuracy, name) and known(shift, name)))
    first, second = (np.array([numbers[name] for name in models], dtype=float) for numbers in (accuracy, shift))
    pairs, fulfilled = _pairs(first, second)
    return Equation6(
        models=models,
        pairs=int(pairs),
        fulfilled=int(fulfilled),
        share=float(fulfilled / pairs) if pairs else None,
        spearman=_number(spearman(first, second)),
    )


def inter_model_dkes(
    cases: Sequence[tuple[Mapping[str, VoteTable], Confidence]],
    *,
    seed: int | str = 0,
    exchanges: int = EXCHANGES,
) -> list[InterModelDKE]:
    """The inter-model effect of each of several cases: votes of models that were asked the same questions the same
    number of times, and a kind of confidence.

    Models with no question that has both numbers are left out. With one trial there is no confidence, and nothing is
    computed. Cases of as many models and images have the same exchanges. Raises UserError where the tables of a case
    hold different questions (use :func:`lmms_medtasks.statistics.votes.common` first) or different numbers of trials.
    """
    found = [_case(*case) for case in cases]
    alike = _alike([sums for sums, _ in found], exchanges, seed)
    return [
        replace(each, alike_share=share, alike_spearman=correlation)
        for (_, each), (share, correlation) in zip(found, alike, strict=True)
    ]


def _case(tables: Mapping[str, VoteTable], kind: Confidence) -> tuple[np.ndarray, InterModelDKE]:
    """(models, images, 3) sums, and the result without what it is if the models are alike."""
    _check(tables)
    if max((table.trials for table in tables.values()), default=0) == 1:
        said = "T = 1: one reply is always unanimous, so there is no confidence to compare"
        return np.zeros((0, 0, 3)), InterModelDKE(equation_6({}, {}), 0, untested=said)
    groups = {name: calibration_group(tables[name], kind) for name in sorted(tables)}
    kept = {name: each for name, each in groups.items() if each.clusters}
    sums = sums_by_cluster(kept)
    accuracy, shift = _numbers(sums.sum(axis=1))
    paper = equation_6(*(dict(zip(kept, each.tolist(), strict=True)) for each in (accuracy, shift)))
    return sums, InterModelDKE(paper, sums.shape[1])


def _check(tables: Mapping[str, VoteTable]) -> None:
    trials = {name: table.trials for name, table in tables.items() if len(table)}
    if len(set(trials.values())) > 1:
        said = ", ".join(f"{name} T = {number}" for name, number in sorted(trials.items()))
        raise UserError(
            f"These runs have different numbers of trials: {said}. Confidence depends on T: compare runs of one T."
        )
    sets = {name: frozenset(table.ids) for name, table in tables.items()}
    if len(set(sets.values())) > 1:
        first, *others = sorted(sets)
        other = next(name for name in others if sets[name] != sets[first])
        example = min(sets[first] ^ sets[other])
        raise UserError(
            f"{first} and {other} were asked different questions ({example!r} is in one of them only). Compare models "
            "on the questions that all were asked."
        )


def _alike(every: Sequence[np.ndarray], exchanges: int, seed: int | str) -> list[tuple[float | None, float | None]]:
    """Of each (models, images, 3) sums the mean share and Spearman's correlation over exchanges of the models' sums,
    image by image."""
    found: list[tuple[float | None, float | None]] = [(None, None)] * len(every)
    for models, images in dict.fromkeys(sums.shape[:2] for sums in every):
        if models < 2 or not images or not exchanges:
            continue
        places = [place for place, sums in enumerate(every) if sums.shape[:2] == (models, images)]
        # A row an image and model: taking rows by their number is several times as fast as np.take_along_axis.
        by_image = [np.ascontiguousarray(every[place].swapaxes(0, 1)).reshape(images * models, -1) for place in places]
        totals = [np.zeros((exchanges, models, each.shape[1])) for each in by_image]
        first, rng = models * np.arange(images)[:, None], generator("exchanged models", seed)
        for exchange in range(exchanges):
            rows = rng.random((images, models)).argsort(axis=1) + first
            for own, total in zip(by_image, totals, strict=True):
                total[exchange] = own.take(rows, axis=0).sum(axis=0)
        for place, total in zip(places, totals, strict=True):
            accuracy, shift = _numbers(total[(total[..., 0] > 0).all(axis=1)])
            pairs, fulfilled = _pairs(accuracy, shift)
            found[place] = _mean(fulfilled[pairs > 0] / pairs[pairs > 0]), _mean(spearman(accuracy, shift))
    return found


def _pairs(accuracy: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(...) pairs of (..., models) with different accuracy, and those of them that fulfil equation 6."""
    one, other = rounded(accuracy), rounded(shift)
    less = one[..., :, None] < one[..., None, :]
    return less.sum((-2, -1)), (less & (other[..., :, None] > other[..., None, :])).sum((-2, -1))


def _numbers(totals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Accuracy and shift from (..., 3) sums: rows, accuracy and confidence; NaN for a model without rows."""
    with np.errstate(divide="ignore", invalid="ignore"):
        means = totals[..., 1:] / totals[..., :1]
    return means[..., 0], means[..., 1] - means[..., 0]


def _mean(numbers: np.ndarray) -> float | None:
    known_ones = numbers[~np.isnan(numbers)]
    return float(known_ones.mean()) if len(known_ones) else None


def _number(number: np.ndarray) -> float | None:
    return None if np.isnan(number) else float(number)
