"""What guessing gets on a measure, where the questions or their benchmark say it."""

from __future__ import annotations

import numpy as np

from lmms_medtasks.board.entries import Entry
from lmms_medtasks.report.findings import chance_of_options
from lmms_medtasks.report.reported_suites import report_of

_MEASURE = "chance.score"
"""The column of a benchmark that says of each question what guessing gets."""


def guessing(entry: Entry, metric: str) -> float | None:
    """The mean of what a uniform guess gets on the metric's questions, in its measure's own unit.

    What the benchmark's report declares (``guessing``), else as the questions say. None where that is not known: for
    numbers that are no mean of the benchmark's first measure, and questions without options.
    """
    suite = entry.declaration
    if suite is None or not entry.is_mean(metric) or entry.scale(metric).unit != "%":
        return None
    measure = entry.scale(metric).name
    if measure != next((entry.scale(each).name for each in entry.main_means), None):
        return None
    if measure in (declared := report_of(suite).guessing):
        return declared[measure]
    rows = entry.scored(metric)
    if _MEASURE in rows.columns:
        known = rows.column(_MEASURE).astype(float)
        return float(known.mean()) if len(known) and not np.isnan(known).any() else None
    return chance_of_options(rows) if "option_count" in rows.columns else None
