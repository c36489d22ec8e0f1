"""The sentence on a suite's headline number: who is best, what it loses, who is not told apart from whom, who guesses.

The first page, its cards and the suites' pages begin with it.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.changes import headline_change
from lmms_medtasks.board.site.guessing import against, guessing
from lmms_medtasks.board.site.number_marks import UNREAD
from lmms_medtasks.board.site.ranking import Standing
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.report.findings import BELOW, NO_BETTER, guessing_text, is_lost, lost
from lmms_medtasks.short_texts import interval_text, listed, listed_or_counted
from lmms_medtasks.statistics.intervals import Interval
from lmms_medtasks.suites.suite import Measure

NAMED = 3
"""Models that are named at most; of more their number is said."""
_SEVERAL = 3
"""Models from which on it is said that all of them lose."""


@dataclass(frozen=True)
class HeadlineFinding:
    """What is found on a suite's headline, its (task, metric). ``names``: the models' for people, by their title."""

    about: About
    standings: Standings
    head: tuple[str, str]
    names: Mapping[str, str] = field(default_factory=dict)

    def sentence(self, most: int | None = None) -> str:
        """The whole sentence, or its first clauses."""
        return "; ".join(islice(filter(None, self._clauses()), most)) + "."

    @property
    def leaders(self) -> list[str]:
        """The models with the first rank, several where they are tied; without ranks the one with the best number."""
        return [key for key in self._ordered if self._of[key].rank == 1] or self._ordered[:1]

    def _clauses(self) -> Iterator[str]:
        if not self._ordered:
            yield nobody(self.standings.board.of(suite=self.about.name))
            return
        yield self._best()
        yield self._relation()
        yield self._all_lose()
        yield from self._guessers()

    def _best(self) -> str:
        best, *equal = self.leaders
        judged = self.standings.judged_by(best, *self.head)
        chance, words = self._chance, self._against(best)
        guess = f", {guessing_text(words, chance, self._shown.digits, self._shown.unit)}" if words else ""
        share = " share the first place," if equal else ""
        number = f"{_mean_text(self._of[best].mean, self._shown)} {self.about.phrase_of(*self.head)}"
        unread = f", {UNREAD}" if self.standings.is_hard_to_read(best, *self.head) else ""
        return f"{self._listed([best, *equal])}{share} {number}{judged}{guess}{unread}{self._loss(best)}"

    def _loss(self, key: str) -> str:
        """``, 95.0 % on clean images: loses 20.0 points [10.1, 30.2]``; "" where nothing was compared."""
        change = headline_change(self.standings, self.about, key, self.head)
        before = self.about.before(*self.head)
        if change is None or before is None:
            return ""
        number = _mean_text(replace(self.standings.of(*before)[key].mean, low=None), self._shown)
        return f", {number} {self.about.phrase_of(*before)}: {lost(change, '')}"

    def _relation(self) -> str:
        """Who is not told apart from the best by the test of ranks; else that it is better beyond chance."""
        leaders, first = self.leaders, self._of[self.leaders[0]]
        if len(self._of) == 1:
            return "the only model that is ranked"
        if first.rank is None:
            return f"no ranks: {first.reason}"
        untold = {key for leader in leaders for key in self.standings.alike(*self.head, leader)}
        alike, others = ([key for key in self._ordered if key not in leaders and (key in untold) is is_untold]
                         for is_untold in (True, False))  # fmt: skip
        if alike:
            return f"not told apart from {'it' if len(leaders) == 1 else 'them'}: {self._listed(alike)}"
        if first.low is None or not others:
            return ""
        whom = {1: self._listed(others), 2: "both others"}.get(len(others), f"all {len(others)} others")
        return f"better beyond chance than {whom}"

    def _all_lose(self) -> str:
        """Of several models how many lose beyond chance, and how much."""
        found = [headline_change(self.standings, self.about, key, self.head) for key in self._ordered]
        points = [-100 * (each.estimate or 0.0) for each in found if each and is_lost(each)]
        if len(points) < _SEVERAL:
            return ""
        least, most = f"{min(points):.1f}", f"{max(points):.1f}"
        who = f"{'all ' if len(points) == len(found) else ''}{len(points)}"
        return f"{who} lose beyond chance, by {least if least == most else f'{least} to {most}'} points"

    def _guessers(self) -> Iterator[str]:
        """Who else is no better than guessing, where it is known what that gets."""
        words = {key: self._against(key) for key in self._ordered}
        if len(words) > 1 and all(words.values()):
            yield f"none of the {len(words)} is better than guessing"
            return
        for how in (NO_BETTER, BELOW):
            own = [key for key, said in words.items() if said == how and key != self.leaders[0]]
            if own:
                who = self._listed(own, f"of {len(words)}")
                yield f"{who} {'is' if len(own) == 1 else 'are'} " + guessing_text(
                    how, self._chance, self._shown.digits, self._shown.unit
                )

    @functools.cached_property
    def _of(self) -> Mapping[str, Standing]:
        found = self.standings.of(*self.head)
        return {key: each for key, each in found.items() if each.mean.estimate is not None}

    @functools.cached_property
    def _shown(self) -> Measure:
        return self.standings.board.scale(*self.head)

    @functools.cached_property
    def _ordered(self) -> list[str]:
        sign = -1 if self._of and self._shown.higher_is_better else 1
        return sorted(
            self._of, key=lambda key: (sign * (self._of[key].mean.estimate or 0.0), self.standings.titles[key].lower())
        )

    @functools.cached_property
    def _chance(self) -> float | None:
        """What guessing gets, in the unit shown."""
        entries = self.standings.board.of(task=self.head[0], ranked=True)
        found = next(guessing(each, self.head[1]) for each in entries if self.head[1] in each.metrics)
        return None if found is None else self._shown.factor * found

    def _against(self, key: str) -> str:
        """How a model stands to guessing; "" where it is better, and where its replies could not be read."""
        if self._chance is None or self.standings.is_hard_to_read(key, *self.head):
            return ""
        return against(self._of[key].mean, self._chance / self._shown.factor, self._shown.higher_is_better)

    def _listed(self, keys: Sequence[str], of: str = "models") -> str:
        titles = [self.standings.titles[key] for key in keys]
        return listed_or_counted([self.names.get(each, each) for each in titles], NAMED, of, listed)


def nobody(entries: Sequence[Entry]) -> str:
    """Why nobody is ranked."""
    codes = Counter(each.code.replace("_", " ") for entry in entries for each in entry.problems if each.level != "flag")
    why = ", ".join(f"{code} ({count})" for code, count in codes.most_common(NAMED))
    count = f"{len(entries)} entries are" if len(entries) != 1 else "the only entry is"
    return f"no model is ranked yet; {count} not ranked{f': {why}' if why else ''}"


def _mean_text(mean: Interval, shown: Measure) -> str:
    """A mean with its interval: ``69.1 % [66.4, 71.9]``."""
    low, high = (None if end is None else shown.factor * end for end in (mean.low, mean.high))
    value = f"{shown.factor * (mean.estimate or 0.0):.{shown.digits}f} {shown.unit}".rstrip()
    return value + interval_text(low, high, shown.digits)
