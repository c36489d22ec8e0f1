"""MedObvious: the charts of its report, over its tables."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.charts import Chart, Guide
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.medobvious.measures import FORMATS
from lmms_medtasks.task_configs.medobvious.report_published import FORMATS_TABLE, POSITIVES
from lmms_medtasks.task_configs.medobvious.report_tables import SIZES


def found_by_claiming(rows: Samples) -> Guide:
    """What guesses get that claim an outlier more or less often, from never to always, at a random place.

    Uniform guessing over ``n`` answers of which one says none is right with 1 / n, over the others with 1 / (n - 1).
    """
    chance = rows.where(POSITIVES).scored("chance").column("chance.score")
    return Guide(0, 0, 100, 100 * float((chance / (1 - chance)).mean()) if len(chance) else 100.0, "guessing")


PLANE = Chart(
    "plane",
    "plane",
    "Correct with an outlier against wrong without one",
    "Up: outliers found. Right: wrong where there is none, by a false alarm or by a reply without an answer (false "
    "alarms have a table of their own). A model that always answers none stands lower left, one that always names an "
    "outlier at the right edge. "
    "Dashed: guessing. It ends below 100, as the place of the outlier must be correct too. Hollow: published models, "
    f"across 100 less their accuracy where there is none. Bars: {LEVEL} intervals.",
    FORMATS_TABLE,
    ("positive",),
    x="negative",
    rest={"negative": 100},
    group="source",
    axis=("wrong where there is none, percent", "correct where there is an outlier, percent"),
    guide=found_by_claiming,
)
FORMAT_POINTS = Chart(
    "points",
    "formats",
    "Sensitivity to the format",
    "Detection and visual referring are asked about grids without an outlier too, referring MCQ "
    f"and open are not. Hollow: the paper's models and its human expert. Bars are {LEVEL} intervals over items.",
    FORMATS_TABLE,
    FORMATS,
    turned=True,
    axis=("percent correct",),
)


def several_sizes(sources: Sequence[Source]) -> bool:
    return any(len(set(each.rows.column("grid"))) > 1 for each in sources)


SCALING = Chart(
    "plane",
    "scaling",
    "Accuracy against the number of panels",
    f"How a model does as there is more to compare. Bars are {LEVEL} intervals over items.",
    SIZES,
    {
        "outlier's place (detection)": ("detection, positives",),
        "where there is none": ("negatives",),
        "all questions": ("overall",),
    },
    x="panels",
    joined=True,
    axis=("panels",),
    shown=several_sizes,
)
