"""CSV files for and from spreadsheets."""

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.agreement import spreadsheet
from lmms_medtasks.errors import UserError

TEXTS = st.text(st.characters(blacklist_categories=("Cs",)), max_size=20)


@pytest.fixture
def write(tmp_path):
    def write(data):
        path = tmp_path / "file.csv"
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_every_common_form(write, delimiter, encoding, end):
    lines = [delimiter.join(cells) for cells in (("id", "schärfe"), ('"q,1;\t2"', " 3 "), ("", ""), ("q2", ""))]
    sheet = spreadsheet.read(write((end.join(lines) + end).encode(encoding)))
    assert sheet.columns == ("id", "schärfe")
    assert sheet.rows == ((2, {"id": "q,1;\t2", "schärfe": "3"}), (4, {"id": "q2", "schärfe": ""}))


def test_lines_are_those_of_the_file(write):
    sheet = spreadsheet.read(write('id,x\n"two\nlines",1\nq2,2\n'))
    assert [line for line, _ in sheet.rows] == [2, 4]


def test_empty_columns_at_the_end_are_none(write):
    assert spreadsheet.read(write("id,x,,\nq1,1,,\n")).rows == ((2, {"id": "q1", "x": "1"}),)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "is empty"),
        ("\ufeff", "is empty"),
        ("\n\n", "is empty"),
        ("id,x,id\n", "a column twice: 'id'"),
        ("id,,x\n", "a column without a name"),
        ("id,x\nq1\n", "line 2: 1 cells, but the header has 2"),
        ("id,x\nq1,1,2\n", "line 2: 3 cells, but the header has 2"),
        ('id,x\nq1,"1\n', "Is a quotation mark never closed"),
        (b"id,x\nq\xe41,1\n", r"line 2: not UTF-8 \(byte 0xe4\). Save it as 'CSV UTF-8'"),
    ],
)
def test_bad_files(write, data, message):
    with pytest.raises(UserError, match=message):
        spreadsheet.read(write(data))


def test_no_file(tmp_path):
    with pytest.raises(UserError, match="Can't read .*No such file"):
        spreadsheet.read(tmp_path / "none.csv")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "'=1", "＝1"])
def test_formulas_are_made_harmless(text):
    assert spreadsheet.guarded(text) == "'" + text


@given(TEXTS)
def test_guarding_is_undone(text):
    assert spreadsheet.unguarded(spreadsheet.guarded(text)) == text
    assert not spreadsheet.guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_other_texts_stay():
    assert spreadsheet.guarded("a = b") == "a = b"
    assert spreadsheet.unguarded("'tis") == "'tis"


@given(st.lists(TEXTS, min_size=2, max_size=2))
def test_written_cells_are_guarded_and_read_back(cells):
    rows = list(csv.reader(io.StringIO(spreadsheet.csv_text(["a", "b"], [cells]), newline="")))
    assert [spreadsheet.unguarded(cell) for cell in rows[1]] == [cell.replace("\0", "") for cell in cells]


def test_the_character_nul_is_not_written():
    assert spreadsheet.csv_text(["a\0", "b"], [["=\0", "\0=1"]]) == "a,b\r\n'=,'=1\r\n"
