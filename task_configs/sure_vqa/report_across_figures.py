"""SURE-VQA: ranks of methods."""

from __future__ import annotations

from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Figure, Frame
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.sure_vqa.report_across import Across


def ranks(found: Across, table: Frame) -> Figure | None:
    """Each method's rank by RR under each condition (SURE-VQA, Figure 8b)."""
    heads = {f"{name} rank": name for name in found.methods if any(name in own for own in found.ranks.values())}
    about = (
        "Only methods that are better than their baselines. Bars: the ranks that the paired tests leave open, all of "
        f"which hold together with {LEVEL}."
    )
    axis = ("rank (1: highest RR)",)
    return Chart("points", "ranks", table.title, about, "ranks", list(heads), heads=heads, scale="ranks", axis=axis).of(
        table
    )
