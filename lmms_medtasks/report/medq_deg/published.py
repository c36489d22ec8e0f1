"""Tables 2, 3 and 6 as the paper prints them, with this model's row above the forty published ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lmms_medtasks.report.about import own_cell
from lmms_medtasks.report.cells import NONE, label, negated, percent
from lmms_medtasks.report.document import Cell, Column, Kind, Row, Table
from lmms_medtasks.report.medq_deg.analysis import Analysis, Breakdown
from lmms_medtasks.report.medq_deg.tables import level_names
from lmms_medtasks.task_configs.medq_deg import reference, taxonomy

_SOURCE = (
    "Rows marked published: Liu et al., arXiv:2603.07769v1, Table {table}, as printed; these models were not run here."
)
_ONE_LEVEL = "‡"
_MARKS = {_ONE_LEVEL: "Of one degraded level only; the published numbers are over L1 and L2."}
_PAPER_LEVELS = (1, 2)


def levels(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    """Table 6: accuracy by level and the differences to L0, whole sets."""
    rows = [Row((Cell(name), _run_cell(each), *_levels(each))) for name, each in zip(names, analyses, strict=True)]
    for found in reference.level_results():
        cells = map(Cell, (found.l0, found.l1, found.l2, found.l1_minus_l0, found.l2_minus_l0))
        rows.append(Row((Cell(found.model), Cell(_group(found.group)), *cells), "reference"))
    columns = (
        *_HEADS,
        *(Column(f"L{level}", digits=2) for level in (0, 1, 2)),
        *(Column(f"L{level}-L0", digits=2) for level in (1, 2)),
    )
    return Table(
        "table6",
        "Table 6: accuracy across levels",
        columns,
        tuple(rows),
        ("Percent; differences in points.",),
        _source(6),
    )


def capabilities(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    """Table 2: macro average and the six capabilities over L1 and L2, each with its drop."""
    heads = {mid: taxonomy.short_of(mid) for mid in taxonomy.mids()}
    found = [(name, each, each.capabilities) for name, each in zip(names, analyses, strict=True)]
    published = (reference.capability_averages(), reference.capability_results())
    return _table(2, "Table 2: capabilities", heads, found, *published)


def categories(analyses: Sequence[Analysis], names: Sequence[str]) -> Table:
    """Table 3: macro average and the five categories over L1 and L2, each with its drop."""
    heads = {key: key.replace("_", " & ") for key in taxonomy.categories()}
    found = [(name, each, each.categories) for name, each in zip(names, analyses, strict=True)]
    published = (reference.degradation_averages(), reference.degradation_results())
    return _table(3, "Table 3: categories of degradations", heads, found, *published)


_HEADS = (label("model"), label("source"))


def _source(table: int) -> tuple[str, ...]:
    """Where the published rows are from, and which of their numbers the table's others do not give."""
    odd = [
        f"{each.row}, {each.column}: {each.printed:g} printed, {each.recomputed:g} computed"
        + (" (rounding may explain it)" if each.within_rounding else "")
        for each in reference.discrepancies()
        if each.table == table
    ]
    return (_SOURCE.format(table=table), *([f"Printed otherwise than its row gives: {'; '.join(odd)}."] if odd else []))


def _group(group: str) -> str:
    return f"published, {reference.GROUPS.get(group, 'all groups').lower()}"


def _levels(analysis: Analysis) -> list[Cell]:
    found = [analysis.levels.get(level) for level in (0, 1, 2)]
    falls = [analysis.falls.get(level) for level in (1, 2)]
    return [
        *(percent(level.accuracy.mean, bare=True) if level else NONE for level in found),
        *(percent(fall.whole.change, bare=True) if fall else NONE for fall in falls),
    ]


def _table(
    number: int,
    title: str,
    heads: Mapping[str, str],
    found: Sequence[tuple[str, Analysis, Breakdown | None]],
    averages: Iterable[reference.ColumnsRow],
    models: Iterable[reference.ColumnsRow],
) -> Table:
    rows = [Row((Cell(model), _run_cell(run, each), *_run(each, list(heads)))) for model, run, each in found]
    rows += [_published(row, list(heads), "average") for row in averages]
    rows += [_published(row, list(heads), "reference") for row in models]
    columns: list[Column] = [*_HEADS]
    for head in ("Avg.", *heads.values()):
        columns += [Column(head, digits=1), Column("drop" if head == "Avg." else f"{head} drop", digits=1)]
    notes = (
        "Percent; a drop is in points, positive where accuracy fell. A run's own tables have counts and intervals.",
    )
    return Table(f"table{number}", title + _over(found), tuple(columns), tuple(rows), notes, _source(number), _MARKS)


def _over(found: Sequence[tuple[str, Analysis, Breakdown | None]]) -> str:
    """The levels that the title names: those of the runs if they have the same, and the published ones' if others."""
    runs = {breakdown.levels for _, _, breakdown in found if breakdown}
    if len(runs) == 1 and (only := runs.pop()) != _PAPER_LEVELS:
        return f", {level_names(only)} (published: {level_names(_PAPER_LEVELS)})"
    return f", {level_names(_PAPER_LEVELS)}"


def _run_cell(analysis: Analysis, breakdown: Breakdown | None = None) -> Cell:
    """Whose row it is, with what sets it apart from the published ones."""
    levels = breakdown.levels if breakdown else _PAPER_LEVELS
    source = analysis.source
    if levels == _PAPER_LEVELS:
        return own_cell(source.run, source.tasks)
    return own_cell(source.run, source.tasks, f"{level_names(levels)} only", mark=_ONE_LEVEL)


def _run(breakdown: Breakdown | None, names: Sequence[str]) -> list[Cell]:
    if breakdown is None:
        return [NONE] * (2 + 2 * len(names))
    change = breakdown.average_change
    mark = "†" if breakdown.average.missing else ""
    averages = (breakdown.average.mean, negated(change.change) if change else None)
    cells = [replace(percent(each, bare=True), mark=mark) for each in averages]
    for name in names:
        group = breakdown.groups.get(name)
        accuracy = group.accuracy.mean if group else None
        drop = negated(group.change.change) if group and group.change else None
        cells += [percent(accuracy, bare=True), percent(drop, bare=True)]
    return cells


def _published(row: reference.ColumnsRow, names: Sequence[str], kind: Kind) -> Row:
    cells = [Cell(row.model), Cell(_group(row.group))]
    for score in (row.average, *(row.columns[name] for name in names)):
        cells += [Cell(score.accuracy), Cell(score.drop)]
    return Row(tuple(cells), kind)
