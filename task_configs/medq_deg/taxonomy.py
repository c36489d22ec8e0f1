"""The taxonomies of MedQ-Deg as the paper prints them, and where a source dataset's own name of a task belongs.

Two high-level, six mid-level and thirty fine-grained capabilities (Table 4); five categories and eighteen degradations
(Table 5); seven modalities. The names and counts are in ``taxonomy.yml``, other datasets' names in
``capability_names.yml``; category and modalities of a degradation are those of :mod:`lmms_medtasks.degradations`.
Both files are read when first asked for.

>>> mid_of_name("organ recognition - abdomen"), mid_of("Abdominal Structures")
('Anatomical Recognition', 'Anatomical Recognition')
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from types import MappingProxyType
from typing import Any

import yaml

from lmms_medtasks import degradations
from lmms_medtasks.errors import unknown

_PACKAGE = "lmms_medtasks.task_configs.medq_deg"


@dataclass(frozen=True)
class Capability:
    """A fine-grained capability (a row of Table 4): degraded pairs, and the printed ratios in percent."""

    name: str
    mid: str
    high: str
    count: int
    ratio_in_mid: float
    ratio_in_total: float


@dataclass(frozen=True)
class DegradationType:
    """A degradation (a row of Table 5): degraded pairs, the printed ratios in percent, the printed modality."""

    name: str
    category: str
    count: int
    ratio_in_parent: float
    ratio_in_total: float
    modality: str


@dataclass(frozen=True)
class Category:
    """A category of degradations (a row of Table 5): degraded pairs and the printed ratio in percent."""

    key: str
    title: str
    count: int
    ratio_in_total: float


@functools.cache
def _read(file_name: str) -> dict[str, Any]:
    return yaml.safe_load(resources.files(_PACKAGE).joinpath(file_name).read_text(encoding="utf-8"))


def _folded(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@functools.cache
def _mid_rows() -> Mapping[str, tuple[str, Mapping[str, Any]]]:
    """Mid-level name -> (high-level name, its entry in taxonomy.yml), in the order of Table 2's columns."""
    highs = _read("taxonomy.yml")["capabilities"]["high"]
    return MappingProxyType({mid["name"]: (high["name"], mid) for high in highs for mid in high["mids"]})


@functools.cache
def capabilities() -> tuple[Capability, ...]:
    """The thirty fine-grained capabilities with counts and printed ratios, in the order of Table 4."""
    return tuple(
        Capability(mid=mid, high=high, **fine) for mid, (high, row) in _mid_rows().items() for fine in row["fines"]
    )


def highs() -> tuple[str, ...]:
    """The two high-level capabilities."""
    return tuple(high["name"] for high in _read("taxonomy.yml")["capabilities"]["high"])


def mids() -> tuple[str, ...]:
    """The six mid-level capabilities, in the order of Table 2's columns."""
    return tuple(_mid_rows())


def fines() -> tuple[str, ...]:
    """The thirty fine-grained capabilities, in the order of Table 4."""
    return tuple(capability.name for capability in capabilities())


def short_of(mid: str) -> str:
    """The head of ``mid``'s column in Table 2.

    Raises:
        UserError: No mid-level capability has that name.

    >>> short_of("Clinical Understanding")
    'CU'
    """
    if mid not in _mid_rows():
        raise unknown("mid-level capability", mid, mids())
    return str(_mid_rows()[mid][1]["short"])


@functools.cache
def _mid_by_fine() -> Mapping[str, str]:
    return MappingProxyType({capability.name: capability.mid for capability in capabilities()})


def mid_of(fine: str) -> str:
    """The mid-level capability of ``fine``, a name of Table 4; for other spellings see :func:`mid_of_name`.

    Raises:
        UserError: No fine-grained capability has that name.
    """
    if fine not in _mid_by_fine():
        raise unknown("fine-grained capability", fine, fines())
    return _mid_by_fine()[fine]


@functools.cache
def _places() -> Mapping[str, str | None]:
    """Folded name -> mid-level capability, None where it has none. Table 4's names stand above all others."""
    table: dict[str, str | None] = {}
    for dataset in _read("capability_names.yml")["datasets"].values():
        for name, row in dataset["names"].items():
            fine = row.get("fine")
            table[_folded(name)] = mid_of(fine) if fine else row.get("mid")
    for mid, (_, row) in _mid_rows().items():
        table.update({_folded(name): mid for name in (mid, *row["called"])})
    table.update({_folded(fine): mid_of(fine) for fine in fines()})
    return MappingProxyType(table)


def mid_of_name(name: str) -> str | None:
    """The mid-level capability that ``name`` stands for, or None where that is not known.

    ``name`` is one of Table 4 or of a source dataset; case, spaces and punctuation do not count.

    >>> mid_of_name("Organ Recognition - Thorax"), mid_of_name("Modality Recognition")
    ('Anatomical Recognition', None)
    """
    return _places().get(_folded(name))


def categories() -> tuple[str, ...]:
    """The keys of the five categories of degradations, in the order of Table 5."""
    return tuple(_read("taxonomy.yml")["degradations"]["categories"])


def category_of(degradation: str) -> str:
    """The key of ``degradation``'s category; the name may be that of the authors' site too.

    Raises:
        UserError: No degradation has that name.
    """
    return degradations.category(degradation)


def category(key: str) -> Category:
    """Printed title, count and ratio of a category.

    Raises:
        UserError: No category has that key.
    """
    rows = _read("taxonomy.yml")["degradations"]["categories"]
    if key not in rows:
        raise unknown("category of degradations", key, rows)
    row = rows[key]
    return Category(key, row["title"], row["count"], row["ratio_in_total"])


@functools.cache
def degradation_types() -> tuple[DegradationType, ...]:
    """The eighteen degradations with counts and printed ratios, in the order of Table 5."""
    rows = _read("taxonomy.yml")["degradations"]["types"]
    return tuple(DegradationType(name=name, category=category_of(name), **row) for name, row in rows.items())


def modalities() -> tuple[str, ...]:
    """The seven modalities (paper, abstract and appendix 0.A.1), as they are written everywhere."""
    return degradations.modalities()
