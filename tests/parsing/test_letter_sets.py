"""Which options a reply names where several can be right."""

import pytest

from lmms_medtasks.parsing.letter_sets import read_letters

OPTIONS = ["fever", "cough", "rash", "a cough at night"]


@pytest.mark.parametrize(
    ("reply", "letters"),
    [
        ("A", "A"), ("A, C", "AC"), ("C, A.", "AC"), ("AC", "AC"), ("A and C", "AC"), ("A C", "AC"), ("(A), (C)", "AC"),
        ("**A, C**", "AC"), ("A/C", "AC"), ("Options A and C", "AC"), ("The correct options are A, B and D.", "ABD"),
        ("The answer is A, C.", "AC"), ("Answers: B\nD", "BD"), ("A. fever, C. rash", "AC"), ("fever; rash", "AC"),
        ("D. a cough at night", "D"), ("cough", "B"), ("B is tempting.\nAnswer: A, C", "AC"),
        ("It looks like a rash.\nA, C", "AC"), ("<think>B</think>A, C", "AC"), ("A.\nC.", "AC"),
    ],
)  # fmt: skip
def test_letters_are_read(reply, letters):
    found = read_letters(reply, OPTIONS)
    assert (found.status, found.value) == ("ok", letters)


@pytest.mark.parametrize(
    ("reply", "status"),
    [("", "empty"), (None, "failed"), ("<think>A", "cut"), ("E", "unreadable"), ("A, A", "unreadable"),
     ("A, E", "unreadable"), ("I can't tell", "refused"),
     ("not A", "unreadable"), ("A or C", "unreadable"), ("A or all of them", "unreadable")],
)  # fmt: skip
def test_what_cannot_be_read_is_no_answer(reply, status):
    assert read_letters(reply, OPTIONS).status == status


@pytest.mark.parametrize(
    ("reply", "letters", "rule"),
    [
        ("A, C", "AC", "whole"), ("A ✓\nB ✗\nC ✓\nD ✗", "AC", "checked"), ("All except B", "ACD", "except"),
        ("I see two. Answers: A, C", "AC", "statement"), ("\\boxed{A, C}", "AC", "boxed"),
        ('{"label": ["A", "C"]}', "AC", "boxed"),
        ("<answer>A, C</answer>", "AC", "boxed"), ("I see both: A and C are correct.", "AC", "predicate"),
        ("It is bad.\nfever and rash are present.", "AC", "last"), ("It is bad.\nA, C", "AC", "last"),
        ("Ａ，Ｃ", "AC", "whole"), ("Richtig sind A und C.", "AC", "whole"), ("All of them.", "ABCD", "except"),
        ("Fever and rash are seen, no cough.", "AC", "said"), ("①③", "AC", "whole"),
        ("Not A, but B and C", "BC", "whole"),
    ],
)  # fmt: skip
def test_each_rule_of_the_docstring(reply, letters, rule):
    found = read_letters(reply, OPTIONS)
    assert (found.value, found.rule) == (letters, rule)


def test_none_of_the_above_and_what_is_taken_back_are_ambiguous():
    assert read_letters("The answer is none of the above", OPTIONS).status == "ambiguous"
    assert read_letters("The answers are A and C. Scratch that.", OPTIONS).status == "ambiguous"


def test_a_line_that_is_too_long_names_no_letters():
    assert read_letters("A, " * 300, OPTIONS).status == "unreadable"
