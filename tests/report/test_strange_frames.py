"""Tables that nobody wishes for, in every writer: whole, harmless, and with each number where it belongs."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pandas as pd
import pyarrow as pa
import pytest

from lmms_medtasks.report.cells import count_column, label_column, percent_cell, percent_column
from lmms_medtasks.report.csv_writer import render_csv
from lmms_medtasks.report.document import (
    EMPTY,
    Cell,
    Frame,
    FrameColumn,
    FrameRow,
    ReportChapter,
    ReportNotice,
    ReportSection,
)
from lmms_medtasks.report.first_screen import ReportDocument
from lmms_medtasks.report.run_report import RunReport
from lmms_medtasks.report.terminal import WIDTH, document_text, screen_text
from lmms_medtasks.statistics.intervals import IntervalEstimate

NAMES = {
    "end of a drawing": "</svg><script>alert(1)</script>",
    "quotes": "a \"b\" 'c'",
    "backticks": "`rm`",
    "pipes": "a|b||c",
    "right to left": "model\u202egnp.exe",
    "200 letters": "m" * 200,
    "200 letters in words": "model of a ward " * 12 + "end",
    "escape sequence": "\x1b[31mred",
    "line feed": "two\nlines",
    "formula": "=cmd()",
    "brackets": "[bold]x[/bold]",
    "stars": "**x** _y_ # z",
}
INTERVAL = IntervalEstimate(0.523, 0.501, 0.544, 12, 12)


def table(*names: str, value: float | None = 52.3) -> Frame:
    cell = percent_cell(INTERVAL) if value == 52.3 else Cell(value)
    columns = (label_column("model"), count_column("questions"), percent_column("accuracy"))
    return Frame("t", "Title", columns, tuple(FrameRow((Cell(name), Cell(12), cell)) for name in names))


def document(found: Frame, text: str = "text") -> ReportDocument:
    section = ReportSection("s", text, (text,), (found,), items=(text,))
    return ReportDocument(
        text, (ReportChapter("p", text, ((text, text),), (ReportNotice("warning", text),), (section,)),)
    )


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_is_harmless_and_its_number_is_there_in_every_writer(name: str) -> None:
    made = document(table(name), name)
    markdown, page, terminal = (document_text(made, form) for form in ("md", "html", "terminal"))
    (row,) = [line for line in markdown.splitlines() if "52.3" in line]
    assert row.replace("\\|", "").count("|") == 4
    plain = re.sub(r"\\.", "", markdown)
    assert "<" not in plain and "`" not in plain and "[bold]" not in plain
    assert "<script>alert" not in page and page.count("</svg>") == 0
    assert "[bold]" in terminal or name != NAMES["brackets"]
    lines = screen_text(made).splitlines()
    assert max(map(len, lines)) <= WIDTH and sum("52.3 [50.1, 54.4]" in line for line in lines) == 1
    for text in (markdown, page, terminal, *lines, render_csv(table(name))):
        assert "\x1b" not in text and "\u202e" not in text
    (row,) = csv.DictReader(io.StringIO(render_csv(table(name))))
    assert row["accuracy (%)"] == "52.3" and not row["model"].startswith("=")


@pytest.mark.parametrize("form", ["md", "csv", "html", "terminal"])
def test_a_table_without_rows_with_one_and_with_two_hundred_models(form: str) -> None:
    for many in (0, 1, 200):
        names = [f"model {number:03}" for number in range(many)]
        text = document_text(document(table(*names)), form)
        assert all(name in text for name in names) and "questions" in text
        assert text == document_text(document(table(*names)), form)
    lines = screen_text(document(table(*names))).splitlines()
    assert max(map(len, lines)) <= WIDTH and sum("52.3" in line for line in lines) == 200
    assert screen_text(document(table()))


@pytest.mark.parametrize("value", [math.nan, None], ids=["not a number", "nothing"])
def test_what_is_no_number_is_empty(value: float | None) -> None:
    found = table("m", value=value)
    assert found.columns[2].text(found.rows[0].cells[2]) == EMPTY
    assert render_csv(found).splitlines()[1] == "m,12,,run"
    for form in ("md", "html", "terminal"):
        assert "nan" not in re.sub(
            r"<(script|style)>.*?</\1>", "", document_text(document(found), form), flags=re.DOTALL
        )


def test_a_table_of_many_columns_is_broken_into_blocks_that_begin_with_its_names() -> None:
    columns = (label_column("model"), *(FrameColumn(f"column {number}", digits=1) for number in range(30)))
    wide = Frame("t", "", columns, tuple(FrameRow((Cell(name), *(Cell(1.5),) * 30)) for name in ("one", "two")))
    lines = screen_text(document(wide)).splitlines()
    assert max(map(len, lines)) <= WIDTH
    heads = [line for line in lines if line.startswith("model ")]
    assert " ".join(heads).split().count("column") == 30 and sum(line.startswith("two") for line in lines) == len(heads)


def test_tidy_records_have_a_line_for_each_number_and_all_that_is_known_of_it() -> None:
    found = table("one", "two")
    records = found.tidy()
    assert [(each["row"], each["model"], each["column"]) for each in records] == [
        (row, name, column) for row, name in ((1, "one"), (2, "two")) for column in ("questions", "accuracy (%)")
    ]
    last = records[-1]
    assert (last["value"], last["low"], last["high"], last["n"], last["kind"]) == pytest.approx(
        (52.3, 50.1, 54.4, 12, "run")
    )
    assert json.loads(json.dumps(records)) == records
    assert pd.DataFrame(records).shape[0] == pa.Table.from_pylist(records[1::2]).num_rows * 2 == 4


def test_data_frames_and_files_have_the_same_columns() -> None:
    found = table("one", "two")
    frame = RunReport(document(found)).tables["t"]
    assert list(frame.columns) == next(csv.reader(io.StringIO(render_csv(found))))
    assert frame["accuracy (%) high"].tolist() == pytest.approx([54.4, 54.4])
