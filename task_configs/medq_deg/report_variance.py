"""MedQ-Deg: where the variance of its accuracy comes from, images, questions, degradations and trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lmms_medtasks.record import FAILED
from lmms_medtasks.report.cells import NONE, count, label, share
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow
from lmms_medtasks.report.views import Source, View
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.variance_components import nested_components
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise, levels

_COLUMNS = (
    label("severity"),
    label("level"),
    count("units"),
    FrameColumn("standard deviation", digits=2, unit="points"),
    share("of the variance of one score"),
    share("of the variance of the mean"),
)
_NOTES = (
    "Random effects, each level within the one above, by the method of moments; an estimate below 0 is shown as 0. "
    "Levels joined by and can't be told apart: each unit of one has one unit of the other. Empty: one unit, or no "
    "variation.",
    "Of the variance of the mean: what more units of that level would reduce. The interval of the mean, which is "
    "over images, has all levels of this table in it.",
)


def _components(sources: Sequence[Source]) -> Frame | None:
    rows = [
        row
        for level in levels(sources[0])
        for row in _rows(f"L{level}", sources[0].rows.where({"severity": level}), degraded=level > 0)
    ]
    title = "Where the variance of accuracy comes from"
    return Frame("variance", title, _COLUMNS, tuple(rows), _NOTES) if rows else None


def _rows(severity: str, questions: Samples, *, degraded: bool) -> Iterator[FrameRow]:
    """A row for each level; none where there are fewer than two replies. Failed requests are left out."""
    names = {"image": "cluster", "question": "pair", **({"degradation": "id"} if degraded else {})}
    columns = zip(*(questions.column(name) for name in (*names.values(), "trials", "expected")), strict=True)
    scores = [
        (100.0 * (trial == expected), *units)
        for *units, trials, expected in columns
        for trial in trials
        if trial != FAILED and expected is not None
    ]
    if len(scores) < 2:
        return
    values, *units = zip(*scores, strict=True)
    parts = nested_components(values, dict(zip(names, units, strict=True)), "trial", "question")
    single = sum(max(part.variance or 0.0, 0.0) for part in parts)
    whole = sum(part.of_mean or 0.0 for part in parts)
    for part in parts:
        cells = (NONE, NONE, NONE)
        if part.variance is not None and part.of_mean is not None:
            size = max(part.variance, 0.0)
            cells = (
                Cell(size**0.5),
                Cell(100 * size / single) if single else NONE,
                Cell(100 * part.of_mean / whole) if whole else NONE,
            )
        yield FrameRow((Cell(severity), Cell(part.name), Cell(part.units), *cells))


VARIANCE = View(
    "variance",
    "Images, questions, degradations and trials",
    (_components,),
    shown=lambda sources: not asks_otherwise(sources[0]),
)
