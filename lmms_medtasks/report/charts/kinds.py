"""A declared chart and its marks, drawn as its kind says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lmms_medtasks.report.charts.bullets import bullet_chart
from lmms_medtasks.report.charts.heat import Address, heat_chart, share_chart
from lmms_medtasks.report.charts.plane_panels import panels_of, said_of
from lmms_medtasks.report.charts.planes import Guide, plane_chart, small_plane
from lmms_medtasks.report.charts.points import point_chart
from lmms_medtasks.report.charts.ranges import range_chart

if TYPE_CHECKING:
    from lmms_medtasks.report.charts.chart import Chart, Mark

_NAMED, _ALONE, _SEVERAL, _LINE = 360.0, 300.0, 200.0, 26.0
"""Heights of a plot with names beside its marks, of others, of one beside others, and of a rank, in pixels."""


def drawn(
    chart: Chart,
    marks: Sequence[Mark],
    guides: Sequence[Guide] = (),
    *,
    legend: bool = True,
    small: bool = False,
    address: Address | None = None,
) -> str:
    """The chart as an <svg>.

    Without ``legend`` what is around a plane says what its marks are. ``small``: for a column of a page, of a plane, a
    heat map or bullets. ``address``: where the cells of a heat map lead to.
    """
    if chart.kind == "plane":
        panels = panels_of(chart, marks, guides, is_small=small)
        said = said_of(chart.title, panels)
        if small:
            return small_plane(said, panels[0])
        ranks = len(panels[0].series) * _LINE if chart.scale == "ranks" else 0
        alone = _NAMED if chart.names == "points" else _ALONE
        height = ranks or (alone if len(panels) == 1 else _SEVERAL)
        return plane_chart(said, panels, height=height, entries=None if legend else ())
    if chart.kind == "heat":
        return heat_chart(chart, marks, small=small, address=address)
    if chart.kind == "bullets":
        return bullet_chart(chart, marks, small=small)
    return {"ranges": range_chart, "points": point_chart, "shares": share_chart}[chart.kind](chart, marks)
