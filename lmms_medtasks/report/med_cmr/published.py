"""The paper's main table, with the rows of these runs above its published ones."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.about import own
from lmms_medtasks.report.asked import extent
from lmms_medtasks.report.cells import NONE, label, percent
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.report.judged import TOTAL
from lmms_medtasks.report.marks import INCOMPLETE, LEXICAL, OTHER, marks, meanings
from lmms_medtasks.report.med_cmr import dimensions
from lmms_medtasks.report.med_cmr.analysis import Analysis
from lmms_medtasks.task_configs.med_cmr import reference

_MEANINGS = {
    LEXICAL: "By a judge that compares words, no LLM: a smoke test, no score.",
    OTHER: "By another judge than the paper's: does not compare with the published column.",
    INCOMPLETE: "Judgements are missing: the mean is over those that were had (bounds: the run's own tables).",
}
_HEADS = {"mcq_all": "MCQ All", "open_all": "Open All"}
_SOURCE = "Rows marked published: Med-CMR, CVPR 2026, main table, as printed; these models were not run here."
_NOTES = (
    "Accuracy in percent, the open total from 0 to 100. A run's own tables have counts and intervals.",
    "SOD, FDD and SU are the visual dimensions, TP, CR, LTG and MSI those of reasoning.",
)
_APART = "These runs' open answers were judged by different judges: their totals stand in a table for each."


def table(analyses: Sequence[Analysis], names: Sequence[str], *, opened: bool = True) -> Table:
    """The seven dimensions, MCQ all and Open all; the latter without these runs unless ``opened``."""
    rows = [Row(_own(each, name, opened)) for name, each in zip(names, analyses, strict=True)]
    for found in reference.results():
        printed = (found.dimensions[name] for name in dimensions.names())
        cells = map(Cell, (*printed, found.mcq_all, found.open_all))
        rows.append(Row((Cell(found.model), Cell(f"published, {_type(found)}"), *cells), "reference"))
    heads = (*dimensions.names(), *_HEADS.values())
    columns = (label("model"), label("source"), *(Column(head, digits=2) for head in heads))
    notes = _NOTES if opened else (*_NOTES, _APART)
    return Table("main", "Main results", columns, tuple(rows), notes, _source(), meanings(rows, _MEANINGS))


def _type(found: reference.Row) -> str:
    medical = ", medical" if found.medical else ""
    return f"{found.type[:1].lower()}{found.type[1:]}{medical}"


def _source() -> tuple[str, ...]:
    """Where the published rows are from, and which of their numbers do not fit the others."""
    odd = [
        f"{each.row}, {_HEADS.get(each.column, each.column)}: {each.printed:.2f} printed; {each.note}"
        for each in reference.discrepancies()
    ]
    return (_SOURCE, *([f"Printed otherwise than the rest gives: {'. '.join(odd)}."] if odd else []))


def _own(analysis: Analysis, name: str, opened: bool) -> tuple[Cell, ...]:
    choice, judged = analysis.choice.get(True), analysis.open.get(True) if opened else None
    groups = [choice.dimensions.get(each) if choice else None for each in dimensions.names()]
    total = judged.overall[TOTAL].mean.estimate if judged else None
    return (
        Cell(name),
        own(extent(analysis.source.asked)),
        *(percent(group.mean, bare=True) if group else NONE for group in groups),
        percent(choice.overall.mean, bare=True) if choice else NONE,
        Cell(total, mark=marks(judged.judging)) if judged and total is not None else NONE,
    )
