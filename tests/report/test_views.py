"""What a table's cells are made of."""

from lmms_medtasks.record import MeasureValue, Record
from lmms_medtasks.report.views import Column, Row, Source
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Mean


def source(**scores):
    records = [Record(name, name, ("A",), "A", {"accuracy": MeasureValue(score)}, {"side": name[0]}, pair=name[1:])
               for name, score in scores.items()]  # fmt: skip
    rows = Samples.of_records(records)
    return Source("model", rows, rows, 0)


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
        unit: Column("x", Mean(measure="change"), unit, over=pairs).cell(own, Row(())) for unit in ("points", "drop")
    }
    # 0.5 - 1 and 0.25 - 0.5; b3 has no partner.
    assert {unit: cell.value for unit, cell in cells.items()} == {"points": -37.5, "drop": 37.5}
    assert Column("n", Mean(measure="before"), "n", over=pairs).cell(own, Row((), {"pair": "1"})).value == 1
    assert [Column("x", unit=unit).column().signed for unit in ("points", "drop", "")] == [True, False, False]
