"""Charts as SVG: what each kind takes is a declaration; nothing here knows a benchmark."""

from __future__ import annotations

from lmms_medtasks.report.charts.axes import (
    Axis,
    axis_of,
    logarithmic_axis,
    percent_axis,
    places_axis,
    quarters_axis,
    step_of,
)
from lmms_medtasks.report.charts.chart import Chart
from lmms_medtasks.report.charts.heat import HeatCell, HeatRow, ShareRow, heat_chart, share_chart, with_links
from lmms_medtasks.report.charts.planes import Guide, Panel, Point, Series, plane_chart, small_plane
from lmms_medtasks.report.charts.points import PointRow, point_chart
from lmms_medtasks.report.charts.ranges import RangeRow, range_chart
from lmms_medtasks.report.charts.svg import (
    BETWEEN,
    DISC,
    GUESS,
    MODELS,
    OTHER,
    PUBLISHED,
    PUBLISHED_GROUPS,
    RING,
    WORST,
    Look,
    signed,
)

__all__ = [
    "BETWEEN",
    "DISC",
    "GUESS",
    "MODELS",
    "OTHER",
    "PUBLISHED",
    "PUBLISHED_GROUPS",
    "RING",
    "WORST",
    "Axis",
    "Chart",
    "Guide",
    "HeatCell",
    "HeatRow",
    "Look",
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
    "quarters_axis",
    "range_chart",
    "share_chart",
    "signed",
    "small_plane",
    "step_of",
    "with_links",
]
