"""Does a larger model do better: correlation of a figure with the number of parameters, over models (Section 4.3)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import UserError, unknown
from lmms_medtasks.report.judged import TOTAL
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.analysis import Analysis
from lmms_medtasks.report.med_cmr.facts import judge_of

FEWEST = 3
"""With fewer models a correlation is -1, 1 or nothing."""


@dataclass(frozen=True)
class Correlation:
    """Of one figure with size over ``models``; None where the figure or the size is the same for all.

    ``log``: Pearson's r with the logarithm of the number of parameters; ``linear``: with the number itself (the paper
    does not say which it means). ``spearman``: of their ranks, the same for both.
    """

    models: int
    log: float | None
    linear: float | None
    spearman: float | None


@dataclass(frozen=True)
class Scale:
    """``figures``: figure (form and what of it) to model to its value; ``correlations`` are over at least three models.

    ``unsized``: models whose number of parameters was not given. ``mixed``: the open answers had different judges, and
    are left out.
    """

    parameters: Mapping[str, float]
    figures: Mapping[str, Mapping[str, float]]
    correlations: Mapping[str, Correlation]
    unsized: tuple[str, ...]
    mixed: bool


def scale(parameters: Mapping[str, float], analyses: Mapping[str, Analysis]) -> Scale:
    """Correlate each figure of the models with their sizes.

    Raises UserError when ``parameters`` names a model that is not among ``analyses``.
    """
    for name in parameters:
        if name not in analyses:
            raise UserError(str(unknown("model", name, list(analyses), "--parameters NAME=NUMBER")))
    sized = {name: each for name, each in analyses.items() if name in parameters}
    mixed = len({judge_of(each) for each in sized.values()} - {""}) > 1
    figures: dict[str, dict[str, float]] = {}
    for name, analysis in sized.items():
        for figure, value in _figures(analysis, opened=not mixed).items():
            if value is not None:
                figures.setdefault(figure, {})[name] = value
    correlations = {
        figure: _correlation([parameters[name] for name in found], list(found.values()))
        for figure, found in figures.items()
        if len(found) >= FEWEST
    }
    unsized = tuple(name for name in analyses if name not in parameters)
    return Scale(parameters, figures, correlations, unsized, mixed)


def _figures(analysis: Analysis, opened: bool) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    choice, judged = analysis.choice.get(True), analysis.open.get(True) if opened else None
    if choice:
        found["MCQ all"] = choice.overall.mean.estimate
        for name in dimensions.names():
            found[f"MCQ {name}"] = choice.dimensions[name].mean.estimate if name in choice.dimensions else None
        found = {name: None if value is None else 100 * value for name, value in found.items()}
    if judged:
        for measure in judged.measures:
            title = "all" if measure == TOTAL else measure.replace("_", " ")
            found[f"Open {title}"] = judged.overall[measure].mean.estimate
    return found


def _correlation(sizes: Sequence[float], values: Sequence[float]) -> Correlation:
    from scipy.stats import rankdata

    ranks = _pearson(rankdata(sizes), rankdata(values))
    return Correlation(
        len(sizes), _pearson([math.log10(size) for size in sizes], values), _pearson(sizes, values), ranks
    )


def _pearson(first: Sequence[float] | np.ndarray, second: Sequence[float] | np.ndarray) -> float | None:
    one, other = (np.asarray(each, dtype=float) - np.mean(each) for each in (first, second))
    norm = math.sqrt(float((one**2).sum() * (other**2).sum()))
    return float((one * other).sum()) / norm if norm > 0 else None
