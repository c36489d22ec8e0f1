"""What a table of differences could have shown: the smallest true difference, and the note that says it."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.power import Criterion, detectable_with


def detectable(differences: Sequence[Interval | None]) -> list[float | None]:
    """Of each difference of a table the smallest true one that would have been found with 80 % probability.

    Two-sided at 0.05 over the number of differences, from their standard errors over clusters. None where that is not
    known, or nothing varies.
    """
    known = [each for each in differences if each is not None and each.standard_error]
    criterion = Criterion(comparisons=max(1, len(known)))
    return [
        None if each is None else detectable_with(each.standard_error, each.clusters, criterion) for each in differences
    ]


def note(
    found: Sequence[float | None], *, factor: float = 100.0, unit: str = "points", digits: int = 1, more: str = ""
) -> str:
    """The sentence below the table, from what :func:`detectable` gives; "" without any. ``more``: in brackets."""
    known = [factor * each for each in found if each is not None]
    if not known:
        return ""
    ends = list(dict.fromkeys(f"{end:.{digits}f}" for end in (min(known), max(known))))
    corrected = "" if len(known) == 1 else f", corrected for the {len(known)} differences of the table"
    return (
        f"What these data can show: a true difference of {' to '.join(ends)} {unit} would have been found with 80 % "
        f"probability (two-sided at 0.05{corrected}{more}). A smaller one may be there unseen."
    )
