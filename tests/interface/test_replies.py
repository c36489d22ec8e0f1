"""Answers read from a reply and from columns of them, as the tasks' parsers read them."""

import numpy as np
import pandas as pd
import pytest

import lmms_medtasks as mt
from lmms_medtasks.suites.templates.parsers import PARSERS

OPTIONS = ["cyst", "nodule", "stone"]
CASES = {
    "option": ({"options": OPTIONS}, "The answer is (B).", "B"),
    "letter": ({"options": OPTIONS}, "c", "C"),
    "several_letters": ({"options": OPTIONS}, "A and C", "AC"),
    "any_letter": ({"options": OPTIONS}, "B", "B"),
    "yes_no": ({"question": "Is there a nodule?"}, "No nodule is seen.", "no"),
    "position": ({"grid": "2x2"}, "the top left one", "top-left"),
}


def test_every_parser_of_the_tasks_has_a_case():
    assert set(CASES) == set(PARSERS)


@pytest.mark.parametrize("parser", CASES)
def test_one_reply_and_a_column_are_read_as_the_task_reads_them(parser):
    told, reply, expected = CASES[parser]
    doc = {"id": "q", "options": [], "question": "", "grid": "", **told}
    assert PARSERS[parser].read(doc, reply).value == expected
    assert mt.parse(reply, parser, **told) == expected
    column = [reply, "", None, "I can't tell."]
    for replies in (column, tuple(column), pd.Series(column), np.array(column, dtype=object)):
        assert mt.parse(replies, parser, **told)[:3] == [expected, None, None]


def test_a_position_may_be_an_option():
    assert mt.parse("B", "position", grid="2x2", options=["top-left", "none of them"]) == "none"


def test_what_is_told_of_each_reply_is_taken_for_it():
    frame = pd.DataFrame({"reply": ["nodule", "nodule"], "options": [["nodule", "cyst"], np.array(["cyst", "nodule"])]})
    assert mt.parse(frame.reply, options=frame.options) == ["A", "B"]
    questions = ["Is the statement true or false?", "Is there a nodule?"]
    assert mt.parse(["True", "True"], "yes_no", question=questions) == ["yes", None]


def test_missing_values_of_pandas_are_failed_requests():
    replies = pd.Series(["A", None, float("nan"), pd.NA], dtype="object")
    assert mt.count_outcomes(replies, options=OPTIONS) == {"failed": 3, "ok": 1}
    assert mt.parse(None, options=OPTIONS) is None


def test_outcomes_say_why_nothing_was_read():
    replies = ["B", "B", "A or B", "I'm sorry, I can't help with that.", "", "<think>hm", "hm"]
    found = mt.count_outcomes(replies, options=OPTIONS)
    assert found["ok"] == 2 and next(iter(found)) == "ok" and sum(found.values()) == len(replies)
    assert {"ambiguous", "empty", "cut"} <= set(found)
    assert mt.count_outcomes("B", options=OPTIONS) == {"ok": 1} and mt.count_outcomes([], options=OPTIONS) == {}


@pytest.mark.parametrize(("arguments", "told", "said"), [
    (("A",), {}, "'option' needs options"),
    (("A", "position"), {"options": OPTIONS}, "'position' needs grid"),
    (("A", "options"), {}, "Did you mean 'option'"),
    ((["A", "B"],), {"options": [OPTIONS]}, "1 options for 2 replies"),
    ((["A", "B"], "yes_no"), {"question": ["a"]}, "1 questions for 2 replies"),
    ((["A", 3],), {"options": OPTIONS}, r"Reply 1: .*got 3 \(int\)"),
    ((pd.DataFrame({"reply": ["A"]}),), {"options": OPTIONS}, "DataFrame"),
    ((5,), {"options": OPTIONS}, "got int"),
    (("A", "position"), {"grid": "9"}, "9"),
    (("A", "any_letter"), {}, "'any_letter' needs options"),
    *((("A", parser), {"options": [str(number) for number in range(30)]}, "1 to 26 options, got 30")
      for parser in ("option", "letter", "several_letters", "any_letter")),
    (("B",), {"options": {"A": "cyst", "B": "nodule"}}, "options must be a list"),
    ((["B"],), {"options": [{"A": "cyst", "B": "nodule"}]}, "options must be a list"),
])  # fmt: skip
def test_a_mistake_is_named(arguments, told, said):
    with pytest.raises(mt.UserError, match=said):
        mt.parse(*arguments, **told)
