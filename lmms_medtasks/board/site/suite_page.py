"""The page of a suite: what was found, the chart, who is better than whom, five questions; all tables folded below."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import starmap

from lmms_medtasks.board.boards import Board, Reference
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import board_tables, finding_words, suite_words
from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.number_marks import BY_WORDS, legend
from lmms_medtasks.board.site.pages import Pages
from lmms_medtasks.board.site.pair_matrix import NOTE, matrix
from lmms_medtasks.board.site.question_cards import Card, QuestionCards
from lmms_medtasks.board.site.reports import Report
from lmms_medtasks.board.site.suite_chart import SuiteChart, TaskMeasure, chart
from lmms_medtasks.board.site.telling_questions import Telling, telling
from lmms_medtasks.board.word_verdicts import is_by_words
from lmms_medtasks.data.sources import counted
from lmms_medtasks.report.document import Cell, Frame
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical, labelled
from lmms_medtasks.report.reported_suites import printed_tables
from lmms_medtasks.short_texts import listed_or_counted
from lmms_medtasks.statistics import confidence
from lmms_medtasks.suites import registry

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
class Badge:
    """A fact in few words; ``number`` stands before it in bold, ``is_warning`` sets it off."""

    text: str
    number: str = ""
    is_warning: bool = False


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
        found = self._standings, self._links
        blocks = [
            Block(task, about.name_of(task), board_tables.ranking(task, *found), board_tables.apart(task, *found),
                  self._board.references.get(task))
            for task in self._tasks(about, entries, head)
        ]  # fmt: skip
        ranked = next((entry for entry in entries if head and entry.ranked and entry.task == head[0]), None)
        mean = ranked.mean_beside(head[1]) if head and ranked else None
        cluster = next((suite.cluster for entry in entries if (suite := entry.declaration)), "image")
        self._pages.page(
            f"suites/{name}.html", "suite.html", f"suites/{name}",
            name=name, about=about, head=head, drawn=drawn, blocks=blocks, compared=compared,
            labelled=labelled, finding=f"{about.title}: {finding_words.of_suite(about, self._standings, head)}",
            badges=_badges(entries, head),
            signs=legend(each.cell for each in self._standings.numbers(*head).values()) if head else (),
            places=self._places(head, drawn) if head else [],
            headline_caption=_caption(about, head, self._board) if head else "",
            apart_count=sum(not entry.ranked for entry in entries), listed=_named,
            unplaced=self._unplaced(head) if head else "",
            pairs=matrix(self._standings, head, self._links) if head else None,
            pairs_note=NOTE.format(cluster=cluster, level=confidence.percent()),
            questions=self._questions(head, mean, entries, drawn) if head and mean else [],
            told_by=about.heading_of(head[0], mean) if head and mean and mean != head[1] else "",
            cluster=cluster, published=_printed(name),
        )  # fmt: skip

    def _tasks(self, about: suite_words.About, entries: Sequence[Entry], head: TaskMeasure | None) -> list[str]:
        """The headline's task first; tasks with one ranked model behind the others, those without one last."""
        ranked = Counter(entry.task for entry in entries if entry.ranked)
        places = {task: place for place, task in enumerate(about.tasks(entries))}
        return sorted(
            places, key=lambda task: (head is None or task != head[0], -min(ranked[task], _COMPARED), places[task])
        )

    def _places(self, head: TaskMeasure, drawn: SuiteChart | None) -> list[tuple[str, ...]]:
        """The ranking in short, best first: rank, name, address, number, interval, number that a range starts at."""
        rows = {row.cells[0].value: row for row in drawn.rows("run")} if drawn else {}
        column = board_tables.column("", self._board.scale(*head))
        places: list[tuple[str, ...]] = []
        for key, number in self._standings.numbers(*head).items():
            title, cell = self._standings.titles[key], number.cell
            first = rows[title].cells[1].value if drawn and drawn.start(head) and title in rows else None
            ends = " to ".join(f"{end:.{number.digits}f}" for end in (cell.low, cell.high) if end is not None)
            rank = self._standings.of(*head)[key].ranks.replace(" to ", "–") or "–"
            shown = f"{number.value:.{number.digits}f}{cell.mark}"
            places.append((rank, title, self._links.model(key), shown, ends, column.text(Cell(first))))
        return places

    def _unplaced(self, head: TaskMeasure) -> str:
        """The models whose every entry of the headline's task is set apart, so that the ranking lacks them; or ""."""
        ranked = {entry.model.key for entry in self._board.of(task=head[0], ranked=True)}
        apart = {entry.model.key for entry in self._board.of(task=head[0], ranked=False)} - ranked
        names = sorted((self._standings.titles[key] for key in apart), key=str.lower)
        return _named(names, "models") if names else ""

    def _questions(
        self, head: TaskMeasure, mean: str, entries: Sequence[Entry], drawn: SuiteChart | None
    ) -> list[tuple[Telling, Card]]:
        """Questions that tell of ``mean``, with cards: of the best models, what they answered under each condition."""
        if self._cards is None:
            return []
        start = drawn.start(head) if drawn else None
        names = (next(iter(drawn.series)), [*drawn.series][-1]) if drawn and start else ("", "")
        chosen = telling(self._standings, (head[0], mean), start if mean == head[1] else None, names)
        best = {key: place for place, key in enumerate([*self._standings.numbers(*head)][:_MOST_ON_CARDS])}
        # Tasks apart from these may have other questions of the same id.
        tasks = {head[0], *(task for task, _ in (drawn.series.values() if drawn and start else ()))}
        own = sorted(
            (entry for entry in entries if entry.ranked and entry.task in tasks and entry.model.key in best),
            key=lambda entry: (best[entry.model.key], entry.task),
        )
        return list(zip(chosen, self._cards.of(head[0], [each.id for each in chosen], own), strict=True))


def _caption(about: suite_words.About, head: TaskMeasure, board: Board) -> str:
    """What the ranking is of: ``Severe degradation (L2), 1,218 questions each (%)``."""
    entry = max(board.of(task=head[0], ranked=True), key=lambda each: len(each.questions))
    # A task with one number is said by its name.
    name, phrase = about.name_of(head[0]), about.heading_of(*head)
    words = f", {phrase.removeprefix(f'{name}, ')}" if len(entry.main_metrics) > 1 else ""
    unit = entry.scale(head[1]).unit
    count = f", {counted(len(entry.scored(head[1])), 'question')} each" if entry.is_mean(head[1]) else ""
    return f"{name}{words}{count}{f' ({unit})' if unit else ''}"


def _badges(entries: Sequence[Entry], head: TaskMeasure | None) -> list[Badge]:
    """What the headline's numbers are of, in a line."""
    own = [entry for entry in entries if entry.ranked and head and entry.task == head[0]] or list(entries)
    entry = max(own, key=lambda each: len(each.questions))
    found = [
        Badge("not the benchmark" if data == "mini" else "not the whole benchmark", f"{data} data", is_warning=True)
        for data in sorted({each.data for each in own} - {"full"})
    ] or [Badge("data", "full")]
    rows = entry.scored(head[1]) if head and head[1] in entry.main_means else entry.samples
    cluster = entry.declaration.cluster if entry.declaration else "image"
    trials = max((len(each) for each in rows.column("trials")), default=1)
    models = len({each.model.key for each in own if each.ranked})
    judges = sorted({each.judge.name for each in own if each.judge and not is_lexical(each.judge.name)} - {"none"})
    for number, noun in (
        (len(rows), "question"),
        (len(set(rows.column("cluster"))), cluster),
        (models, "ranked model"),
    ):
        said, what = counted(number, noun).split(" ", 1)
        found.append(Badge(what, said))
    found += [Badge("trials a question", str(trials))] if trials > 1 else []
    found.append(Badge("task version " + ", ".join(sorted({each.version for each in own}))))
    found += [Badge("judged by " + ", ".join(judges))] if judges else []
    ranked = [(each, name) for each in entries if each.ranked for name in each.main_metrics]
    return [*found, *([Badge(BY_WORDS, LEXICAL, is_warning=True)] if any(starmap(is_by_words, ranked)) else [])]


def _printed(suite: str) -> list[Frame]:
    """The published tables of a suite, folded; [] where it has none."""
    found = printed_tables(suite) if suite in registry.names() else []
    return [replace(each, key=f"published-{each.key}", folded=True) for each in found]


def _named(names: Sequence[str], what: str) -> str:
    """``: a; b`` of few, ``: 12 tasks`` of many."""
    return listed_or_counted(names, _FEW_NAMES, what, "; ".join)
