"""What a table of differences could have shown: the smallest true difference, and the note that says it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.power import Criterion, detectable_with


def detectable(differences: Sequence[Interval | None], largest: float = 1.0) -> list[float | None]:
    """Of each difference of a table the smallest true one that would have been found with 80 % probability.

    Two-sided at 0.05 over the number of differences, from their standard errors over clusters. None where that is not
    known, or nothing varies; infinite where even ``largest``, the largest that there can be, would not.
    """
    known = [each for each in differences if each is not None and each.standard_error]
    criterion = Criterion(comparisons=max(1, len(known)))
    found = [
        None if each is None else detectable_with(each.standard_error, each.clusters, criterion) for each in differences
    ]
    return [math.inf if each is not None and each > largest else each for each in found]


def note(
    found: Sequence[float | None], *, factor: float = 100.0, unit: str = "points", digits: int = 1, more: str = ""
) -> str:
    """The sentence below the table, from what :func:`detectable` gives. ``more``: in brackets."""
    asked = [each for each in found if each is not None]
    known = [factor * each for each in asked if math.isfinite(each)]
    if not asked:
        return ""
    corrected = "" if len(asked) == 1 else f", corrected for the {len(asked)} differences of the table"
    if not known:
        return f"These data are too few to show any difference with 80 % probability (two-sided at 0.05{corrected})."
    ends = list(dict.fromkeys(f"{end:.{digits}f}" for end in (min(known), max(known))))
    never = len(asked) - len(known)
    none = f"; for {never} of them even the largest that there can be would not" if never else ""
    return (
        f"What these data can show: a true difference of {' to '.join(ends)} {unit} would have been found with 80 % "
        f"probability (two-sided at 0.05{corrected}{more}{none}). A smaller one may be there unseen."
    )
