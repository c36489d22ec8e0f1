"""Negations: an inverted finding is the worst error that a reader can make."""

import pytest

from lmms_medtasks.grid_positions import GridSize
from lmms_medtasks.parsing.letter_sets import read_letters
from lmms_medtasks.parsing.option import read_option
from lmms_medtasks.parsing.positions import read_position
from lmms_medtasks.parsing.yes_no import read_yes_no

FINDINGS = ("Pneumothorax", "Pleural effusion", "Pneumonia", "Normal study")


@pytest.mark.parametrize(
    "reply",
    [
        "No evidence of pneumonia",
        "There is no pneumothorax.",
        "Pneumonia is unlikely.",
        "Pneumonia can be excluded.",
        "Pneumonia is not unlikely.",
        "absence of pneumonia",
        "The lungs are clear without pneumonia",
        "rule out A",
        "I would rule out A.",
        "B is not unlikely.",
        "not unlikely",
        "Not A, not B.",
        "The answer is not A.",
        "It cannot be B.",
        "I don't think it is A.",
        "A is incorrect.",
        "Anything but A.",
        "None of A, B and C is right.",
    ],
)
def test_what_is_only_denied_is_no_option(reply):
    assert read_option(reply, FINDINGS).value == ""


@pytest.mark.parametrize(
    ("reply", "options"),
    [
        ("Keine Pneumonie.", ("Pneumonie", "Erguss")),
        ("Sin neumonía.", ("Neumonía", "Derrame")),
        ("Pas de pneumonie.", ("Pneumonie", "Épanchement")),
        ("未见肺炎。", ("肺炎", "气胸")),
        ("non-malignant", ("Malignant", "Inflammatory")),
        ("The lesion is non-malignant.", ("Malignant", "Inflammatory")),
        ("not malignant", ("Malignant", "Inflammatory")),
    ],
)
def test_in_other_languages_and_words(reply, options):
    assert read_option(reply, options).value == ""


@pytest.mark.parametrize(
    "reply",
    [
        "No, I do not see a pneumothorax.",
        "No evidence of a pneumothorax.",
        "No pneumothorax.",
        "A pneumothorax is not seen.",
        "There is no pneumothorax.",
    ],
)
def test_a_denied_finding_is_a_no(reply):
    assert read_yes_no(reply, "Is there a pneumothorax?").value == "no"
    assert read_option("No, I do not see a pneumothorax.", ("Yes", "No")).value == "B"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        ("No, I cannot see the image.", "refused"),
        ("A pneumothorax is not unlikely.", "unreadable"),
        ("Pneumothorax cannot be ruled out.", "unreadable"),
        ("Not yes.", "unreadable"),
        ("I would not say no.", "unreadable"),
        ("Yes, there is no pneumothorax.", "ambiguous"),
    ],
)
def test_what_is_neither_yes_nor_no(reply, status):
    assert read_yes_no(reply, "Is there a pneumothorax?").status == status
    assert read_option("No, I cannot see the image.", ("Yes", "No")).status == "refused"


def test_letters_and_positions_that_are_denied_are_none():
    assert read_letters("not A, not C", FINDINGS).value == ""
    assert read_letters("A, C, but not B", FINDINGS).value == ""
    assert read_letters("The answers are A and C, not B.", FINDINGS).value == "AC"
    assert read_position("not the top-left", GridSize(2)).value == ""
    assert read_position("It is not the top-left but the top-right one.", GridSize(2)).value == "top-right"
