"""Severity, strength and seed as they are given, and the settings that a strength stands for.

``strength`` is a level between and beyond the two of the paper: 0 to 3, through severity 1 and 2.

The draw is that of the levels (same seed, same random numbers); the settings of severity.yaml are interpolated:

- at 1 and 2 they are those of level 1 and 2, so the pixels are those of severity 1 and 2, bit for bit;
- from 0 to 1, from the section's ``identity``, at which the operator does nothing, to level 1;
- from 2 to 3, on by as much as from 1 to 2, but not beyond the section's ``limit``.

Straight lines, or lines in the logarithm for the settings under ``ratio``. A setting that counts (k-space lines, cells)
is cut to whole numbers by the operator, so the damage grows in steps; the settings under ``step`` decide where
everything is (the ghosts, the bands of k-space) and change once, from level 1's value to level 2's just above 1, where
the other settings grow too.

Two kinds of sections have weighted means of images instead. One without an ``identity`` (an operator that does nothing
at no setting, such as a reconstruction of a scan) has the mean of the untouched image and level 1 below 1. One that is
``mixed`` has means of level 1 and 2, and of level 2 and strength 3, too: its damage would not grow evenly with the
whole number between them. Both such operators are linear, so the mean is what a scan gives in which the views that the
stronger one leaves out fade, or a blur by a kernel in between.

Damage is the mean squared error. Where it falls a little on the way is measured in tests/degradations/test_strength.py.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from lmms_medtasks.degradations.base import LENGTHS
from lmms_medtasks.errors import UserError


def check_severity(severity: object) -> int:
    """``severity`` if it is the integer 0, 1 or 2.

    Raises UserError for anything else, ``True`` and ``1.0`` included.
    """
    if not _is_integer(severity):
        raise UserError(f"Severity must be the integer 0, 1 or 2, got {severity!r} ({type(severity).__name__}).")
    level = int(severity)  # type: ignore[call-overload]
    if level not in (0, 1, 2):
        raise UserError(
            f"Severity must be 0 (untouched), 1 (mild) or 2 (severe), got {severity!r}. For what is between or beyond "
            "them: strength, a number from 0 to 3."
        )
    return level


def check_level(severity: object, strength: object) -> float:
    """The one of the two that is not None, checked, as a float: severity 1 is strength 1.0.

    Raises UserError for none or two given, or a wrong one.
    """
    if (severity is None) == (strength is None):
        got = "neither" if severity is None else f"severity={severity!r} and strength={strength!r}"
        raise UserError(f"Give either severity (0, 1 or 2) or strength (a number from 0 to 3), got {got}.")
    return float(check_severity(severity)) if strength is None else check_strength(strength)


def check_seed(seed: object) -> int | str:
    """``seed`` if it is a whole number of any sign, or a text; NumPy's integers as Python's.

    Raises UserError for anything else: ``None``, ``1.5`` and ``True`` would hide that the draw is not the intended one.
    """
    if isinstance(seed, str):
        return str(seed)
    if not _is_integer(seed):
        raise UserError(
            f"A seed must be a whole number or a text, got {seed!r} ({type(seed).__name__}). The same seed gives the "
            "same draw; leave it out for seed 0."
        )
    return int(seed)  # type: ignore[call-overload]


def check_lengths(lengths: object) -> str:
    """``lengths`` if it is "pixels" or "share". Raises UserError for anything else."""
    if not isinstance(lengths, str) or lengths not in LENGTHS:
        raise UserError(
            f"Lengths must be 'pixels' (as the paper's numbers, whatever the image's size) or 'share' (the same share "
            f"of each image), got {lengths!r}."
        )
    return lengths


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


STRONGEST = 3.0


def check_strength(strength: object) -> float:
    """``strength`` as a float, if it is a number from 0 to 3.

    Raises UserError for anything else, ``True``, NaN and texts included.
    """
    if isinstance(strength, bool) or not isinstance(strength, int | float | np.integer | np.floating):
        raise UserError(f"Strength must be a number from 0 to 3, got {strength!r} ({type(strength).__name__}).")
    if not 0 <= strength <= STRONGEST:
        raise UserError(
            f"Strength must be from 0 (untouched) over 1 (severity 1) and 2 (severity 2) to 3, got {strength!r}."
        )
    return float(strength)


def interpolate_settings(
    first: Mapping[str, Any], second: Mapping[str, Any], rules: Mapping[str, Any], strength: float
) -> tuple[Mapping[str, Any] | None, Mapping[str, Any], float]:
    """Settings of the milder and the stronger image at ``strength`` above 0, and the stronger one's share in the mean.

    The share is 1 unless the section is mixed; the milder one is then of no account. None: the untouched image.
    ``first``, ``second``: the settings of level 1 and 2. ``rules``: the section's entry under ``strength`` in
    severity.yaml.
    """
    ratio, limits, step = rules.get("ratio", ()), rules.get("limit", {}), rules.get("step", ())
    below = math.ceil(strength) - 1
    part = strength - below

    def interpolate(key: str, low: float, high: float) -> float:
        if key in ratio:
            value = math.exp(math.log(low) * (1 - part) + math.log(high) * part)
        else:
            value = low + (high - low) * part
        # Nine digits: the last bits of a logarithm differ between machines, and a count is cut to a whole number.
        return float(f"{value:.9g}")

    def extrapolate(key: str, low: float, high: float) -> float:
        far = high * high / low if key in ratio else high + (high - low)
        limit = limits.get(key, far)
        # The limit never turns back what level 2 has already.
        return max(high, min(far, limit)) if high > low else min(high, max(far, limit))

    def combine(
        low: Mapping[str, Any], high: Mapping[str, Any], function: Callable[[str, float, float], float]
    ) -> dict[str, Any]:
        return {
            key: value if key in step else _map_numbers(functools.partial(function, key), low[key], value)
            for key, value in high.items()
        }

    at = [{**first, **rules["identity"]} if "identity" in rules else None, first, second]
    if strength > 2:
        at.append(combine(first, second, extrapolate))
    low, high = at[below], at[below + 1]
    assert high is not None
    if part == 1 or low is None or rules.get("mixed"):
        return low, high, part
    return low, combine(low, high, interpolate), 1.0


def _map_numbers(function: Callable[[float, float], float], low: Any, high: Any) -> Any:
    """``function`` of two numbers, or of each pair of two lists; what is equal, or no number, is ``high``."""
    if low == high or isinstance(high, str | bool):
        return high
    if isinstance(high, list):
        return [_map_numbers(function, *pair) for pair in zip(low, high, strict=True)]
    return function(low, high)
