"""SURE-VQA: ranks of methods."""

from __future__ import annotations

from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.charts import (
    Axis,
    PointRow,
    point_chart,
)
from lmms_medtasks.report.document import Cell, Figure
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.sure_vqa.report_across import Across


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
