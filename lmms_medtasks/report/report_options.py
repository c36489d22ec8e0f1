"""What a user asks of a report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from lmms_medtasks.build_cache import NO_CACHE, BuildCache

RESAMPLES = 1000


@dataclass(frozen=True)
class Options:
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
