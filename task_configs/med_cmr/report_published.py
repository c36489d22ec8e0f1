"""Med-CMR's main table: the published models, and runs beside them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lmms_medtasks import folders
from lmms_medtasks.report import judged_tables
from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import NONE
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.judged_tables import INCOMPLETE, MEANINGS
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.suite_report import data_extent
from lmms_medtasks.report.views import Column, Row, Source, Table
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.task_configs.med_cmr.measures import ACCURACY, BY_DIMENSION, TOTAL
from lmms_medtasks.task_configs.med_cmr.report_models import asked, judging, of_one_judge

FOLDER = Path(__file__).parent
PUBLISHED_ROWS = Published(FOLDER, {"source": "main table"})
_OPEN = "Open All"


def findings() -> Mapping[str, Any]:
    """What the text gives beside the table: ``medical_fine_tuning`` and ``scale``."""
    return folders.read_yaml(FOLDER / "reference" / "findings.yml")


def _open_all(source: Source, row: Row, rows: Samples) -> Cell:
    total = source.interval(TOTAL, asked("open")).estimate
    return NONE if total is None else Cell(total, mark=judged_tables.marks(judging(source)))


def rows_of_models(sources: Sequence[Source], columns: Sequence[str], *more: Callable[[Source], str]) -> list[Row]:
    """A row a model; ``columns``, of open answers, are empty for those of other judges than most."""
    judged = of_one_judge(sources)
    return [
        Row((each.name, *(label(each) for label in more)), estimates={} if each in judged else dict.fromkeys(columns),
            source=each)
        for each in sources
    ]  # fmt: skip


MAIN = Table(
    "main",
    "Main results",
    ("model", "source"),
    lambda sources: rows_of_models(sources, [_OPEN], lambda each: str(own(data_extent(each)).value)),
    (
        *(Column(name, ACCURACY, "%", 2, {**asked("mcq"), **where}, bare=True) for name, where in BY_DIMENSION.items()),
        Column("MCQ All", ACCURACY, "%", 2, asked("mcq"), bare=True),
        Column(_OPEN, _open_all, "", 2),
    ),
    (
        "The open total is from 0 to 100. A run's own tables have counts and intervals.",
        "SOD, FDD and SU are the visual dimensions, TP, CR, LTG and MSI those of reasoning.",
    ),
    PUBLISHED_ROWS,
    {
        **MEANINGS,
        INCOMPLETE: f"{MEANINGS[INCOMPLETE].rstrip('.')} (bounds: the run's own tables).",
        "§": "Probably the numbers of the other of the two columns: compares with no run.",
    },
)
