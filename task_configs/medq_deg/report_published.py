"""MedQ-Deg's Tables 2, 3 and 6 as the paper prints them, with a row of each source above the published ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own_cell
from lmms_medtasks.report.cells import negated, percent
from lmms_medtasks.report.document import Cell
from lmms_medtasks.report.published import Published
from lmms_medtasks.report.views import CellFunction, Column, Row, Source, Table
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Estimate
from lmms_medtasks.task_configs.medq_deg import taxonomy
from lmms_medtasks.task_configs.medq_deg.measures import (
    ACCURACY,
    ACCURACY_BY_RULE,
    DEGRADED,
    FALL,
    FALL_BY_RULE,
    GROUPS,
    LEVELS,
    MACROS,
    pairs,
)
from lmms_medtasks.task_configs.medq_deg.report_groups import CHANGE, CHANGE_MACROS, MEAN
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise, degraded_levels

FOLDER = Path(__file__).parent
PAPER_LEVELS = (1, 2)
ONE_LEVEL = "‡"


def _own_rows(sources: Sequence[Source], told: str = "") -> Iterator[Row]:
    """A row for each source, with what sets it apart from the published ones: one degraded level, or what is told."""
    for source in sources:
        asked = degraded_levels(source)
        if asks_otherwise(source) or not (told or asked):
            continue
        name = source.name if len(sources) > 1 else model_name(source.run.content)
        one_level = "" if told or len(asked) != 1 else f"L{asked[0]} only"
        apart = tuple(filter(None, (told, one_level)))
        yield Row((name, own_cell(source.run, source.tasks, *apart, mark=one_level and ONE_LEVEL)), source=source)


# --- Table 6 ----------------------------------------------------------------------------------------------------------


def _rows_by_reading(sources: Sequence[Source]) -> Iterator[Row]:
    """Two rows for each source: its replies by the paper's rule, to compare with it, and as the suite reads them."""
    readings = {
        "read by the paper's rule": (ACCURACY_BY_RULE, FALL_BY_RULE),
        "read as in our accuracy": (ACCURACY, FALL),
    }
    own = [_own_rows(sources, said) for said in readings]
    for rows in zip(*own, strict=True):
        for row, (accuracy, fall) in zip(rows, readings.values(), strict=True):
            cells = {f"L{level}": _bare_percent(mean) for level, mean in accuracy.items()}
            yield replace(row, estimates=cells | {f"L{level}-L0": _bare_percent(each) for level, each in fall.items()})


def _bare_percent(estimate: Estimate) -> CellFunction:
    return lambda source, row, rows: percent(source.interval(estimate), bare=True)


TABLE_6 = Table(
    "table6",
    "Table 6: accuracy across levels",
    ("model", "source"),
    _rows_by_reading,
    (
        *(Column(f"L{level}", None, "", 2) for level in LEVELS),
        *(Column(f"L{level}-L0", None, "", 2) for level in PAPER_LEVELS),
    ),
    (
        "Percent; differences in points.",
        "Compare the row read by the paper's rule (a single letter, else the first capital letter of the reply) with "
        "the published rows. The other row is the same replies as our accuracy reads them: only the reading differs.",
    ),
    Published(FOLDER, {"source": "Table 6"}),
)


# --- Tables 2 and 3 ---------------------------------------------------------------------------------------------------


def _group_columns(tag: str, name: str | None, head: str) -> Iterator[Column]:
    """Accuracy over L1 and L2 and its drop from the clean forms; ``name`` None: the macro mean over groups."""
    mean, change = (MEAN, CHANGE) if name else (MACROS[tag], CHANGE_MACROS[tag])
    where = {**DEGRADED, tag: name} if name else DEGRADED

    def marked(source: Source, cell: Cell) -> Cell:
        fewer = not name and any(not source.interval(MEAN, {**DEGRADED, **each}).n for each in GROUPS[tag])
        return Cell(cell.value, mark="∂") if fewer and cell.value is not None else cell

    def accuracy(source: Source, row: Row, rows: Samples) -> Cell:
        return marked(source, percent(source.interval(mean, where), bare=True))

    def drop(source: Source, row: Row, rows: Samples) -> Cell:
        return marked(source, percent(negated(source.derived(pairs).interval(change, where)), bare=True))

    key = name or "average"
    yield Column(head, accuracy, "", 1, key=key)
    yield Column(f"{head} drop" if name else "drop", drop, "", 1, key=f"{key} drop")


def _groups_table(number: int, title: str, tag: str, heads: Mapping[str, str]) -> Table:
    named: list[tuple[str | None, str]] = [(None, "Avg."), *heads.items()]
    return Table(
        f"table{number}",
        f"Table {number}: {title}, L1 and L2",
        ("model", "source"),
        _own_rows,
        tuple(column for name, head in named for column in _group_columns(tag, name, head)),
        ("Percent; a drop is in points, positive where accuracy fell. A run's own tables have counts and intervals.",),
        Published(FOLDER, {"source": f"Table {number}"}),
        {ONE_LEVEL: "Of one degraded level only; the published numbers are over L1 and L2."},
    )


TABLE_2 = _groups_table(2, "capabilities", "mid", {mid: taxonomy.short_of(mid) for mid in taxonomy.mids()})
TABLE_3 = _groups_table(
    3, "categories of degradations", "category", {key: key.replace("_", " & ") for key in taxonomy.categories()}
)
