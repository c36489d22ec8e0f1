"""Med-CMR: figures of its report: the dimensions, pairs of models, and size."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from lmms_medtasks.report.cells import scaled
from lmms_medtasks.report.charts import (
    DISC,
    RING,
    Chart,
    Guide,
    Panel,
    Point,
    PointRow,
    Series,
    axis_of,
    logarithmic_axis,
    places_axis,
    plane_chart,
    point_chart,
    signed,
)
from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.views import Source
from lmms_medtasks.samples.table import Where
from lmms_medtasks.short_texts import first_listed, short
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
    return point_chart(_TITLE, list(columns), _rows(list(columns.values())), "percent correct; points of 100")


def _draw_several(sources: Sequence[Source]) -> str:
    """A row a dimension: the multiple-choice accuracy of each model."""
    chosen = [each for each in sources if was_asked(each, "mcq")]
    columns = [(each, ACCURACY, asked("mcq"), 100.0) for each in chosen]
    return point_chart(_TITLE, [each.name for each in chosen], _rows(columns), "choice questions correct, percent")


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


def tuned_figure(found: Sequence[Tuned]) -> Figure:
    """Change from each base to its tuned model, a panel a pair and form, a point a dimension."""
    title = "From base to medically fine-tuned model, by dimension"
    panels, gist = [], []
    for each in found[:MOST]:
        factor = 100 if each.form == "mcq" else 1
        names = [name for name in ("", *DIMENSIONS) if name in each.changes]
        cells = {name: scaled(each.changes[name]["change"], factor) for name in names}
        points = tuple(
            Point(place, cell.value, f"{name or 'all'}: {signed(cell.value)} points", cell.low, cell.high)
            for place, name in enumerate(("", *DIMENSIONS))
            if (cell := cells.get(name)) and isinstance(cell.value, int | float)
        )
        ends = [end for point in points for end in (point.y, point.low, point.high)]
        x = places_axis(["all", *DIMENSIONS])
        look = DISC if each.form == "mcq" else RING
        pair = f"{short(each.base)} → {short(each.tuned)}"
        zero = Guide(x.low, 0, x.high, 0, kind="zero")
        panels.append(
            Panel(x, axis_of((0.0, *ends)), (Series("", points, look),), f"{pair}, {_TITLES[each.form]}", (zero,))
        )
        gist += [f"{pair}, {_TITLES[each.form]} {signed(points[0].y)}"] if points else []
    panels = [each for each in panels if each.series[0].points] or panels[:1]  # of open answers without a judge none
    rest = f" The first {MOST} of {len(found)}." if len(found) > MOST else ""
    about = f"Below 0 the fine-tuned model is worse. Bars are 95 % intervals over images.{rest}"
    svg = plane_chart(f"{title}. Change over all: {first_listed(gist)}.", panels, columns=1, height=130)
    return Figure("pairs", title, about, svg, "pair_dimensions")


def size_figure(found: Scale) -> Figure:
    """Scores against the number of parameters, on a logarithmic axis."""
    title = "Scores against the number of parameters"
    x = logarithmic_axis([each / 1e9 for each in found.parameters.values()], "parameters, billions")
    panels, gist = [], []
    for name in ("MCQ all", "Open all"):
        if name not in found.scores:
            continue
        points = tuple(
            Point(
                size := found.parameters[model] / 1e9,
                value,
                f"{model}: {size:g} billions, {value:.1f}",
                label=short(model, 22),
            )
            for model, value in found.scores[name].items()
        )
        panels.append(Panel(x, axis_of([each.y for each in points]), (Series("", points, DISC),), name))
        gist += [f"{name}, {each.said}" for each in points]
    about = "Each point is a model; the correlations are in the table."
    svg = plane_chart(f"{title}. {first_listed(gist)}.", panels, height=220)
    return Figure("scale", title, about, svg, "scale_models")
