"""Reading a prompt back."""

from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks import hooks
from lmms_medtasks.baselines.prompts import read_prompt

PROMPT = {"prompt": "medq_deg/prompt.txt"}
TEXT = st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=1).map(lambda text: f"x{text}")


@given(TEXT, st.lists(TEXT, min_size=2, max_size=6))
def test_reads_back_what_our_prompt_says(question, options):
    asked = read_prompt(hooks.doc_to_text({"question": question, "options": options}, PROMPT))
    assert asked.question == question
    assert list(asked.options.values()) == options
    assert "".join(asked.options) == "ABCDEF"[: len(options)]


def test_open_question_has_no_options():
    assert read_prompt("What is seen?").options == {}


def test_a_sentence_that_starts_like_an_option_is_none():
    asked = read_prompt("A. Meyer asks:\nWhich?\nA. left\nB. right\nAnswer:")
    assert asked == ("Which?", {"A": "left", "B": "right"})
