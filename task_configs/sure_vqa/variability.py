"""What robustness depends on more, the shift or the method: analysis of variance, spreads, ranks, and seeds joined.

The values are a complete table: one number for each condition (a shift, for closed or open questions) and each method.
"""

from __future__ import annotations

import statistics
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from lmms_medtasks.errors import UserError

Condition = TypeVar("Condition", bound=Hashable)
Table = Mapping[Any, Mapping[Any, float]]
"""Condition -> method -> value. All conditions must have the same methods."""


@dataclass(frozen=True)
class Anova:
    """One-way analysis of variance between conditions (or methods), with its degrees of freedom.

    ``f`` above 1 with a small ``p``: conditions differ by more than methods do within them. None with fewer than two
    conditions or methods, or without any variation.
    """

    f: float | None
    p: float | None
    between: int
    within: int


@dataclass(frozen=True)
class Spread:
    """Standard deviation (n - 1) between the conditions' means over methods, and between the methods' over conditions.

    None where there are fewer than two.
    """

    conditions: float | None
    methods: float | None


@dataclass(frozen=True)
class Joined:
    """A mean over seeds with its sample standard deviation (n - 1; None for a single one)."""

    mean: float
    sd: float | None
    n: int


def anova(table: Table) -> Anova:
    """Do conditions differ? Groups are the conditions, the values in a group its methods (SURE-VQA, Table 20).

    The paper's groups are each shift's closed and open questions apart: F then also holds what differs between the two
    kinds of question. It takes methods as independent draws, which they are not: they answer the same questions.
    """
    from scipy.stats import f_oneway

    values = _array(table)
    conditions, methods = values.shape
    between, within = conditions - 1, conditions * (methods - 1)
    if between < 1 or methods < 2 or np.ptp(values) == 0 or not np.ptp(values, axis=1).any():
        return Anova(None, None, between, within)
    result = f_oneway(*values)
    return Anova(float(result.statistic), float(result.pvalue), between, within)


def anova_of_methods(table: Table) -> Anova:
    """Do methods differ? The same with conditions and methods exchanged."""
    return anova(transposed(table))


def spread(table: Table) -> Spread:
    """Inter-shift and inter-method variability (SURE-VQA, Figures 8c and 18).

    The figures do not say what is averaged. Standard deviations of means agree with all that the text says of the
    figures; the mean of each method's deviation over shifts would not (OVQA with full fine-tuning).
    """
    values = _array(table)
    by_condition, by_method = values.mean(axis=1), values.mean(axis=0)
    return Spread(_sd(by_condition), _sd(by_method))


def ranks(table: Mapping[Condition, Mapping[str, float]]) -> dict[Condition, dict[str, float]]:
    """Each method's rank under each condition, 1 for the highest value, tied methods at their mean rank."""
    from scipy.stats import rankdata

    _array(table)  # a method that is missing somewhere would make the others' ranks better there
    return {
        condition: dict(zip(row, map(float, rankdata([-round(value, 12) for value in row.values()])), strict=True))
        for condition, row in table.items()
    }


def join(values: Sequence[float | None]) -> Joined | None:
    """The values of one method's seeds as mean and standard deviation; None if there is none.

    >>> join([0.82, 0.84, 0.86]).mean, round(join([0.82, 0.84, 0.86]).sd, 10)
    (0.84, 0.02)
    """
    known = [value for value in values if value is not None]
    if not known:
        return None
    return Joined(statistics.fmean(known), statistics.stdev(known) if len(known) > 1 else None, len(known))


def transposed(table: Table) -> dict[Any, dict[Any, float]]:
    """The table with conditions and methods exchanged."""
    methods = dict.fromkeys(name for row in table.values() for name in row)
    return {name: {condition: row[name] for condition, row in table.items()} for name in methods}


def _array(table: Table) -> np.ndarray:
    """(conditions, methods) floats. Raises UserError when a condition lacks a method or a value is missing."""
    methods = list(dict.fromkeys(name for row in table.values() for name in row))
    for condition, row in table.items():
        lacking = [name for name in methods if row.get(name) is None or np.isnan(row[name])]
        if lacking:
            raise UserError(
                f"No value of {lacking[0]!r} for {condition!r}: shifts and methods can be compared only on a table "
                "that is complete. Leave the method or the shift out."
            )
    values = [[row[name] for name in methods] for row in table.values()]
    return np.array(values, dtype=float).reshape(len(table), len(methods))


def _sd(values: np.ndarray) -> float | None:
    return float(values.std(ddof=1)) if len(values) > 1 else None
