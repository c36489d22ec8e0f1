"""The page of a suite: what was found, the chart, who is better than whom, five questions; all tables folded below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import starmap

from lmms_medtasks.board.boards import Board, Reference
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import board_tables, finding_words, rows, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.number_marks import BY_WORDS, legend
from lmms_medtasks.board.site.pages import Pages, card
from lmms_medtasks.board.site.pair_matrix import NOTE, Matrix, matrix
from lmms_medtasks.board.site.question_cards import Card, QuestionCards
from lmms_medtasks.board.site.reports import Report
from lmms_medtasks.board.site.suite_chart import SuiteChart, TaskMeasure, chart
from lmms_medtasks.board.site.telling_questions import Telling, telling
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.data.sources import counted
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical, labelled
from lmms_medtasks.short_texts import listed_or_counted
from lmms_medtasks.statistics import confidence
from lmms_medtasks.statistics.rank_intervals import LEAST_CLUSTERS

_MOST_ON_CARDS = 40
"""Models whose answers stand on a question's card; the question's own page has all."""


_COMPARED = 2
"""Ranked models from which on a ranking compares anything."""
_FEW_NAMES = 4
"""Tasks or tables that are named where they are folded; more are counted."""


@dataclass(frozen=True)
class Block:
    """A task on its suite's page. ``name``: for people; ``reference``: what the ranked entries have in common."""

    task: str
    name: str
    ranking: Frame | None
    apart: Frame | None
    reference: Reference | None


@dataclass(frozen=True)
class Place:
    """A model in the short ranking; all texts as shown. ``first``: its number at the chart's first series."""

    rank: str
    name: str
    href: str
    value: str
    interval: str
    first: str


@dataclass(frozen=True)
class Badge:
    """A fact in few words; ``number`` stands before it in bold, ``href`` links it, ``is_warning`` sets it off."""

    text: str
    number: str = ""
    href: str = ""
    is_warning: bool = False


@dataclass(frozen=True)
class SuiteHeadline:
    """The task that stands for a suite. ``first``: what the same questions get as they are asked first, if they are."""

    of: TaskMeasure
    first: TaskMeasure | None
    names: tuple[str, str]


class SuitePage:
    """Writes the pages of suites."""

    def __init__(
        self, board: Board, standings: Standings, links: Links, pages: Pages, cards: QuestionCards | None
    ) -> None:
        """``links``: as seen from a suite's page. ``cards``: of questions; None where the site has none."""
        self._board = board
        self._standings = standings
        self._links = links
        self._pages = pages
        self._cards = cards

    def write(self, name: str, compared: Report) -> None:
        """Write a suite's page; ``compared``: the comparison of its ranked models."""
        about, entries = suite_words.about(name), self._board.of(suite=name)
        head = about.headline_of([entry for entry in entries if entry.ranked])
        drawn = chart(about, self._board, self._standings, self._links, head)
        headline = _headline(head, drawn)
        blocks = [self._block(task, about) for task in self._tasks(about, entries, head)]
        ranked = next((entry for entry in entries if head and entry.ranked and entry.task == head[0]), None)
        mean = ranked.mean_beside(head[1]) if head and ranked else None
        cluster = next((suite.cluster for entry in entries if (suite := entry.declaration)), "image")
        self._pages.page(
            f"suites/{name}.html", "suite.html", f"suites/{name}",
            name=name, about=about, head=head, drawn=drawn, blocks=blocks, compared=compared,
            labelled=labelled, finding=f"{about.title}: {finding_words.of_suite(about, self._standings, head)}",
            badges=_badges(about, entries, head),
            signs=legend(each.cell for each in self._standings.numbers(*head).values()) if head else (),
            places=self._places(headline, drawn) if headline else [],
            headline_caption=_caption(about, head, self._board) if head else "",
            apart_count=sum(not entry.ranked for entry in entries), listed=_named,
            unplaced=self._unplaced(head) if head else "",
            pairs=self._pairs(head), pairs_note=NOTE.format(cluster=cluster, level=confidence.percent()),
            least=LEAST_CLUSTERS,
            questions=self._questions(headline, mean, entries, drawn),
            told_by=about.heading_of(head[0], mean) if head and mean and mean != head[1] else "",
            cluster=cluster, published=rows.tables(name), card=card(name), versions=_versions(entries),
        )  # fmt: skip

    def _tasks(self, about: suite_words.About, entries: Sequence[Entry], head: TaskMeasure | None) -> list[str]:
        """The headline's task first; tasks with one ranked model behind the others, those without one last."""
        ranked = Counter(entry.task for entry in entries if entry.ranked)
        places = {task: place for place, task in enumerate(about.tasks(entries))}
        return sorted(
            places, key=lambda task: (head is None or task != head[0], -min(ranked[task], _COMPARED), places[task])
        )

    def _block(self, task: str, about: suite_words.About) -> Block:
        ranking = board_tables.ranking(task, self._standings, self._links)
        apart = board_tables.apart(task, self._standings, self._links)
        return Block(task, about.name_of(task), ranking, apart, self._board.references.get(task))

    def _places(self, headline: SuiteHeadline, drawn: SuiteChart | None) -> list[Place]:
        """The ranking in short, best first."""
        rows = {row.cells[0].value: row for row in drawn.rows("run")} if drawn else {}
        column = board_tables.column("", self._board.scale(*headline.of))
        places = []
        for key, number in self._standings.numbers(*headline.of).items():
            title, cell = self._standings.titles[key], number.cell
            first = rows[title].cells[1] if headline.first and title in rows else Cell(None)
            ends = " to ".join(f"{end:.{number.digits}f}" for end in (cell.low, cell.high) if end is not None)
            rank = self._standings.of(*headline.of)[key].ranks or "–"
            shown = f"{number.value:.{number.digits}f}{cell.mark}"
            places.append(Place(rank, title, self._links.model(key), shown, ends, column.text(Cell(first.value))))
        return places

    def _unplaced(self, head: TaskMeasure) -> str:
        """The models whose every entry of the headline's task is set apart, so that the ranking lacks them; or ""."""
        ranked = {entry.model.key for entry in self._board.of(task=head[0], ranked=True)}
        apart = {entry.model.key for entry in self._board.of(task=head[0], ranked=False)} - ranked
        names = sorted((self._standings.titles[key] for key in apart), key=str.lower)
        return _named(names, "models") if names else ""

    def _pairs(self, head: TaskMeasure | None) -> Matrix | None:
        if head is None:
            return None
        return matrix(self._standings, head, {key: self._links.model(key) for key in self._standings.titles})

    def _questions(
        self, headline: SuiteHeadline | None, mean: str | None, entries: Sequence[Entry], drawn: SuiteChart | None
    ) -> list[tuple[Telling, Card]]:
        """Questions that tell of ``mean``, with cards: of the best models, what they answered under each condition."""
        if headline is None or mean is None or self._cards is None:
            return []
        task, metric = headline.of
        chosen = telling(self._standings, (task, mean), headline.first if mean == metric else None, headline.names)
        best = {key: place for place, key in enumerate([*self._standings.numbers(*headline.of)][:_MOST_ON_CARDS])}
        # Tasks apart from these may have other questions of the same id.
        tasks = {headline.of[0], *(task for task, _ in (drawn.series.values() if drawn and headline.first else ()))}
        own = sorted(
            (entry for entry in entries if entry.ranked and entry.task in tasks and entry.model.key in best),
            key=lambda entry: (best[entry.model.key], entry.task),
        )
        cards = self._cards.of(headline.of[0], [each.id for each in chosen], own)
        return list(zip(chosen, cards, strict=True))


def _headline(head: TaskMeasure | None, drawn: SuiteChart | None) -> SuiteHeadline | None:
    """The headline, with the chart's first series where the chart leads from that to the headline."""
    if head is None:
        return None
    series = list(drawn.series) if drawn and drawn.first else []
    if drawn is None or not series or drawn.series[series[-1]] != head:
        return SuiteHeadline(head, None, ("", ""))
    return SuiteHeadline(head, drawn.series[series[0]], (series[0], series[-1]))


def _caption(about: suite_words.About, head: TaskMeasure, board: Board) -> str:
    """What the ranking is of: ``Severe degradation (L2), 1,218 questions each (%)``."""
    entry = max(board.of(task=head[0], ranked=True), key=lambda each: len(each.questions))
    # A task with one number is said by its name.
    name, phrase = about.name_of(head[0]), about.heading_of(*head)
    words = f", {phrase.removeprefix(f'{name}, ')}" if len(entry.main_metrics) > 1 else ""
    unit = entry.scale(head[1]).unit
    count = f", {counted(len(entry.scored(head[1])), 'question')} each" if entry.is_mean(head[1]) else ""
    return f"{name}{words}{count}{f' ({unit})' if unit else ''}"


def _badges(about: suite_words.About, entries: Sequence[Entry], head: TaskMeasure | None) -> list[Badge]:
    """What the headline's numbers are of, in a line."""
    own = [entry for entry in entries if entry.ranked and head and entry.task == head[0]] or list(entries)
    entry = max(own, key=lambda each: len(each.questions))
    found = [Badge(_data_said(data), f"{data} data", is_warning=True) for data in sorted({each.data for each in own})
             if data != "full"]  # fmt: skip
    if not found:
        found = [Badge("data", "full")]
    rows = entry.scored(head[1]) if head and head[1] in entry.main_means else entry.samples
    cluster = entry.declaration.cluster if entry.declaration else "image"
    pictures = len(set(rows.column("cluster")))
    for number, noun in ((len(rows), "question"), (pictures, cluster)):
        said, what = counted(number, noun).split(" ", 1)
        found.append(Badge(what, said))
    trials = max((len(each) for each in rows.column("trials")), default=1)
    found += [Badge("trials a question", str(trials))] if trials > 1 else []
    versions = sorted({each.version for each in own})
    found.append(Badge("task version " + ", ".join(versions)))
    judges = sorted({each.judge.name for each in own if each.judge and not is_lexical(each.judge.name)} - {"none"})
    found += [Badge("judged by " + ", ".join(judges))] if judges else []
    ranked = [(each, name) for each in entries if each.ranked for name in each.main_metrics]
    found += [Badge(BY_WORDS, LEXICAL, is_warning=True)] if any(starmap(is_by_words, ranked)) else []
    models = len({each.model.key for each in own if each.ranked})
    found.append(Badge("model ranked" if models == 1 else "models ranked", str(models)))
    return [*found, *([Badge("paper", href=about.paper)] if about.paper else [])]


def _named(names: Sequence[str], what: str) -> str:
    """``: a; b`` of few, ``: 12 tasks`` of many."""
    return listed_or_counted(names, _FEW_NAMES, what, "; ".join)


def _data_said(data: str) -> str:
    return "not the benchmark" if data == "mini" else "not the whole benchmark"


def _versions(entries: Sequence[Entry]) -> Frame:
    """What the entries of a suite are of, each kind once."""
    found = {
        (e.task, e.version, e.data, e.judge.name if e.judge else "none", board_tables.harness(e) or "not recorded")
        for e in entries
    }
    columns: tuple[FrameColumn, ...] = tuple(map(label, ("task", "version", "data", "judge", "lmms-eval")))
    return Frame("versions", "Versions", columns, tuple(FrameRow(tuple(map(Cell, each))) for each in sorted(found)))
