"""What the first page's and the suites' sentences say alike: a mean, and who is told apart from whom."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.short_texts import interval_text, listed_or_counted
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.suite import Measure

NAMED = 3
"""Models that are named at most; of more their number is said."""


def mean_text(mean: Interval, shown: Measure) -> str:
    """A mean with its interval: ``69.1 % [66.4, 71.9]``."""
    low, high = (None if end is None else shown.factor * end for end in (mean.low, mean.high))
    value = f"{shown.factor * (mean.estimate or 0.0):.{shown.digits}f} {shown.unit}".rstrip()
    return value + interval_text(low, high, shown.digits)


def guessing_text(words: str, chance: float, shown: Measure) -> str:
    """``no better than guessing (25.0 %)``: ``words`` and the level, ``chance`` in the measure's own unit."""
    return f"{words} ({shown.factor * chance:.{shown.digits}f} {shown.unit}".rstrip() + ")"


def not_told_apart(names: Sequence[str], whom: str = "it") -> str:
    """Which models are not told apart from the best."""
    return f"not told apart from {whom}: {listed_or_counted(names, NAMED, 'others')}"


def better(names: Sequence[str]) -> str:
    """That the best is better beyond chance than these, the only others."""
    others = names[0] if len(names) == 1 else "both others" if len(names) == 2 else f"all {len(names)} others"
    return f"better beyond chance than {others}"
