"""The line beside published rows says what a run used; rows that are over other questions than most carry a mark."""

import pytest

from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.report.comparability import OTHER_QUESTIONS, paper_lines, rows_with_other_questions, with_marks
from lmms_medtasks.report.document import Cell, Frame, FrameColumn, FrameRow, ReportChapter, ReportSection
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.result_files import ResultFile
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites import paper

JUDGE = {
    "name": "openai:gpt-4o",
    "is_paper_judge": False,
    "protocols": [{"protocol": "med_cmr_open", "paper_judge": "DeepSeek-V3.2-Exp", "prompt": "my.txt", "digest": "d1"}],
}


def line_of(tmp_path, metadata=None, default=None, limit=None, asked=10):
    """The line of a run of Med-CMR's open task."""
    config = {
        "metadata": {"data": "full", **(metadata or {})},
        "lmms_eval_specific_kwargs": {"default": default or {}},
        "generation_kwargs": {"max_new_tokens": 1024},
    }
    content = {
        "configs": {"med_cmr_open": config},
        "n-samples": {"med_cmr_open": {"original": 10, "effective": asked}},
        "config": {"limit": limit},
    }
    source = ModelResults(
        "m",
        QuestionTable.of_rows([]),
        QuestionTable.of_rows([]),
        0,
        ((ResultFile(tmp_path, content), ("med_cmr_open",)),),
    )
    (line,) = paper_lines(paper.find_paper_protocol("med_cmr"), [source])
    return line


@pytest.mark.parametrize(
    ("chosen", "there"),
    [
        ({}, "prompts are in our words"),
        ({"metadata": {"data": "mini"}}, "mini data"),
        (
            {"metadata": {"data": "5 images of full", "subset": {"size": 5, "units": 9, "unit": "image", "seed": 0}}},
            "a random sample (5 of 9 images, seed 0)",
        ),
        ({"asked": 4, "limit": 4.0}, "--limit 4"),
        ({"metadata": {"judge": JUDGE}}, "judged by openai:gpt-4o, the paper by DeepSeek-V3.2-Exp"),
        (
            {"metadata": {"judge": {**JUDGE, "name": "local:DeepSeek-V3.2-Exp", "endpoint": "http://h/v1"}}},
            "judged by local:DeepSeek-V3.2-Exp, named like the paper's judge, at http://h/v1",
        ),
        ({"metadata": {"judge": {"name": "none", "protocols": []}}}, "no judge"),
        ({"metadata": {"own_prompt": {"name": "a.txt", "digest": "0f"}}}, "the prompt is the file a.txt (0f)"),
        (
            {"metadata": {"judge": JUDGE}, "default": {"judge_prompt": {"med_cmr_open": "/x/my.txt"}}},
            "the judge's prompt of med_cmr_open is the file my.txt (d1)",
        ),
        ({"default": {"no_image": True}}, "no image is shown"),
        (
            {"metadata": {"changed_by_options": {"generation": {"temperature": [0.0, 1]}}}},
            "temperature=1 instead of 0",
        ),
        ({"metadata": {"image_encoding": "JPEG 75"}}, "the runner re-encoded images (JPEG 75)"),
    ],
)
def test_each_difference_is_named_where_the_run_has_it(tmp_path, chosen, there):
    assert there in line_of(tmp_path, **chosen)
    if chosen:
        assert there not in line_of(tmp_path)


def test_a_prompt_of_ones_own_takes_the_place_of_our_words(tmp_path):
    line = line_of(tmp_path, {"own_prompt": {"name": "a.txt", "digest": "0f"}})
    assert "prompts are in our words" not in line
    assert "judged by" not in line_of(tmp_path, {"judge": {**JUDGE, "is_paper_judge": True}})


QUICK = ReportOptions(resamples=0, drawn=False)
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
    assert rows_with_other_questions(asked) == rows


def test_published_rows_are_not_marked_and_nothing_changes_where_all_are_alike():
    rows = (FrameRow((Cell("a"), Cell(1))), FrameRow((Cell("b"), Cell(2))), FrameRow((Cell("a"), Cell(3)), "reference"))
    table = Frame("t", "t", (FrameColumn("model", "text"), FrameColumn("n")), rows)
    part = ReportChapter("all", "Comparison", (), (), (ReportSection("s", "s", tables=(table,)),))
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
    alike, *_ = build_report(whole, QUICK).parts
    assert set(marks(alike, "models").values()) == {False} and said(alike) == []
    part, *_ = build_report([*whole, limited], QUICK).parts
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
