"""A sample of a benchmark that stands for all of it: ``--subset 1000``.

Images (or another unit of clustering) are drawn with all their questions. They are sorted by what the paper's tables
break down, and every k-th is taken from a random start: systematic sampling with implicit stratification (Cochran,
Sampling Techniques, 3rd edition 1977, chapter 8). So each group has its share, and every image the same chance: a plain
mean over the sample estimates that over the full benchmark. The draw depends on the seed and the data only.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator, stable_seed

VARIABLE = "MEDTASKS_SUBSET"
"""``SIZE`` or ``SIZE/SEED``: set by ``lmms-medtasks run --subset``, read by the processes of the run."""

Strata = tuple[str, ...]


@dataclass(frozen=True)
class DataSubset:
    """How many units are drawn (1 or more), and the seed of the draw (0 or more); else a UserError."""

    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        if self.size < 1:
            raise UserError(f"--subset {self.size} draws nothing. Give a number of images from 1.")
        if self.seed < 0:
            raise UserError(f"--subset-seed is {self.seed}, expected a number from 0.")

    def __str__(self) -> str:
        return f"{self.size}/{self.seed}"


def digest_of(whole: str, subset: DataSubset) -> str:
    """The digest of a subset of data whose digest is ``whole``: 64 hexadecimal digits."""
    return hashlib.sha256(f"{whole} {subset}".encode()).hexdigest()


def requested_subset() -> DataSubset | None:
    """The subset that :data:`VARIABLE` names, None if it is not set. Raises UserError for another form."""
    value = os.environ.get(VARIABLE, "")
    if not value:
        return None
    size, _, seed = value.partition("/")
    try:
        return DataSubset(int(size), int(seed or 0))
    except ValueError:
        raise UserError(
            f"The environment variable {VARIABLE} is {value!r}, expected SIZE or SIZE/SEED: 1000, 1000/7."
        ) from None


def strata_of(rows: Iterable[tuple[str, Strata]]) -> dict[str, Strata]:
    """Each unit's distinct values in each column, and its number of rows. ``rows``: unit and values of each row."""
    values_of_unit: dict[str, list[Strata]] = {}
    for unit, values in rows:
        values_of_unit.setdefault(unit, []).append(values)
    return {
        unit: (*(" ".join(sorted(set(column))) for column in zip(*values, strict=True)), f"{len(values):09}")
        for unit, values in values_of_unit.items()
    }


def draw_subset(strata: Mapping[str, Strata], subset: DataSubset) -> frozenset[str]:
    """The units that are drawn of those in ``strata``; all if there are no more than ``subset.size``."""
    if len(strata) <= subset.size:
        return frozenset(strata)
    # Units of one stratum stand in an order of chance, the same whatever other units there are.
    order = sorted(strata, key=lambda unit: (strata[unit], stable_seed("subset", subset.seed, unit), unit))
    step = len(order) / subset.size
    start = seeded_generator("subset", subset.seed).uniform(0, step)
    # A sum of floating-point numbers may round up to the next whole number.
    places = (min(math.floor(start + number * step), len(order) - 1) for number in range(subset.size))
    return frozenset(order[index] for index in places)
