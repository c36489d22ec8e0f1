"""MedQ-Deg: charts of confidence: by level, reliability, and risk against coverage."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from lmms_medtasks.report import document
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.views import Column, Source, Table
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.medq_deg.task_sets import SEVERITY

_LEVELS = {f"L{level}": f"{name} (L{level})" for level, name in SEVERITY.items()}
Made = Callable[[Sequence[Source]], document.Frame]


def shift_chart(table: Table) -> Chart:
    """Accuracy, confidence and their gap, the shift, by level, with intervals."""
    accuracy = Column("accuracy", unit="", digits=3, statistic="accuracy")
    columns = table.columns_of(())
    return Chart(
        "plane",
        "shift",
        "Accuracy, the paper's confidence C and calibration shift by level",
        f"Bars are {LEVEL} intervals over images. C and shift depend on T. If calibrated: the shift that calibrated "
        "replies with these votes would have; it is not 0.",
        replace(table, columns=tuple(accuracy if each.name == "accuracy" else each for each in columns)),
        {"Accuracy and confidence": ("accuracy", "confidence C"), "Shift": ("shift", "shift if calibrated")},
        x="level",
        heads=_LEVELS,
        joined=True,
    )


def reliability_chart(table: Made) -> Chart:
    """Share of right majority votes against confidence, a panel a kind of confidence, a line a level."""
    return Chart(
        "plane",
        "reliability",
        "Reliability: share correct by confidence",
        "A point is a bin of equal width, its area the number of questions. On the dashed line confidence equals the "
        "share correct; below it the model is too sure. Left: confidence is the majority's share of the votes. Right: "
        "it is C of equation 3, which is no probability.",
        table,
        ("share correct",),
        x="mean confidence",
        panel="confidence",
        series="level",
        size="questions",
        heads=_LEVELS,
        joined=True,
        steps=True,
        diagonal=True,
        axis=("confidence", "share correct"),
        numbers="reliability_bins",
    )


def coverage_chart(table: Made) -> Chart:
    """Risk against coverage, a line a level."""
    return Chart(
        "plane",
        "coverage",
        "Risk against coverage by level",
        "If only the most confident replies counted: the share of questions that have one, and how many are wrong.",
        table,
        ("risk",),
        x="coverage",
        series="level",
        heads=_LEVELS,
        joined=True,
        names="ends",
        steps=True,
        scale="fitted",
        axis=("coverage, the most confident first, percent", "wrong, percent"),
        numbers="risk_coverage",
    )
