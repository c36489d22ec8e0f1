"""What a reply is before an answer is looked for: text, or the reason that there is none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.grid_positions import Size
from lmms_medtasks.parsing.choice import read_first_capital
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.positions import read_option_position, read_position
from lmms_medtasks.parsing.reasoned import read_reasoned
from lmms_medtasks.parsing.replies import text_or_outcome
from lmms_medtasks.parsing.yes_no import read_yes_no

OPTIONS = ["top-left", "top-right", "bottom-left", "bottom-right", "none"]
READERS = {
    "first capital": lambda reply: read_first_capital(reply, 5),
    "option": lambda reply: read_option(reply, OPTIONS),
    "position": lambda reply: read_position(reply, Size(2)),
    "option position": lambda reply: read_option_position(reply, OPTIONS, Size(2)),
    "yes or no": read_yes_no,
    "reasoned": read_reasoned,
}
EMPTY = (
    "",
    " ",
    "\n\t",
    "\xa0",
    "<think>B, yes, top-left</think>",
    "B</think>\n",
    "<think></think> <analysis>A</analysis>",
)
WITH_WORDS = (".", "**", "```", "\u200b", "<answer></answer>", "hm")


@pytest.mark.parametrize("reply", EMPTY)
@pytest.mark.parametrize("reader", READERS)
def test_a_reply_that_says_nothing_is_empty_to_every_reader(reader, reply):
    assert READERS[reader](reply).status == "empty"


@pytest.mark.parametrize("reply", WITH_WORDS)
@pytest.mark.parametrize("reader", READERS)
def test_marks_and_words_are_not_empty(reader, reply):
    assert READERS[reader](reply).status in ("unreadable", "neither")


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("<think>B", "cut"),
        (None, "failed"),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom", "failed"),
        ("", "empty"),
    ],
)
def test_a_reply_without_text_says_why(reply, outcome):
    assert text_or_outcome(reply) == ("", outcome)


def test_the_word_none_is_a_reply():
    """A right one to "Which organ is abnormal in this image?"; as a failed request it had no score at all."""
    assert text_or_outcome("None") == ("None", None)


@given(st.text())
def test_text_or_an_outcome_and_never_both(reply):
    text, outcome = text_or_outcome(reply)
    assert bool(text.strip()) == (outcome is None)
