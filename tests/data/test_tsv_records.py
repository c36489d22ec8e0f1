"""Tables are read record by record, from the start or from any record's place."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lmms_medtasks.data import tsv_records
from lmms_medtasks.data.tsv_records import TsvTable
from lmms_medtasks.errors import UserError


def written(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(rows=st.lists(st.tuples(cells, cells), max_size=6), ending=st.sampled_from(["\n", "\r\n"]), bom=st.booleans())
def test_what_was_written_is_read_also_by_place(
    tmp_path: Path, rows: list[tuple[str, str]], ending: str, bom: bool
) -> None:
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, delimiter="\t", lineterminator=ending, quoting=csv.QUOTE_ALL)
    writer.writerow(["index", "text"])
    # the index carries the row's number, so that it is the only one of its kind and never empty
    numbered = [(f"{number}-{a}", b) for number, (a, b) in enumerate(rows)]
    writer.writerows(numbered)
    table = TsvTable(written(tmp_path / "t.tsv", ("\ufeff" if bom else "") + buffer.getvalue()))
    assert [tuple((r.cells or {}).values()) for r in table.records()] == numbered
    assert [r.number for r in table.records()] == list(range(1, len(rows) + 1))
    for place, record in table.placed():
        assert table.record_at(place).cells == record.cells


def test_a_record_of_another_width_has_no_cells(tmp_path: Path) -> None:
    table = TsvTable(written(tmp_path / "t.tsv", "a\tb\n1\t2\n1\n1\t2\t3\n"))
    assert [(r.number, r.cells is None, r.width) for r in table.records()] == [
        (1, False, 2),
        (2, True, 1),
        (3, True, 3),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        *((empty, "t.tsv is empty") for empty in ("", "\n", "\t\t\n")),
        ("index\tanswer\tanswer\n", "t.tsv has a column twice: 'answer'"),
        (b"index\tb\n1\tx\n2\t\xff\n", r"not UTF-8 text \(line 3\)"),
    ],
)
def test_a_table_that_cannot_be_read_says_so(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(UserError, match=message):
        list(TsvTable(written(tmp_path / "t.tsv", text)).records())
    with pytest.raises(UserError, match="nothing.tsv cannot be read: No such file"):
        TsvTable(tmp_path / "nothing.tsv")


def test_a_quotation_mark_that_is_never_closed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tsv_records, "MAX_CELL", 1000)
    table = TsvTable(written(tmp_path / "t.tsv", 'index\tb\n1\tx\n2\t"' + "y\n" * 1000))
    with pytest.raises(UserError, match="after record 1: field larger than field limit .*quotation mark"):
        list(table.records())


def test_large_cells_are_read_and_the_limit_of_the_csv_module_stays(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    table = TsvTable(written(tmp_path / "t.tsv", f"index\tb\n1\t{'x' * (before + 1)}\n"))
    assert [len((r.cells or {})["b"]) for r in table.records()] == [before + 1]
    assert csv.field_size_limit() == before


def test_progress_adds_up_to_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "t.tsv", "index\tb\n" + "".join(f"{n}\tx\n" for n in range(50)))
    steps: list[int] = []
    assert sum(1 for _ in TsvTable(path).placed(steps.append)) == 50
    assert sum(steps) == path.stat().st_size - len("index\tb\n")
