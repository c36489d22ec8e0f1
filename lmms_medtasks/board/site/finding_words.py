"""The sentences on headline numbers that a site's pages begin with: of a suite, of the first page, of a model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.bullets import ModelHeadline
from lmms_medtasks.board.site.changes import headline_change
from lmms_medtasks.board.site.leaderboard_table import Leaderboard, SuiteColumn
from lmms_medtasks.board.site.number_marks import HARD_TO_READ, UNREAD
from lmms_medtasks.board.site.suite_words import About
from lmms_medtasks.report.findings import (
    BELOW,
    BY_WORDS,
    NO_BETTER,
    NOTHING_SAID,
    is_lost,
    lost,
    points,
    said_of_guessing,
    sentence,
)
from lmms_medtasks.short_texts import listed, listed_or_counted

NAMED = 3
"""Models that are named at most; of more their number is said."""
_CLAUSES = 2
"""Of a suite's finding, on the first page."""


def of_suite(about: About, standings: Standings, head: tuple[str, str] | None, most: int | None = None) -> str:
    """Who is best at a suite's headline, what it loses, who is not told apart from it, who is no better than guessing.

    ``head``: the headline's task and metric, None where nobody has one. ``most``: clauses that are said.
    """
    if head is None:
        return f"{nobody(standings.board.of(suite=about.name))}."
    clauses = _Field(about, standings, head).clauses()
    return "; ".join(islice(filter(None, clauses), most)) + "."


def of_board(standings: Standings, found: Leaderboard) -> str:
    """The board's finding: that on the first suite with a rank."""
    for head in found.heads:
        if any(each.rank == 1 for each in standings.of(head.task, head.measure).values()):
            return f"{head.title}: {_short(standings, head)}"
    return "No model has a rank yet." if standings.board.entries else "There is no entry."


def of_card(standings: Standings, suite: str, found: Leaderboard) -> str:
    """A suite in a sentence or two: who is best, who is not told apart, and the best published model."""
    head = next((each for each in found.heads if each.suite == suite), None)
    if head is None:
        return sentence(nobody(standings.board.of(suite=suite)))
    column = found.heads.index(head)
    unit = " %" if head.shown.unit == "%" else ""
    numbers = []
    for human, called in ((False, "best published model "), (True, "people (published): ")):
        rows = [row for row in (*found.published, *found.folded) if row.human is human]
        known = [(sort, row) for row in rows if (sort := row.scores[column].sort) is not None]
        if known:
            _, best = max(known, key=lambda each: each[0])
            numbers.append(f"{called}{best.name}, {best.scores[column].number}{unit}")
    return " ".join(filter(None, [_short(standings, head), sentence("; ".join(numbers))]))


def _short(standings: Standings, head: SuiteColumn) -> str:
    return of_suite(suite_words.about(head.suite), standings, (head.task, head.measure), _CLAUSES)


@dataclass(frozen=True)
class _Field:
    """The ranked models on a suite's headline, its (task, metric)."""

    about: About
    standings: Standings
    head: tuple[str, str]

    def clauses(self) -> Iterator[str]:
        """The clauses of the sentence; some are empty."""
        numbers, ranks = self.standings.numbers(*self.head), self.standings.of(*self.head)
        if not numbers:
            yield nobody(self.standings.board.of(suite=self.about.name))
            return
        # Several where they are tied; without ranks the one with the best number.
        leaders = [key for key in numbers if ranks[key].rank == 1] or [*numbers][:1]
        yield self._best(leaders)
        yield self._relation(leaders)
        if len(numbers) > 1 and all(each.guessing for each in numbers.values()):
            yield f"none of the {len(numbers)} is better than guessing"
            return
        for how in (NO_BETTER, BELOW):
            own = [key for key, each in numbers.items() if each.guessing == how and key != leaders[0]]
            if own:
                verb = "is" if len(own) == 1 else "are"
                yield f"{self._listed(own, f'of {len(numbers)}')} {verb} {numbers[own[0]].guessing_text}"

    def _best(self, leaders: Sequence[str]) -> str:
        """``m 69.1 % [66.4, 71.9] under degradation, 95.0 % on clean images: loses 20.0 points [10.1, 30.2]``."""
        number = self.standings.numbers(*self.head)[leaders[0]]
        share = " share the first place," if len(leaders) > 1 else ""
        said = [f"{self._listed(leaders)}{share} {number.shown} {number.phrase}"]
        said += [BY_WORDS] if number.by_words else []
        said += [number.guessing_text] if number.guessing else []
        said += [UNREAD] if HARD_TO_READ in number.cell.mark else []
        change = headline_change(self.standings, self.about, leaders[0], self.head)
        before = self.about.before(*self.head)
        if change is not None and before is not None:
            first = self.standings.numbers(*before)[leaders[0]]
            said.append(f"{first.short} {first.phrase}: {lost(change, '')}")
        return ", ".join(said)

    def _relation(self, leaders: Sequence[str]) -> str:
        """Who is not told apart from the best by the test of ranks; else that it is better beyond chance."""
        numbers, first = self.standings.numbers(*self.head), self.standings.of(*self.head)[leaders[0]]
        if len(numbers) == 1:
            return "the only model that is ranked"
        if first.rank is None:
            return f"no ranks: {first.reason}"
        untold = {key for leader in leaders for key in self.standings.alike(*self.head, leader)}
        others = [key for key in numbers if key not in leaders]
        if alike := [key for key in others if key in untold]:
            return f"not told apart from {'it' if len(leaders) == 1 else 'them'}: {self._listed(alike)}"
        if first.low is None or not others:
            return ""
        whom = {1: self._listed(others), 2: "both others"}.get(len(others), f"all {len(others)} others")
        return f"better beyond chance than {whom}"

    def _listed(self, keys: Sequence[str], of: str = "models") -> str:
        return listed_or_counted([self.standings.titles[key] for key in keys], NAMED, of, listed)


def nobody(entries: Sequence[Entry]) -> str:
    """Why nobody is ranked."""
    codes = Counter(each.code.replace("_", " ") for entry in entries for each in entry.problems if each.level != "flag")
    why = ", ".join(f"{code} ({count})" for code, count in codes.most_common(NAMED))
    count = f"{len(entries)} entries are" if len(entries) != 1 else "the only entry is"
    return f"no model is ranked yet; {count} not ranked{f': {why}' if why else ''}"


def of_model(title: str, headlines: Sequence[ModelHeadline]) -> str:
    """A model's finding: its ranks, the worst loss, and where it is no better than guessing."""
    if not headlines:
        return f"{title}: no benchmark's headline number is known."
    unread = listed([each.title for each in headlines if each.is_hard_to_read])
    read = [each for each in headlines if not each.is_hard_to_read]
    parts = [f"{UNREAD} on {unread}: {NOTHING_SAID} there" if unread else "", _ranks(read) if read else ""]
    losses = [(each.loss, each) for each in read if each.loss and is_lost(each.loss)]
    if losses:
        worst, most = min(losses, key=lambda each: each[0].estimate or 0.0)
        parts.append(f"loses {points(worst)} {most.number.title} on {most.title}")
    parts += said_of_guessing([(each.number.guessing, each.title) for each in headlines], "on")
    return f"{title}: {'; '.join(filter(None, parts))}."


def _ranks(headlines: Sequence[ModelHeadline]) -> str:
    ranked = [each for each in headlines if each.rank is not None and each.field > 1]
    if len(headlines) == 1:
        only = headlines[0]
        return f"{only.number.shown} on {only.title}, {only.place or 'not ranked'}"
    if not ranked:
        return "not ranked against another model"
    first = min(each.rank or 0 for each in ranked)
    best = [each for each in ranked if each.rank == first]
    fields = {each.field for each in ranked}
    of = f" of {fields.pop()}" if len(fields) == 1 else ""
    where = f"{'each of' if len(best) == len(ranked) else f'{len(best)} of'} {len(ranked)} benchmarks"
    alone = sum(each.standing is not None and each.standing.high == 1 for each in best)
    chance = f" (beyond chance on {alone or 'none'})" if first == 1 and alone < len(best) else ""
    return f"rank {first}{of} on {where if len(ranked) > 1 else ranked[0].title}{chance}"
