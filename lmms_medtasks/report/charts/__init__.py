"""Charts as SVG: what each kind takes is a declaration; nothing here knows a benchmark."""

from __future__ import annotations

from lmms_medtasks.report.charts.chart import Chart
from lmms_medtasks.report.charts.planes import Guide

__all__ = ["Chart", "Guide"]
