"""Med-CMR: what models were asked, its main table beside the published models, and the chart of its dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import number
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.findings import BY_WORDS, Sketch
from lmms_medtasks.report.judged_tables import INCOMPLETE, LEXICAL, MEANINGS, Judging, marks
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.report_options import Options
from lmms_medtasks.report.suite_report import data_extent, named, sources_by_model
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.result_files import Run
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL, dimensions

MEASURE_OF = {"mcq": "accuracy", "open": "total"}


def models(suite: Suite, runs: Sequence[Run], table: Samples, options: Options) -> list[Source]:
    """A source a model, with at most one task of each form, with and without the image; see ``sources_by_model``.

    Its condition is the task's name where that is none of the suite's own (a changed prompt, say), else "".

    Raises UserError, with file and line, for a question without its right letter; and where options that compare models
    were given and there is one model.
    """
    without_letter = table.where({"form": ("mcq", "circular"), "expected": None})
    for (run, task), rows in without_letter.by(["run", "task"]).items():
        file, line = runs[run].samples_file(task), rows.column("line")[0]
        raise UserError(f"{file}, line {line}: the record has no correct letter. Was the log edited?")
    found = sources_by_model(suite, runs, table, options, apart=("variant",), once=("form", "image_shown"))
    found = named([replace(each, condition=each.rows.column("variant")[0]) for each in found])
    if len(found) == 1 and (options.pairs or options.parameters):
        raise UserError(f"--pair and --parameters compare several models; these runs are of one, {found[0].name!r}.")
    return found


def asked(form: str, image_shown: bool = True) -> Where:
    """The restriction to a form of questions."""
    return {"form": form, "image_shown": image_shown}


def was_asked(source: Source, form: str, image_shown: bool = True) -> bool:
    """Whether the model was asked questions of this form."""
    return len(source.rows.where(asked(form, image_shown))) > 0


def judging(source: Source, image_shown: bool = True) -> Judging | None:
    """What became of the judgements of the open answers; None where none was asked."""
    return Judging.of(source.rows.where(asked("open", image_shown)))


# --- The main table ---------------------------------------------------------------------------------------------------


FOLDER = Path(__file__).parent
PUBLISHED_ROWS = Published(FOLDER, {"source": "main table"})
_OPEN = "Open All"


def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``medical_fine_tuning`` and ``scale``."""
    return folders.read_yaml(FOLDER / "reference" / "findings.yml")


def _rows_of_models(sources: Sequence[Source]) -> Iterator[Row]:
    """A row a model; the open total is empty for those of other judges than most: no table has two."""
    judged = max(judged_tables.by_judge(sources).values(), key=len, default=[])
    for source in sources:
        labels = (source.name, str(own(data_extent(source)).value))
        yield Row(labels, estimates={} if source in judged else {_OPEN: None}, source=source)


MAIN = Table(
    "main",
    "Main results",
    ("model", "source"),
    _rows_of_models,
    (
        *(Column(name, ACCURACY, "%", 2, {**asked("mcq"), **where}, bare=True) for name, where in BY_DIMENSION.items()),
        Column("MCQ All", ACCURACY, "%", 2, asked("mcq")),
        Column(_OPEN, TOTAL, "", 2, asked("open"), mark=lambda rows: marks(Judging.of(rows))),
    ),
    (
        f"The open total is from 0 to 100. In brackets: {LEVEL} interval over images. A run's own tables have counts, "
        "and an interval for each dimension.",
        "SOD, FDD and SU are the visual dimensions, TP, CR, LTG and MSI those of reasoning.",
    ),
    PUBLISHED_ROWS,
    {
        **MEANINGS,
        INCOMPLETE: f"{MEANINGS[INCOMPLETE].rstrip('.')} (bounds: the run's own tables).",
        "§": "Probably the numbers of the other of the two columns: compares with no run.",
    },
)


# --- The dimensions ---------------------------------------------------------------------------------------------------


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
