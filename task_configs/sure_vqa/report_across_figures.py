"""SURE-VQA: ranks of methods, the win/loss matrix, and wins, ties and losses as bars."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.charts import (
    Axis,
    HeatCell,
    HeatRow,
    PointRow,
    ShareRow,
    heat_chart,
    point_chart,
    share_chart,
)
from lmms_medtasks.report.charts.heat import FEW
from lmms_medtasks.report.document import Cell, Figure
from lmms_medtasks.statistics.confidence import ALPHA, LEVEL
from lmms_medtasks.task_configs.sure_vqa.report_across import Across, Duel
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SIDE_NAMES


def ranks(found: Across) -> Figure:
    """Each method's rank by RR under each condition (SURE-VQA, Figure 8b)."""
    title = "Ranks by relative robustness"
    ranked = [name for name in found.methods if any(name in own for own in found.ranks.values())]
    rows = [
        PointRow(
            condition.label,
            tuple(Cell(each.rank, each.low, each.high) if (each := own.get(name)) else NONE for name in ranked),
        )
        for condition, own in found.ranks.items()
    ]
    axis = Axis(0.5, len(ranked) + 0.5, tuple(map(float, range(1, len(ranked) + 1))), "rank (1: highest RR)")
    about = (
        "Only methods that are better than their baselines. Bars: the ranks that the paired tests leave open, all of "
        f"which hold together with {LEVEL}."
    )
    return Figure("ranks", title, about, point_chart(title, ranked, rows, axis), "ranks")


def win_loss(found: Across) -> Figure:
    """The win/loss matrix of the paired tests, as Figure 19 of SURE-VQA draws that of its own."""
    title = "Wins and losses in relative robustness"
    names, wins = found.win_loss.methods, found.win_loss.wins
    most = max(1, int(found.win_loss.comparisons.max(initial=0)))

    def cell(row: int, column: int) -> HeatCell:
        if row == column:
            return HeatCell(None, 0, 0.0)
        own = int(wins[row, column])
        said = f"{names[row]} more robust than {names[column]} in {own} conditions"
        return HeatCell(own, FEW, own / most, said)

    rows = [
        HeatRow(f"{place + 1} {name}", tuple(cell(place, column) for column in range(len(names))))
        for place, name in enumerate(names)
    ]
    heads = [str(place + 1) for place in range(len(names))]
    about = (
        f"Number of conditions in which the row's method has the higher RR than the column's, with p < {ALPHA} paired "
        "by image, after Holm's correction. Columns are numbered as the rows."
    )
    return Figure("win-loss", title, about, heat_chart(title, heads, rows, kind="score"), "win_loss")


def duels(found: Sequence[Duel], table: str, title: str) -> Figure:
    """Wins, ties and losses as bars of 100 % (SURE-VQA, Figures 5 and 6)."""
    shown = [each for each in found if each.versus.n]
    several = len({(each.first, each.second) for each in shown}) > 1
    rows = []
    for each in shown:
        pair = f"{each.first} / {each.second}: " if several else ""
        shares = tuple(100 * (getattr(each.versus, name).estimate or 0.0) for name in ("win", "tie", "loss"))
        rows.append(ShareRow(f"{pair}{each.condition.label} {SIDE_NAMES[each.side]}", shares))
    first = f"{shown[0].first} against {shown[0].second}" if shown and not several else "the first against the second"
    about = f"Percent of the questions, {first}: win on the left, tie in the middle, loss on the right."
    svg = share_chart(title, ("win", "tie", "loss"), rows)
    return Figure(table.replace("_", "-"), title, about, svg, table)
