"""Headline numbers of models, and the sentences at the top of a site's pages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import HARD_TO_READ, UNREAD, BoardStandings, TaskMeasure
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.report.cells import label_column, negate_estimate
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.findings import (
    BELOW,
    BY_WORDS,
    NO_BETTER,
    NOTHING_SAID,
    Number,
    loss_clause,
    said_of_guessing,
)
from lmms_medtasks.report.published import published_span
from lmms_medtasks.short_texts import join_with_and, listed_or_counted
from lmms_medtasks.statistics.intervals import IntervalEstimate, estimate_intervals
from lmms_medtasks.statistics.sums import DifferenceOf
from lmms_medtasks.suites.contributions import draw_together
from lmms_medtasks.suites.estimates import EMPTY

NAMED = 3
"""Models that are named at most; more are counted."""
NOBODY = "no model is ranked yet"
_CLAUSES = 2
"""Clauses of a suite's finding on the first page."""


# --- Of a suite, and of the first page --------------------------------------------------------------------------------


def suite_finding(
    about: SuiteTexts, standings: BoardStandings, head: TaskMeasure | None, most: int | None = None
) -> str:
    """The best model of a suite's headline, its loss, models not significantly worse, models no better than guessing.

    ``head``: the headline's task and metric, None without entries. ``most``: clauses at most.
    """
    if head is None:
        return f"{NOBODY}."
    clauses = _Field(about, standings, head).clauses()
    return "; ".join(islice(filter(None, clauses), most)) + "."


def of_board(standings: BoardStandings, heads: Iterable[tuple[SuiteTexts, TaskMeasure]]) -> str:
    """The finding of the first suite with a rank."""
    for about, head in heads:
        if any(each.rank == 1 for each in standings.of(*head).values()):
            return f"{about.title}: {suite_finding(about, standings, head, _CLAUSES)}"
    return "No model has a rank yet." if standings.board.entries else "There is no entry."


@dataclass(frozen=True)
class _Field:
    """The ranked models on a suite's headline, its (task, metric)."""

    about: SuiteTexts
    standings: BoardStandings
    head: TaskMeasure

    def clauses(self) -> Iterator[str]:
        """The clauses of the sentence; some are empty."""
        numbers, ranks = self.standings.numbers(*self.head), self.standings.of(*self.head)
        if not numbers:
            yield NOBODY
            return
        # Several where they are tied; without ranks the one with the best number.
        leaders = [key for key in numbers if ranks[key].rank == 1] or [*numbers][:1]
        yield self._best(leaders)
        yield self._relation(leaders)
        if len(numbers) > 1 and all(number.guessing for number in numbers.values()):
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
            said.append(f"{first.short} {first.phrase}: {loss_clause(change, '')}")
        return ", ".join(said)

    def _relation(self, leaders: Sequence[str]) -> str:
        """Models not significantly worse than the best; if there are none, that it is significantly better."""
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
        return listed_or_counted([self.standings.titles[key] for key in keys], NAMED, of, join_with_and)


def headline_change(
    standings: BoardStandings, about: SuiteTexts, model: str, head: TaskMeasure
) -> IntervalEstimate | None:
    """The change of a ranked model's share from the number before degradation to its suite's headline ``head``.

    None if a number is missing, is no share, or the suite's headline has no number before it.
    """
    before = about.before(*head)
    own = {entry.task: entry for entry in standings.board.of(suite=about.name, ranked=True) if entry.model.key == model}
    if before is None or not all(task in own and metric in own[task].metrics for task, metric in (before, head)):
        return None
    change = negate_estimate(estimate_loss(own[before[0]], before[1], own[head[0]], head[1]))
    if change is None or change.estimate is None or own[head[0]].scale(head[1]).unit != "%":
        return None
    return change if standings.resamples else replace(change, low=None, high=None)


def estimate_loss(first: LeaderboardEntry, good: str, second: LeaderboardEntry, bad: str) -> IntervalEstimate:
    """The number ``good`` minus ``bad``, in their measure's unit, with an interval over clusters.

    ``first``, ``second``: one model's entries with these metrics. All questions of both count, as in the papers; common
    images make the interval narrower.
    """
    clean, degraded = (first.samples, first.estimate(good)), (second.samples, second.estimate(bad))
    groups, statistics = draw_together(good=clean, bad=degraded)
    if not {"good", "bad"} <= statistics.keys():
        return EMPTY
    return estimate_intervals(groups, {"loss": DifferenceOf(statistics["good"], statistics["bad"])})["loss"]


# --- Of a model -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelHeadline:
    """A model on a benchmark's headline measure.

    ``number``: with the range of the paper's models. ``rank``: None if it is not ranked. ``place``: ``rank 1–3 of 12``,
    "" without a rank. ``apart``: why it is not ranked, "" if it may be.
    """

    suite: str
    title: str
    number: Number
    rank: int | None = None
    place: str = ""
    apart: str = ""

    @property
    def chart(self) -> str:
        """The bullet chart, an <svg>."""
        number, score = self.number, FrameColumn("score", digits=self.number.digits, unit=self.number.unit)
        rows = [FrameRow((Cell(number.title), Cell(number.value, number.cell.low, number.cell.high)))]
        rows += [FrameRow((Cell("guessing"), Cell(number.chance)), "counts")]
        rows += [FrameRow((Cell("published"), Cell(each)), "reference") for each in number.published or ()]
        frame = Frame("headline", self.title, (label_column("number"), score), tuple(rows))
        ends = number.bottom, number.top
        chart = Chart("bullets", "headline", self.title, "", "headline", ("score",), ends=ends)
        return chart.drawn(chart.marks_of(frame), small=True)


def model_headlines(own: Sequence[LeaderboardEntry], standings: BoardStandings) -> list[ModelHeadline]:
    """The headline of each suite in which a model has a number, suites in the order of ``own``.

    The suite's headline on the board if the model has it, else the model's first measure.
    """
    headlines = []
    for suite in dict.fromkeys(entry.suite for entry in own):
        about = suite_words.suite_texts(suite)
        entries = [entry for entry in own if entry.suite == suite]
        wanted = [
            about.headline_of(standings.board.of(suite=suite, ranked=True)),
            about.headline_of(entries),
            *((entry.task, metric) for entry in entries for metric in entry.main_metrics),
        ]
        for head in dict.fromkeys(filter(None, wanted)):
            own_entries = [entry for entry in entries if entry.task == head[0] and head[1] in entry.metrics]
            known = [made for entry in own_entries if (made := _model_headline(entry, head[1], standings))]
            if known:
                chosen = min(known, key=lambda each: bool(each.apart))
                # Of another task than the board's headline the task is said.
                elsewhere = wanted[0] is not None and head != wanted[0]
                title = f"{chosen.number.title} ({head[0]})" if elsewhere else chosen.number.title
                headlines.append(replace(chosen, number=replace(chosen.number, title=title)))
                break
    return headlines


def _model_headline(entry: LeaderboardEntry, metric: str, standings: BoardStandings) -> ModelHeadline | None:
    number = standings.number(entry, metric)
    if number is None:
        return None
    standing = standings.of(entry.task, metric).get(entry.model.key) if entry.ranked else None
    field = len(standings.numbers(entry.task, metric))
    place = "" if standing is None or standing.rank is None else f"rank {standing.ranks} of {field}"
    published = published_span(entry.declaration, entry.task, metric) if entry.declaration else None
    return ModelHeadline(
        suite=entry.suite,
        title=suite_words.suite_texts(entry.suite).title,
        number=replace(number, published=published),
        rank=standing.rank if standing else None,
        place="the only one ranked" if place and field == 1 else place,
        apart=next((problem.reason for problem in entry.problems if problem.level == "unranked"), ""),
    )


def model_finding(title: str, headlines: Sequence[ModelHeadline]) -> str:
    """A model's best place, and where it is no better than guessing."""
    if not headlines:
        return f"{title}: no benchmark's headline number is known."
    hard = [each for each in headlines if HARD_TO_READ in each.number.cell.mark]
    read = [each for each in headlines if each not in hard]
    said = [f"{UNREAD} on {join_with_and([each.title for each in hard])}: {NOTHING_SAID} there"] if hard else []
    placed = sorted((each for each in read if each.place), key=lambda each: ("only" in each.place, each.rank or 0))
    for best in (placed or read)[:1]:
        of = f", its best place on {len(placed)} benchmarks" if len(placed) > 1 else ""
        said.append(f"{best.number.shown} on {best.title}, {best.place or 'not ranked'}{of}")
    said += said_of_guessing([(each.number.guessing, each.title) for each in headlines], "on")
    return f"{title}: {'; '.join(said)}."
