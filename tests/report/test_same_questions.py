"""Rows of a comparison that are over other questions than the others carry a mark, and a flag says which they are."""

import pytest

from lmms_medtasks.report import Options, build
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, Part, Section
from lmms_medtasks.report.same_questions import OTHER_QUESTIONS, differing, with_marks

QUICK = Options(resamples=0, drawn=False)
MANY = {f"q{number}": ("image", "CT", "Counting", "gaussian_noise", 4, "A") for number in range(60)}


def ids(*names):
    return frozenset(names)


def marks(part, key):
    """By the name of a row of these runs, whether it is marked."""
    found = next(table for section in part.sections for table in section.tables if table.key == key)
    assert any(OTHER_QUESTIONS in note for note in found.all_notes) == any(
        row.cells[0].mark == OTHER_QUESTIONS for row in found.rows
    )
    return {row.cells[0].value: row.cells[0].mark == OTHER_QUESTIONS for row in found.rows if row.kind == "run"}


def said(part):
    return [flag.text for flag in part.flags if flag.kind == "warning" and OTHER_QUESTIONS in flag.text]


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ({"a": {"x": ids("1", "2")}, "b": {"x": ids("2", "1")}}, {}),
        ({"a": {"x": ids("1")}, "b": {"x": ids("1", "2")}}, {"a": "x 1 questions (most rows: 2)"}),
        # Most rows are asked few: the one with more is the other one.
        (
            {"a": {"x": ids("1", "2")}, "b": {"x": ids("1")}, "c": {"x": ids("1")}},
            {"a": "x 2 questions, 1 of them others (most rows: 1)"},
        ),
        # As many, and others.
        (
            {"a": {"x": ids("1", "2")}, "b": {"x": ids("1", "2")}, "c": {"x": ids("1", "3")}},
            {"c": "x 2 questions, 1 of them others (most rows: 2)"},
        ),
        # A test that only one row has is compared with nothing.
        ({"a": {"x": ids("1")}, "b": {"y": ids("1", "2")}}, {}),
        # Two shifts have other questions in tests of one name; all methods were asked the same under each.
        ({(name, shift): {"x": ids(shift)} for name in "ab" for shift in "st"}, {}),
        (
            {("a", "s"): {"x": ids("1")}, ("b", "s"): {"x": ids("1", "2")}, ("a", "t"): {"x": ids("3", "4", "5")}},
            {("a", "s"): "x 1 questions (most rows: 2)"},
        ),
    ],
)  # fmt: skip
def test_which_rows_differ(asked, rows):
    assert differing(asked) == rows


def test_published_rows_are_not_marked_and_nothing_changes_where_all_are_alike():
    rows = (FrameRow((Cell("a"), Cell(1))), FrameRow((Cell("b"), Cell(2))), FrameRow((Cell("a"), Cell(3)), "reference"))
    table = Frame("t", "t", (FrameColumn("model", "text"), FrameColumn("n")), rows)
    part = Part("all", "Comparison", (), (), (Section("s", "s", tables=(table,)),))
    assert with_marks(part, {"a": {"x": ids("1")}, "b": {"x": ids("1")}}) is part
    found = with_marks(part, {"a": {"x": ids("1")}, "b": {"x": ids("1", "2")}})
    assert [row.cells[0].mark for row in found.sections[0].tables[0].rows] == [OTHER_QUESTIONS, "", ""]
    assert len(said(found)) == 1


def test_medq_deg_marks_the_row_of_a_limited_run_of_another_task(write_run):
    trials = {level: dict.fromkeys(MANY, "AB") for level in range(3)}
    whole = [
        write_run(name, model=name, trials=trials, questions=MANY, stem="medq_deg", together=True) for name in "ab"
    ]
    few = {level: dict.fromkeys(list(MANY)[:5], "A" * 10) for level in range(3)}
    limited = write_run(
        "limited", model="a", trials=few, questions=MANY, stem="medq_deg_calib", together=True, original=180
    )
    alike, *_ = build(whole, QUICK).parts
    assert set(marks(alike, "models").values()) == {False} and said(alike) == []
    part, *_ = build([*whole, limited], QUICK).parts
    expected = {
        "a (our degradations, 2 trials)": False,
        "b (our degradations, 2 trials)": False,
        "a (our degradations, 10 trials)": True,
    }
    for key in ("models", "table6", "table2", "table3"):
        assert marks(part, key) == expected
    (text,) = said(part)
    assert "a (our degradations, 10 trials): L0 5 questions (most rows: 60)" in text and "b (" not in text
    assert any("full, --limit 2" in flag.text for flag in part.flags)
