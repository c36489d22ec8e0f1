"""What a table of differences could have shown: the smallest true difference, and the note that says it."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.statistics.power import Criterion, detectable_with


def detectable(differences: Sequence[Interval | None]) -> list[float | None]:
    """Of each difference of a table the smallest true one that would have been found with 80 % probability.

    Two-sided at alpha over the number of differences, from their standard errors over clusters. None where that is not
    known, or nothing varies.
    """
    known = [each for each in differences if each is not None and each.standard_error]
    criterion = Criterion(comparisons=max(1, len(known)))
    return [
        None if each is None else detectable_with(each.standard_error, each.clusters, criterion) for each in differences
    ]


def note(
    found: Sequence[float | None],
    *,
    factor: float = 100.0,
    unit: str = "points",
    digits: int = 1,
    more: str = "",
    largest: float = 1.0,
) -> str:
    """The sentence below the table, from what :func:`detectable` gives; "" without any.

    ``more``: in brackets. ``largest``: the largest difference that the scale allows, before ``factor``.
    """
    known = [each for each in found if each is not None]
    if not known:
        return ""
    shown = [factor * each for each in known if each <= largest]
    corrected = "" if len(known) == 1 else f", corrected for the {len(known)} differences of the table"
    test = f"by a two-sided test over images (items, cases) at {confidence.alpha():g}"
    criterion = f"with 80 % probability {test}{corrected}{f' ({more})' if more else ''}"
    beyond = len(known) - len(shown)
    none = f"no true difference that the scale allows would have been found {criterion}."
    if not shown:
        return f"What these data can show: {none}"
    ends = list(dict.fromkeys(f"{end:.{digits}f}" for end in (min(shown), max(shown))))
    said = f"a true difference of {' to '.join(ends)} {unit} would have been found {criterion}."
    few = f" For {beyond} of the {len(known)} none that the scale allows would have been found." if beyond else ""
    return f"What these data can show: {said} A smaller one may be there unseen.{few}"
