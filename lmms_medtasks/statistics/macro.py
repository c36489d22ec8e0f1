"""Macro means: a mean over named groups, each weighing alike, as the averages of MedQ-Deg's Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.statistics.bootstrap import RESAMPLES, Figure, Interval, Part, bootstrap, part
from lmms_medtasks.statistics.grouped import Matched, Tagged, Values, matched, tagged
from lmms_medtasks.statistics.votes import Record


@dataclass(frozen=True)
class Macro:
    """A mean of group means.

    Attributes:
        mean: over the ``used`` groups; None if there is none.
        n: number of values in each used group. missing: named groups without any value: left out, not counted as 0.
        unnamed: groups that records with a value are in and that were not asked for, with their number of values
            ("None" for records without the tag): left out too.
    """

    mean: Interval
    n: Mapping[str, int]
    missing: tuple[str, ...]
    unnamed: Mapping[str, int]

    @property
    def used(self) -> tuple[str, ...]:
        """The groups that the mean is over."""
        return tuple(self.n)


@dataclass(frozen=True)
class MacroChange:
    """Macro means before and after over the same groups, and after less before (a loss is negative).

    ``n`` has the number of values after; a group is used if it has values on both sides. Else as :class:`Macro`.
    """

    before: Interval
    after: Interval
    change: Interval
    n: Mapping[str, int]
    missing: tuple[str, ...]
    unnamed: Mapping[str, int]


def macro_mean(
    records: Sequence[Record],
    tag: str,
    groups: Sequence[str],
    values: Values = None,
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> Macro:
    """The mean over ``groups`` (values of ``tag``) of each group's mean value (score unless given).

    With ``resamples=0`` there is no interval. A resample in which a used group was not drawn has no macro mean and is
    counted (``mean.undefined``): with groups of a few images the interval is one given that all were drawn, and too
    narrow.
    """
    rows = tagged(records, [tag], values).scored()
    counts = _counts(rows)
    used = [group for group in groups if counts.get(group)]
    parts = {"": _celled(rows, used)}
    found = bootstrap(parts, {"": Figure(mean_of_means, ("",))}, seed=seed, resamples=resamples)
    return Macro(
        mean=found[""].interval(level),
        n={group: counts[group] for group in used},
        missing=tuple(group for group in groups if group not in used),
        unnamed={str(group): count for group, count in counts.items() if group not in groups},
    )


def macro_change(
    clean: Sequence[Record],
    degraded: Sequence[Record],
    tag: str,
    groups: Sequence[str],
    clean_values: Values = None,
    degraded_values: Values = None,
    *,
    paired: bool = True,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> MacroChange:
    """Change of the macro mean; ``paired`` as in :func:`lmms_medtasks.statistics.grouped.changes`.

    Paired, clean records need not have the tag: they are in the groups of their degraded forms.
    """
    after = tagged(degraded, [tag], degraded_values)
    before = tagged(clean, [] if paired else [tag], clean_values)
    sides = matched(before, after) if paired else Matched(before.scored(), after.scored())
    first, second = _counts(sides.before), _counts(sides.after)
    used = [group for group in groups if first.get(group) and second.get(group)]
    figures = {
        "before": Figure(mean_of_means, ("before",)),
        "after": Figure(mean_of_means, ("after",)),
        "change": Figure(lambda one, other: mean_of_means(other) - mean_of_means(one), ("before", "after")),
    }
    parts = {"before": _celled(sides.before, used), "after": _celled(sides.after, used)}
    found = bootstrap(parts, figures, seed=seed, resamples=resamples)
    return MacroChange(
        before=found["before"].interval(level),
        after=found["after"].interval(level),
        change=found["change"].interval(level),
        n={group: second[group] for group in used},
        missing=tuple(group for group in groups if group not in used),
        unnamed={str(group): count for group, count in second.items() if group not in groups},
    )


def mean_of_means(sums: np.ndarray) -> np.ndarray:
    """Statistic: the mean over cells of the first column's mean in each; NaN when a cell has no row."""
    return (sums[..., 1] / sums[..., 0]).mean(-1)


def _counts(rows: Tagged) -> dict[object, int]:
    return {key[0]: len(found) for key, found in rows.rows().items()}


def _celled(rows: Tagged, groups: Sequence[str]) -> Part:
    """The rows of these groups, a cell each; without groups one empty cell."""
    cells = {group: number for number, group in enumerate(groups)}
    kept = rows.take(np.array([row for row, key in enumerate(rows.keys) if key[0] in cells], dtype=np.intp))
    places = np.array([cells[key[0]] for key in kept.keys], dtype=np.intp)
    return part(kept.images, kept.values, cells=places, cell_count=max(1, len(groups)))
