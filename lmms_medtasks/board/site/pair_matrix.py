"""Who is better beyond chance: each two models of a ranking, with the difference and its interval."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from lmms_medtasks.board.model_names import short_names
from lmms_medtasks.board.site.board_tables import Standings
from lmms_medtasks.board.site.suite_chart import TaskMeasure
from lmms_medtasks.report.cells import label
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow

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


def matrix(standings: Standings, head: TaskMeasure, hrefs: dict[str, str]) -> Matrix | None:
    """The pairs of a measure's ranking; ``hrefs``: model key -> its page. None where the models were not compared."""
    keys, found = standings.ranking(*head)
    pairs = found.pairs
    if pairs is None:
        return None
    shown = standings.board.scale(*head)
    order = sorted(
        range(len(keys)), key=lambda place: (found.standings[place].rank or 0, standings.titles[keys[place]])
    )
    signs = np.where(pairs.better, BETTER, np.where(pairs.better.T, WORSE, ALIKE))

    # What a later step tells apart is above 0, or below it, though the first step's interval holds 0.
    lows = np.where(pairs.better, np.maximum(pairs.difference_low, 0.0), pairs.difference_low)
    highs = np.where(pairs.better.T, np.minimum(pairs.difference_high, 0.0), pairs.difference_high)

    # The most that a model can lead is the whole scale.
    whole = shown.high - shown.low
    lows, highs = (np.where(np.isfinite(each), np.clip(each, -whole, whole), each) for each in (lows, highs))

    def text(value: float) -> str:
        return _signed(shown.factor * value, shown.digits)

    def pair(row: int, column: int) -> Pair | None:
        if row == column:
            return None
        low, high = lows[row, column], highs[row, column]
        interval = f"{text(low)} to {text(high)}" if np.isfinite([low, high]).all() else ""
        interval = _NO_DIFFERENCE if low == high == 0 else interval
        return Pair(str(signs[row, column]), text(pairs.difference[row, column]), interval)

    rows = []
    for row, column in itertools.combinations(order, 2):
        difference, low, high = (shown.factor * float(each[row, column]) for each in (pairs.difference, lows, highs))
        ends = (low, high) if np.isfinite([low, high]).all() else (None, None)
        names = (Cell(standings.titles[keys[row]]), Cell(standings.titles[keys[column]]))
        p = Cell(float(pairs.p[row, column]))
        rows.append(FrameRow((*names, Cell(_SAID[str(signs[row, column])]), Cell(difference, *ends), p)))
    unit = "points" if shown.unit == "%" else shown.unit
    columns = (
        label("model"), label("other model"), label("beyond chance"),
        FrameColumn("lead", digits=shown.digits, signed=True, unit=unit), FrameColumn("p, no better", digits=4),
    )  # fmt: skip
    best, short = order[:MOST], short_names(standings.titles.values())
    return Matrix(
        tuple(short[standings.titles[keys[place]]] for place in best),
        tuple(hrefs[keys[place]] for place in best),
        tuple(tuple(pair(row, column) for column in best) for row in best),
        Frame("pairs", "Each two models", columns, tuple(rows)),
        len(order) - len(best),
        unit,
    )


def _signed(value: float, digits: int) -> str:
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text.lstrip("+−") if not text.strip("+−0.") else text
