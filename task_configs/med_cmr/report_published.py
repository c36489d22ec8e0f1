"""Med-CMR's main table: the published models, and runs beside them."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE, percent
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import INCOMPLETE, MEANINGS
from lmms_medtasks.report.suite_report import PublishedScores
from lmms_medtasks.report.views import Column, Published, Row, Source, Table
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.task_configs.med_cmr.dimensions import dimension_counts
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, DIMENSIONS, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import asked, by_judge, data_of, judging

REFERENCE = Path(__file__).parent / "reference"
_HEADS = {"mcq_all": "MCQ All", "open_all": "Open All"}
_SWAPPED = ("SU", "MSI")
_OTHER_QUESTIONS = "§"


# --- What the paper prints --------------------------------------------------------------------------------------------


def discrepancies() -> list[dict[str, Any]]:
    """Every printed number that the others, or the text, do not agree with."""
    return yaml.safe_load((REFERENCE / "discrepancies.yml").read_text("utf-8"))["discrepancies"]


def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``alignment``, ``medical_fine_tuning``, ``scale``, ``errors``."""
    return yaml.safe_load((REFERENCE / "findings.yml").read_text("utf-8"))


def published_scores(task: str) -> Iterator[PublishedScores]:
    """The main table: for choice questions the dimensions too, and the last column for open ones; with the image."""
    of_dimensions = {f"accuracy_{name.lower()}": name for name in DIMENSIONS}
    columns = {"med_cmr_mcq": {"accuracy": "mcq_all", **of_dimensions}, "med_cmr_open": {"total": "open_all"}}
    for row in published_rows() if task in columns else ():
        cells = {
            metric: Cell(float(row[column]), mark=_OTHER_QUESTIONS if column in _SWAPPED else "")
            for metric, column in columns[task].items()
        }
        yield PublishedScores("Med-CMR, CVPR 2026,", row["model"], "published, main table", cells)


def published_rows() -> list[dict[str, str]]:
    """The seven rows of the paper's main table, as printed, in its order."""
    with (REFERENCE / "results.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


# --- The main table ---------------------------------------------------------------------------------------------------


def _published_notes() -> tuple[str, ...]:
    """Where the published rows are from, and which of their numbers do not fit the others."""
    odd = [
        f"{each['row']}, {_HEADS.get(each['column'], each['column'])}: {each['printed']:.2f} printed; {each['note']}"
        for each in discrepancies()
    ]
    return (
        "Rows marked published: Med-CMR, CVPR 2026, main table, as printed; these models were not run here.",
        f"Printed otherwise than the rest gives: {'. '.join(odd)}.",
        _swapped(),
    )


def _swapped() -> str:
    """Which of the printed columns do not fit the release's numbers of questions, and what follows from that."""
    fits, release = dimension_counts("mcq"), dimension_counts("release")
    numbers = [f"{name} {fits[name]:,} questions, the release has {release[name]:,}" for name in _SWAPPED]
    return (
        f"The printed columns {' and '.join(_SWAPPED)} look swapped: they fit {'; '.join(numbers)}. They stand as "
        "printed, marked; do not compare them with a run's, whose questions have the dimension that the release gives."
    )


def _published_label(row: Mapping[str, str]) -> tuple[str, ...]:
    medical = ", medical" if row["medical"] == "yes" else ""
    return row["model"], f"published, {row['type'][:1].lower()}{row['type'][1:]}{medical}"


def _bare(where: Where) -> Callable[[Source, Row, Samples], Cell]:
    """Accuracy in percent as the paper prints it: without a sign and an interval."""
    return lambda source, row, rows: percent(source.interval(ACCURACY, {**asked("mcq"), **where}), bare=True)


def _open_all(source: Source, row: Row, rows: Samples) -> Cell:
    total, found = source.interval(TOTAL, asked("open")).estimate, judging(source)
    return NONE if total is None else Cell(total, mark=judged_tables.marks(found))


def _main_columns(sources: Sequence[Source]) -> tuple[Column, ...]:
    one_judge = len(by_judge(sources)) < 2
    return (
        *(Column(name, _bare(where), "", 2) for name, where in BY_DIMENSION.items()),
        Column(_HEADS["mcq_all"], _bare({}), "", 2),
        Column(_HEADS["open_all"], _open_all if one_judge else None, "", 2),
    )


def _main_notes(sources: Sequence[Source]) -> tuple[str, ...]:
    apart = "These runs' open answers were judged by different judges: their totals stand in a table for each."
    return (
        "Accuracy in percent, the open total from 0 to 100. A run's own tables have counts and intervals.",
        "SOD, FDD and SU are the visual dimensions, TP, CR, LTG and MSI those of reasoning.",
        *([apart] if len(by_judge(sources)) > 1 else []),
    )


def _mark_meanings() -> dict[str, str]:
    """What each mark means."""
    alone = {**MEANINGS, INCOMPLETE: f"{MEANINGS[INCOMPLETE].rstrip('.')} (bounds: the run's own tables)."}
    printed = {_OTHER_QUESTIONS: "Probably the numbers of the other of the two columns: compares with no run."}
    return {**alone, **printed}


MAIN = Table(
    "main",
    "Main results",
    ("model", "source"),
    lambda sources: [Row((each.name, str(own(data_of(each)).value)), source=each) for each in sources],
    _main_columns,
    _main_notes,
    Published(
        REFERENCE / "results.csv",
        {**{name: name for name in DIMENSIONS}, **_HEADS},
        _published_label,
        _published_notes(),
        column_marks=dict.fromkeys(_SWAPPED, _OTHER_QUESTIONS),
    ),
    _mark_meanings(),
)
