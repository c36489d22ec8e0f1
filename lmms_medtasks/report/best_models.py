"""Who is best at a benchmark's numbers, in a sentence for the first screen of a report on several models.

It goes by the numbers and intervals that stand there. The tests between the models are in the benchmark's comparison.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from lmms_medtasks.report.findings import Bar, Finding, titles
from lmms_medtasks.short_texts import listed, listed_or_counted

OTHER_QUESTIONS = "Not of the same questions: no model is called the best."
MEANING = "best: its interval overlaps no other's; tests between models: in the comparison"

_NAMED = 3
"""Models of one number that are named."""
_FEW = 2
"""Numbers that are named where one model leads in all."""


def sentence(findings: Mapping[str, Finding]) -> str:
    """``m is best at clean images (L0); n has the best number at false alarms.``; "" where one model has numbers.

    ``findings``: of a benchmark, by model.
    """
    found: dict[str, list[str]] = {}
    for title in titles(list(findings.values())):
        bars = {model: bar for model, each in findings.items() for bar in each.bars if bar.title == title}
        measured = {model: bar for model, bar in bars.items() if isinstance(bar.cell.value, int | float)}
        if len(measured) > 1 and _tells(list(measured.values())):
            found.setdefault(_leader(measured), []).append(title)
    said = "; ".join(f"{who} {_where(what, len(found) == 1)}" for who, what in found.items())
    return f"{said}." if said else ""


def leads(findings: Sequence[Sequence[Finding]]) -> tuple[dict[int, int], int]:
    """At how many numbers each model alone has the best, by its place, and how many numbers several models have."""
    found: dict[tuple[str, str], dict[int, Bar]] = {}
    for place, own in enumerate(findings):
        for suite, bar in ((each.suite, bar) for each in own for bar in each.bars):
            if isinstance(bar.cell.value, int | float):
                found.setdefault((suite, bar.title), {})[place] = bar
    compared = [bars for bars in found.values() if len(bars) > 1 and _tells(list(bars.values()))]
    best = [[place for place, bar in bars.items() if bar.worth == _most(bars.values())] for bars in compared]
    return dict(Counter(places[0] for places in best if len(places) == 1)), len(compared)


def _most(bars: Iterable[Bar]) -> float:
    return max(bar.worth for bar in bars)


def _where(what: Sequence[str], everywhere: bool) -> str:
    if everywhere and len(what) > _FEW:
        return f"in all {len(what)} numbers"
    quoted = [f'"{each}"' if "," in each else each for each in what]
    return f"at {listed(quoted)}"


def _tells(bars: Sequence[Bar]) -> bool:
    """Whether a number can say who is best: not if words were compared, nor if all are as low as can be."""
    return not any(bar.by_words for bar in bars) and any(
        bar.cell.value != (bar.bottom if bar.higher_is_better else bar.top) for bar in bars
    )


def _leader(bars: Mapping[str, Bar]) -> str:
    """``m is best`` where its interval overlaps no other's, else ``m has the best number``, which claims no more."""
    most = _most(bars.values())
    first = [model for model, bar in bars.items() if bar.worth == most]
    if len(first) == 1 and all(_are_apart(bars[first[0]], bar) for model, bar in bars.items() if model not in first):
        return f"{first[0]} is best"
    return f"{listed_or_counted(first, _NAMED, 'models')} {'has' if len(first) == 1 else 'share'} the best number"


def _are_apart(one: Bar, other: Bar) -> bool:
    """Whether both have an interval, and these do not overlap."""
    low, high, least, most = one.cell.low, one.cell.high, other.cell.low, other.cell.high
    if low is None or high is None or least is None or most is None:
        return False
    return high < least or most < low
