"""What a benchmark found of a model, for the first screen of a report: a sentence, numbers as bars, what was lost.

A benchmark makes it in ``report.py`` of its folder (:attr:`lmms_medtasks.report.suite_report.Report.finding`); tasks
without a declaration get that of :mod:`lmms_medtasks.report.default_finding`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lmms_medtasks.report.cells import percent, scaled
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import LEXICAL
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.short_texts import interval_text
from lmms_medtasks.statistics.intervals import FEW, FEW_IN_GROUP, Interval
from lmms_medtasks.suites.estimates import Estimate

Span = tuple[float, float]

NO_BETTER, BELOW = "no better than guessing", "below guessing"
BY_WORDS = "scored by comparing words, not by a language model"
"""What a sentence says of numbers that :attr:`Bar.by_words` is true of."""

_FINE = 20
"""End of a scale up to which numbers have two decimals."""


@dataclass(frozen=True)
class Bar:
    """A headline number.

    Attributes:
        title: what it is of, a few words. cell: the number and its interval, in ``unit``.
        top: the best or worst that it can be, where the bar's scale ends. bottom: where it starts.
        chance: what guessing gets, None where that means nothing. published: least and most of the paper's models.
        higher_is_better: of two numbers.
    """

    title: str
    cell: Cell
    unit: str = "%"
    top: float = 100.0
    chance: float | None = None
    published: Span | None = None
    higher_is_better: bool = True
    bottom: float = 0.0

    @property
    def digits(self) -> int:
        """Decimals of its number: on a scale of a few points a tenth is much, on one of 0 to 1 a hundredth."""
        return 1 if self.top > _FINE else 2 if self.top > 1 else 3

    @property
    def scale(self) -> str:
        """Its scale, "1 to 5"; "" where that is 0 to 100."""
        return "" if (self.bottom, self.top) == (0, 100) else f"{self.bottom:g} to {self.top:g}"

    @property
    def by_words(self) -> bool:
        """Whether a judge that compares words gave it: it shows that a run works, and is no finding."""
        return LEXICAL in self.cell.mark

    @property
    def worth(self) -> float:
        """What it is ordered by, more is better; least without a number."""
        value = self.cell.value
        if not isinstance(value, int | float):
            return -math.inf
        return value if self.higher_is_better else -value

    def place(self, value: float) -> float:
        """Where a value stands on the scale, from 0 to 1."""
        return min(max((value - self.bottom) / (self.top - self.bottom), 0.0), 1.0)

    @property
    def beats_chance(self) -> bool:
        """Whether the interval, or the number where it has none, is on the better side of guessing."""
        value = self.cell.value
        if self.chance is None or not isinstance(value, int | float):
            return True
        return beats(value, self.cell.low, self.cell.high, self.chance, self.higher_is_better)

    @property
    def guessing(self) -> str:
        """``no better than guessing``, ``below guessing`` where its whole interval is; "" where it is better."""
        value = self.cell.value
        if self.chance is None or not isinstance(value, int | float):
            return ""
        return against_guessing(value, self.cell.low, self.cell.high, self.chance, self.higher_is_better)


def against_guessing(
    value: float, low: float | None, high: float | None, chance: float, higher_is_better: bool = True
) -> str:
    """``no better than guessing``, ``below guessing`` where the whole interval is; "" where it is better."""
    if beats(value, low, high, chance, higher_is_better):
        return ""
    return BELOW if higher_is_better and high is not None and high < chance else NO_BETTER


def beats(value: float, low: float | None, high: float | None, chance: float, higher_is_better: bool = True) -> bool:
    """Whether an interval, or the number where it has none, is on the better side of guessing; all in one unit."""
    if higher_is_better:
        return (value if low is None else low) > chance
    return (value if high is None else high) < chance


@dataclass(frozen=True)
class Sketch:
    """A finding's small chart: an <svg>, and a line below it: what is drawn, its unit, and whose the grey marks are."""

    svg: str
    said: str


@dataclass(frozen=True)
class Finding:
    """What a benchmark found of a model.

    Attributes:
        suite: its title.
        bars: the numbers, at least one. sentence: the finding with its numbers and intervals, for a page.
        clause: the finding in a few words, without a subject ("right on 92 % of clean pictures").
        about: what is asked, as it stands behind "no better than guessing at" ("finding what is obviously wrong").
        loss: what is lost under a condition, a sentence; "" where nothing was compared.
        change: of a share under that condition, less than 0 where it is lost; None where nothing was compared.
        under: that condition, "under severe degradation (L2)".
        unread: that too few replies could be read to say anything about the model, and why; "" where enough were.
        sketch: draws it for the first screen of a report on one model; its bars stand there where it gives none.
        beats: whether it is better than guessing; None: as the first of its bars that has a chance level.
    """

    suite: str
    bars: tuple[Bar, ...]
    sentence: str
    clause: str
    about: str
    loss: str = ""
    beats: bool | None = None
    change: Interval | None = None
    under: str = ""
    unread: str = ""
    sketch: Callable[[], Sketch | None] | None = field(default=None, compare=False)

    @property
    def beats_chance(self) -> bool:
        """``beats``, or whether the first of its bars that has a chance level is better than guessing."""
        if self.beats is not None:
            return self.beats
        return next((each.beats_chance for each in self.bars if each.chance is not None), True)

    @property
    def guessing(self) -> str:
        """How it stands to guessing where it does not beat it, ``below guessing``, as its bars say; else ""."""
        if self.beats_chance:
            return ""
        known = [each.guessing for each in self.bars if each.chance is not None]
        decisive = known if self.beats is not None else known[:1]
        return BELOW if decisive and set(decisive) == {BELOW} else NO_BETTER


def titles(findings: Sequence[Finding]) -> list[str]:
    """The titles of the findings' bars, each once, in the order of those that have most."""
    longest_first = sorted(findings, key=lambda each: -len(each.bars))
    return list(dict.fromkeys(bar.title for each in longest_first for bar in each.bars))


def share_bar(
    source: Source,
    title: str,
    estimate: Estimate,
    where: Where | None = None,
    *,
    chance: float | None = None,
    published: Span | None = None,
    higher_is_better: bool = True,
) -> Bar | None:
    """The bar of a share, in percent; ``chance`` is a share. None where there is no number."""
    cell = percent(source.interval(estimate, where))
    scale = None if chance is None else 100 * chance
    made = Bar(title, cell, chance=scale, published=published, higher_is_better=higher_is_better)
    return None if cell.value is None else made


def score_bar(
    source: Source,
    title: str,
    estimate: Estimate,
    unit: str,
    top: float,
    published: Span | None = None,
    *,
    where: Where | None = None,
) -> Bar | None:
    """The bar of a score on a scale that ends at ``top``. None where there is no number."""
    cell = scaled(source.interval(estimate, where), 1.0)
    return None if cell.value is None else Bar(title, cell, unit, top, published=published)


def chance_of_options(rows: Samples) -> float | None:
    """What a uniform guess among each question's options gets, as a share; None where a question has none, or a log
    says another thing of them."""
    counts = list(rows.column("option_count")) if len(rows) else []
    known = bool(counts) and all(isinstance(count, int | float) and count >= 1 for count in counts)
    return float(np.mean([1 / count for count in counts])) if known else None


def there(*bars: Bar | None) -> tuple[Bar, ...]:
    """Those of the bars that have a number."""
    return tuple(each for each in bars if each is not None)


# --- Words ------------------------------------------------------------------------------------------------------------


def shown(bar: Bar) -> str:
    """A bar's number with its interval: ``69.1 % [66.4, 71.9]``, ``96.0 points``."""
    return f"{value_text(bar, bar.digits)}{interval_text(bar.cell.low, bar.cell.high, bar.digits)}"


def value_text(bar: Bar, digits: int) -> str:
    """A bar's number without its interval: ``69.1 %``."""
    return f"{bar.cell.value:.{digits}f} {bar.unit}".rstrip()


def points(change: Interval, digits: int = 1) -> str:
    """The size of a change of shares: ``23.2 points [20.4, 26.0]``; the interval's ends as losses of the first."""
    cell = percent(change)
    if not isinstance(cell.value, int | float):
        return ""
    low, high = (None if end is None else -end for end in (cell.high, cell.low))
    return f"{-cell.value:.{digits}f} points{interval_text(low, high, digits)}"


def lost(change: Interval, under: str) -> str:
    """``loses 23.2 points [20.4, 26.0] UNDER``, or that there is no loss beyond chance."""
    if change.low is None or change.high is None:
        if change.estimate is not None and change.estimate > 0:
            change, verb = replace(change, estimate=-change.estimate), "gains"
        else:
            verb = "loses"
        return f"{verb} {points(change)} {under}, {without_interval(change)}"
    if not is_told_apart(change):
        return f"shows no loss beyond chance {under} ({points(change)})"
    if change.estimate is not None and change.estimate > 0:
        low, high = (None if end is None else -end for end in (change.high, change.low))
        return f"gains {points(replace(change, estimate=-change.estimate, low=low, high=high))} {under}"
    return f"loses {points(change)} {under}"


def without_interval(change: Interval) -> str:
    """Why a change has no interval, or only that it has none: it may be that none was asked for (``--resamples 0``)."""
    return "over too few images for an interval" if change.reason in (FEW, FEW_IN_GROUP) else "without an interval"


def is_told_apart(change: Interval) -> bool:
    """Whether the interval of a change leaves 0 out."""
    return change.low is not None and change.high is not None and not change.low <= 0 <= change.high


def whole(bar: Bar) -> str:
    """A bar's number for a clause, a share without decimals: ``69 %``, ``3.50 of 5``."""
    return value_text(bar, 0 if bar.digits == 1 else bar.digits)
