"""The page of a suite: finding, chart, who is better than whom, five questions; all tables folded below."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.model_facts import KnownModels
from lmms_medtasks.board.site import board_tables, finding_words, suite_words
from lmms_medtasks.board.site.board_tables import BY_WORDS, BoardStandings, PageLinks, TaskMeasure, sign_legend
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.question_cards import QuestionCard, QuestionCards
from lmms_medtasks.board.site.reports import ModelReport
from lmms_medtasks.board.site.suite_charts import SuiteChart, suite_chart
from lmms_medtasks.board.site.suite_words import SuiteTexts
from lmms_medtasks.board.site.telling_questions import DiscordantQuestion, discordant_questions
from lmms_medtasks.report.cells import label_column, make_frame, p_value
from lmms_medtasks.report.document import Cell, Frame, FrameColumn
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical, judge_label
from lmms_medtasks.report.reported_suites import printed_tables
from lmms_medtasks.short_texts import count_noun, listed_or_counted
from lmms_medtasks.statistics import confidence
from lmms_medtasks.suites import registry

_MOST_ON_CARDS = 40
"""Models on a question's card; the question's own page has all."""
_FEW_NAMES = 4
"""Folded tasks or tables that are named; more are counted."""
MOST = 10
"""Models in the matrix, the best; the file has all pairs."""
BETTER, WORSE, ALIKE = "▲", "▼", "="
_SAID = {BETTER: "better", WORSE: "worse", ALIKE: "not told apart"}
_NOTE = (
    "Each pair is compared on the same questions, {cluster} by {cluster}, with the test that makes the ranks. All "
    "intervals hold together at {level}. An interval may end at 0 although the pair is told apart: a later step of the "
    "test (max-T, step-down) decided. Ends beyond the scale are cut off."
)


def write_suite_page(
    pages: PageWriter,
    standings: BoardStandings,
    links: PageLinks,
    cards: QuestionCards | None,
    name: str,
    compared: ModelReport,
) -> None:
    """Write the page of the suite ``name``; ``compared``: the comparison of its ranked models.

    ``links``: relative to a suite's page. ``cards``: of questions; None if the site has none.
    """
    board, about = standings.board, suite_words.suite_texts(name)
    entries = board.of(suite=name)
    ranked = [entry for entry in entries if entry.ranked]
    head = about.headline_of(ranked)
    placed = {each.model.key for each in ranked if not head or each.task == head[0]}
    apart = {each.model.key for each in entries if not head or each.task == head[0]} - placed
    cluster = next((suite.cluster for entry in entries if (suite := entry.declaration)), "image")
    drawn, (warnings, badges) = suite_chart(about, standings, links, head), _number_badges(entries, head)
    pages.page(
        f"suites/{name}.html", "suite.html", f"suites/{name}",
        name=name, about=about, head=head, compared=compared, labelled=judge_label, listed=_list_or_count,
        blocks=[
            {"task": task, "name": about.name_of(task), "reference": board.references.get(task),
             "ranking": board_tables.ranking_table(task, standings, links)}
            for task in about.tasks(ranked, head[0] if head else "")
        ],
        drawn=drawn,
        finding=f"{about.title}: {finding_words.suite_finding(about, standings, head)}",
        warnings=warnings, badges=badges,
        # Models missing from the ranking because none of their entries qualifies.
        unplaced=_list_or_count(sorted((standings.titles[key] for key in apart), key=str.lower), "models"),
        pairs_note=_NOTE.format(cluster=cluster, level=confidence.format_current_level()),
        cluster=cluster, published=list(_printed_tables_of(name, standings.known)),
        **(_of_headline(about, standings, links, cards, head, drawn) if head else {"places": [], "questions": []}),
    )  # fmt: skip


def _of_headline(
    about: SuiteTexts,
    standings: BoardStandings,
    links: PageLinks,
    cards: QuestionCards | None,
    head: TaskMeasure,
    drawn: SuiteChart | None,
) -> dict[str, Any]:
    """The page's values on the headline ``head``."""
    board, numbers, unit = standings.board, standings.numbers(*head), standings.board.scale(*head).unit
    entry = board.of(task=head[0], ranked=True)[0]
    mean = head[1] if entry.is_mean(head[1]) else next(iter(entry.main_means), None)
    # The ranking in short, best first.
    places = [
        {"rank": standings.of(*head)[key].ranks or "–", "name": standings.titles[key], "href": links.model(key),
         "value": f"{number.value:.{number.digits}f}{number.cell.mark}", "interval": number.interval.strip()}
        for key, number in numbers.items()
    ]  # fmt: skip
    return {
        "places": places,
        "caption": f"{about.heading_of(*head)}{f' ({unit})' if unit else ''}",
        "signs": sign_legend(each.cell for each in numbers.values()),
        "pairs": pair_matrix(standings, head, links),
        "questions": _discordant_cards(about, standings, cards, (head[0], mean), drawn) if cards and mean else [],
        "told_by": about.heading_of(head[0], mean) if mean and mean != head[1] else "",
    }


def _discordant_cards(
    about: SuiteTexts, standings: BoardStandings, cards: QuestionCards, mean: TaskMeasure, drawn: SuiteChart | None
) -> list[tuple[DiscordantQuestion, QuestionCard]]:
    """Discordant questions of ``mean`` with cards: the best models' answers under each condition."""
    series = {of: name for name, of in drawn.series.items()} if drawn else {}
    start = about.before(*mean)
    asked_twice = start in series and mean in series
    names = (series[start], series[mean]) if start and asked_twice else ("", "")
    chosen = discordant_questions(standings, mean, start if asked_twice else None, names)
    best = {key: place for place, key in enumerate([*standings.numbers(*mean)][:_MOST_ON_CARDS])}
    # Tasks apart from these may have other questions of the same id.
    tasks = {mean[0], *(task for task, _ in (series if asked_twice else ()))}
    ranked = standings.board.of(suite=about.name, ranked=True)
    own = [entry for entry in ranked if entry.task in tasks and entry.model.key in best]
    own.sort(key=lambda entry: (best[entry.model.key], entry.task))
    return list(zip(chosen, cards.of(mean[0], [each.id for each in chosen], own), strict=True))


def _number_badges(entries: Sequence[LeaderboardEntry], head: TaskMeasure | None) -> tuple[list[str], list[str]]:
    """Warnings on the headline's numbers, and short facts of them."""
    own = [entry for entry in entries if entry.ranked and head and entry.task == head[0]] or list(entries)
    entry = max(own, key=lambda each: len(each.questions))
    data = sorted({each.data for each in own})
    names = {each: "benchmark" if each == "mini" else "whole benchmark" for each in data if each != "full"}
    warnings = [f"{each} data, not the {whole}" for each, whole in names.items()]
    if any(each.is_lexical(name) for each in entries if each.ranked for name in each.main_metrics):
        warnings.append(f"{LEXICAL} {BY_WORDS}")
    rows = entry.scored(head[1]) if head and head[1] in entry.main_means else entry.samples
    cluster = entry.declaration.cluster if entry.declaration else "image"
    trials = max((len(each) for each in rows.column("trials")), default=1)
    judges = sorted({each.judge.name for each in own if each.judge and not is_lexical(each.judge.name)} - {"none"})
    texts = [
        "" if data != ["full"] else "full data" if entry.suite in registry.names() else "data of its contributors",
        count_noun(len(rows), "question"),
        count_noun(len(set(rows.column("cluster"))), cluster),
        count_noun(len({each.model.key for each in own if each.ranked}), "ranked model"),
        f"{trials} trials a question" if trials > 1 else "",
        f"task version {', '.join(sorted({each.version for each in own}))}",
        f"judged by {', '.join(judges)}" if judges else "",
    ]
    return warnings, [text for text in texts if text]


def _printed_tables_of(suite: str, known: KnownModels) -> Iterator[Frame]:
    """The published tables of a suite, folded, with the model names of all pages."""

    def named(cell: Cell) -> Cell:
        name = known.facts_of(cell.value).name if isinstance(cell.value, str) else None
        return replace(cell, value=name) if name else cell

    found = printed_tables(suite) if suite in registry.names() else []
    for each in found:
        rows = tuple(replace(row, cells=tuple(map(named, row.cells))) for row in each.rows)
        yield replace(each, key=f"published-{each.key}", folded=True, rows=rows)


def _list_or_count(names: Sequence[str], what: str) -> str:
    """``: a; b`` of few, ``: 12 tasks`` of many."""
    return listed_or_counted(names, _FEW_NAMES, what, "; ".join)


# --- Who is better beyond chance --------------------------------------------------------------------------------------


class PairCell(NamedTuple):
    """A row's model against a column's: ``sign`` is one of ▲ ▼ =.

    ``difference``, ``interval``: the lead of the row's model, as shown; for errors, how many fewer it has.
    """

    sign: str
    difference: str
    interval: str


@dataclass(frozen=True)
class PairMatrix:
    """The best models and their pairs, ``None`` on the diagonal.

    ``table``: all pairs, each once, the better-placed model first. ``more``: models left out of ``rows``. ``unit``: of
    the differences.
    """

    names: tuple[str, ...]
    hrefs: tuple[str, ...]
    rows: tuple[tuple[PairCell | None, ...], ...]
    table: Frame
    more: int
    unit: str

    @property
    def signs(self) -> dict[str, str]:
        """The signs of its rows, with their meanings."""
        used = {pair.sign for row in self.rows for pair in row if pair}
        return {sign: said for sign, said in _SAID.items() if sign in used}


def pair_matrix(standings: BoardStandings, head: TaskMeasure, links: PageLinks) -> PairMatrix | None:
    """The pairs of a measure's ranking, None if the models were not compared."""
    keys, found = standings.ranking(*head)
    pairs = found.pairs
    if pairs is None:
        return None
    shown, titles = standings.board.scale(*head), [standings.titles[key] for key in keys]
    places = standings.places(*head)
    order = sorted(range(len(keys)), key=lambda place: places[keys[place]])
    signs = np.where(pairs.better, BETTER, np.where(pairs.better.T, WORSE, ALIKE))

    # A later step of the test may find a difference although the first step's interval contains 0.
    lows = np.where(pairs.better, np.maximum(pairs.difference_low, 0.0), pairs.difference_low)
    highs = np.where(pairs.better.T, np.minimum(pairs.difference_high, 0.0), pairs.difference_high)

    # The most that a model can lead is the whole scale.
    whole = shown.high - shown.low
    lows, highs = (np.where(np.isfinite(each), np.clip(each, -whole, whole), each) for each in (lows, highs))
    unit = "points" if shown.unit == "%" else shown.unit
    lead = FrameColumn("lead", digits=shown.digits, signed=True, unit=unit)

    def led(row: int, column: int) -> Cell:
        difference, *ends = (shown.factor * float(each[row, column]) for each in (pairs.difference, lows, highs))
        return Cell(difference, *(ends if np.isfinite(ends).all() else ()))

    def pair(row: int, column: int) -> PairCell | None:
        cell = led(row, column)
        difference, interval = lead.parts(cell)
        interval = "no image differs" if cell.low == cell.high == 0 else interval
        return None if row == column else PairCell(str(signs[row, column]), difference, interval)

    rows = (
        (titles[row], titles[column], _SAID[str(signs[row, column])], led(row, column), float(pairs.p[row, column]))
        for row, column in itertools.combinations(order, 2)
    )
    columns = (*map(label_column, ("model", "other model", "beyond chance")), lead, p_value("p, no better"))
    table = make_frame("pairs", "Each two models", columns, rows)
    best = order[:MOST]
    if table is None:
        return None
    return PairMatrix(
        tuple(titles[place] for place in best),
        tuple(links.model(keys[place]) for place in best),
        tuple(tuple(pair(row, column) for column in best) for row in best),
        table,
        len(order) - len(best),
        unit,
    )
