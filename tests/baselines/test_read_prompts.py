"""Reading a prompt back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from lmms_medtasks.baselines.read_prompts import (
    answer_at_random,
    open_reply,
    read_prompt,
    spoken_answers,
    wants_reasoning,
)
from lmms_medtasks.harness import hooks
from lmms_medtasks.seeding import seeded_generator

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


THREE = "Which?\nA. one\nB. two\nC. three\nAnswer:"


def test_a_random_answer_is_uniform():
    answers = [answer_at_random(THREE, seeded_generator("test", number)) for number in range(3000)]
    assert set(answers) == {"A", "B", "C"}
    assert chisquare([answers.count(letter) for letter in "ABC"]).pvalue > 0.001


def test_open_question_gets_no_answer():
    assert answer_at_random("What is seen?", seeded_generator("test")) == ""


def test_an_open_question_with_reasoning_is_told_that_there_is_no_answer():
    prompt = "Question: What is seen?\nReasoning: <why>\nAnswer: <what>"
    reply = answer_at_random(prompt, seeded_generator("test"))
    assert reply.startswith("Reasoning: ") and reply.endswith("\nAnswer: I cannot answer.")


@pytest.mark.parametrize(
    ("prompt", "answers"),
    [
        ("Is it the outlier? Answer yes or no, then explain.", {"yes", "no"}),
        ("Name the position of the outlier in this 2×2 grid of scans, if there is one.",
         {"top-left", "top-right", "bottom-left", "bottom-right", "none"}),
        ("The red box in this 3×3 medical image grid highlights one. Outlier? Answer yes or no.", {"yes", "no"}),
    ],
)  # fmt: skip
def test_open_question_that_says_which_answers_are_possible(prompt, answers):
    drawn = [answer_at_random(prompt, seeded_generator("test", number)) for number in range(1000)]
    assert set(drawn) == answers
    assert chisquare([drawn.count(answer) for answer in sorted(answers)]).pvalue > 0.001
