"""MedObvious: the charts of its report, drawn from its tables."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.charts import Lines, Plane, Points
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.medobvious.measures import FORMATS
from lmms_medtasks.task_configs.medobvious.report_published import (
    CHANCE_ROW,
    FORMATS_TABLE,
    GROUPS,
    NEGATIVES,
    POSITIVES,
    SHORT,
)
from lmms_medtasks.task_configs.medobvious.report_tables import SIZES


def _found_by_claiming(rows: Samples) -> float:
    """Percent of the outliers that are found by always naming one, at a random place.

    Uniform guessing over ``n`` answers of which one says none is right with 1 / n, over the others with 1 / (n - 1).
    """
    chance = rows.where(POSITIVES).scored("chance").column("chance.score")
    return 100 * float((chance / (1 - chance)).mean()) if len(chance) else 100.0


PLANE = Plane(
    "plane",
    "Correct with an outlier against wrong without one",
    "Up: outliers found. Right: wrong where there is none, by a false alarm or by a reply without an answer (false "
    "alarms have a table of their own). A model that always answers none stands lower left, one that always names an "
    "outlier at the right edge. "
    "Dashed: guessing. It ends below 100, as the place of the outlier must be correct too. Hollow: published models, "
    f"across 100 less their accuracy where there is none. Bars: {LEVEL} intervals.",
    FORMATS_TABLE,
    ("positive", "negative"),
    CHANCE_ROW,
    ("wrong where there is none, percent", "correct where there is an outlier, percent"),
    shown=lambda sources: any(
        all(len(each.rows.where(sign).scored("accuracy")) for sign in (POSITIVES, NEGATIVES)) for each in sources
    ),
    groups={name: name for name in GROUPS},
    labelled=("Human expert", "Qwen2.5-VL-7B", "MedGemma1.5-4B-IT", "Qwen3-VL-8B", "Gemini-2.0-Flash"),
    alarms=True,
    claimed=_found_by_claiming,
)
FORMAT_POINTS = Points(
    "formats",
    "Sensitivity to the format",
    "Detection and visual referring are asked about grids without an outlier too, referring MCQ "
    f"and open are not. Hollow: the paper's models. Bars are {LEVEL} intervals over items.",
    FORMATS_TABLE,
    FORMATS,
    CHANCE_ROW,
    heads=tuple(SHORT.values()),
    left_out=("human",),
)


def several_sizes(sources: Sequence[Source]) -> bool:
    return any(len(set(each.rows.column("grid"))) > 1 for each in sources)


SCALING = Lines(
    "scaling",
    "Accuracy against the number of panels",
    f"How a model does as there is more to compare. Bars are {LEVEL} intervals over items.",
    SIZES,
    ("detection, positives", "negatives", "overall"),
    shown=several_sizes,
    x="panels",
    heads=("outlier's place (detection)", "where there is none", "all questions"),
)
