"""Yes and no with an explanation after; the table of replies is read in test_positions.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.parsing.reply import ParsedAnswer
from lmms_medtasks.parsing.yes_no import read_yes_no, yes_or_no

# No word that says yes or no, or answers.
WORDS = st.lists(
    st.sampled_from("scan panel lung MRI the others show left eyes knowing yesterday noted".split()), max_size=8
)


@given(st.sampled_from(["yes", "no"]), WORDS, st.sampled_from(["{}, {}", "{}. {}", "**{}**\n\n{}", "{} - {}"]))
def test_the_first_word_counts(word, words, template):
    assert read_yes_no(template.format(word.capitalize(), " ".join(words))) == ParsedAnswer("ok", word)


@given(st.sampled_from(["yes", "no"]), WORDS)
def test_a_final_answer_beats_the_first_word(word, words):
    other = {"yes": "No", "no": "Yes"}[word]
    assert read_yes_no(f"{other}, {' '.join(words)}. Final answer: {word}.") == ParsedAnswer("ok", word)


@given(WORDS)
def test_letters_inside_words_are_no_answer(words):
    assert read_yes_no(" ".join(words)).status == ("unreadable" if words else "empty")


@given(st.text())
def test_reads_yes_or_no_or_nothing(reply):
    answer = read_yes_no(reply)
    assert (answer.value in ("yes", "no")) == (answer.status == "ok")


NODULE = "Is there a nodule?"


@pytest.mark.parametrize(
    ("reply", "value", "rule"),
    [
        ("no", "no", "alone"), ("Affirmative.", "yes", "alone"), ("The answer is no", "no", "statement"),
        ("\\boxed{Yes}", "yes", "boxed"), ('{"label": "no"}', "no", "boxed"), ("<answer>No</answer>", "no", "boxed"),
        ("I look at it, but yes", "yes", "head"), ("No, wait. Yes, there is one.", "yes", "head"),
        ("~~Yes~~ No", "no", "alone"),
        ("I would go for a yes.", "yes", "said"), ("There is no nodule.", "no", "question"),
        ("A nodule is seen.", "yes", "question"),
    ],
)  # fmt: skip
def test_each_rule_of_the_docstring(reply, value, rule):
    found = read_yes_no(reply, NODULE)
    assert (found.status, found.value, found.rule) == ("ok", value, rule)


@pytest.mark.parametrize(
    ("reply", "question", "status"),
    [
        ("Yes and no", NODULE, "ambiguous"), ("Possibly yes", NODULE, "unreadable"),
        ("It depends.", NODULE, "unreadable"),
        ("No, I cannot see the image.", NODULE, "refused"), ("No idea", NODULE, "unreadable"),
        ("True", NODULE, "unreadable"),
        ("There is no nodule.", "Is the lung normal?", "unreadable"), ("Yes, there is no nodule.", NODULE, "ambiguous"),
        ("The answer is yes. Scratch that.", NODULE, "ambiguous"), ("No image", NODULE, "refused"),
    ],
)  # fmt: skip
def test_what_the_docstring_says_is_not_read(reply, question, status):
    assert read_yes_no(reply, question).status == status


def test_true_and_false_answer_a_question_that_offers_them():
    offered = "True or false: a nodule."
    assert read_yes_no("The statement is true.", offered).value == "yes"
    assert read_yes_no("False, the lung is clear", offered).value == "no"
    assert read_yes_no("正确", "对还是错：有结节。").value == "yes"


def test_a_highlighted_panel():
    assert read_yes_no("This panel is not the outlier.", panel=True).rule == "panel"
    assert read_yes_no("This panel is not the outlier.", panel=True).value == "no"
    assert read_yes_no("It differs from the rest.", panel=True).value == "yes"
    assert read_yes_no("It is the outlier. It is not the odd one out.", panel=True).status == "ambiguous"


@pytest.mark.parametrize(
    ("option", "value"), [("Yes.", "yes"), ("NO", "no"), ("non", "no"), ("No finding", ""), ("", "")]
)
def test_options_that_are_yes_and_no(option, value):
    assert yes_or_no(option) == value
