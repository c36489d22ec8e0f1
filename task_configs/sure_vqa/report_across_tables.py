"""SURE-VQA, tables of several methods: ranks, differences, win/loss matrix, what RR depends on, wins and losses."""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.report.cells import NONE, count, decimal, label, number, percent, points, share
from lmms_medtasks.report.document import Cell, Column, Row, Table
from lmms_medtasks.task_configs.sure_vqa import reference
from lmms_medtasks.task_configs.sure_vqa.measures import KINDS
from lmms_medtasks.task_configs.sure_vqa.report_across import RESAMPLES, Across, Duel
from lmms_medtasks.task_configs.sure_vqa.report_methods import Method
from lmms_medtasks.task_configs.sure_vqa.report_published import score
from lmms_medtasks.task_configs.sure_vqa.report_shifts import SIDE_NAMES

_METHODS = {"all": "all fine-tuning methods", "without_full": "without full fine-tuning"}


def joined(methods: Sequence[Method]) -> Table:
    """Scores and RR of every method on every shift, seeds joined: for shifts that the paper has no table of."""
    rows = [
        Row(
            (
                method.cell,
                Cell(shift.label),
                *(method.joined(shift, kind, name) for kind in KINDS for name in ("iid", "ood", "rr")),
            )
        )
        for method in methods
        for shift in method.shifts
    ]
    columns = (
        label("method"),
        label("shift"),
        *(score(f"{kind} {name}") for kind in KINDS for name in ("i.i.d.", "OoD", "RR")),
    )
    return Table("joined", "Scores and robustness", columns, tuple(rows))


def ranks(found: Across) -> Table:
    """RR of each method on common questions and its rank, a row a condition."""
    rows = []
    for condition, each in found.compared.items():
        cells = [Cell(condition.label), Cell(each.questions)]
        for name in found.methods:
            own = found.ranks.get(condition)
            cells += [Cell(each.rr[name]), Cell(own[name]) if own else NONE]
        rows.append(Row(tuple(cells)))
    columns = [label("shift and questions"), count("questions")]
    for name in found.methods:
        columns += [score(f"{name} RR"), Column(f"{name} rank", digits=1)]
    notes = (
        "RR on the questions that every method has a score for, of several seeds the mean. Rank 1 is the most robust; "
        "tied methods share their mean rank.",
    )
    return Table("ranks", "Ranks by relative robustness", tuple(columns), tuple(rows), notes)


def differences(found: Across) -> Table:
    """Paired differences of RR with their intervals."""
    rows = [
        Row((Cell(condition.label), Cell(first), Cell(second), number(interval)))
        for condition, each in found.compared.items()
        for (first, second), interval in each.differences.items()
    ]
    columns = (label("shift and questions"), label("first"), label("second"), score("RR first - second", signed=True))
    notes = (
        "In brackets: 95 % interval over images, the same ones drawn for both; not corrected for the number of pairs. "
        "Of several seeds the first run: the interval knows nothing of what another seed would change.",
    )
    return Table("differences", "Differences in relative robustness", columns, tuple(rows), notes)


def win_loss(found: Across) -> Table:
    """The win/loss matrix: a row a method."""
    matrix = found.win_loss
    rows = []
    for row, name in enumerate(matrix.methods):
        cells = [Cell(None) if row == column else Cell(int(wins)) for column, wins in enumerate(matrix.wins[row])]
        others = (int(matrix.wins[row].sum()), int(matrix.wins[:, row].sum()), int(matrix.comparisons[row].sum()))
        rows.append(Row((Cell(name), *cells, *map(Cell, others))))
    columns = (
        label("outperforms"),
        *map(count, matrix.methods),
        count("wins"),
        count("losses"),
        count("comparisons"),
    )
    notes = (
        f"Welch's t-test of RR over {RESAMPLES} resamples of the tests (a seed), p < 0.05 after Holm's correction over "
        "all pairs and conditions, as in Figure 19 (the paper does not name its correction).",
        "Resamples are no observations: with enough of them every difference is significant. The intervals of the "
        "differences above say what the data say.",
    )
    return Table("win_loss", "Win/loss matrix of relative robustness", columns, tuple(rows), notes)


def depends(found: Across) -> Table:
    """Analyses of variance and spreads by dataset, with Table 20's rows."""
    rows = []
    for each in found.depends:
        shifts, methods = each.between_shifts, each.between_methods
        spreads = (Cell(each.spread.conditions), Cell(each.spread.methods))
        rows.append(
            Row(
                (
                    Cell(reference.DATASETS.get(each.dataset, each.dataset)),
                    Cell(", ".join(each.methods)),
                    Cell(each.conditions),
                    *map(Cell, (shifts.f, shifts.p, methods.f, methods.p)),
                    *spreads,
                )
            )
        )
    for published in reference.anova_results():
        head = (Cell(reference.DATASETS[published.dataset]), Cell(_METHODS[published.methods]))
        conditions = Cell(2 * len(reference.SHIFTS[published.dataset]))
        numbers = (Cell(published.f), Cell(published.p))
        rows.append(Row((*head, conditions, *numbers, NONE, NONE, NONE, NONE), "reference"))
    columns = (
        label("dataset"),
        label("methods"),
        count("conditions"),
        score("F between shifts"),
        Column("p", digits=5),
        score("F between methods"),
        Column("p (methods)", digits=5),
        decimal("SD between shifts"),
        decimal("SD between methods"),
    )
    notes = (
        "One-way analysis of variance of RR (a value a condition and method); a condition is a shift's closed or open "
        "questions, as the numbers of Table 20 show, so F holds also what sets the two kinds apart. SD: between the "
        "means over methods, and between those over conditions. Empty with fewer than two conditions or methods.",
    )
    return Table("depends", "Shifts against methods (Table 20)", columns, tuple(rows), notes)


def duels(found: Sequence[Duel], key: str, title: str) -> Table:
    """Wins, ties and losses, a row a pair, condition and test."""
    rows = []
    for each in found:
        result = each.versus
        head = (Cell(each.first), Cell(each.second), Cell(each.condition.label), Cell(SIDE_NAMES[each.side]))
        shares = map(percent, (result.win, result.tie, result.loss, result.net))
        apart = (result.unscored, result.only_first + result.only_second)
        rows.append(Row((*head, Cell(result.n), *shares, *map(Cell, apart))))
    columns = (
        label("first"),
        label("second"),
        label("shift and questions"),
        label("test"),
        count("questions"),
        share("first wins"),
        share("tie"),
        share("first loses"),
        points("wins - losses"),
        count("without a score"),
        count("asked of one only"),
    )
    notes = (
        "Question by question: who has the higher score. In brackets: 95 % interval over images. Runs of several seeds "
        "are paired seed by seed.",
    )
    return Table(key, title, columns, tuple(rows), notes)
