"""Where the variance of scores comes from: images, questions, trials, judgements; and judges or prompts as a sample.

Two models, both with random effects and both estimated by the method of moments, so that no distribution is assumed:

* Nested (:func:`nested_components`): a score is the mean + an effect of its image + one of its question within the
  image + one of the reply within the question + one of the judgement within the reply. Each level's sum of squares
  is set equal to its expectation (Henderson's first method; Searle, Casella and McCulloch, 1992, chapter 5).
* Crossed (:func:`crossed_mean`): several judges (or prompts) each have a score of every question. The interval of the
  mean over them has two sources: other images, and other judges (Cronbach et al., 1972; Brennan, 2001).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import mean_interval
from lmms_medtasks.statistics.sums import range_of

_NOTHING = 1e-12


@dataclass(frozen=True)
class Component:
    """The variance of one level of a nested model.

    Attributes:
        name: of the level; of several whose effects can't be told apart, joined by " and ".
        units: how many there are: images, questions, replies, judgements.
        variance: of the effects, an unbiased estimate that may be below 0; None where there is one unit.
        of_mean: what it adds to the variance of the mean, at least 0; None where ``variance`` is.
    """

    name: str
    units: int
    variance: float | None
    of_mean: float | None


@dataclass(frozen=True)
class CrossedMean:
    """A mean over images and judges (prompts), both taken as samples.

    Attributes:
        mean: over questions and judges, every question weighing alike. by_judge: each judge's own mean.
        low, high: the ends of the interval; None with one judge, or where the mean over the judges has none.
        reason: why there is none.
        images, judges: how many. of_images, of_judges: variances of the mean from each; their sum is its variance.
        judge_variance: between judges, an unbiased estimate that may be below 0: what all questions have in common.
        interaction: between judges, of how they take this or that image.
    """

    mean: float
    by_judge: tuple[float, ...]
    low: float | None
    high: float | None
    images: int
    judges: int
    of_images: float | None
    of_judges: float | None
    judge_variance: float | None
    interaction: float | None
    reason: str = ""


def nested_components(
    values: Sequence[float], levels: Mapping[str, Sequence[Hashable]], last: str, questions: str = ""
) -> tuple[Component, ...]:
    """The components of n scores, outermost level first.

    A level in which each unit of the level above has one unit only can't be told from that: both are one component.

    Args:
        values: (n,) scores, one for each unit of the last level.
        levels: by name, outermost first, the unit that each score is of; units of different parents may share a name.
        last: the name of the last level, of which each score is a unit.
        questions: the level of which all units weigh alike in the mean, and all that is below within each; by default
            all scores weigh alike.

    Raises UserError where lengths differ, or there is no such level.
    """
    numbers = np.asarray(values, dtype=float)
    for name, units in levels.items():
        if len(units) != len(numbers):
            raise UserError(f"The level {name!r} names {len(units)} units for {len(numbers)} scores.")
    if questions and questions not in levels:
        raise UserError(f"There is no level {questions!r}; levels: {', '.join(levels)}.")
    if not len(numbers):
        return ()
    names, codes = _joined(levels, last, len(numbers))
    weights = _weights(numbers, levels, codes, questions)
    centred = numbers - numbers.mean()
    depth = len(codes)
    sizes = [np.bincount(code).astype(float) for code in codes]
    everything = np.zeros(len(numbers), dtype=np.intp)
    outer, outer_sizes = [everything, *codes], [np.array([float(len(numbers))]), *sizes]

    def explained(level: int) -> float:
        sums = np.bincount(outer[level], weights=centred)
        return float((sums**2 / outer_sizes[level]).sum())

    def coefficient(level: int, of: int) -> float:
        # Each unit h of the level ``of`` has n_h of the n_g scores of its unit g: sum over h of n_h² / n_g.
        first = np.zeros(len(sizes[of]), dtype=np.intp)
        first[codes[of]] = outer[level]
        return float((sizes[of] ** 2 / outer_sizes[level][first]).sum())

    found: list[float | None] = [None] * depth
    for level in reversed(range(depth)):
        own = coefficient(level + 1, level) - coefficient(level, level)
        if own <= _NOTHING:
            continue  # one unit: nothing to compare it with
        rest = explained(level + 1) - explained(level)
        for below in range(level + 1, depth):
            rest -= (found[below] or 0.0) * (coefficient(level + 1, below) - coefficient(level, below))
        found[level] = rest / own
    return tuple(
        Component(
            name,
            len(size),
            variance,
            None if variance is None else max(variance, 0.0) * float((np.bincount(code, weights=weights) ** 2).sum()),
        )
        for name, code, size, variance in zip(names, codes, sizes, found, strict=True)
    )


def crossed_mean(
    scores: np.ndarray,
    images: Sequence[Hashable],
    *,
    bounds: tuple[float, float] | None = None,
) -> CrossedMean:
    """The mean of (questions, judges) scores with an interval for other images and other judges.

    The variance of the mean over images is that of clusters' sums. Judges add (variance of their means less what
    interaction with images gives it) / J, at least 0. The interval's ends are those of the mean over these judges
    (:mod:`lmms_medtasks.statistics.intervals`), whose distances from it add as squares to that of Student's t for the
    judges, with J - 1 degrees of freedom (Howe, 1974). With two judges who differ it is wide, since two say little of a
    third. It is cut to the range of the scores: ``bounds``, or what :func:`lmms_medtasks.statistics.sums.range_of`
    takes for it.

    Raises UserError where there is no question or no judge, or a score is missing.
    """
    table = np.asarray(scores, dtype=float)
    if table.ndim != 2 or not table.size or np.isnan(table).any() or len(images) != len(table):
        raise UserError(
            f"Expected a score of each of {len(images)} questions from each judge, got a table of shape {table.shape}."
        )
    count, judges = table.shape
    cluster_of: dict[Hashable, int] = {}
    clusters = np.array([cluster_of.setdefault(image, len(cluster_of)) for image in images])
    by_judge = table.mean(axis=0)
    mean = float(table.mean())
    plain = CrossedMean(mean, tuple(map(float, by_judge)), None, None, len(cluster_of), judges, None, None, None, None)
    if len(cluster_of) < 2 or judges < 2:
        return plain
    from scipy.stats import t

    scale = len(cluster_of) / (len(cluster_of) - 1) / count**2
    rows = table.mean(axis=1)
    of_images = scale * float((np.bincount(clusters, weights=rows - mean) ** 2).sum())
    apart = table - rows[:, None] - (by_judge - mean)
    interaction = scale / (judges - 1) * sum(
        float((np.bincount(clusters, weights=column) ** 2).sum()) for column in apart.T
    )  # fmt: skip
    judge_variance = float(by_judge.var(ddof=1)) - interaction
    of_judges = max(judge_variance, 0.0) / judges
    found = CrossedMean(
        mean, plain.by_judge, None, None, len(cluster_of), judges, of_images, of_judges, judge_variance, interaction
    )
    own = mean_interval([str(cluster) for cluster in clusters], rows, bounds=bounds)
    if own.low is None or own.high is None:
        return replace(found, reason=own.reason)
    reach = float(t.ppf((1 + confidence.level()) / 2, judges - 1)) ** 2 * of_judges
    ends = ((mean - own.low) ** 2 + reach) ** 0.5, ((own.high - mean) ** 2 + reach) ** 0.5
    least, most = range_of(table, bounds) or (-np.inf, np.inf)
    return replace(found, low=max(mean - ends[0], least), high=min(mean + ends[1], most))


def _joined(levels: Mapping[str, Sequence[Hashable]], last: str, count: int) -> tuple[list[str], list[np.ndarray]]:
    """The levels that can be told apart, each with the number of the unit of each score."""
    names: list[str] = []
    codes: list[np.ndarray] = []
    above: Sequence[Hashable] = [()] * count
    for name, units in [*levels.items(), (last, range(count))]:
        above = list(zip(above, units, strict=True))
        numbers: dict[Hashable, int] = {}
        code = np.array([numbers.setdefault(each, len(numbers)) for each in above], dtype=np.intp)
        if codes and len(numbers) == codes[-1].max() + 1:
            names[-1] = f"{names[-1]} and {name}"
            continue
        names.append(name)
        codes.append(code)
    return names, codes


def _weights(
    numbers: np.ndarray, levels: Mapping[str, Sequence[Hashable]], codes: Sequence[np.ndarray], questions: str
) -> np.ndarray:
    """What each score weighs in the mean: units of ``questions`` alike, and alike what is below, level by level."""
    if not questions:
        return np.full(len(numbers), 1 / len(numbers))
    path = np.zeros(len(numbers), dtype=np.intp)
    parents: list[np.ndarray] = []
    children: list[np.ndarray] = []
    for units in [*levels.values(), range(len(numbers))]:
        known: dict[tuple[int, Hashable], int] = {}
        code = [known.setdefault(each, len(known)) for each in zip(path.tolist(), units, strict=True)]
        parents.append(path)
        children.append(np.bincount([parent for parent, _ in known], minlength=int(path.max()) + 1))
        path = np.array(code, dtype=np.intp)
    place = list(levels).index(questions) + 1
    weights = np.full(len(numbers), 1 / int(children[place - 1].sum()))
    for own, parent in zip(children[place:], parents[place:], strict=True):
        weights /= own[parent]
    return weights
