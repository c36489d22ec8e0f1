"""Means by tags and their changes between levels, each with its counts and its interval.

``values`` are (n,) floats in the order of the records, NaN where a record has none; without them the records' scores.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.bootstrap import RESAMPLES, Figure, Interval, Part, bootstrap, mean, mean_change, part
from lmms_medtasks.statistics.pairing import pairs
from lmms_medtasks.statistics.votes import Record

Key = tuple[Any, ...]
"""The values of the tags asked for, in their order; None for a tag that a record lacks."""
Values = np.ndarray | Sequence[float] | None


@dataclass(frozen=True)
class Group:
    """A group's mean with its interval, and the number of its records without a value (``mean.n`` have one)."""

    mean: Interval
    unscored: int


@dataclass(frozen=True)
class Change:
    """A group's means before and after, and after less before (Table 6's sign: a loss is negative).

    ``left_out`` counts the group's records that are in neither mean: paired, the degraded records that have no value
    or whose clean form has none or is not there; not paired, the records of both levels that have no value.
    """

    before: Interval
    after: Interval
    change: Interval
    left_out: int


@dataclass(frozen=True)
class Tagged:
    """n records reduced to question and image ids, the key of their group, and a value, (n,) floats or NaN."""

    questions: tuple[str, ...]
    images: tuple[str, ...]
    keys: tuple[Key, ...]
    values: np.ndarray

    def take(self, rows: np.ndarray) -> Tagged:
        """These rows, integers, in this order."""
        return Tagged(
            questions=tuple(self.questions[row] for row in rows),
            images=tuple(self.images[row] for row in rows),
            keys=tuple(self.keys[row] for row in rows),
            values=self.values[rows],
        )

    def scored(self) -> Tagged:
        """The rows that have a value."""
        return self.take(np.flatnonzero(~np.isnan(self.values)))

    def rows(self) -> dict[Key, np.ndarray]:
        """The rows of each key, integers; keys are sorted, None last."""
        return _rows_by_key(self.keys)

    def part(self) -> Part:
        """The bootstrap's rows; all must have a value."""
        return part(self.images, self.values)


class Matched(NamedTuple):
    """Pairs row by row: each degraded record that has a value, and the clean form of its question."""

    before: Tagged
    after: Tagged


def scores(records: Sequence[Record]) -> np.ndarray:
    """(n,) floats: each record's ``score``, NaN where it has none (all its requests failed)."""
    return np.array([record.get("score", np.nan) for record in records], dtype=float)


def tagged(records: Sequence[Record], tags: Sequence[str], values: Values = None) -> Tagged:
    """Reduce records to what means by ``tags`` need. Raises UserError when no record has a tag of this name."""
    for tag in tags:
        if records and not any(tag in record for record in records):
            raise UserError(f"No record has the tag {tag!r}. The first has: {', '.join(sorted(records[0]))}.")
    numbers = scores(records) if values is None else np.asarray(values, dtype=float)
    if numbers.shape != (len(records),):
        raise ValueError(f"Wanted a value for each of {len(records)} records, got shape {numbers.shape}.")
    return Tagged(
        questions=tuple(str(record.get("question_id") or record["id"]) for record in records),
        images=tuple(str(record["image_id"]) for record in records),
        keys=tuple(tuple(record.get(tag) for tag in tags) for record in records),
        values=numbers,
    )


def matched(clean: Tagged, degraded: Tagged) -> Matched:
    """Pair degraded with clean records by question; both sides get the degraded one's key and the clean one's image.

    Records without a value and questions without a partner are left out (count them by the lengths).
    """
    clean, degraded = clean.scored(), degraded.scored()
    joined = pairs(clean.questions, degraded.questions)
    before, after = clean.take(joined.clean), degraded.take(joined.degraded)
    return Matched(replace(before, keys=after.keys), replace(after, images=before.images))


def by_tags(
    records: Sequence[Record],
    tags: Sequence[str],
    values: Values = None,
    *,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> dict[Key, Group]:
    """The mean of each group of records that agree in ``tags``, sorted by key; ``tags=[]`` is all records, key ().

    Each group is resampled over its own images. A group whose records all lack a value is there, with n = 0 and None;
    so is () when there are no records. Raises UserError when no record has a tag.
    """
    everything = tagged(records, tags, values)
    found = {}
    for key, rows in _groups(tags, everything).items():
        group = everything.take(rows).scored()
        interval = _intervals({"mean": group.part()}, seed, resamples, level)["mean"]
        found[key] = Group(interval, len(rows) - interval.n)
    return found


def changes(
    clean: Sequence[Record],
    degraded: Sequence[Record],
    tags: Sequence[str],
    clean_values: Values = None,
    degraded_values: Values = None,
    *,
    paired: bool = True,
    seed: int | str = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> dict[Key, Change]:
    """By how much each group's mean changes from ``clean`` to ``degraded`` records.

    Paired: groups are by the degraded records' tags, and each degraded record is set against the clean form of its
    question, so that a group "motion blur" has as its baseline the clean questions that were blurred (as Table 3 must:
    its baselines differ by category). Not paired: both sides are grouped by their own tags and taken whole.

    Both sides see the same resampled images. A side without values gives None there and in the change.
    """
    after = tagged(degraded, tags, degraded_values)
    before = tagged(clean, [] if paired else tags, clean_values)
    every = _groups(tags, after) if paired else _groups(tags, before, after)
    sides = matched(before, after) if paired else Matched(before.scored(), after.scored())
    first, second = sides.before.rows(), sides.after.rows()
    none = np.empty(0, dtype=np.intp)
    found = {}
    for key, rows in every.items():
        parts = {
            "before": sides.before.take(first.get(key, none)).part(),
            "after": sides.after.take(second.get(key, none)).part(),
        }
        intervals = _intervals(parts, seed, resamples, level)
        used = intervals["after"].n + (0 if paired else intervals["before"].n)
        found[key] = Change(**intervals, left_out=len(rows) - used)
    return found


def _groups(tags: Sequence[str], *sides: Tagged) -> dict[Key, np.ndarray]:
    """The rows of each key over all sides, one after the other; () is there even without records."""
    found = _rows_by_key([key for side in sides for key in side.keys])
    return found if tags or found else {(): np.empty(0, dtype=np.intp)}


def _rows_by_key(keys: Sequence[Key]) -> dict[Key, np.ndarray]:
    found: dict[Key, list[int]] = {}
    for row, key in enumerate(keys):
        found.setdefault(key, []).append(row)
    ordered = sorted(found, key=lambda key: [(value is None, str(type(value)), value) for value in key])
    return {key: np.array(found[key], dtype=np.intp) for key in ordered}


def _intervals(parts: Mapping[str, Part], seed: int | str, resamples: int, level: float) -> dict[str, Interval]:
    """The mean of each part; of two parts also their "change"."""
    figures = {name: Figure(mean, (name,)) for name in parts}
    if len(parts) == 2:
        figures["change"] = Figure(mean_change, tuple(parts))
    found = bootstrap(parts, figures, seed=seed, resamples=resamples)
    return {name: each.interval(level) for name, each in found.items()}
