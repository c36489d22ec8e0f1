"""Who is best at a benchmark's numbers, in a sentence for the first screen of a report on several models.

It goes by the test of ranks (:mod:`lmms_medtasks.statistics.rank_intervals`) on the questions that all of them have.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lmms_medtasks.report.findings import Bar, Finding, quoted, titles
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.short_texts import listed, listed_or_counted
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from lmms_medtasks.suites.contributions import contributions

OTHER_QUESTIONS = "Not of the same questions: no model is called the best."
MEANING = "best: better than every other beyond chance, by the test of ranks on the questions of all"

_NAMED = 3
"""Models of one number that are named."""
_FEW = 2
"""Numbers that are named where one model leads in all."""


@dataclass(frozen=True)
class Lead:
    """Who has the best number of several models, and whether it is better than every other beyond chance."""

    title: str
    models: tuple[str, ...]
    is_best: bool

    @property
    def who(self) -> str:
        """``m is best``; ``m has the best number``, which claims no more."""
        if self.is_best:
            return f"{self.models[0]} is best"
        verb = "has" if len(self.models) == 1 else "share"
        return f"{listed_or_counted(self.models, _NAMED, 'models')} {verb} the best number"


def leads(findings: Mapping[str, Finding], *, tested: bool = True) -> list[Lead]:
    """Of each number that several models have. ``findings``: of a benchmark, by model. ``tested``: of one data."""
    found = []
    for title in titles(list(findings.values())):
        bars = {model: bar for model, each in findings.items() for bar in each.bars if bar.title == title}
        measured = {model: bar for model, bar in bars.items() if isinstance(bar.cell.value, int | float)}
        if len(measured) > 1 and _tells(list(measured.values())):
            most = max(bar.worth for bar in measured.values())
            first = tuple(model for model, bar in measured.items() if bar.worth == most)
            is_best = tested and len(first) == 1 and _is_best(list(measured).index(first[0]), list(measured.values()))
            found.append(Lead(title, first, is_best))
    return found


def sentence(found: Sequence[Lead]) -> str:
    """``m is best at clean images (L0); n has the best number at false alarms.``."""
    said: dict[str, list[str]] = {}
    for lead in found:
        said.setdefault(lead.who, []).append(lead.title)
    return "; ".join(f"{who} {_where(what, len(said) == 1)}" for who, what in said.items()) + "."


def leader(found: Sequence[Lead]) -> str:
    """In how many of all numbers that several models have a model is best, a sentence; "" of no number."""
    if not found:
        return ""
    of = f"{len(found)} numbers that several of these models have"
    counts = Counter(lead.models[0] for lead in found if lead.is_best)
    said = [f"{model} in {count}" for model, count in counts.most_common()]
    return f"Better than every other beyond chance: {listed(said) or 'none in any'} of {of}."


def _where(what: Sequence[str], everywhere: bool) -> str:
    if everywhere and len(what) > _FEW:
        return f"in all {len(what)} numbers"
    return f"at {quoted(what)}"


def _tells(bars: Sequence[Bar]) -> bool:
    """Whether a number can say who is best: not if words were compared, nor if all are as low as can be."""
    return not any(bar.by_words for bar in bars) and any(
        bar.cell.value != (bar.bottom if bar.higher_is_better else bar.top) for bar in bars
    )


def _is_best(place: int, bars: Sequence[Bar]) -> bool:
    """Whether the one at this place is better than every other beyond chance; False where nothing can be tested."""
    samples = [bar.sample for bar in bars if bar.sample and bar.cell.low is not None]
    if len(samples) < len(bars) or any(estimate != samples[0][1] for _, estimate in samples):
        return False
    found = contributions([functools.partial(_same, rows) for rows, _ in samples], samples[0][1])
    if found is None:
        return False
    pairs = rank_intervals(found.sums if bars[0].higher_is_better else -found.sums, sizes=found.sizes)
    return pairs is not None and int(pairs.high[place]) == 1


def _same(rows: Samples) -> Samples:
    return rows
