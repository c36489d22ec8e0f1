"""Replies that were written to be misread: thoughts under many marks, denials, and sentences about another thing."""

import json
from pathlib import Path

import pytest

from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.positions import read_position
from lmms_medtasks.parsing.reply import Reply, SentReply
from lmms_medtasks.parsing.yes_no import read_yes_no

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "cases" / "adversarial_replies.jsonl").read_text("utf-8").splitlines()
]
READERS = {"option": read_option, "yesno": read_yes_no, "pos": lambda reply, size: read_position(reply, GridSize(size))}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["reply"][:40])
def test_none_is_read_as_what_it_does_not_say(case):
    """``allowed`` may be read, null: nothing may."""
    found = READERS[case["kind"]](SentReply(case["reply"], case["ended"]), case["asked"])
    assert (found.value or None) in (None, case["allowed"])


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("Okay, so the user shows a film. So the answer is A. But wait, the", ""),
        ("Let me look. The left lung is dark.\n**B**\nHmm, let me check", "B"),
        ("B\nLet me explain why it is", "B"),
        ("Final answer: B\nWait, let me see whether", "B"),
        ("The lesion is dark. The answer is B. It is", "B"),
    ],
)
def test_of_a_reply_that_thinks_aloud_to_the_limit_only_a_plain_answer_is_read(text, letter):
    found = read_option(SentReply(text, "length"), ["Pneumonia", "Pleural effusion"])
    assert (found.value, found.status) == (letter, "ok" if letter else "cut")


@pytest.mark.parametrize("heading", ["thought\n", "Thinking Process:\n", "### Thinking\n", "Thought: "])
def test_behind_thoughts_under_a_heading_a_labelled_answer_is_read(heading):
    thoughts = "The answer may be A. I lean to A."
    assert read_option(f"{heading}{thoughts}\nAnswer: B", ["Pneumonia", "Edema"]).value == "B"
    assert Reply.of(f"{heading}{thoughts}").outcome == "cut"
