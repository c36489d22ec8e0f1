"""A row is a document or rejected; what all readers say of fields and spellings."""

from __future__ import annotations

import pytest

from lmms_medtasks.data.row_reader import (
    CandidateDocument,
    RejectedRow,
    RowReader,
    Spellings,
    check_fields,
    filled_options,
    reject_unless,
)
from lmms_medtasks.errors import UserError, unknown_name_error


class Numbers(RowReader):
    """Rows are numbers; an even one has an image, 4 has not its own; 0 is none."""

    def read_rows(self):
        yield from enumerate([1, RejectedRow("no row"), 0, 2, 4], start=1)

    def read_name(self, row):
        return f"n{row}"

    def make_document(self, row):
        return {"answer": reject_unless(row, "it is 0")}

    def find_missing(self, row):
        if row % 2:
            raise RejectedRow("it names no image")
        return [f"{row}.png"] if row == 4 else []


def test_each_row_is_a_document_or_rejected_with_the_reason():
    assert list(Numbers().candidates()) == [
        CandidateDocument(1, "n1", {"data": "", "answer": 1}),
        CandidateDocument(2, "", reason="no row"),
        CandidateDocument(3, "n0", reason="it is 0"),
        CandidateDocument(4, "n2", {"data": "", "answer": 2}),
        CandidateDocument(5, "n4", {"data": "", "answer": 4}),
    ]
    assert list(Numbers().missing_images()) == [("4.png",)]


def test_missing_fields_are_named_with_what_was_found():
    check_fields("t.tsv", ["index", "image or picture"], ["index", "picture"])
    with pytest.raises(UserError) as error:
        check_fields("t.tsv", ["index", "image or image_path", "answer"], ["index", "picture"], "columns", " (ours?)")
    assert str(error.value) == (
        "t.tsv lacks required columns (ours?). Missing: image or image_path, answer. "
        "Required: index, image or image_path, answer. Found: index, picture."
    )


def test_spellings_say_how_often_and_where_first():
    def kind(text):
        if text != "a":
            raise unknown_name_error("kind", text, ["a"])

    found = Spellings({"kind": kind})
    for number, text in enumerate(["a", 0, "c", "", "c", None], start=1):
        found.look(number, {"kind": text})
    with pytest.raises(UserError) as error:
        found.check("t.tsv")
    first, *lines = str(error.value).splitlines()
    assert first.startswith("t.tsv has spellings that are not known; nothing was prepared")
    assert lines == [
        "  kind, 2 rows, first in row 3: Unknown kind 'c'. Allowed: a.",
        "  kind, 1 row, first in row 2: Unknown kind '0'. Allowed: a.",
    ]


def test_options_end_at_the_last_that_is_filled():
    assert filled_options(["a", "b", "", ""]) == ["a", "b"]


@pytest.mark.parametrize(
    ("texts", "said"), [(["a", "", "c"], "option B is empty, but C is not"), (["a", ""], "1 options")]
)
def test_gaps_and_single_options_are_refused(texts, said):
    with pytest.raises(RejectedRow, match=said):
        filled_options(texts)
