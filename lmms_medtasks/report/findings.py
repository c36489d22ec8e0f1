"""The finding of a benchmark about a model: its headline numbers, losses, and the sentences made of them.

A benchmark declares its numbers in its headline (:mod:`lmms_medtasks.report.headlines`); a leaderboard makes the same
ones of its entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from lmms_medtasks.report.cells import NONE, negate_estimate, percent_cell, scaled_cell
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import LEXICAL, JudgingSummary, judging_marks
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.short_texts import interval_text, join_with_and
from lmms_medtasks.statistics.intervals import FEW, FEW_IN_GROUP, IntervalEstimate
from lmms_medtasks.suites.estimates import Estimate

Span = tuple[float, float]

NO_BETTER, BELOW, TOO_FEW = "no better than guessing", "below guessing", "too few images for an interval"
BY_WORDS = "scored by comparing words, not by a language model"
"""What a sentence says of numbers that :attr:`Number.by_words` is true of."""
NOTHING_SAID = "nothing is said about the model"
_FEW_REASONS = (FEW, FEW_IN_GROUP)
_WEAK = 3
"""Benchmarks that are named of those no better than guessing."""

_FINE = 20
"""End of a scale up to which numbers have two decimals."""


@dataclass(frozen=True)
class Number:
    """A headline number, as a benchmark declares it, and with its ``cell`` as it was measured.

    Attributes:
        title: what it is of, above or before the number ("clean images (L0)").
        words: its title behind the number in a sentence ("on clean images").
        estimate, where: what it is, over which questions.
        unit: "%" of a share, else a word. factor: from the estimate's own unit to this.
        bottom, top: the ends of its scale, in ``unit``.
        chance: what guessing gets; None where that means nothing. In the estimate's own unit until it is measured.
        published: least and most of the paper's models. higher_is_better: of two numbers.
        main: whether the shortest sentences are about it, and it decides whether the model is better than guessing.
        cell: the number and its interval, in ``unit``. judge: "scored by …", of answers that were judged.
        rows: the questions that it is over; of models with equal ones the numbers are tested.
        decimals: of the number, where its scale does not decide.
    """

    title: str
    words: str = ""
    estimate: Estimate | None = None
    where: Where | None = None
    unit: str = "%"
    factor: float = 100.0
    bottom: float = 0.0
    top: float = 100.0
    chance: float | None = None
    published: Span | None = None
    higher_is_better: bool = True
    main: bool = True
    cell: Cell = NONE
    judge: str = ""
    rows: QuestionTable | None = field(default=None, compare=False, repr=False)
    decimals: int | None = None

    def measured(self, source: ModelResults) -> Number | None:
        """The number of a source; None where it has none."""
        if self.estimate is None:
            return None
        rows = source.rows.where(self.where or {})
        cell = scaled_cell(source.interval(self.estimate, self.where), self.factor)
        if cell.value is None:
            return None
        judging = JudgingSummary.of(rows)
        said = BY_WORDS if judging and judging.by_words else f"scored by {judging.short}" if judging else ""
        return replace(
            self,
            cell=replace(cell, mark=judging_marks(judging) + cell.mark),
            chance=None if self.chance is None else self.factor * self.chance,
            judge=said if judging and judging.names else "",
            rows=rows,
        )

    @property
    def value(self) -> float:
        """The number itself, NaN where it was not measured."""
        return float(self.cell.value) if isinstance(self.cell.value, int | float) else float("nan")

    @property
    def phrase(self) -> str:
        """Its ``words``; without any its title in brackets."""
        return self.words or f"({self.title})"

    @property
    def digits(self) -> int:
        """Its decimals: on a scale of a few points a tenth is much, on one of 0 to 1 a hundredth."""
        by_scale = 1 if self.top > _FINE else 2 if self.top > 1 else 3
        return by_scale if self.decimals is None else self.decimals

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
        return self.value if self.higher_is_better else -self.value

    def place(self, value: float) -> float:
        """Where a value stands on the scale, from 0 to 1."""
        return min(max((value - self.bottom) / (self.top - self.bottom), 0.0), 1.0)

    @property
    def guessing(self) -> str:
        """``no better than guessing``, ``below guessing`` where its whole interval is; "" where it is better.

        Without an interval the number counts: one that is not better over too few images for an interval is said to be
        so, see :data:`TOO_FEW`.
        """
        if self.chance is None or np.isnan(self.value):
            return ""
        low, high = (self.value if end is None else end for end in (self.cell.low, self.cell.high))
        if low > self.chance if self.higher_is_better else high < self.chance:
            return ""
        if self.cell.reason in _FEW_REASONS:
            return TOO_FEW
        below = self.higher_is_better and self.cell.high is not None and high < self.chance
        return BELOW if below else NO_BETTER

    @property
    def is_weak(self) -> bool:
        """Whether its interval shows that it is not above guessing: such a bar is drawn in orange."""
        return self.cell.low is not None and bool(self.guessing)

    @property
    def is_above_guessing(self) -> bool:
        """Whether its interval shows that it is better than guessing."""
        return self.chance is not None and self.cell.low is not None and not self.guessing

    @property
    def guessing_text(self) -> str:
        """As :attr:`guessing`, with the level: ``no better than guessing (25.0 %)``."""
        if not self.guessing:
            return ""
        level = f"{self.chance:.{self.digits}f} {self.unit}".rstrip()
        return f"{self.guessing} ({'guessing: ' if self.guessing == TOO_FEW else ''}{level})"

    @property
    def short(self) -> str:
        """The number without its interval: ``69.1 %``."""
        return f"{self.value:.{self.digits}f} {self.unit}".rstrip()

    @property
    def interval(self) -> str:
        """`` [66.4, 71.9]``, "" without one."""
        return interval_text(self.cell.low, self.cell.high, self.digits)

    @property
    def shown(self) -> str:
        """The number with its interval: ``69.1 % [66.4, 71.9]``, ``96.0 points``."""
        return f"{self.short}{self.interval}"

    @property
    def whole(self) -> str:
        """The number for a clause, a share without decimals: ``69 %``, ``3.50 of 5``."""
        return replace(self, decimals=0).short if self.digits == 1 else self.short


@dataclass(frozen=True)
class FindingChart:
    """A finding's small chart: an <svg>, and a line below it: what is drawn, its unit, and whose the grey marks are."""

    svg: str
    said: str


@dataclass(frozen=True)
class Change:
    """What a share changes by under a condition, less than 0 where it is lost.

    ``under``: "under severe degradation (L2)". ``worst``: where most is lost, "bubble (by 33.3 points)"; "" if nowhere.
    """

    interval: IntervalEstimate
    under: str
    worst: str = ""

    @property
    def said(self) -> str:
        """``loses 23.2 points [20.4, 26.0] under severe degradation (L2), most under bubble (by 33.3 points)``."""
        most = ", most" if is_lost(self.interval) else "; most is lost"
        return loss_clause(self.interval, self.under) + (f"{most} {self.worst}" if self.worst else "")


@dataclass(frozen=True)
class SuiteFinding:
    """What a benchmark found of a model; its sentences are made of the numbers.

    Attributes:
        suite: its title.
        bars: the numbers, at least one. about: what is asked, as it stands behind "no better than guessing at".
        changes: what is lost, the one that stands for the benchmark first; () where nothing was compared.
        correct: whether its shares are of correct answers: the sentences say so.
        aside: further clauses of the sentence. trial: how few questions it rests on; "" for all.
        unread: that too few replies could be read to say anything about the model, and why; "" where enough were.
        sketch: draws it for the first screen of a report on one model; its bars stand there where it gives none.
        place: how early a leaderboard looks at its tasks, from 0.
    """

    suite: str
    bars: tuple[Number, ...]
    about: str
    changes: tuple[Change, ...] = ()
    correct: bool = True
    aside: tuple[str, ...] = ()
    trial: str = ""
    unread: str = ""
    sketch: Callable[[], FindingChart | None] | None = field(default=None, compare=False)
    place: int = 0

    @property
    def main(self) -> list[Number]:
        """The numbers that stand for it: those declared so, without those by compared words if there are others."""
        declared = [bar for bar in self.bars if bar.main] or list(self.bars)
        return [bar for bar in declared if not bar.by_words] or declared

    @property
    def guessing(self) -> str:
        """How it stands to guessing where none of its main numbers beats it, ``below guessing``; else "".

        Of what could not be read nothing is claimed.
        """
        known = [bar.guessing for bar in self.main if bar.chance is not None]
        if self.unread or not known or not all(known):
            return ""
        return known[0] if len(set(known)) == 1 else NO_BETTER

    @property
    def guessed_at(self) -> str:
        """What it guesses at, with the main numbers' titles where there are several, or another one is better."""
        weak = [
            bar.title for bar in self.main if bar.guessing and (bar.guessing != TOO_FEW or self.guessing == TOO_FEW)
        ]
        others = any(bar.chance is not None and not bar.guessing for bar in self.bars)
        return f"{self.about} ({join_titles(weak)})" if others or len(self.main) > 1 else self.about

    @property
    def clause(self) -> str:
        """The finding in a few words, without a subject: ``69 % correct on clean images and 50 % under …``."""
        if self.unread:
            return self.unread
        main = self.main
        better = [bar for bar in main if not bar.guessing] or main
        ends = list({bar.title: bar for bar in (better[0], better[-1])}.values())
        said = [f"{bar.whole} {'' if number else self._correct(bar)}{bar.phrase}" for number, bar in enumerate(ends)]
        weak = [f"{standing} at {join_titles(titles)}" for standing in (NO_BETTER, BELOW, TOO_FEW)
                if (titles := [bar.title for bar in main if bar.guessing == standing])]  # fmt: skip
        doubt = f" ({' and '.join(weak)})" if weak and not self.guessing else ""
        return f"{join_with_and(said)}{doubt}{f', {BY_WORDS}' if main[0].by_words else ''}"

    @property
    def clause_of_several(self) -> str:
        """The clause with the benchmark's title, in the brackets at its end where it has some."""
        if self.suite in self.clause:
            return self.clause
        said, words, _ = self.clause.partition(f", {BY_WORDS}")
        head, _, end = said.rpartition(" (") if said.endswith(")") else (said, "", "")
        return f"{head} ({self.suite}{f', {end}' if end else ')'}{words}"

    @property
    def loss(self) -> str:
        """What is lost, a sentence; "" where nothing was compared."""
        said = "; ".join(change.said for change in self.changes if not self.unread)
        return said and f"{said}{f' ({self.trial})' if self.trial else ''}."

    @property
    def sentence(self) -> str:
        """The finding with its numbers and intervals, for a page."""
        said = f"{self.unread}: {NOTHING_SAID}" if self.unread else "; ".join(self._clauses())
        return to_sentence(f"{self.trial}: {said}" if self.trial else said)

    def _clauses(self) -> Iterator[str]:
        said: list[str] = []
        judges: dict[str, list[str]] = {}
        for bar in self.bars:
            # The level once.
            guess = bar.guessing if any(bar.guessing_text in each for each in said) else bar.guessing_text
            said.append(f"{bar.shown} {'' if said else self._correct(bar)}{bar.phrase}{guess and f', {guess}'}")
            if bar.judge:
                judges.setdefault(bar.judge, []).append(bar.title)
        yield ("; " if any(bar.guessing for bar in self.bars) else ", ").join(said)
        yield from (change.said for change in self.changes)
        yield from self.aside
        for judge, of in judges.items():
            yield judge if len(of) == len(self.bars) else f"{join_with_and(of)}: {judge}"

    def _correct(self, bar: Number) -> str:
        return "correct " if self.correct and bar.unit == "%" else ""


def said_of_guessing(found: Sequence[tuple[str, str]], at: str) -> list[str]:
    """``no better than guessing at a, b, c and 2 more benchmarks``, from (standing, title) pairs."""
    clauses = []
    for standing in (NO_BETTER, BELOW, TOO_FEW):
        weak = [title for guessing, title in found if guessing == standing]
        left = len(weak) - _WEAK
        weak = weak if left <= 1 else [*weak[:_WEAK], f"{left} more benchmarks"]
        clauses += [f"{standing} {at} {join_with_and(weak)}"] if weak else []
    return clauses


def join_titles(titles: Sequence[str]) -> str:
    """Titles in a sentence; one with a comma in quotes."""
    return join_with_and([f'"{title}"' if "," in title else title for title in titles])


def headline_titles(findings: Sequence[SuiteFinding]) -> list[str]:
    """The titles of the findings' bars, each once, in the order of those that have most."""
    longest_first = sorted(findings, key=lambda finding: -len(finding.bars))
    return list(dict.fromkeys(bar.title for each in longest_first for bar in each.bars))


def chance_of_options(rows: QuestionTable) -> float | None:
    """The accuracy of a uniform guess among each question's options; None if a question has no number of options."""
    counts = list(rows.column("option_count")) if len(rows) else []
    known = bool(counts) and all(isinstance(count, int | float) and count >= 1 for count in counts)
    return float(np.mean([1 / count for count in counts])) if known else None


# --- Words ------------------------------------------------------------------------------------------------------------


def to_sentence(said: str) -> str:
    """Clauses as a sentence; "" without any."""
    return f"{said[:1].upper()}{said[1:]}." if said else ""


def format_points(change: IntervalEstimate, *, gained: bool = False) -> str:
    """The loss of a share, ``23.2 points [20.4, 26.0]``; with ``gained`` its gain."""
    cell = percent_cell(change if gained else negate_estimate(change))
    return "" if cell.value is None else f"{cell.value:.1f} points{interval_text(cell.low, cell.high)}"


def loss_clause(change: IntervalEstimate, under: str) -> str:
    """``loses 23.2 points [20.4, 26.0] UNDER``, or that there is no change beyond chance; ``under`` may be ""."""
    known = change.low is not None and change.high is not None
    is_gain = (change.estimate or 0.0) > 0
    if known and not is_told_apart(change):
        return f"shows no change beyond chance ({'+' * is_gain}{format_points(change, gained=True)}) {under}".rstrip()
    said = f"{'gains' if is_gain else 'loses'} {format_points(change, gained=is_gain)}"
    # Why a change has no interval, or only that it has none: it may be that none was asked for (``--resamples 0``).
    why = f"over {TOO_FEW}" if change.reason in _FEW_REASONS else "without an interval"
    return f"{f'{said} {under}'.rstrip()}{'' if known else f', {why}'}"


def is_told_apart(change: IntervalEstimate) -> bool:
    """Whether the interval of a change excludes 0."""
    return change.low is not None and change.high is not None and not change.low <= 0 <= change.high


def is_lost(change: IntervalEstimate) -> bool:
    """Whether something is lost beyond chance."""
    return is_told_apart(change) and (change.estimate or 0.0) < 0
