"""Who is best at a benchmark's numbers, in a sentence for the first screen of a report on several models.

It goes by the numbers and intervals that stand there. The tests between the models are in the benchmark's comparison.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lmms_medtasks.report.findings import Bar, Finding, titles
from lmms_medtasks.short_texts import listed, listed_or_counted

OTHER_QUESTIONS = "Not of the same questions: no model is called the best."

_NAMED, _FEW = 3, 2


def sentence(findings: Mapping[str, Finding]) -> str:
    """``m is best at clean images (L0); n has the best number at false alarms.``; "" where one model has numbers.

    ``findings``: of a benchmark, by model.
    """
    found: dict[str, list[str]] = {}
    for title in titles(list(findings.values())):
        bars = {model: bar for model, each in findings.items() for bar in each.bars if bar.title == title}
        measured = {model: bar for model, bar in bars.items() if isinstance(bar.cell.value, int | float)}
        if len(measured) > 1:
            found.setdefault(_leader(measured), []).append(title)
    said = "; ".join(f"{who} {_where(what, len(found) == 1)}" for who, what in found.items())
    return f"{said}." if said else ""


def _where(what: Sequence[str], everywhere: bool) -> str:
    if everywhere and len(what) > _FEW:
        return f"in all {len(what)} numbers"
    quoted = [f'"{each}"' if "," in each else each for each in what]
    return f"at {listed(quoted)}"


def _leader(bars: Mapping[str, Bar]) -> str:
    """``m is best`` where its interval overlaps no other's, else ``m has the best number``, which claims no more."""
    most = max(bar.worth for bar in bars.values())
    first = [model for model, bar in bars.items() if bar.worth == most]
    others = [bar for model, bar in bars.items() if model not in first]
    known = all(_has_interval(bar) for bar in bars.values())
    if len(first) == 1 and known and not any(_overlap(bar, bars[first[0]]) for bar in others):
        return f"{first[0]} is best"
    return f"{listed_or_counted(first, _NAMED, 'models')} {'has' if len(first) == 1 else 'have'} the best number"


def _has_interval(bar: Bar) -> bool:
    return bar.cell.low is not None and bar.cell.high is not None


def _overlap(one: Bar, other: Bar) -> bool:
    (low, high), (least, most) = ((each.cell.low or 0.0, each.cell.high or 0.0) for each in (one, other))
    return low <= most and least <= high
