"""A level between and beyond the two of the paper: ``strength`` 0 to 3, through severity 1 and 2.

The draw is that of the levels (same seed, same random numbers); the settings of severity.yaml are interpolated:

- at 1 and 2 they are those of level 1 and 2, so the pixels are those of severity 1 and 2, bit for bit;
- from 0 to 1, from the section's ``identity``, at which the operator does nothing, to level 1. Where an operator has no
  such settings (a reconstruction of a scan), the result is a mix: ``strength`` times level 1 and the rest the untouched
  image;
- from 2 to 3, on by as much as from 1 to 2, but not beyond the section's ``limit``.

Straight lines, or lines in the logarithm for the settings under ``ratio``. A setting that counts (k-space lines, views,
cells) is cut to whole numbers by the operator, so the damage grows in steps; the settings under ``step`` decide where
everything is (the ghosts, the bands of k-space) and change once, from level 1's value to level 2's just above 1, where
the other settings grow too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np

from lmms_medtasks.errors import UserError

STRONGEST = 3.0


def check_strength(strength: object) -> float:
    """``strength`` as a float, if it is a number from 0 to 3.

    Raises:
        UserError: Anything else, ``True``, NaN and texts included.
    """
    if isinstance(strength, bool | np.bool_) or not isinstance(strength, Real):
        raise UserError(f"Strength must be a number from 0 to 3, got {strength!r} ({type(strength).__name__}).")
    if not 0 <= strength <= STRONGEST:
        raise UserError(
            f"Strength must be from 0 (untouched) over 1 (severity 1) and 2 (severity 2) to 3, got {strength!r}."
        )
    return float(strength)


def interpolated(
    first: Mapping[str, Any], second: Mapping[str, Any], rules: Mapping[str, Any], strength: float
) -> tuple[Mapping[str, Any], float]:
    """The settings at ``strength`` above 0, and the share of the degraded image in the result (1 unless mixed).

    ``first``, ``second``: the settings of level 1 and 2. ``rules``: the section's entry under ``strength`` in
    severity.yaml.
    """
    if strength < 1 and "identity" not in rules:
        return first, strength
    if strength <= 1:
        return _between({**first, **rules.get("identity", {})}, first, rules, strength), 1.0
    if strength <= 2:
        return _between(first, second, rules, strength - 1), 1.0
    return _between(second, _strongest(first, second, rules), rules, strength - 2), 1.0


def _between(low: Mapping[str, Any], high: Mapping[str, Any], rules: Mapping[str, Any], part: float) -> dict[str, Any]:
    """The settings at ``part`` (0 to 1) of the way; at both ends exactly those given."""
    if part in (0, 1):
        return dict(high if part else low)
    ratio, step = rules.get("ratio", ()), rules.get("step", ())
    return {
        key: value if key in step else _mapped(_point(key in ratio, part), low[key], value)
        for key, value in high.items()
    }


def _strongest(first: Mapping[str, Any], second: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, Any]:
    """The settings at strength 3: as far beyond level 2 as that is beyond level 1, up to the limit."""
    limits, ratio, step = rules.get("limit", {}), rules.get("ratio", ()), rules.get("step", ())

    def beyond(key: str) -> Any:
        def one(low: float, high: float) -> float:
            far = high * high / low if key in ratio else high + (high - low)
            limit = limits.get(key, far)
            # The limit never turns back what level 2 has already.
            return max(high, min(far, limit)) if high > low else min(high, max(far, limit))

        return one

    return {
        key: value if key in step else _mapped(beyond(key), first[key], value) for key, value in second.items()
    }  # fmt: skip


def _point(logarithmic: bool, part: float) -> Any:
    def one(low: float, high: float) -> float:
        value = (
            math.exp(math.log(low) * (1 - part) + math.log(high) * part) if logarithmic else low + (high - low) * part
        )
        # Nine digits: the last bits of a logarithm differ between machines, and a count is cut to a whole number.
        return float(f"{value:.9g}")

    return one


def _mapped(function: Any, low: Any, high: Any) -> Any:
    """``function`` of two numbers, or of each pair of two lists; what is equal, or no number, is ``high``."""
    if low == high or isinstance(high, str | bool):
        return high
    if isinstance(high, list):
        return [_mapped(function, *pair) for pair in zip(low, high, strict=True)]
    return function(low, high)
