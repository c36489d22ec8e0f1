"""Who is better beyond chance: each two models of a ranking, with the difference and its interval."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.site.board_tables import Links, Standings
from lmms_medtasks.board.site.suite_chart import TaskMeasure
from lmms_medtasks.report.cells import frame, label, p_value
from lmms_medtasks.report.document import Cell, Frame, FrameColumn

MOST = 10
"""Models in the matrix, the best; the file has all pairs."""
BETTER, WORSE, ALIKE = "▲", "▼", "="
_SAID = {BETTER: "better", WORSE: "worse", ALIKE: "not told apart"}
_NO_DIFFERENCE = "no image differs"
NOTE = (
    "Each pair is compared on the same questions, {cluster} by {cluster}, with the test that makes the ranks. All "
    "intervals hold together at {level}. An interval may end at 0 although the pair is told apart: a later step of the "
    "test (max-T, step-down) decided. Ends beyond the scale are cut off."
)


@dataclass(frozen=True)
class Pair:
    """A row's model against a column's: ``sign`` is one of ▲ ▼ =.

    ``difference``, ``interval``: by how much the row's model leads, as shown; of errors, by how many fewer it has.
    """

    sign: str
    difference: str
    interval: str


@dataclass(frozen=True)
class Matrix:
    """The best models and their pairs, ``None`` on the diagonal.

    ``table``: all pairs, each once, the better-placed model first. ``more``: models that are left out of ``rows``.
    ``unit``: of the differences.
    """

    names: tuple[str, ...]
    hrefs: tuple[str, ...]
    rows: tuple[tuple[Pair | None, ...], ...]
    table: Frame
    more: int
    unit: str

    @property
    def signs(self) -> set[str]:
        """The signs that its rows have."""
        return {pair.sign for row in self.rows for pair in row if pair}


def matrix(standings: Standings, head: TaskMeasure, links: Links) -> Matrix | None:
    """The pairs of a measure's ranking, None where the models were not compared."""
    keys, found = standings.ranking(*head)
    pairs = found.pairs
    if pairs is None:
        return None
    shown, titles = standings.board.scale(*head), [standings.titles[key] for key in keys]
    order = sorted(range(len(keys)), key=lambda place: (found.standings[place].rank or 0, titles[place]))
    signs = np.where(pairs.better, BETTER, np.where(pairs.better.T, WORSE, ALIKE))

    # What a later step tells apart is above 0, or below it, though the first step's interval holds 0.
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

    def pair(row: int, column: int) -> Pair | None:
        cell = led(row, column)
        difference, interval = lead.parts(cell)
        interval = _NO_DIFFERENCE if cell.low == cell.high == 0 else interval
        return None if row == column else Pair(str(signs[row, column]), difference, interval)

    rows = (
        (titles[row], titles[column], _SAID[str(signs[row, column])], led(row, column), float(pairs.p[row, column]))
        for row, column in itertools.combinations(order, 2)
    )
    columns = (label("model"), label("other model"), label("beyond chance"), lead, p_value("p, no better"))
    table = frame("pairs", "Each two models", columns, rows)
    best = order[:MOST]
    if table is None:
        return None
    return Matrix(
        tuple(titles[place] for place in best),
        tuple(links.model(keys[place]) for place in best),
        tuple(tuple(pair(row, column) for column in best) for row in best),
        table,
        len(order) - len(best),
        unit,
    )
