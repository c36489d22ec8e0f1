"""Replies that could not be read are said first, with the way out, and nothing is claimed of the model then."""

from __future__ import annotations

import html
import io

import pytest
from rich.console import Console

from lmms_medtasks.board import rules
from lmms_medtasks.board.checks import _rate_problems
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.comparison.gate import read_rules
from lmms_medtasks.board.site import board_tables
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.report import ReportOptions, build_report, readability
from lmms_medtasks.report.markdown import render_markdown
from lmms_medtasks.report.report_page import render_html
from lmms_medtasks.report.terminal import print_report
from tests import contributed_runs as runs

pytestmark = pytest.mark.usefixtures("nothing_given")

THOUGHTS = "The left lung shows an opacity that may be fluid, so I compare both sides again. " * 2
CUT = SentReply(f"<think>{THOUGHTS}", "length", 512)
GRID = {"options": [], "grid": "2x2"}
DIGESTS = {"digests": {"package": "c0de", "prompt": "9409"}}
QUICK = ReportOptions(resamples=0, drawn=False)


def written(folder, replies, template="multiple_choice", **more):
    asked = [({**runs.document(n), **more}, [reply]) for n, reply in enumerate(replies)]
    return runs.write_run(folder, {"lungs": {"template": template, "asked": asked, "metadata": DIGESTS}})


def screens(path):
    """The first screen in a terminal, in Markdown and in HTML; each with single blanks."""
    document = build_report([path], QUICK)
    console = Console(width=200, file=io.StringIO(), force_terminal=False)
    print_report(document, console, everything=False)
    texts = (console.file.getvalue(), render_markdown(document).replace("\\", ""), html.unescape(render_html(document)))
    return document, [" ".join(each.split()) for each in texts]


def check_of(document):
    return next(each for each in document.first.checks if each.title == "replies can be read")


def test_every_reply_cut_off(tmp_path):
    document, texts = screens(written(tmp_path, [CUT] * 12))
    check = check_of(document)
    assert (check.state, check.reason) == ("no", "0 % of 12 replies: 12 of 12 cut off at 512 tokens")
    assert "--gen_kwargs max_new_tokens=4096" in check.mend
    (model,) = document.first.models
    said = "100 % of the replies could not be read (12 of 12 cut off at 512 tokens): nothing is said about the model."
    assert model.sentence == said
    for text in texts:
        assert said in text and check.reason in text and check.mend in text
        assert "guessing at" not in text and "no better than guessing" not in text
    assert texts[-1].count("nothing is said about the model") == 1  # once on the page
    assert '<i class="chance"' in "".join(texts)
    assert "replies can be read" in document.first.verdict and document.first.verdict.startswith("Not yet")


def test_letters_to_questions_for_a_position(tmp_path):
    """A failure of form is no finding: 5 of 8 say a letter, and no position has one."""
    answers = ["top-left", "B", "C", "D", "B", "C", "bottom-left", "none"]
    document, texts = screens(written(tmp_path, answers, "grid", **GRID, answer="top-left"))
    check = check_of(document)
    assert (check.state, check.reason) == ("no", "38 % of 8 replies: 5 of 8 unreadable")
    for text in texts:
        assert "62 % of the replies could not be read (5 of 8 unreadable): nothing is said about the model." in text
        assert "below guessing" not in text


def test_unknown_marks_are_named_with_the_way_out(tmp_path):
    replies = [f"<ponder>{THOUGHTS}</ponder>A"] * 3 + [f"<ponder>{THOUGHTS}"]
    document, texts = screens(written(tmp_path, replies))
    check = check_of(document)
    assert check.state == "no" and "4 begin with <ponder>, which may open thoughts" in check.reason
    assert check.mend == """--reasoning_tags '[["<ponder>","</ponder>"]]'"""
    assert all(check.mend in text for text in texts)
    # Behind the mark's end all are read: the numbers stand, with care.
    read, _ = screens(written(tmp_path / "read", replies[:3]))
    assert check_of(read).state == "partly" and "nothing is said" not in read.first.models[0].sentence


@pytest.mark.parametrize(
    ("mark", "closing"),
    [("<ponder>", "</ponder>"), ("<|plan|>", "<|/plan|>"), ("[PLAN]", "[/PLAN]"), ("◁plan▷", "◁/plan▷"),
     ('<plan id="1">', "</plan>")],
)  # fmt: skip
def test_the_mark_that_closes(mark, closing):
    assert readability._closing_mark(mark) == closing


def test_a_healthy_run_is_green(tmp_path):
    document, texts = screens(written(tmp_path, ["A"] * 12))
    check = check_of(document)
    assert (check.state, check.reason, check.mend) == ("yes", "100 % of 12 replies", "")
    assert all("nothing is said" not in text for text in texts)


def test_answers_at_the_limit_are_said(tmp_path):
    document, _ = screens(written(tmp_path, [SentReply("The answer is A.", "length", 64)] + ["A"] * 11))
    assert check_of(document).reason == "100 % of 12 replies; 1 more ended at the limit of new tokens, and were read"


def test_many_answers_at_the_limit_are_red_and_no_finding(tmp_path):
    path = written(tmp_path, [SentReply("The answer is A.", "length", 64)] * 2 + ["A"] * 10)
    document, texts = screens(path)
    check = check_of(document)
    assert (check.state, "max_new_tokens" in check.mend) == ("no", True)
    said = "2 of 12 replies ended at the limit of new tokens: nothing is said about the model."
    assert all(said in text and "guessing at" not in text for text in texts)
    (entry,) = collect_entries([tmp_path], rules=rules.read_board_rules()).entries
    assert "2 of 12 replies ended" in dict(_rate_problems(entry, read_rules().board.thresholds))["low_parse_rate"]


def test_many_failed_requests_are_no_finding_and_asked_again(tmp_path):
    document, texts = screens(written(tmp_path, [SentReply("The ans", "error")] * 3 + ["A"] * 9))
    complete = next(each for each in document.first.checks if each.title == "complete")
    assert complete.mend.startswith("give the run's command again")
    assert all("3 of 12 requests failed: nothing is said about the model." in text for text in texts)


def test_judged_thoughts_are_no_answers(tmp_path):
    """They get the lowest score without a judge, and the report says that nobody answered."""
    path = written(tmp_path, [CUT, f"<ponder>{THOUGHTS}", "", "a spot"], "open", options=[], answer="a spot")
    document, texts = screens(path)
    check = check_of(document)
    assert (check.state, check.reason.partition(", 1 begin")[0]) == (
        "no", "25 % of 4 replies: 1 of 4 cut off at 512 tokens, 1 unreadable, 1 empty",
    )  # fmt: skip
    assert all(THOUGHTS.strip() not in text for text in texts)
    (table,) = (each for _, each in document.tables() if each.key == "replies")
    assert [cell.value for cell in table.rows[0].cells][1:] == [1, 1, 1, 1, 0, 0]
    assert table.notes[-1].startswith("Answered: ")


@pytest.mark.parametrize(("unread", "low"), [(0, False), (1, False), (2, True)])
def test_gate_report_and_board_draw_the_line_at_the_same_share(tmp_path, unread, low):
    path = written(tmp_path, ["no idea"] * unread + ["A"] * (10 - unread))
    document, _ = screens(path)
    (entry,) = collect_entries([tmp_path], rules=rules.read_board_rules()).entries
    assert (check_of(document).state == "no") is low
    thresholds = read_rules().board.thresholds
    assert ("low_parse_rate" in dict(_rate_problems(entry, thresholds))) is low
    assert thresholds["parse_rate"] == readability.least_read() == board_tables.READABLE
