"""Med-CMR's main table: the published models, and runs beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE, percent
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import INCOMPLETE, MEANINGS
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples, Where
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import asked, by_judge, data_of, judging

FOLDER = Path(__file__).parent
_OTHER_QUESTIONS = "§"
PUBLISHED_ROWS = Published(FOLDER, {"source": "main table"})


def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``alignment``, ``medical_fine_tuning``, ``scale``, ``errors``."""
    return folders.read_yaml(FOLDER / "reference" / "findings.yml")


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
        Column("MCQ All", _bare({}), "", 2),
        Column("Open All", _open_all if one_judge else None, "", 2),
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
    PUBLISHED_ROWS,
    _mark_meanings(),
)
