"""Where the variance of scores comes from: images, questions, degradations, trials.

A nested model with random effects, by the method of moments, so that no distribution is assumed: a score is the mean
+ an effect of its image + one of its question within the image + one of the trial within the question. Each level's sum
of squares is set equal to its expectation (Henderson's first method; Searle, Casella and McCulloch, 1992, chapter 5).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.errors import UserError

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
