"""What a user asks of a report."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from lmms_medtasks.build_cache import NO_CACHE, BuildCache
from lmms_medtasks.errors import UserError

RESAMPLES = 1000
_NUMBER = re.compile(r"([0-9.]+(?:[eE][+-]?[0-9]+)?) ?([KkMmBbTt]?)")
_FACTORS = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}


@dataclass(frozen=True)
class ReportOptions:
    """What the user asked of a report.

    Attributes:
        resamples: draws at most, where models are compared by drawing; 0 for no intervals and no tests.
        drawn: whether figures are wanted (a terminal has none).
        pairs: two models each that are to be compared, by the names that the report gives them: a base and the one
            that was made from it. parameters: number of parameters by model.
        prefix: of every part's key; "" unless the document has several suites.
        cache: where tables of logs may be kept.
    """

    resamples: int = RESAMPLES
    drawn: bool = True
    pairs: tuple[tuple[str, str], ...] = ()
    parameters: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    prefix: str = ""
    cache: BuildCache = NO_CACHE


def parse_model_pair(text: str) -> tuple[str, str]:
    """``BASE=TUNED`` as its two names. Raises UserError when it is not of this form."""
    base, equals, tuned = text.partition("=")
    if not (equals and base.strip() and tuned.strip()):
        raise UserError(f"--pair {text!r}: expected BASE=TUNED, the names of two models as the report shows them.")
    return base.strip(), tuned.strip()


def parse_model_sizes(texts: Sequence[str]) -> dict[str, float]:
    """Model to number of parameters, from ``NAME=NUMBER``, which may end with K, M, B or T.

    Raises UserError when one can't be read or a model is there with two numbers.
    """
    found: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        if not name.strip():
            raise UserError(f"--parameters {text!r}: expected NAME=NUMBER.")
        size = _parse_size(number.strip(), f"--parameters {text}")
        if found.setdefault(name.strip(), size) != size:
            raise UserError(
                f"--parameters {text}: {name!r} has {size:g} parameters here and {found[name.strip()]:g} before."
            )
    return found


def _parse_size(text: str, where: str) -> float:
    match = _NUMBER.fullmatch(text)
    try:
        size = float(match[1]) * _FACTORS[match[2].lower()] if match else math.nan
    except ValueError:
        size = math.nan
    if not (math.isfinite(size) and size > 0):
        raise UserError(f"{where}: {text!r} is not a number of parameters. Expected one above 0, such as 7e9 or 7B.")
    return size
