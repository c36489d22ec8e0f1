"""The paper's Tables 2 and 3, with the rows of these runs above the published ones."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.about import own
from lmms_medtasks.report.cells import label, percent, percent_of, share
from lmms_medtasks.report.document import Cell, Row, Table
from lmms_medtasks.report.medobvious.analysis import COLUMNS, Analysis
from lmms_medtasks.report.medobvious.facts import extent
from lmms_medtasks.statistics import triage
from lmms_medtasks.task_configs.medobvious import reference

SHORT = {
    "detection_mcq": "A detection MCQ",
    "detection_open": "B detection open",
    "referring_mcq": "C referring MCQ",
    "referring_open": "D referring open",
    "visual_referring": "E visual referring",
    "positive": "positive",
    "negative": "negative",
}
"""Table 2's columns by the paper's letters and names."""

_SOURCE = "Rows marked published: MedObvious, arXiv 2603.23501v1, {table}, as printed; these models were not run here."
_HUMAN = "The human expert answered another mix of questions than the models."
_AVERAGE = (
    "Avg is the paper's: the plain mean of the seven columns before it. It is no share of right answers: each question "
    "counts in two columns."
)
_TASK_D = (
    "How the paper scored Task D is not said, and its numbers look as if something else was asked for: ours is the "
)
_CHANCE = "Uniform guessing: one of all positions and none, or of yes and no; by arithmetic, for the questions of "


def formats(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    """Table 2: the five formats, positives, negatives, and the paper's average."""
    rows = [Row(_formats(each, name)) for name, each in zip(names, analyses, strict=True)]
    rows += [Row(_chance_formats(each), "counts") for each in analyses[:1]]
    for found in reference.format_results():
        cells = map(Cell, (*(found.columns[name] for name in COLUMNS), found.average))
        rows.append(Row((Cell(found.model), _published(found), *cells), "reference"))
    columns = (label("model"), label("source"), *(share(SHORT[name]) for name in COLUMNS), share("Avg"))
    notes = (
        f"{_TASK_D}position's.",
        _AVERAGE,
        *(f"{_CHANCE}{'the first row' if len(analyses) > 1 else 'this run'}." for _ in analyses[:1]),
    )
    return Table("formats", "Accuracy by format and sign (Table 2)", columns, tuple(rows), notes,
                 (_SOURCE.format(table="Table 2"), _HUMAN))  # fmt: skip


def tiers(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    """Table 3: the five tiers and their plain mean."""
    numbers = (1, 2, 3, 4, 5)
    rows = []
    for name, each in zip(names, analyses, strict=True):
        own_tiers = [percent(each.tiers.get(tier), bare=True) for tier in numbers]
        mark = "" if len(each.tiers) == len(numbers) else "†"
        rows.append(
            Row((Cell(name), own(extent(each.source)), *own_tiers, _marked(percent(each.tier_mean, bare=True), mark)))
        )
    for each in analyses[:1]:
        chance = each.tier_chance
        mean = sum(chance.values()) / len(chance) if chance else None
        cells = [percent_of(chance.get(tier)) for tier in numbers]
        rows.append(Row((Cell("uniform guessing"), Cell("arithmetic"), *cells, percent_of(mean)), "counts"))
    for found in reference.tier_results():
        printed = map(Cell, (*found.columns.values(), found.average))
        rows.append(Row((Cell(found.model), _published(found), *printed), "reference"))
    columns = (label("model"), label("source"), *(share(f"T{tier}") for tier in numbers), share("all"))
    odd = [f"{each.row}, all: {each.printed:.1f} printed, {each.recomputed:.1f} by its tiers; {each.comment}"
           for each in reference.discrepancies() if each.column == "all"]  # fmt: skip
    notes = ("All is the plain mean of the tiers, as in the paper.",)
    source = (_SOURCE.format(table="Table 3 as the project page has it"), f"Printed otherwise: {'. '.join(odd)}.")
    return Table("tiers", "Accuracy by tier (Table 3)", columns, tuple(rows), notes, source)


def _formats(analysis: Analysis, name: str) -> tuple[Cell, ...]:
    cells = (percent(analysis.columns[column], bare=True) for column in COLUMNS)
    return (Cell(name), own(extent(analysis.source)), *cells, percent(analysis.average, bare=True))


def _chance_formats(analysis: Analysis) -> tuple[Cell, ...]:
    values = [analysis.chance[column] for column in COLUMNS]
    cells = (*map(percent_of, values), percent_of(triage.mean_of_columns(values)))
    return (Cell("uniform guessing"), Cell("arithmetic"), *cells)


def _published(row: reference.ResultsRow) -> Cell:
    return Cell(f"published, {reference.GROUPS[row.group].lower()}")


def _marked(cell: Cell, mark: str) -> Cell:
    return cell if cell.value is None else Cell(cell.value, cell.low, cell.high, mark or cell.mark)
