"""What a table's cells are made of."""

from dataclasses import replace

import numpy as np
import pytest

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.report.views import ColumnSpec, ModelResults, RowSpec, TableSpec, _detectable_note
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.statistics.power import TestCriterion, standard_errors_needed
from lmms_medtasks.suites.estimates import Count, Mean


def source(**scores):
    records = [
        QuestionRecord(name, name, ("A",), "A", {"accuracy": ScoreValue(score)}, {"side": name[0]}, pair=name[1:])
        for name, score in scores.items()
    ]
    rows = QuestionTable.of_records(records)
    return ModelResults("model", rows, rows, 0)


def pairs(rows):
    return rows.where({"side": "a"}).changes(rows.where({"side": "b"}), "accuracy", ("pair",))


def test_an_estimate_that_is_gone_leaves_no_number_to_a_later_one():
    # Estimates are known by identity, and a freed one's may be given again.
    own = source(a1=1.0)
    assert [own.interval(Count(function=lambda rows, number=number: number)).estimate for number in range(50)] == [
        *range(50)
    ]


def test_column_over_pairs_and_its_drop():
    own = source(a1=1.0, a2=0.5, b1=0.5, b2=0.25, b3=1.0)
    cells = {
        unit: ColumnSpec("x", Mean(measure="change"), unit, over=pairs).cell(own, RowSpec(()))
        for unit in ("points", "drop")
    }
    # 0.5 - 1 and 0.25 - 0.5; b3 has no partner.
    assert {unit: cell.value for unit, cell in cells.items()} == {"points": -37.5, "drop": 37.5}
    assert ColumnSpec("n", Mean(measure="before"), "n", over=pairs).cell(own, RowSpec((), {"pair": "1"})).value == 1
    assert [ColumnSpec("x", unit=unit).column().signed for unit in ("points", "drop", "")] == [True, False, False]


def test_a_row_of_guessing_has_no_number_of_the_model():
    own = source(a1=1.0, a2=0.0)
    row = RowSpec(("uniform guessing",), estimates={"guess": Mean(measure="accuracy")}, estimates_only=True)
    assert ColumnSpec("accuracy", Mean()).cell(own, row).value is None
    assert (
        ColumnSpec("guess", None).cell(own, row).value == ColumnSpec("x", Mean()).cell(own, RowSpec(())).value == 50.0
    )


def test_below_differences_stands_what_these_data_would_have_shown():
    scores = {
        f"{side}{number}": float(number % (3 if side == "a" else 2) == 0) for side in "ab" for number in range(12)
    }
    rows = replace(source(**scores), resamples=1)
    column = ColumnSpec("change", Mean(measure="change"), "points", over=pairs)
    table = TableSpec(
        "t",
        "T",
        ("side",),
        (RowSpec(("all",)), RowSpec(("even",), {"pair": ("0", "2", "4", "6", "8", "10")})),
        (column,),
    )
    found = table.filled([rows])
    cells = [row.cells[1] for row in found.rows]
    for cell, (clusters, values) in zip(cells, ((12, CHANGES), (6, CHANGES[::2])), strict=True):
        error = np.std(values, ddof=1) / clusters**0.5
        # Two differences in the table: each is tested at 0.05 / 2.
        assert cell.detectable == pytest.approx(
            100 * standard_errors_needed(clusters, TestCriterion(comparisons=2)) * error
        )
    least = sorted(f"{cell.detectable:.1f}" for cell in cells)
    assert f"of {least[0]} to {least[1]} points" in found.notes[-1] and "2 differences" in found.notes[-1]
    # Five images whose changes are +1 and -1: more than 100 points would be needed, and there are none.
    few = TableSpec(
        "t", "T", ("side",), (RowSpec(("all",)), RowSpec(("few",), {"pair": ("2", "3", "8", "9", "6")})), (column,)
    ).filled([rows])
    assert [row.cells[1].detectable is None for row in few.rows] == [False, True]
    assert "For 1 of the 2" in few.notes[-1]
    # No share changes by more than 100 points: what would take more is not named.
    assert (
        "120.0" not in (said := _detectable_note([30.0, 120.0])) and "30.0 points" in said and "For 1 of the 2" in said
    )
    assert "150.0" not in (said := _detectable_note([150.0])) and "no true difference" in said
    # A table of shares says nothing of the kind.
    plain = TableSpec("t", "T", ("side",), (RowSpec(("all",)),), (ColumnSpec("accuracy", Mean()),)).filled([rows])
    assert not plain.notes and plain.rows[0].cells[1].detectable is None


CHANGES = [float(number % 2 == 0) - float(number % 3 == 0) for number in range(12)]
