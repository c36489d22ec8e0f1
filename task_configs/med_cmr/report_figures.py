"""Med-CMR: figures of its report: the dimensions, pairs of models, and size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lmms_medtasks.report.cells import scaled
from lmms_medtasks.report.charts import (
    DISC,
    RING,
    Chart,
    Guide,
    HeatCell,
    HeatRow,
    Panel,
    Point,
    Series,
    axis_of,
    heat_chart,
    logarithmic_axis,
    places_axis,
    plane_chart,
    signed,
)
from lmms_medtasks.report.charts.heat import FEW
from lmms_medtasks.report.document import Figure
from lmms_medtasks.report.findings import BY_WORDS, Sketch
from lmms_medtasks.report.judged_tables import LEXICAL, marks
from lmms_medtasks.report.published import PublishedRow
from lmms_medtasks.report.views import Source
from lmms_medtasks.short_texts import first_listed, interval_text, short
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.med_cmr.dimensions import Dimension, dimensions
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import Scale, Tuned, asked, judging, was_asked
from lmms_medtasks.task_configs.med_cmr.report_published import PUBLISHED_ROWS

MOST = 9
"""Lines or panels in one figure: more could not be told apart, the tables have them all."""

_TITLES = {"mcq": "multiple choice, points", "open": "open total, points"}


PRINTED = 7
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
_ASKED = {("mcq", True): "choice questions", ("mcq", False): "choice questions, no image",
          ("open", True): "open answers", ("open", False): "open answers, no image"}  # fmt: skip


@dataclass(frozen=True)
class _Asked:
    """Questions of one form that a model was asked, and how their score is shown."""

    name: str
    source: Source
    form: str
    image_shown: bool = True

    def cell(self, dimension: Dimension) -> HeatCell:
        """The score of a dimension, of 100."""
        of, factor = (ACCURACY, 100.0) if self.form == "mcq" else (TOTAL, 1.0)
        where = {**asked(self.form, self.image_shown), **BY_DIMENSION[dimension.short]}
        found = self.source.interval(of, where)
        cell = scaled(found, factor)
        if not isinstance(cell.value, int | float):
            return HeatCell(None, found.n, 0.0)
        tasks = self.source.rows.where(asked(self.form, self.image_shown)).values("task")
        said = f"{self.name}, {dimension.name}: {cell.value:.1f}{interval_text(cell.low, cell.high, 1)}"
        return HeatCell(
            cell.value,
            found.n,
            cell.value / 100,
            f"{said}, {found.n:,} questions",
            str(tasks[0]) if self.form == "mcq" and len(tasks) == 1 else "",
            (("dimension", dimension.short),),
        )


def _draw_own(sources: Sequence[Source]) -> str:
    """A row for each form of questions, with and without the image."""
    return _draw([_Asked(name, sources[0], *form) for form, name in _ASKED.items() if was_asked(sources[0], *form)])


def _draw_several(sources: Sequence[Source]) -> str:
    """A row a model: its choice questions."""
    return _draw([_Asked(each.name, each, "mcq") for each in sources if was_asked(each, "mcq")])


def _draw(rows: Sequence[_Asked]) -> str:
    made = [HeatRow(row.name, tuple(map(row.cell, dimensions()))) for row in rows]
    own = [row for row in made if any(cell.value is not None for cell in row.cells)]
    ranked = _printed()
    step = (len(ranked) - 1) / (PRINTED - 1)
    chosen = [ranked[round(number * step)] for number in range(PRINTED)]
    printed = [HeatRow(row.texts["model"], tuple(_printed_cell(row, each) for each in dimensions())) for row in chosen]
    heading = HeatRow("published, choice:", ())
    return heat_chart(_TITLE, [each.short for each in dimensions()], [*own, heading, *printed], kind="score")


def _printed() -> list[PublishedRow]:
    """The paper's models, the best on choice questions first."""
    return sorted(PUBLISHED_ROWS.rows(), key=lambda row: -row.values("MCQ All")[0])


def _printed_cell(row: PublishedRow, dimension: Dimension) -> HeatCell:
    (value,) = row.values(dimension.short)
    said = f"{row.texts['model']}, {dimension.name}, published: {value:.2f}"
    return HeatCell(value, FEW, 0.0, said, published=True)


def sketch(source: Source) -> Sketch:
    """The dimensions of one model, beside the paper's best one on choice questions."""
    rows = [
        _Asked(name, source, form) for form, name in (("mcq", "choice"), ("open", "open")) if was_asked(source, form)
    ]
    rows = [row for row in rows if any(row.cell(each).value is not None for each in dimensions())]
    best = _printed()[0]
    lines = [
        HeatRow(each.words, (*(replace(row.cell(each), task="") for row in rows), _printed_cell(best, each)))
        for each in dimensions()
    ]
    svg = heat_chart(_TITLE, [*(row.name for row in rows), best.texts["model"]], lines, kind="score", small=True)
    judged = judging(source)
    words = f"; open: {BY_WORDS}" if len(rows) > 1 and judged and LEXICAL in marks(judged) else ""
    return Sketch(svg, f"of 100, by dimension; framed: {best.texts['model']}, published, choice questions{words}")


def _own_is_drawn(sources: Sequence[Source]) -> bool:
    return any(was_asked(sources[0], form, shown) for form in ("mcq", "open") for shown in (True, False))


_TITLE = "The seven dimensions"
_ABOUT = (
    f"Choice questions: percent correct; open answers: points of 100. Framed: {PRINTED} of the paper's models, evenly "
    f"spaced by rank, on the paper's data. The table has the {LEVEL} intervals. Columns: "
    f"{', '.join(f'{each.short} {each.words}' for each in dimensions())}."
)
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
    about = f"Below 0 the fine-tuned model is worse. Bars are {LEVEL} intervals over images.{rest}"
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
