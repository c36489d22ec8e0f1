"""Med-CMR: the chart of its dimensions, and the small one of the first screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from lmms_medtasks.report.cells import number
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import BY_WORDS, Sketch
from lmms_medtasks.report.judged_tables import LEXICAL, marks
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.task_configs.med_cmr.dimensions import dimensions
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import asked, judging, was_asked
from lmms_medtasks.task_configs.med_cmr.report_published import MAIN, PUBLISHED_ROWS

_PRINTED = 7
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
_ASKED = {("mcq", True): "choice questions", ("mcq", False): "choice questions, no image",
          ("open", True): "open answers", ("open", False): "open answers, no image"}  # fmt: skip
_ALL = "MCQ All"


def _total(dimension: str) -> CellFunction:
    """The total of open answers, of 100."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        return number(source.interval(TOTAL, {**row.where, **BY_DIMENSION.get(dimension, {})}))

    return cell


def _rows(sources: Sequence[Source]) -> Iterator[Row]:
    """Of one model a row for each form of questions, with and without the image; of several their choice questions."""
    forms = _ASKED if len(sources) == 1 else {("mcq", True): ""}
    for source in sources:
        for (form, shown), name in forms.items():
            if was_asked(source, form, shown):
                totals = {each: _total(each) for each in (*DIMENSIONS, _ALL)} if form == "open" else {}
                labels = (name or source.name, "image" if shown else "no image")
                yield Row(labels, asked(form, shown), estimates=totals, source=source)


DIMENSIONS_CHART = Chart(
    "heat",
    "dimensions",
    "The seven dimensions",
    f"Choice questions: percent correct; open answers: points of 100. Framed: {_PRINTED} of the paper's models, evenly "
    f"spaced by rank, on the paper's data. The table has the {LEVEL} intervals. Columns: "
    f"{', '.join(f'{each.short} {each.words}' for each in dimensions())}. § {MAIN.marks['§']}",
    Table(
        "dimensions",
        "The seven dimensions",
        ("asked", "image"),
        _rows,
        (
            *(Column(each, ACCURACY, within=BY_DIMENSION[each]) for each in DIMENSIONS),
            Column("all", ACCURACY, key=_ALL),
        ),
        published=replace(PUBLISHED_ROWS, labels=("model", "")),
    ),
    DIMENSIONS,
    total=_ALL,
    printed=_PRINTED,
    numbers="main",
)
_SKETCH = replace(
    DIMENSIONS_CHART,
    heads={**{each.short: each.words for each in dimensions()}, "choice questions": "choice", "open answers": "open"},
    where={"image": "image"},
    printed=1,
    turned=True,
)


def sketch(source: Source) -> Sketch:
    """The dimensions of one model, beside the paper's best one on choice questions."""
    best = _SKETCH.published_names([source])[0]
    judged = judging(source)
    words = f"; open: {BY_WORDS}" if was_asked(source, "open") and judged and LEXICAL in marks(judged) else ""
    return Sketch(_SKETCH.small(source), f"of 100, by dimension; framed: {best}, published, choice questions{words}")
