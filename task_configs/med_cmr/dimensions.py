"""Med-CMR's seven dimensions, and how a release may spell them."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import unknown


@dataclass(frozen=True)
class Dimension:
    """One of the seven: its short and long name, its side ("visual" or "reasoning"), and what it is in a few words."""

    short: str
    name: str
    side: str
    words: str


@functools.cache
def dimensions() -> tuple[Dimension, ...]:
    """The seven dimensions in the paper's order, visual ones first."""
    return tuple(Dimension(short, row["name"], row["side"], row["words"]) for short, row in _spellings().items())


def _spellings() -> Mapping[str, Any]:
    table: dict[str, Any] = folders.read_yaml(Path(__file__).with_name("dimensions.yml"))["dimensions"]
    return table


def dimension_counts(of: str) -> Mapping[str, int]:
    """How many multiple-choice questions each dimension has: in the "release", or as the paper's table fits ("mcq")."""
    counts: dict[str, dict[str, int]] = folders.read_yaml(Path(__file__).with_name("reference") / "counts.yml")
    return counts[of]


@functools.cache
def _folded_names() -> Mapping[str, str]:
    found = {}
    for short, row in _spellings().items():
        for name in (row["name"], *row["also"]):
            for spelling in (short, name, name + short, short + name):
                found[_folded(spelling)] = short
    return found


def _folded(text: str) -> str:
    return re.sub("[^a-z0-9]", "", text.lower())


def dimension_name(text: str) -> str:
    """The short name ("SOD" ... "MSI") for a release's spelling of a dimension.

    Raises:
        UserError: no dimension is called so; the allowed names are in the message.
    """
    short = _folded_names().get(_folded(text))
    if short is None:
        allowed = [f"{each.short} ({each.name})" for each in dimensions()]
        raise unknown("dimension", text, allowed)
    return short
