"""Med-CMR: the results of each model, the main table beside the published models, and the chart of dimensions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.errors import UserError
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own_results_cell
from lmms_medtasks.report.cells import number_cell
from lmms_medtasks.report.charts import Chart
from lmms_medtasks.report.findings import BY_WORDS, FindingChart
from lmms_medtasks.report.judged_tables import INCOMPLETE, LEXICAL, MEANINGS, JudgingSummary, judging_marks
from lmms_medtasks.report.published import PublishedRowsSpec
from lmms_medtasks.report.report_options import ReportOptions
from lmms_medtasks.report.suite_report import data_extent_text, sources_by_model, with_distinct_names
from lmms_medtasks.report.views import CellFunction, ColumnSpec, ModelResults, RowSpec, TableSpec
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable, Where
from lmms_medtasks.statistics.confidence import LEVEL
from lmms_medtasks.suites.suite import Suite
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL, load_dimensions

MEASURE_OF = {"mcq": "accuracy", "open": "total"}


def model_rows(
    suite: Suite, runs: Sequence[ResultFile], table: QuestionTable, options: ReportOptions
) -> list[ModelResults]:
    """The results of each model, with at most one task of each form, with and without the image.

    The condition of a custom task (a changed prompt, say) is its name, else "". Raises UserError, with file and line,
    for a question without its right letter, and if options that compare models were given for one model.
    """
    without_letter = table.where({"form": ("mcq", "circular"), "expected": None})
    for (run, task), rows in without_letter.by(["run", "task"]).items():
        file, line = runs[run].samples_file(task), rows.column("line")[0]
        raise UserError(f"{file}, line {line}: the record has no correct letter. Was the log edited?")
    by_model = sources_by_model(suite, runs, table, options, apart=("variant",), once=("form", "image_shown"))
    models = with_distinct_names([replace(model, condition=model.rows.column("variant")[0]) for model in by_model])
    if len(models) == 1 and (options.pairs or options.parameters):
        raise UserError(f"--pair and --parameters compare several models; these runs are of one, {models[0].name!r}.")
    return models


def form_restriction(form: str, image_shown: bool = True) -> Where:
    """The restriction to a form of questions."""
    return {"form": form, "image_shown": image_shown}


def was_asked(source: ModelResults, form: str, image_shown: bool = True) -> bool:
    """Whether the model was asked questions of this form."""
    return len(source.rows.where(form_restriction(form, image_shown))) > 0


def open_judging(source: ModelResults, image_shown: bool = True) -> JudgingSummary | None:
    """The state of the judgements of the open answers; None if there are none."""
    return JudgingSummary.of(source.rows.where(form_restriction("open", image_shown)))


FOLDER = Path(__file__).parent
PUBLISHED_ROWS = PublishedRowsSpec(FOLDER, {"source": "main table"})
_OPEN = "Open All"


def paper_text_findings() -> Mapping[str, Any]:
    """Numbers of the paper's text: ``medical_fine_tuning`` and ``scale``."""
    return folders.read_yaml(FOLDER / "reference" / "findings.yml")


def _rows_of_models(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """A row a model; the open total is empty for models of another judge than most: no table has two judges."""
    judged = max(judged_tables.group_by_judge(sources).values(), key=len, default=[])
    for source in sources:
        labels = (source.name, str(own_results_cell(data_extent_text(source)).value))
        yield RowSpec(labels, estimates={} if source in judged else {_OPEN: None}, source=source)


MAIN = TableSpec(
    "main",
    "Main results",
    ("model", "source"),
    _rows_of_models,
    (
        *(
            ColumnSpec(name, ACCURACY, "%", 2, {**form_restriction("mcq"), **where}, bare=True)
            for name, where in BY_DIMENSION.items()
        ),
        ColumnSpec("MCQ All", ACCURACY, "%", 2, form_restriction("mcq")),
        ColumnSpec(
            _OPEN, TOTAL, "", 2, form_restriction("open"), mark=lambda rows: judging_marks(JudgingSummary.of(rows))
        ),
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

_PRINTED = 7
"""Published models that are drawn, evenly spaced by rank; the table has them all."""
_ASKED = {("mcq", True): "choice questions", ("mcq", False): "choice questions, no image",
          ("open", True): "open answers", ("open", False): "open answers, no image"}  # fmt: skip
_ALL = "MCQ All"


def _total_cells(dimension: str) -> CellFunction:
    where = BY_DIMENSION.get(dimension, {})
    return lambda source, row, rows: number_cell(source.interval(TOTAL, {**row.where, **where}))


def _form_rows(sources: Sequence[ModelResults]) -> Iterator[RowSpec]:
    """One model: a row for each form of questions, with and without the image. Several: their choice questions."""
    forms = _ASKED if len(sources) == 1 else {("mcq", True): ""}
    for source in sources:
        for (form, shown), name in forms.items():
            if was_asked(source, form, shown):
                totals = {name: _total_cells(name) for name in (*DIMENSIONS, _ALL)} if form == "open" else {}
                labels = (name or source.name, "image" if shown else "no image")
                yield RowSpec(labels, form_restriction(form, shown), estimates=totals, source=source)


DIMENSIONS_CHART = Chart(
    "heat",
    "dimensions",
    "The seven dimensions",
    f"Choice questions: percent correct; open answers: points of 100. Framed: {_PRINTED} of the paper's models, evenly "
    f"spaced by rank, on the paper's data. The table has the {LEVEL} intervals. Columns: "
    f"{', '.join(f'{each.short} {each.words}' for each in load_dimensions())}. § {MAIN.marks['§']}",
    TableSpec(
        "dimensions",
        "The seven dimensions",
        ("asked", "image"),
        _form_rows,
        (
            *(ColumnSpec(name, ACCURACY, within=BY_DIMENSION[name]) for name in DIMENSIONS),
            ColumnSpec("all", ACCURACY, key=_ALL),
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
    heads={
        **{each.short: each.words for each in load_dimensions()},
        "choice questions": "choice",
        "open answers": "open",
    },
    where={"image": "image"},
    printed=1,
    turned=True,
)


def dimension_sketch(source: ModelResults) -> FindingChart:
    """The dimensions of one model, beside the paper's best one on choice questions."""
    best = next(iter(_SKETCH.chosen(_SKETCH.marks([source]))))
    judged = open_judging(source)
    words = f"; open: {BY_WORDS}" if was_asked(source, "open") and judged and LEXICAL in judging_marks(judged) else ""
    caption = f"of 100, by dimension; framed: {best}, published, choice questions{words}"
    return FindingChart(_SKETCH.small(source), caption)
