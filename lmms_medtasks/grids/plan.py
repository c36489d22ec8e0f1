"""The plan of a set: the kind, category and position of every item, before any picture is read."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lmms_medtasks.errors import UserError, unknown_name_error
from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.grids import altered_images
from lmms_medtasks.grids.pool import Category, ImagePool
from lmms_medtasks.seeding import seeded_generator

KINDS = ("category", "orientation", "viewpoint", "integrity", "finding")
NEGATIVES = 0.375
"""The release's share of negative tasks: every item has five tasks with an outlier and three without."""

_NEEDS = {
    "category": "two categories that differ in modality or anatomy",
    "orientation": "a category with an up (orientation.yaml; or the label up)",
    "viewpoint": "two labelled views of one modality and anatomy",
    "integrity": "images without a finding",
    "finding": "images with and without a finding in one category",
}


@dataclass(frozen=True)
class _Slot:
    """One item before its pictures are known. ``position`` is the outlier's (None: no grid with an outlier), ``box``
    is that of the red box in the consistent grid (None: no such grid)."""

    number: int
    size: GridSize
    kind: str
    position: int | None
    box: int | None

    @property
    def grids(self) -> int:
        return (self.position is not None) + (self.box is not None)


@dataclass(frozen=True)
class PlannedItem(_Slot):
    """One item. ``other`` is where the outlier or the foreign texture comes from, ``violation`` the kind of integrity
    violation."""

    category: Category
    other: Category | None
    violation: str


def check_kinds(kinds: Sequence[str]) -> tuple[str, ...]:
    """The kinds without repetition. Raises UserError for an unknown kind, or an empty list."""
    for kind in kinds:
        if kind not in KINDS:
            raise unknown_name_error("kind of outlier", kind, KINDS, "--kinds")
    if not kinds:
        raise UserError(f"No kind of outlier was asked for. Allowed: {', '.join(KINDS)}.")
    return tuple(dict.fromkeys(kinds))


def possible_kinds(pool: ImagePool) -> tuple[str, ...]:
    """The kinds of outlier that the labels of ``pool`` allow."""
    stock = _Stock(pool, False, frozenset())
    return tuple(kind for kind in KINDS if stock.serving_categories(kind))


def count_grids(items: int, negatives: float) -> tuple[int, int]:
    """How many of ``items`` have a grid with an outlier, and how many a consistent one, so that ``negatives`` of the
    tasks (five and three a grid) are negative: all have both at 0.375.

    Raises UserError for no items, or a share outside 0 … 1.

    >>> count_grids(100, 0.375)
    (100, 100)
    >>> count_grids(100, 0.5)
    (60, 100)
    """
    if items < 1:
        raise UserError(f"At least one item has to be made, got {items}.")
    if not 0 <= negatives <= 1:
        raise UserError(f"The share of negative controls must be from 0 to 1, got {negatives!r}.")
    if negatives <= NEGATIVES:
        return items, round(5 * items * negatives / (3 * (1 - negatives)))
    return round(3 * items * (1 - negatives) / (5 * negatives)), items


def needed_pictures(items: int, sizes: Sequence[GridSize], negatives: float) -> int:
    """How many pictures the grids of ``items`` items of each size take at least, where none is used twice.

    A picture a panel; foreign textures take a few more, and no category may run out (:func:`plan_items` tells that).

    >>> needed_pictures(100, [GridSize(2)], 0.375)
    800
    """
    return sum(count_grids(items, negatives)) * sum(size.panels for size in sizes)


def check_enough(image_count: int, items: int, sizes: Sequence[GridSize], negatives: float) -> None:
    """Raise UserError if ``image_count`` pictures are too few when none is used twice."""
    needed = needed_pictures(items, sizes, negatives)
    if image_count < needed:
        fitting = math.floor(image_count * items / needed)
        way_out = f"Ask for {fitting:,} items at most, or for smaller grids; add" if fitting else "Add"
        raise UserError(
            f"Too few images: {items:,} items of each size take at least {needed:,}, there are {image_count:,}. "
            f"{way_out} images; or allow --reuse."
        )


def plan_items(
    pool: ImagePool,
    *,
    items: int,
    sizes: Sequence[GridSize],
    kinds: Sequence[str],
    negatives: float,
    seed: int,
    reuse: bool,
    coloured: frozenset[Category] = frozenset(),
) -> list[PlannedItem]:
    """The items in order, sizes one after the other.

    Kinds take turns, every position holds the outlier (and the box of consistent grids) equally often up to one, and
    each item takes the category that has most pictures left. Outliers by category come from a category that is
    ``coloured`` as the inliers' is, where there is one.

    Raises UserError for a kind that the labels do not allow, or too few pictures (with have and need by category).
    """
    kinds = check_kinds(kinds)
    slots = [slot for size in sizes for slot in _make_slots(items, size, kinds, negatives, seed)]
    slots = [replace(slot, number=number) for number, slot in enumerate(slots)]
    stock = _Stock(pool, reuse, coloured)
    for kind in kinds:
        _check_possible(pool, kind, stock)
    # Kinds that few categories can serve choose first.
    order = sorted(slots, key=lambda slot: (len(stock.serving_categories(slot.kind)), -slot.size.panels, slot.number))
    planned = []
    for done, slot in enumerate(order):
        rng = seeded_generator("grids plan", seed, slot.number)
        entry = stock.take_pictures(slot, rng)
        if entry is None:
            raise _too_few_error(pool, slots, done, stock, slot.kind)
        planned.append(entry)
    return sorted(planned, key=lambda entry: entry.number)


def _make_slots(items: int, size: GridSize, kinds: Sequence[str], negatives: float, seed: int) -> list[_Slot]:
    positive, negative = count_grids(items, negatives)
    rng = seeded_generator("grids slots", seed, str(size))
    positions, boxes = balance_values(positive, size.panels, rng), balance_values(negative, size.panels, rng)
    return [
        _Slot(
            i,
            size,
            kinds[i % len(kinds)],
            positions[i] if i < positive else None,
            boxes[i] if i < negative else None,
        )
        for i in range(items)
    ]


def balance_values(count: int, values: int, rng: np.random.Generator) -> list[int]:
    """``count`` numbers below ``values``, each equally often up to one, in random order."""
    which = rng.permutation(values)
    return [int(which[i]) for i in rng.permutation(np.arange(count) % values)] if count else []


class _Stock:
    def __init__(self, pool: ImagePool, reuse: bool, coloured: frozenset[Category]) -> None:
        self.plain = Counter({key: len(group) for key, group in pool.plain.items()})
        self.findings = Counter({key: len(group) for key, group in pool.findings.items()})
        self.used: Counter[Category] = Counter()
        self._pool, self._reuse, self._coloured = pool, reuse, coloured
        self._violations = 0

    def serving_categories(self, kind: str) -> list[Category]:
        """The categories whose pictures can be inliers of an item of ``kind``, by their labels."""
        return [key for key in self._pool.categories if self._is_serving(key, kind)]

    def _is_serving(self, key: Category, kind: str) -> bool:
        if kind == "orientation":
            return any(altered_images.has_up(key, picture.up) for picture in self._pool.plain[key])
        if kind == "finding":
            return bool(self._pool.findings.get(key))
        return kind == "integrity" or bool(self.source_categories(key, kind))

    def source_categories(self, key: Category, kind: str) -> list[Category]:
        """The categories that an outlier among pictures of ``key`` can come from (or, for integrity, a texture)."""
        rest = [other for other in self._pool.categories if other != key]
        if kind == "viewpoint":
            same = [other for other in rest if other[:2] == key[:2]]
            return [other for other in same if key.view and other.view]
        if kind == "integrity":
            return [other for other in rest if other.modality != key.modality]
        if kind != "category":
            return []
        rest = [other for other in rest if _are_different(key, other)]
        alike = [other for other in rest if (other in self._coloured) == (key in self._coloured)]
        return alike or rest

    def take_pictures(self, slot: _Slot, rng: np.random.Generator) -> PlannedItem | None:
        """Set pictures aside for ``slot``; None if no category has enough left."""
        lots = {key: rng.random() for key in self._pool.categories}
        panel_count = slot.size.panels
        for key in sorted(self.serving_categories(slot.kind), key=lambda key: (-self.plain[key], lots[key])):
            inner = slot.kind in ("orientation", "integrity")
            need = panel_count * slot.grids - (slot.position is not None and not inner)
            enough = panel_count if self._reuse else need
            if self.plain[key] < enough:
                continue
            sources = [other for other in self.source_categories(key, slot.kind) if self.plain[other] > 0]
            sources.sort(key=lambda other: (-self.plain[other], lots[other]))
            has_outlier = self.findings[key] > 0 if slot.kind == "finding" else inner or bool(sources)
            if slot.position is not None and not has_outlier:
                continue
            return self._plan_item(slot, key, need, sources)
        return None

    def _plan_item(self, slot: _Slot, key: Category, need: int, sources: list[Category]) -> PlannedItem:
        other: Category | None = None
        violation = ""
        if slot.position is not None and slot.kind == "integrity":
            allowed = altered_images.VIOLATIONS if sources else altered_images.CORRUPTIONS
            violation = allowed[self._violations % len(allowed)]
            self._violations += 1
        if slot.position is not None and sources and violation in ("", "texture"):
            other = sources[0]
        if not self._reuse:
            self.plain[key] -= need
            if other is not None:
                self.plain[other] -= 1
            if slot.kind == "finding" and slot.position is not None:
                self.findings[key] -= 1
        self.used[key] += need
        if other is not None:
            self.used[other] += 1
        return PlannedItem(**vars(slot), category=key, other=other, violation=violation)


def _are_different(a: Category, b: Category) -> bool:
    """Whether two categories are surely of different modality or anatomy: an unlabelled anatomy may be any."""
    return a.modality != b.modality or bool(a.anatomy and b.anatomy and a.anatomy != b.anatomy)


def _check_possible(pool: ImagePool, kind: str, stock: _Stock) -> None:
    if not stock.serving_categories(kind):
        have = ", ".join(f"{key} ({len(group)})" for key, group in pool.plain.items()) or "(none without a finding)"
        raise UserError(
            f"No grid of kind {kind!r} can be made: it needs {_NEEDS[kind]}. The labels have: {have}. "
            "Leave the kind out of --kinds, or label more."
        )


def _too_few_error(pool: ImagePool, slots: Sequence[_Slot], done: int, stock: _Stock, kind: str) -> UserError:
    missing = len(slots) - done
    rows = []
    total = sum(slot.grids * slot.size.panels for slot in slots)
    share = total / max(1, len(pool.categories))
    for key, group in pool.plain.items():
        finding_count = len(pool.findings.get(key, ()))
        rows.append(
            f"  {key}: have {len(group)}{f' and {finding_count} with a finding' if finding_count else ''}, "
            f"taken by the items that fit {stock.used[key]}, need about {share:.0f}"
        )
    return UserError(
        f"Too few images: {done} of {len(slots)} items can be made, then an item of kind {kind!r} finds no category "
        f"with enough left. No image is used twice; all {len(slots)} items take about {total} images, "
        f"shared by {len(pool.categories)} categories:\n" + "\n".join(rows) + "\n"
        f"Ask for about {missing} items fewer, smaller grids or other kinds; add images; or allow --reuse."
    )
