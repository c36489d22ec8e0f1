"""What degraded pictures cost a run, for the first screen of a report: of each task the degradation that costs most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import Bar, Finding
from lmms_medtasks.samples.runs import printable
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.p_values import p_text

if TYPE_CHECKING:
    from lmms_medtasks.report.degradation_loss import Loss

MOST = 3
"""Tasks on the first screen; the report's tables have them all."""


def finding_of(found: Sequence[Loss], title: str) -> Finding | None:
    """The finding of a run's losses; None where no task was degraded but by its control (level 0).

    Of each task the first metric with an interval counts, else its first; of that metric the degradation and level that
    cost most. That is a choice among all that were run: its p value is the one corrected for all of them.
    """
    worst = [each for base in dict.fromkeys(loss.base for loss in found) if (each := _worst(found, base))]
    if not worst:
        return None
    said = "; ".join(map(_said, worst[:MOST]))
    left = len(worst) - MOST
    more = f" The tables have {left} more task{'s' if left > 1 else ''}." if left > 0 else ""
    bars = tuple(bar for each in worst[:MOST] for bar in _bars(each))
    lost = [each for each in worst[:MOST] if each.cost > 0]
    if any(map(_told, lost)):
        starts = ("Most is lost", "lose most")
    elif lost:
        starts = ("No loss beyond chance; the largest is", "lose nothing beyond chance; the largest loss is")
    else:
        starts = ("Nothing is lost; the least is gained", "lose nothing; the least is gained")
    return Finding(title, bars, "degraded images", correct=False, aside=(f"{starts[0]} {said}.{more}",))


def _worst(found: Sequence[Loss], base: str) -> Loss | None:
    own = [each for each in found if each.base == base and not each.is_control]
    metric = next((each.metric for each in own if each.change is not None), own[0].metric if own else "")
    return max((each for each in own if each.metric == metric), key=lambda each: each.cost, default=None)


def _told(each: Loss) -> bool:
    """False where the test can't tell the degraded number from the clean one; True also where nothing was tested."""
    return each.adjusted is None or each.adjusted <= confidence.alpha()


def _degradation(each: Loss) -> str:
    return f"{each.degradation}, level {each.level}"


def _said(each: Loss) -> str:
    factor, digits = 100 if each.is_share else 1, _digits(each)
    change = f"{factor * (each.degraded - each.clean):+.{digits}f}{' points' if each.is_share else ''}"
    if each.change is not None and each.change.low is not None and each.change.high is not None:
        change += f" [{factor * each.change.low:+.{digits}f}, {factor * each.change.high:+.{digits}f}]"
    tested = "" if each.adjusted is None else f", p {p_text(each.adjusted)} after correction"
    return (
        f"under {_degradation(each)}: {each.metric} of {printable(each.base)} {_number(each, each.clean)} clean, "
        f"{_number(each, each.degraded)} degraded ({change}{tested})"
    )


def _digits(each: Loss) -> int:
    if each.is_share:
        return 1
    return 3 if max(abs(each.clean), abs(each.degraded)) < 10 else 1  # noqa: PLR2004 - as the tables have it


def _number(each: Loss, value: float) -> str:
    return f"{100 * value:.1f} %" if each.is_share else f"{value:.{_digits(each)}f}"


def _bars(each: Loss) -> list[Bar]:
    """The clean and the degraded number on one scale; none where the metric's scale can't be told from its values.

    A share is in percent; of a metric whose scale is not stated a bar's number is that of the sentence.
    """
    most = max(each.clean, each.degraded)
    top = next((end for end in (1.0, 100.0) if most <= end), None)
    if top is None or min(each.clean, each.degraded) < 0:
        return []
    base = printable(each.base)
    named: tuple[tuple[str, float], ...] = ((f"{base}, clean", each.clean), (f"{base}, degraded", each.degraded))
    if each.is_share:
        named = tuple((title, 100 * value) for title, value in named)
        return [Bar(title, Cell(value), higher_is_better=each.higher_is_better) for title, value in named]
    return [Bar(title, Cell(value), "", top, higher_is_better=each.higher_is_better) for title, value in named]
