"""The page of a model: finding, facts, a chart a benchmark, report, all scores, and its runs."""

from __future__ import annotations

from collections.abc import Iterable

from lmms_medtasks.board.boards import Leaderboard
from lmms_medtasks.board.entries import EntryModel, LeaderboardEntry
from lmms_medtasks.board.site import board_tables, finding_words, suite_words
from lmms_medtasks.board.site.board_tables import (
    BY_WORDS,
    RANK_MARKS,
    BoardStandings,
    PageLinks,
    standing_cells,
)
from lmms_medtasks.board.site.index_page import least_verified
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.ranking import SHORT
from lmms_medtasks.report.cells import NONE, count_column, label_column, scaled_cell
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.judged_tables import LEXICAL, is_lexical


def write_model_page(
    pages: PageWriter, standings: BoardStandings, model: EntryModel, links: PageLinks, slug: str,
    report: str, no_report: str,
) -> None:  # fmt: skip
    """Write the page of a model, ``models/SLUG.html``.

    ``report``: the address of its report, "" for none; ``no_report``: why there is none, "" if none was requested.
    """
    own = entries_of(model.key, standings.board)
    title, headlines = standings.titles[model.key], finding_words.model_headlines(own, standings)
    is_by_words_somewhere = any(entry.is_lexical(name) for entry in own for name in entry.main_metrics)
    pages.page(
        f"models/{slug}.html", "model.html", f"models/{slug}",
        model=model, title=title, links=links, report=report, no_report=no_report,
        level=least_verified(model.key, standings.board),
        limits=board_tables.problems_table((problem for entry in own for problem in entry.problems), standings.roots),
        sentence=finding_words.model_finding(title, headlines),
        facts=standings.known.facts_of(model.name), headlines=headlines,
        by_words=f"{LEXICAL} {BY_WORDS}" if is_by_words_somewhere else "",
        kinds_of_data=sorted({entry.data for entry in own} - {"full"}),
        judges=sorted({each.judge.name for each in own if each.judge and not is_lexical(each.judge.name)} - {"none"}),
        signed=sorted({entry.source.signed_off_by.partition(" <")[0] for entry in own} - {""}),
        scores=model_score_table(model.key, standings, links), entries=entries_table(own),
        digests=sorted({item for entry in own for item in entry.source.sha256.items()}),
    )  # fmt: skip


def entries_of(model: str, board: Leaderboard) -> list[LeaderboardEntry]:
    """A model's entries, suites in the order of their pages."""
    places = suite_words.sort_suites(board.suites)
    entries = [entry for entry in board.entries if entry.model.key == model]
    return sorted(entries, key=lambda entry: places.index(entry.suite))


def model_score_table(model: str, standings: BoardStandings, links: PageLinks) -> Frame:
    """All measures of a model, with its rank if they are ranked."""
    rows = []
    own = entries_of(model, standings.board)
    for entry in own:
        for name in entry.metrics:
            shown = entry.scale(name)
            ranked = standings.of(entry.task, name) if entry.ranked and name in entry.main_metrics else {}
            standing = ranked.get(model)
            mean = standing.mean if standing else entry.interval(name, with_interval=standings.resamples > 0)
            value, rank = standing_cells(standing, shown) if standing else (scaled_cell(mean, shown.factor), NONE)
            rows.append(
                FrameRow((Cell(entry.task, href=links.suite(entry.suite)), Cell(name),
                     standings.marked(value, entry, name), Cell(shown.unit), rank,
                     Cell(len(ranked)) if ranked else NONE, Cell(mean.n) if entry.is_mean(name) else NONE))
            )  # fmt: skip
    columns = (label_column("task"), label_column("measure"), FrameColumn("score", digits=2), label_column("unit"),
               count_column("rank"), count_column("of"), count_column("questions"))  # fmt: skip
    return Frame("scores", "Scores", columns, tuple(rows), (board_tables.intervals_note(own), SHORT), marks=RANK_MARKS)


def entries_table(own: Iterable[LeaderboardEntry]) -> Frame:
    """Data, version, judge and harness of each entry of a model."""
    rows = []
    for entry in own:
        judge = entry.judge.name if entry.judge else None
        harness = None if entry.harness.startswith(("unknown", "?")) else entry.harness
        told = (judge, harness, entry.source.kind, entry.level or None, entry.source.date)
        texts = (entry.task, entry.version, entry.data, *told)
        rows.append(FrameRow((*map(Cell, texts), Cell(entry.counts.rows), board_tables.problem_codes(entry))))
    heads = ("task", "version", "data", "judge", "lmms-eval", "from a", "verified", "run")
    columns = (*map(label_column, heads), count_column("questions"), label_column("notes"))
    return Frame("entries", "What was run", columns, tuple(rows))
