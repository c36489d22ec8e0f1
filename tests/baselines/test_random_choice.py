"""Uniform over the options."""

import pytest
from scipy.stats import chisquare

from lmms_medtasks.baselines import random_choice
from lmms_medtasks.seeding import generator

PROMPT = "Which?\nA. one\nB. two\nC. three\nAnswer:"


def test_uniform():
    answers = [random_choice.answer(PROMPT, generator("test", number)) for number in range(3000)]
    assert set(answers) == {"A", "B", "C"}
    assert chisquare([answers.count(letter) for letter in "ABC"]).pvalue > 0.001


def test_open_question_gets_no_answer():
    assert random_choice.answer("What is seen?", generator("test")) == ""


def test_an_open_question_with_reasoning_is_told_that_there_is_no_answer():
    prompt = "Question: What is seen?\nReasoning: <why>\nAnswer: <what>"
    reply = random_choice.answer(prompt, generator("test"))
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
    drawn = [random_choice.answer(prompt, generator("test", number)) for number in range(1000)]
    assert set(drawn) == answers
    assert chisquare([drawn.count(answer) for answer in sorted(answers)]).pvalue > 0.001
