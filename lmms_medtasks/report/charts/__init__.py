"""Charts as SVG: what each kind takes is a declaration; nothing here knows a benchmark."""

from __future__ import annotations

from lmms_medtasks.report.charts.axes import (
    Axis,
    axis_of,
    logarithmic_axis,
    percent_axis,
    places_axis,
)
from lmms_medtasks.report.charts.chart import Chart
from lmms_medtasks.report.charts.heat import HeatCell, HeatRow, ShareRow, heat_chart, share_chart, with_links
from lmms_medtasks.report.charts.planes import Guide, Panel, Point, Series, plane_chart
from lmms_medtasks.report.charts.points import PointRow, point_chart
from lmms_medtasks.report.charts.ranges import RangeRow, range_chart
from lmms_medtasks.report.charts.svg import (
    DISC,
    MODELS,
)

__all__ = [
    "DISC",
    "MODELS",
    "Axis",
    "Chart",
    "Guide",
    "HeatCell",
    "HeatRow",
    "Panel",
    "Point",
    "PointRow",
    "RangeRow",
    "Series",
    "ShareRow",
    "axis_of",
    "heat_chart",
    "logarithmic_axis",
    "percent_axis",
    "places_axis",
    "plane_chart",
    "point_chart",
    "range_chart",
    "share_chart",
    "with_links",
]
