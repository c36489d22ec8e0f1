"""Copies of questions with rotated options; the copies themselves are tested with Med-CMR's questions."""

from __future__ import annotations

import datasets
import pytest

from lmms_medtasks.data.rotated_options import question_with_options, rotate_documents
from lmms_medtasks.errors import UserError

SHOWN = "Which place?\n\n  A) left\n  B) right\n  C) None — all are the same\n\nReply with ONLY the letter."
OPTIONS = ["left", "right", "None — all are the same"]


def question(**changes):
    return {"id": "q", "question": SHOWN, "options": OPTIONS, "answer": "B", "image_id": "i", **changes}


def test_options_in_the_questions_text_are_rotated_too():
    turned = rotate_documents(datasets.Dataset.from_list([question()]))
    assert turned["question"][1] == (
        "Which place?\n\n  A) right\n  B) None — all are the same\n  C) left\n\nReply with ONLY the letter."
    )
    assert turned["question"][0] == SHOWN
    for row in turned:
        line = next(line for line in row["question"].split("\n") if line.strip().startswith(f"{row['answer']})"))
        assert line.endswith("right") and row["options"][ord(row["answer"]) - ord("A")] == "right"


def test_a_text_that_does_not_show_its_options_stays():
    text = "Is the left or the right side affected?"
    assert question_with_options(text, ["left", "right"], ["right", "left"]) == text


@pytest.mark.parametrize(
    "text",
    [
        "Which?\nA) left\nB) another text\nC) None — all are the same",
        "Which?\nA) left\nA) left\nB) right",
        "Which: A) left, B) right or C) None — all are the same?",
    ],
    ids=["a line that is no option", "a line twice", "all in one line"],
)
def test_options_of_which_some_have_a_line_are_refused(text):
    with pytest.raises(UserError, match="'q7'"):
        question_with_options(text, OPTIONS, [*OPTIONS[1:], OPTIONS[0]], "q7")


def test_a_question_without_options_is_named():
    with pytest.raises(UserError, match="'open' has no options"):
        rotate_documents(datasets.Dataset.from_list([question(), question(id="open", options=[])]))


def test_a_question_id_of_before_is_replaced():
    turned = rotate_documents(datasets.Dataset.from_list([question(question_id="other")]))
    assert set(turned["question_id"]) == {"q"}
