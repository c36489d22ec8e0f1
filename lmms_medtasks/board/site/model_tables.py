"""A model's own tables: all its measures with their ranks, and what was run."""

from __future__ import annotations

from collections.abc import Iterable

from lmms_medtasks.board.boards import Board
from lmms_medtasks.board.entries import Entry
from lmms_medtasks.board.site import suite_words
from lmms_medtasks.board.site.board_tables import (
    RANK_MARKS,
    Links,
    Standings,
    cell,
    harness,
    intervals_note,
    problem_codes,
    standing_cells,
)
from lmms_medtasks.board.site.ranking import SHORT
from lmms_medtasks.report.cells import NONE, count, label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow


def entries_of(model: str, board: Board) -> list[Entry]:
    """A model's entries, suites in the order of their pages."""
    places = suite_words.order(board.suites)
    return sorted(
        (entry for entry in board.entries if entry.model.key == model), key=lambda entry: places.index(entry.suite)
    )


def scores(model: str, standings: Standings, links: Links) -> Frame:
    """All measures of a model, those that stand in a ranking with their ranks."""
    rows = []
    own = entries_of(model, standings.board)
    for entry in own:
        for name in entry.metrics:
            shown = entry.scale(name)
            ranked = standings.of(entry.task, name) if entry.ranked and name in entry.main_metrics else {}
            standing = ranked.get(model)
            mean = standing.mean if standing else entry.interval(name, standings.resamples > 0)
            value, rank = standing_cells(standing, shown) if standing else (cell(mean, shown), NONE)
            rows.append(
                FrameRow((Cell(entry.task, href=links.suite(entry.suite)), Cell(name),
                     standings.marked(value, entry, name), Cell(shown.unit), rank,
                     Cell(len(ranked)) if ranked else NONE, Cell(mean.n) if entry.is_mean(name) else NONE))
            )  # fmt: skip
    columns = (label("task"), label("measure"), FrameColumn("score", digits=2), label("unit"),
               count("rank"), count("of"), count("questions"))  # fmt: skip
    return Frame("scores", "Scores", columns, tuple(rows), (intervals_note(own), SHORT), marks=RANK_MARKS)


def facts(own: Iterable[Entry]) -> Frame:
    """What each entry of a model is of: data, version, judge, harness."""
    rows = []
    for entry in own:
        judge = entry.judge.name if entry.judge else None
        told = (judge, harness(entry), entry.source.kind, entry.level or None, entry.source.date)
        texts = (entry.task, entry.version, entry.data, *told)
        rows.append(FrameRow((*map(Cell, texts), Cell(entry.counts.rows), problem_codes(entry))))
    heads = ("task", "version", "data", "judge", "lmms-eval", "from a", "verified", "run")
    columns = (*map(label, heads), count("questions"), label("notes"))
    return Frame("entries", "What was run", columns, tuple(rows))
