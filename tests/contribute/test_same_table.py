"""The same table in every form that a task may have gives the same questions, to the character."""

import collections
import csv
import json

import datasets
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmms_medtasks.contribute import recognising
from lmms_medtasks.contribute.new import NewTaskRequest, write_task_folder
from lmms_medtasks.data import excel_sheets, text_tables
from lmms_medtasks.errors import UserError
from tests.contributed_tables import CARD, COLUMNS, errors, load, table_rows

ROWS = table_rows()
FORMS = ["questions.csv", "bom.csv", "semicolons.csv", "questions.tsv", "list.json", "object.json", "lines.json",
         "rows.jsonl", "rows.ndjson", "rows.parquet", "rows.xlsx", "UPPER.CSV", "hub/set"]  # fmt: skip


def write_form(path):
    """The table in the form that ``path``'s name says."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
    if path.suffix.lower() in (".csv", ".tsv"):
        sign = {".tsv": "\t"}.get(path.suffix, ";" if path.stem == "semicolons" else ",")
        with path.open("w", encoding="utf-8-sig" if path.stem == "bom" else "utf-8", newline="") as file:
            csv.writer(file, delimiter=sign).writerows([COLUMNS, *ROWS])
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for row in [COLUMNS, *ROWS]:
            book.active.append(row)
        book.save(path)
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path)
    elif path.suffix == "":
        (path / "data").mkdir(parents=True)
        pq.write_table(pa.Table.from_pylist(records), path / "data" / "test-00000-of-00001.parquet")
    elif path.stem in ("list", "object"):
        path.write_text(json.dumps(records if path.stem == "list" else {"rows": records}), "utf-8")
    else:
        path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), "utf-8")
    return path


@pytest.mark.parametrize("form", FORMS)
def test_questions_are_the_same_to_the_character(form, tmp_path, monkeypatch):
    folder = tmp_path / "same"
    path = write_form(folder / form if form != "hub/set" else tmp_path / form)
    monkeypatch.chdir(tmp_path)
    dataset = form if form == "hub/set" else str(path)
    if form == "hub/set":
        monkeypatch.setattr(NewTaskRequest, "table", None)
    wanted = NewTaskRequest("same", "no_image", dataset, folder, columns={"options": "a,b,c"}, tags=("note",),
                    answer_is="letter", card=CARD)  # fmt: skip
    found = recognising.recognise_tables([wanted])[0]
    write_task_folder(found.wanted)
    assert errors(folder) == []
    made = [[doc["id"], doc["question"], doc["options"], doc["answer"], doc["note"]] for doc in load(folder).scored]
    assert made == [[row[0], row[1], [text for text in row[2:5] if text], row[5], row[6]] for row in ROWS]


def workbook(path, cells, formats=()):
    book = openpyxl.Workbook()
    for name, value in cells.items():
        book.active[name] = value
    for name, form in dict(formats).items():
        book.active[name].number_format = form
    book.save(path)
    return path


def test_numbers_of_a_sheet_are_as_it_shows_them(tmp_path):
    cells = {"A1": "a", "A2": 7, "A3": 7, "A4": 2.5, "A5": 2.5, "A6": -3, "A7": True, "A8": 1000000}
    path = workbook(tmp_path / "n.xlsx", cells, {"A3": "000", "A5": "0.00"})
    assert [row["a"] for _, row in excel_sheets.iter_sheet_rows(path)] == [
        "7",
        "007",
        "2.5",
        "2.50",
        "-3",
        "TRUE",
        "1000000",
    ]


@pytest.mark.parametrize(
    ("cells", "formats", "said"),
    [
        ({"A1": "a", "A2": 0.5}, {"A2": "0%"}, "cell A2: the number 0.5 is shown with the format '0%'"),
        ({"A1": "a", "A2": 1000.0}, {"A2": "0.00E+00"}, "cell A2: the number 1000"),
        ({"A1": "a", "A2": 1 / 3}, {}, "cell A2: the number 0.3333"),
        ({"A1": "a", "A2": "=1+1"}, {}, "cell A2: =1+1 was never calculated"),
        ({"A1": "a", "A2": "#N/A"}, {}, "cell A2: #N/A is an error of a formula"),
        ({"A1": "a", "B1": "a"}, {}, "has a column twice: 'a'"),
        ({"A1": "a", "B2": "x"}, {}, "row 2 of the sheet: a value stands beyond the header"),
        ({}, {}, "is empty"),
        ({"A1": None, "A3": "a", "A4": "x"}, {}, "what it holds starts in row 3"),
    ],
)
def test_cells_without_a_plain_text_are_named(cells, formats, said, tmp_path):
    with pytest.raises(UserError) as error:
        list(excel_sheets.iter_sheet_rows(workbook(tmp_path / "n.xlsx", cells, formats)))
    assert said in str(error.value)


def test_sheets_merged_cells_and_hidden_rows_are_refused(tmp_path):
    book = openpyxl.Workbook()
    book.active.append(["a"])
    book.active.append(["x"])
    book.create_sheet("second").append(["b"])
    book.save(tmp_path / "two.xlsx")
    with pytest.raises(UserError, match="several sheets: Sheet, second"):
        list(excel_sheets.iter_sheet_rows(tmp_path / "two.xlsx"))
    assert list(excel_sheets.iter_sheet_rows(tmp_path / "two.xlsx", "Sheet")) == [(2, {"a": "x"})]
    del book["second"]
    book.active.merge_cells("A2:A3")
    book.save(tmp_path / "merged.xlsx")
    with pytest.raises(UserError, match="A2:A3 are merged"):
        list(excel_sheets.iter_sheet_rows(tmp_path / "merged.xlsx"))
    book.active.unmerge_cells("A2:A3")
    book.active.row_dimensions[2].hidden = True
    book.save(tmp_path / "hidden.xlsx")
    with pytest.raises(UserError, match="row 2 of the sheet is hidden"):
        list(excel_sheets.iter_sheet_rows(tmp_path / "hidden.xlsx"))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("q.csv", b"PK\x03\x04rest", "is an Excel workbook or another zip. Call it .xlsx"),
        ("q.csv", b"\xd0\xcf\x11\xe0rest", "Save it as .xlsx"),
        ("q.csv", b"PAR1rest", "is parquet. Call it .parquet"),
        ("q.csv", "a,b\n1,2\n".encode("utf-16"), "is UTF-16 text"),
        ("q.csv", b"\x1f\x8brest", "Unpack it"),
        ("q.csv", b"<!DOCTYPE html><html>", "is a web page"),
        ("q.csv", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("q.csv", "a,b\nGrüße,2\n".encode("latin-1"), "iconv -f WINDOWS-1252 -t UTF-8 q.csv"),
        (
            "q.csv",
            b"a;b\n1;2\n",
            "separated by semicolons, it is read with ','. In the YAML: dataset_kwargs: sep: \";\"",
        ),
        ("q.csv", b"a\tb\n1\t2\n", "separated by tabs"),
        ("q.tsv", b"a,b\n1,2\n", "separated by commas"),
        ("q.csv", b"", "is empty"),
        ("q.csv", b"a,b\n1,x\0y\n", "row 1 (line 2 with the header): a cell holds a NUL character"),
        ("q.parquet", b"PAR1 cut", "cannot be read as parquet"),
        ("q.csv", b"a,b\n", "has no rows"),
        ("q.json", b'[{"a": 1, "a": 2}]', "record 1: A record has the key 'a' twice"),
        ("q.jsonl", b'{"a": NaN}\n', "line 1: A record holds NaN"),
        # Libraries take these without a word: two rows for one, another text, no character at all.
        ("q.csv", b'a,b\n1,"x\n2,"y"\n', "after record 0: ',' expected after '\"'"),
        ("q.csv", b'a,b\n"x\\"y",2\n', 'a quotation mark is written twice ("")'),
        ("q.csv", b"a,b\r1,2\r", "Its lines end in a carriage return alone"),
        ("q.jsonl", b'{"a": "x\\ud800"}\n', r"'x\ud800' holds '\ud800', half of a character"),
        ("q.jsonl", b'{"a": 1} {"a": 2}\n', "Expected one whole record in each line, or a list of them"),
        ("q.json", b'{"x": [{"a": 1}], "n": [], "y": [{"a": 2}]}', "several lists: x, y. Which of them"),
        ("q.json", b'{"a": ["x", "y"], "b": ["z", "w"]}', "not a list for each column (pandas: to_json"),
        ("q.json", b'[{"a": "x"}, 3]', "row 2: no record"),
    ],
)
def test_a_file_that_is_something_else_is_named_with_the_cure(name, content, said, tmp_path):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(UserError) as error:
        text_tables.read_text_table(path, text_tables.dataset_loader_name(path))
    assert said in str(error.value)


def test_a_table_of_a_million_rows_is_read_and_its_last_row_named(tmp_path):
    path = tmp_path / "q.csv"
    path.write_text("a,b\n" + "x,\n" * (10**6 - 1) + "last,7\n", "utf-8")
    table = text_tables.read_text_table(path, "csv")
    assert (len(table), table[-1]) == (10**6, {"a": "last", "b": "7"})
    with path.open("a", encoding="utf-8") as file:
        file.write("x,y,z\n")
    with pytest.raises(
        UserError, match=r"q\.csv, row 1000001 \(line 1000002 with the header\): 3 cells, the header has 2"
    ):
        collections.deque(text_tables.iter_text_rows(path, "csv"), maxlen=0)


def test_lists_in_json_are_lists_and_a_single_text_among_them_a_list_of_one(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text('{"image": "a.png", "n": [1, 2.50]}\n{"image": ["b.png", "c.png"], "n": null}\n', "utf-8")
    table = text_tables.read_text_table(path, "json")
    assert table["image"][:] == [["a.png"], ["b.png", "c.png"]]
    assert table["n"][:] == [["1", "2.50"], None]
    assert isinstance(table, datasets.Dataset)
