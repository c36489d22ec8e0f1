"""Tables of any form: the same records from each, and clear errors."""

from __future__ import annotations

import json

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data import any_tables
from lmms_medtasks.errors import UserError

ROWS = [{"a": "1", "b": "x, y"}, {"a": "2", "b": "膝"}]


def write(path, rows=ROWS):
    if path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    elif path.suffix == ".json":
        path.write_text(json.dumps(rows), "utf-8")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n\n" for row in rows), "utf-8")
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        lines = [mark.join(rows[0])] + [mark.join(f'"{cell}"' for cell in row.values()) for row in rows]
        path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".tsv", ".json", ".jsonl"])
def test_the_same_records_from_every_form(tmp_path, suffix):
    path = write(tmp_path / f"cases{suffix}")
    assert list(any_tables.iter_table_rows(path)) == ROWS
    assert any_tables.read_table_columns(path) == ("a", "b")
    assert any_tables.is_table(f"data/{path.name}")


def test_an_object_of_lists_says_which_list(tmp_path):
    path = tmp_path / "all.json"
    path.write_text(json.dumps({"Task I": [{"a": 1}], "note": "text", "Task II": [{"a": 2}, 3]}))
    assert list(any_tables.iter_table_rows(path)) == [
        {"section": "Task I", "a": 1},
        {"section": "Task II", "a": 2},
        None,
    ]


def test_records_in_a_mapping_beside_a_list_are_not_left_out(tmp_path):
    """Unless they are of another kind, as the authors of a data set are."""
    path = tmp_path / "a.json"
    path.write_text(json.dumps({"train": ROWS, "meta": {"rows": ROWS[:1]}}), "utf-8")
    for decoder in (any_tables.AS_WRITTEN, any_tables.PLAIN):
        with pytest.raises(UserError, match="a.json holds several lists: train, meta.rows. Which of them is asked"):
            list(any_tables.json_rows(path, decoder))
    path.write_text(json.dumps({"train": ROWS, "meta": {"authors": [{"name": "x"}]}}), "utf-8")
    assert [row["a"] for row in any_tables.json_rows(path, any_tables.AS_WRITTEN)] == ["1", "2"]


def test_json_lines_in_a_file_called_json(tmp_path):
    path = tmp_path / "lines.json"
    path.write_text('{"a": 1}\n{"a": 2}\n')
    assert list(any_tables.iter_table_rows(path)) == [{"a": 1}, {"a": 2}]


def test_a_record_that_is_none_is_told_apart(tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n1,2\n1,2,3\n")
    assert list(any_tables.iter_table_rows(table)) == [{"a": "1", "b": "2"}, None]
    listed = tmp_path / "t.json"
    listed.write_text('[{"a": 1}, "x"]')
    assert list(any_tables.iter_table_rows(listed)) == [{"a": 1}, None]


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.parquet", b"PAR1 no", "cannot be read as parquet"),
        ("a.json", b'{"a": ', "is not JSON"),
        ("a.json", b'"text"', "holds no records: it is str"),
        ("a.json", b'{"a": 1}', "holds no list of records, it is an object with the keys a"),
        ("a.jsonl", b'{"a": 1}\n{"a"\n', "line 2 is not JSON"),
        ("a.jsonl", b"\xff\xfe", "is not UTF-8"),
        ("a.csv", b'a,b\n"open', "Is a quotation mark never closed"),
    ],
)
def test_damage_is_named(tmp_path, name, data, said):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(UserError, match=said):
        list(any_tables.iter_table_rows(path))


@pytest.mark.parametrize("name", ["a.XLSX", "a.xlsm"])
def test_sheets_of_a_workbook(tmp_path, name):
    path = tmp_path / name
    book = openpyxl.Workbook()
    book.active.append(["a", "b"])
    book.active.append([1, "x"])
    book.create_sheet("empty")
    book.save(path)
    assert any_tables.list_sheets(path) == ["Sheet"] and any_tables.list_sheets(tmp_path / "a.csv") == [""]
    assert list(any_tables.iter_table_rows(path, sheet="Sheet")) == [{"a": "1", "b": "x"}]
    assert any_tables.read_table_columns(path) == ("a", "b") and any_tables.is_table(path.name)


def test_packed_tables_say_how_to_unpack_them():
    hint = any_tables.unpacking_hint(["images.zip", "photo.png.gz", "all cases.jsonl.gz", "t.csv.ZIP", "t.csv"])
    assert hint == " Packed tables are not read. Unpack them: gunzip 'all cases.jsonl.gz'; unzip t.csv.ZIP."
    assert any_tables.unpacking_hint(["t.csv"]) == ""


def test_what_is_no_table():
    assert not any(map(any_tables.is_table, ("dataset_infos.json", "a.docx", "README.md", "img/1.png")))


VALUES = st.dictionaries(
    st.text(max_size=5), st.one_of(st.text(max_size=40), st.integers(), st.lists(st.text(), max_size=2))
)


@given(st.lists(VALUES, max_size=6), st.sampled_from([None, 2]))
def test_any_list(tmp_path_factory, rows, indent):
    path = tmp_path_factory.mktemp("lists") / "list.json"
    path.write_text(json.dumps(rows, indent=indent), "utf-8")
    assert list(any_tables.iter_json_items(path)) == rows


@pytest.mark.parametrize("content", ["", "{}", "[{}", "[{} {}]", "[{},", '[{}, {"a": ]', "[" + "[" * 100_000])
def test_anything_else_is_refused(tmp_path, content):
    path = tmp_path / "list.json"
    path.write_text(content, "utf-8")
    with pytest.raises(UserError, match=r"list\.json"):
        list(any_tables.iter_json_items(path))


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "list.json"
    path.write_bytes(b"[\xff]")
    with pytest.raises(UserError, match="not UTF-8"):
        list(any_tables.iter_json_items(path))


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match="cannot be read"):
        list(any_tables.iter_json_items(tmp_path / "none.json"))
