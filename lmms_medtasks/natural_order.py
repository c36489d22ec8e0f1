"""Names in the order in which people count: q2 before q10."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

_NUMBER = re.compile(r"([0-9]+)")


def natural_order(names: Sequence[str] | np.ndarray) -> np.ndarray:
    """(n,) integers: the places of ``names`` in the order in which they are listed; numbers in them count as numbers.

    >>> natural_order(["q10", "q2/blur", "q2", "a"]).tolist()
    [3, 2, 1, 0]
    """
    keys = [_key(str(name)) for name in names]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=int)


def _key(name: str) -> tuple[object, ...]:
    """Texts and numbers by turns, a number by its length and digits: it may have more than an integer is read from."""
    parts = _NUMBER.split(name)
    numbers = (part.lstrip("0") for part in parts[1::2])
    keyed: list[object] = list(parts)
    keyed[1::2] = [(len(number), number) for number in numbers]
    return tuple(keyed), name
