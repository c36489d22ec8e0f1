"""A chart as it is declared beside its table, and its drawing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lmms_medtasks.report import document
from lmms_medtasks.report.charts.chart_spec import ChartSpec, Mark
from lmms_medtasks.report.charts.heat import heat_chart
from lmms_medtasks.report.charts.plane_panels import panels_of, said_of
from lmms_medtasks.report.charts.planes import SMALL, SMALL_WIDTHS, Guide, plane_chart
from lmms_medtasks.report.charts.row_charts import bullet_chart, point_chart, range_chart
from lmms_medtasks.report.document import ReportFigure
from lmms_medtasks.report.views import ModelResults, TableSpec

_NAMED, _ALONE, _SEVERAL = 360.0, 300.0, 200.0
"""Heights of a plot with names beside its marks, of others, and of one beside others, in pixels."""


@dataclass(frozen=True)
class Chart(ChartSpec):
    """A chart that draws itself; its fields and errors are those of :class:`ChartSpec`."""

    def figure(self, sources: Sequence[ModelResults]) -> ReportFigure | None:
        """The figure of these sources; None where they have none."""
        if not self.shown(sources):
            return None
        about = self.about(sources) if callable(self.about) else self.about
        return self._figure(self.marks(sources), about, self._guides(sources))

    def of(self, table: document.Frame) -> ReportFigure | None:
        """The figure of a table that is made already; None where it has no number of its own."""
        return self._figure(self.marks_of(table), str(self.about), (), table.key)

    def small(self, source: ModelResults) -> str:
        """The chart of one source for a column of a page, without legend and titles; "" where it has none."""
        marks = self.marks([source])
        return self.drawn(marks, self._guides([source]), small=True) if _is_own(marks) else ""

    def drawn(self, marks: Sequence[Mark], guides: Sequence[Guide] = (), *, small: bool = False) -> str:
        """The marks as an <svg>; ``small``: of a plane, a heat map or bullets, for a column of a page."""
        if self.kind == "plane":
            panels = panels_of(self, marks, guides, is_small=small)
            said = said_of(self.title, panels)
            if small:
                return plane_chart(said, panels[:1], height=SMALL, entries=(), widths=SMALL_WIDTHS)
            alone = _NAMED if self.names == "points" else _ALONE
            return plane_chart(said, panels, height=alone if len(panels) == 1 else _SEVERAL)
        if self.kind == "heat":
            return heat_chart(self, marks, small=small)
        if self.kind == "bullets":
            return bullet_chart(self, marks, small=small)
        return range_chart(self, marks) if self.kind == "ranges" else point_chart(self, marks)

    def _guides(self, sources: Sequence[ModelResults]) -> tuple[Guide, ...]:
        return (self.guide(sources[0].rows),) if self.guide else ()

    def _figure(self, marks: Sequence[Mark], about: str, guides: Sequence[Guide], key: str = "") -> ReportFigure | None:
        if not _is_own(marks):
            return None
        key = self.numbers or key or (self.table.key if isinstance(self.table, TableSpec) else self.key)
        kept = {id(each) for row in self.chosen(marks).values() for each in row}
        shown = (mark for mark in marks if mark.kind != "reference" or id(mark) in kept)
        records = tuple(each.as_record(self) for each in shown)
        svg = self.drawn(marks, guides)
        return ReportFigure(self.key, self.title, about, svg, key, self.folded, self.kind, records)


def _is_own(marks: Iterable[Mark]) -> bool:
    """Whether a mark of ours has a place: its number, and across one too where others have one."""
    marks = list(marks)
    across = any(mark.x.value is not None for mark in marks)
    return any(
        mark.kind == "run" and mark.y.value is not None and (not across or mark.x.value is not None) for mark in marks
    )
