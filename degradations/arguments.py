"""Severity, strength and seed as they were given, checked."""

from __future__ import annotations

import numpy as np

from lmms_medtasks.degradations.strength import check_strength
from lmms_medtasks.errors import UserError


def check_severity(severity: object) -> int:
    """``severity`` if it is the integer 0, 1 or 2.

    Raises:
        UserError: Anything else, ``True`` and ``1.0`` included.
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

    Raises:
        UserError: Neither or both are given, or one of them is wrong.
    """
    if (severity is None) == (strength is None):
        got = "neither" if severity is None else f"severity={severity!r} and strength={strength!r}"
        raise UserError(f"Give either severity (0, 1 or 2) or strength (a number from 0 to 3), got {got}.")
    return float(check_severity(severity)) if strength is None else check_strength(strength)


def check_seed(seed: object) -> int | str:
    """``seed`` if it is a whole number of any sign, or a text; NumPy's integers as Python's.

    Raises:
        UserError: Anything else: ``None``, ``1.5`` and ``True`` would hide that the draw is another one than meant.
    """
    if isinstance(seed, str):
        return str(seed)
    if not _is_integer(seed):
        raise UserError(
            f"A seed must be a whole number or a text, got {seed!r} ({type(seed).__name__}). The same seed gives the "
            "same draw; leave it out for seed 0."
        )
    return int(seed)  # type: ignore[call-overload]


def _is_integer(value: object) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)
