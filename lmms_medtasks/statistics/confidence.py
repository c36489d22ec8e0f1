"""The confidence level of intervals and tests: one for both, that of the command that runs.

An interval holds the true number with this probability; alpha, the chance of an error of a test, is 1 less it.
:func:`use_level` sets it; elsewhere it is :data:`DEFAULT`. Texts that are declared before a command runs contain
:data:`LEVEL`, :data:`ALPHA` and :data:`ERROR`, which :func:`fill_in_level` replaces by the numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lmms_medtasks.errors import UserError

DEFAULT = 0.95
_LOWEST, _HIGHEST = 0.5, 0.9999
LEVEL, ALPHA, ERROR = "⟨level⟩", "⟨alpha⟩", "⟨error⟩"
"""Stand in a declared text for the level in percent (95 %), and for alpha as a number (0.05) and in percent (5 %)."""

_level: ContextVar[float] = ContextVar("level of confidence", default=DEFAULT)


@contextmanager
def use_level(level: float) -> Iterator[None]:
    """Use this level within. Raises UserError as :func:`parse_confidence_level` does."""
    token = _level.set(parse_confidence_level(level))
    try:
        yield
    finally:
        _level.reset(token)


def parse_confidence_level(level: object, name: str = "confidence") -> float:
    """``level``, which the user knows as ``name``.

    Raises UserError below 0.5, above 0.9999, where alpha gets lost in rounding, and for what is no number.
    """
    if isinstance(level, int | float) and not isinstance(level, bool) and _LOWEST <= level <= _HIGHEST:
        return level
    shown = f"{level:.16g}" if isinstance(level, float) else repr(level)
    meant = f" For {level:g} % say {level / 100:g}." if isinstance(level, int | float) and 1 < level < 100 else ""  # noqa: PLR2004 - percent
    raise UserError(f"{name} is {shown}: expected a number from {_LOWEST} to {_HIGHEST}, such as {DEFAULT}.{meant}")


def current_level() -> float:
    """The probability with which an interval holds the true number, from 0.5 to 0.9999."""
    return _level.get()


def current_alpha() -> float:
    """The chance of an error that a test may make: 1 less the level, without its rounding."""
    return round(1 - current_level(), 12)


def format_current_level() -> str:
    """The level for people: ``95 %``."""
    return f"{100 * current_level():.10g} %"


def fill_in_level(text: str) -> str:
    """A declared text with the numbers in it."""
    error = f"{100 * current_alpha():.10g} %"
    return text.replace(LEVEL, format_current_level()).replace(ALPHA, f"{current_alpha():g}").replace(ERROR, error)
