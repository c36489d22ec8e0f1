"""Reading a prompt back."""

from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.baselines.read_prompts import open_reply, read_prompt, spoken_answers, wants_reasoning
from lmms_medtasks.harness import hooks

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


MED_CMR = {"prompt": "med_cmr/prompt_mcq.txt", "option_mark": ")"}


@given(TEXT, st.lists(TEXT, min_size=2, max_size=5))
def test_reads_back_a_question_with_labels(question, options):
    asked = read_prompt(hooks.doc_to_text({"question": question, "options": options}, MED_CMR))
    assert asked == (question, dict(zip("ABCDE", options, strict=False)))


@given(TEXT)
def test_reads_back_an_open_question_with_a_label(question):
    prompt = hooks.doc_to_text({"question": question, "options": []}, {"prompt": "med_cmr/prompt_open.txt"})
    assert read_prompt(prompt) == (question, {})
    assert wants_reasoning(prompt)
    assert open_reply(prompt, "because", "a cyst") == "Reasoning: because\nAnswer: a cyst"


def test_the_answer_alone_where_no_reasoning_is_asked_for():
    assert open_reply("Question: What is it?\nAnswer:", "because", "a cyst") == "a cyst"
    assert not wants_reasoning("Reasoning: ...\nAnswer: ...\nWhich?\nA. left\nB. right")


def test_answers_that_an_open_prompt_says_are_possible():
    assert spoken_answers("You are a medical imaging expert reviewing a 2×2 grid of scans. Name the outlier.")[-2:] == [
        "bottom-right",
        "none",
    ]
    assert len(spoken_answers("This is a 4×4 grid of medical images.")) == 17
    assert spoken_answers("Yes or no?") == ["yes", "no"]
    for prompt in ("What is seen?", "The mass measures 2×2 cm.", "A 9×9 grid.", "A 2×3 grid of scans.", "A 12×2 grid"):
        assert spoken_answers(prompt) == []
