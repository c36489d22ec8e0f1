"""MedQ-Deg's Tables 2, 3 and 6 as the paper prints them, with a row of each source above the published ones."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lmms_medtasks.report.about import own_cell
from lmms_medtasks.report.cells import NONE, negated, percent
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
    LEVELS,
    MACROS,
)
from lmms_medtasks.task_configs.medq_deg.report_groups import MEAN, against_clean, missing
from lmms_medtasks.task_configs.medq_deg.task_sets import asks_otherwise, degraded_levels, level_names

FOLDER = Path(__file__).parent
PAPER_LEVELS = (1, 2)
ONE_LEVEL = "‡"


def _own_rows(sources: Sequence[Source], *, by_groups: bool = True) -> Iterator[Row]:
    """A row for each source, with what sets it apart from the published ones."""
    for source in sources:
        if asks_otherwise(source):
            continue
        name = source.name if len(sources) > 1 else model_name(source.run.content)
        asked = degraded_levels(source) if by_groups else PAPER_LEVELS
        apart = () if asked in (PAPER_LEVELS, ()) else (f"{level_names(asked)} only",)
        own = own_cell(source.run, source.tasks, *apart, mark=ONE_LEVEL if apart else "")
        yield Row((name, own), source=source)


READ_BY_RULE, READ_AS_OURS = "read by the paper's rule", "read as in our accuracy"


def _rows_by_reading(sources: Sequence[Source]) -> Iterator[Row]:
    """Two rows for each source: its replies by the paper's rule, to compare with it, and as the suite reads them."""
    for row in _own_rows(sources, by_groups=False):
        source = row.source
        if source is None:
            continue
        for said, accuracy, fall in ((READ_BY_RULE, ACCURACY_BY_RULE, FALL_BY_RULE), (READ_AS_OURS, ACCURACY, FALL)):
            cells = {f"L{level}": _bare_percent(mean) for level, mean in accuracy.items()}
            cells |= {f"L{level}-L0": _bare_percent(contrast) for level, contrast in fall.items()}
            yield replace(row, labels=(row.labels[0], own_cell(source.run, source.tasks, said)), estimates=cells)


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


def _bare(tag: str, name: str | None, drop: bool) -> CellFunction:
    """Cells of Tables 2 and 3: accuracy over L1 and L2, or the drop; ``name`` None: the macro mean over groups."""

    def cell(source: Source, row: Row, rows: Samples) -> Cell:
        if not degraded_levels(source):
            return NONE
        if drop:
            found = negated(against_clean(source, tag, name, "change"))
        else:
            found = source.interval(MEAN, {**DEGRADED, tag: name}) if name else source.interval(MACROS[tag])
        made = percent(found, bare=True)
        return Cell(made.value, mark="∂") if name is None and missing(source, tag) else made

    return cell


def _over(title: str, sources: Sequence[Source]) -> str:
    """The title with the levels: those of the runs if they have the same, and the published ones' if others."""
    asked = {found for each in sources if (found := degraded_levels(each))}
    if len(asked) == 1 and (only := asked.pop()) != PAPER_LEVELS:
        return f"{title}, {level_names(only)} (published: {level_names(PAPER_LEVELS)})"
    return f"{title}, {level_names(PAPER_LEVELS)}"


def _groups_table(number: int, title: str, tag: str, heads: Mapping[str, str]) -> Table:
    columns: list[Column] = []
    named: list[tuple[str | None, str]] = [(None, "Avg."), *heads.items()]
    for name, head in named:
        drop, key = "drop" if name is None else f"{head} drop", name or "average"
        columns += [
            Column(head, _bare(tag, name, drop=False), "", 1, key=key),
            Column(drop, _bare(tag, name, drop=True), "", 1, key=f"{key} drop"),
        ]
    return Table(
        f"table{number}",
        functools.partial(_over, f"Table {number}: {title}"),
        ("model", "source"),
        _own_rows,
        tuple(columns),
        ("Percent; a drop is in points, positive where accuracy fell. A run's own tables have counts and intervals.",),
        Published(FOLDER, {"source": f"Table {number}"}),
        {ONE_LEVEL: "Of one degraded level only; the published numbers are over L1 and L2."},
    )


TABLE_2 = _groups_table(2, "capabilities", "mid", {mid: taxonomy.short_of(mid) for mid in taxonomy.mids()})
TABLE_3 = _groups_table(
    3, "categories of degradations", "category", {key: key.replace("_", " & ") for key in taxonomy.categories()}
)
