"""Uniform over the options."""

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
