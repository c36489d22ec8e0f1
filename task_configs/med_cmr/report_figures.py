"""Med-CMR: figures of its report: the dimensions, pairs of models, and size."""

from __future__ import annotations

import csv
from collections.abc import Sequence

import numpy as np

from lmms_medtasks.report.cells import scaled
from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.drawing import FAINT, INK, MARKERS, SERIES, canvas, svg
from lmms_medtasks.report.plots import Chart, interval_points
from lmms_medtasks.report.svg_charts import PointRow, point_chart
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Where
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import Scale, Tuned, asked, was_asked
from lmms_medtasks.task_configs.med_cmr.report_published import REFERENCE

MOST = 9
"""Lines or panels in one figure: more could not be told apart, the tables have them all."""

_TITLES = {"mcq": "multiple choice, points", "open": "open total, points"}


def _draw_own(sources: Sequence[Source]) -> str:
    """A row a dimension: accuracy and open total, with and without the image."""
    source, columns = sources[0], {}
    for shown, end in ((True, ""), (False, ", no image")):
        if was_asked(source, "mcq", shown):
            columns[f"choice questions{end}"] = (source, ACCURACY, asked("mcq", shown), 100.0)
        if was_asked(source, "open", shown):
            columns[f"open answers{end}"] = (source, TOTAL, asked("open", shown), 1.0)
    return point_chart(_TITLE, list(columns), _rows(list(columns.values())), "percent right; points of 100")


def _draw_several(sources: Sequence[Source]) -> str:
    """A row a dimension: the multiple-choice accuracy of each model."""
    chosen = [each for each in sources if was_asked(each, "mcq")]
    columns = [(each, ACCURACY, asked("mcq"), 100.0) for each in chosen]
    return point_chart(_TITLE, [each.name for each in chosen], _rows(columns), "choice questions right, percent")


def _rows(columns: Sequence[tuple[Source, Mean, Where, float]]) -> list[PointRow]:
    with (REFERENCE / "results.csv").open(encoding="utf-8", newline="") as lines:
        printed = list(csv.DictReader(lines))
    return [
        PointRow(
            each.name,
            tuple(
                scaled(source.interval(of, {**where, **BY_DIMENSION[each.short]}), factor)
                for source, of, where, factor in columns
            ),
            tuple((row["model"], float(row[each.short])) for row in printed if row.get(each.short)),
        )
        for each in dimensions()
    ]


def _own_is_drawn(sources: Sequence[Source]) -> bool:
    return any(was_asked(sources[0], form, shown) for form in ("mcq", "open") for shown in (True, False))


_TITLE = "The seven dimensions"
_ABOUT = "Bars are 95 % intervals over images. Hollow: the choice questions of the paper's models, on the paper's data."
DIMENSIONS_CHART = Chart("dimensions", _TITLE, _ABOUT, "main", _draw_own, _own_is_drawn)
DIMENSIONS_OF_MODELS = Chart(
    "dimensions", _TITLE, _ABOUT, "main", _draw_several, lambda sources: any(was_asked(each, "mcq") for each in sources)
)


def tuned_figure(found: Sequence[Tuned], prefix: str) -> Figure:
    """Change from each base to its tuned model, a panel a pair and form, a point a dimension."""
    title = "From base to medically fine-tuned model, by dimension"
    shown = found[:MOST]
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    with canvas(3.8 * columns, 2.5 * rows) as figure:
        grid = figure.subplots(rows, columns, squeeze=False).ravel()
        for panel, axes in enumerate(grid):
            if panel >= len(shown):
                axes.set_visible(False)
                continue
            each = shown[panel]
            changes = [each.changes[name]["change"] if name in each.changes else None for name in ("", *DIMENSIONS)]
            axes.axhline(0, color=FAINT, linewidth=0.8)
            choice = each.form == "mcq"
            interval_points(axes, np.arange(len(changes)), changes, 100 if choice else 1, 0 if choice else 1)
            axes.set_xticks(range(len(changes)), ["all", *DIMENSIONS])
            axes.set_xlim(-0.5, len(changes) - 0.5)
            axes.set_title(f"{_short(each.base)} → {_short(each.tuned)}\n{_TITLES[each.form]}")
            axes.grid(axis="y")
        rest = f" The first {MOST} of {len(found)}." if len(found) > MOST else ""
        about = f"Below 0 the fine-tuned model is worse. Bars are 95 % intervals over images.{rest}"
        return Figure("pairs", title, about, svg(figure, f"{prefix}-pairs", title), "pair_dimensions")


def size_figure(found: Scale, prefix: str) -> Figure:
    """Scores against the number of parameters, on a logarithmic axis."""
    title = "Scores against the number of parameters"
    shown = [name for name in ("MCQ all", "Open all") if name in found.scores]
    with canvas(3.8 * max(1, len(shown)), 2.9) as figure:
        grid = figure.subplots(1, max(1, len(shown)), squeeze=False).ravel()
        for number, name in enumerate(shown):
            axes = grid[number]
            for model, value in found.scores[name].items():
                axes.scatter(found.parameters[model] / 1e9, value, color=SERIES[number], marker=MARKERS[number], s=28)
                axes.annotate(_short(model), (found.parameters[model] / 1e9, value), xytext=(5, 4),
                              textcoords="offset points", fontsize=7.5, color=INK)  # fmt: skip
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.xaxis.set_minor_formatter("")
            axes.margins(x=0.25, y=0.2)
            axes.set_xlabel("parameters, billions")
            axes.set_title(name)
            axes.grid()
        about = "Each point is a model; the correlations are in the table."
        return Figure("scale", title, about, svg(figure, f"{prefix}-scale", title), "scale_models")


def _short(name: str) -> str:
    return name if len(name) <= 28 else f"{name[:27]}…"
