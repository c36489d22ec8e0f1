"""Who is best at a benchmark's numbers, in a sentence for the first screen of a report on several models.

It goes by the test of ranks (:mod:`lmms_medtasks.statistics.rank_intervals`) on the questions that all of them have.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping, Sequence

from lmms_medtasks.report.findings import Finding, Number, quoted, titles
from lmms_medtasks.short_texts import listed
from lmms_medtasks.statistics.rank_intervals import rank_intervals
from lmms_medtasks.suites.contributions import contributions

OTHER_QUESTIONS = "Not of the same questions: no model is called the best."
MEANING = "best: better than every other beyond chance, by the test of ranks on the questions of all"


def best(findings: Mapping[str, Finding]) -> dict[str, str]:
    """Of each number that several models have, by its title, the model that is best; "" where none is.

    ``findings``: of one benchmark, by model. Where words were compared nobody is best.
    """
    found = {}
    for title in titles(list(findings.values())):
        own = {model: bar for model, each in findings.items() for bar in each.bars if bar.title == title}
        if len(own) > 1 and not any(bar.by_words for bar in own.values()):
            place = _best(list(own.values()))
            found[title] = "" if place is None else list(own)[place]
    return found


def sentence(found: Mapping[str, str]) -> str:
    """``m is best at clean images (L0); n is best at false alarms.``."""
    said: dict[str, list[str]] = {}
    for title, model in found.items():
        said.setdefault(model, []).append(title)
    return "; ".join(f"{who or 'none'} is best at {quoted(what)}" for who, what in said.items()) + "."


def leader(found: Sequence[str]) -> str:
    """In how many numbers that several models have each is best, a sentence; ``found``: who is, "" of none."""
    if not found:
        return ""
    whose = "that several of these models have"
    if len(found) == 1:
        return f"Better than every other beyond chance in the one number {whose}: {found[0] or 'none'}."
    said = [f"{model} in {count}" for model, count in Counter(filter(None, found)).most_common()]
    return f"Better than every other beyond chance: {listed(said) or 'none in any'} of {len(found)} numbers {whose}."


def _best(bars: Sequence[Number]) -> int | None:
    """The place of the one that is better than every other beyond chance; None where that can't be tested."""
    rows, estimate = [bar.rows for bar in bars if bar.rows is not None and bar.cell.low is not None], bars[0].estimate
    if estimate is None or len(rows) < len(bars) or any(bar.estimate != estimate for bar in bars):
        return None
    found = contributions([functools.partial(each.where, {}) for each in rows], estimate)
    pairs = found and rank_intervals(found.sums if bars[0].higher_is_better else -found.sums, sizes=found.sizes)
    return next((place for place, rank in enumerate(pairs.high) if rank == 1), None) if pairs else None
