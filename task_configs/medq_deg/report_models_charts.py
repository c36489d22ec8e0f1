"""MedQ-Deg: charts of several models: shift against accuracy, and ranks by level and task set."""

from __future__ import annotations

from lmms_medtasks.report.charts import Chart

OVERCONFIDENCE = Chart(
    "plane",
    "inter-model",
    "Calibration shift against accuracy by level",
    "As the paper draws it: accuracy and shift of the same replies. Models that are all alike make a falling "
    "cloud too, as luck raises accuracy and lowers shift. The table of equation 6 says what is beyond that.",
    "inter_model_points",
    ("shift",),
    x="accuracy",
    panel="level and task set",
    series="model",
    axis=("accuracy, percent",),
)
BUMP = Chart(
    "plane",
    "bump",
    "Ranks by level and task set",
    "Rank by accuracy, 1 is best. Where lines cross, two models change their order; grey lines keep their rank.",
    "ranks",
    (),
    joined=True,
    names="ends",
    scale="ranks",
    axis=("", "rank by accuracy"),
)
