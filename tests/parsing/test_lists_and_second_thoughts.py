"""Letters that a reply lists, takes back or compares with are no answer; one that stands by itself still is."""

from __future__ import annotations

import pytest

from lmms_medtasks.parsing.option import read_option

OPTIONS = ("Pneumothorax", "Pleural effusion", "Hepatitis C", "Normal study")
SIZES = ("2 cm", "3 cm", "12 cm", "23 cm")


@pytest.mark.parametrize(
    "reply",
    [
        "None of the options A, B, C, D is correct.",
        "Neither A nor B is right",
        "Either A or B is correct",
        "A or B is correct",
        "I doubt that B is correct",
        "Ninguna de las opciones A, B, C, D es correcta.",
        "Ni A ni C es correcta",
        "Aucune des réponses A, B, C ou D est correcte",
        "Weder A noch B ist richtig",
        "Keine der Antworten A, B, C oder D ist richtig.",
        "A或B是正确的",
        "答案可能是B,也可能是C。",
        "Answer: [A|B|C|D]",
        '{"answer": ["A","B"]}',
        # Names that are not claimed.
        "Anything other than pneumothorax.",
        "Pleural effusion cannot be seen",
        "Treatment of pneumothorax is a chest tube.",
        "I was asked about pneumothorax.",
    ],
)
def test_what_is_listed_or_not_claimed_is_no_answer(reply):
    assert read_option(reply, OPTIONS).value == ""


@pytest.mark.parametrize(
    "reply",
    [
        "The answer is B. No, wait, it is actually C.",
        "The answer is B. Actually, I misread the image; C.",
        "Answer: B. Scratch that.\nC",
        "The answer is B. Correction: C",
        "Die Antwort ist B. Nein, doch C.",
        "La respuesta es B. Perdón, C.",
        "La réponse est B. Non, C.",
        "It would be B, but the angle is sharp: normal study, vitamin D.",
    ],
)
def test_a_letter_that_is_taken_back_is_not_read(reply):
    assert read_option(reply, OPTIONS).value != "B"


@pytest.mark.parametrize(
    "reply",
    ["It is larger than 3 cm", "at least 3 cm", "Over 3 cm", "mayor que 3 cm", "größer als 3 cm", "大于3 cm"],
)
def test_a_bound_is_no_size(reply):
    assert read_option(reply, SIZES).value == ""


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Of A, B, C and D, B is correct", "B"),
        ("A, B and C are wrong; D is correct", "D"),
        ("Neither A nor B fits, so C is correct.", "C"),
        ("The answer is B. No pneumothorax is seen.", "B"),
        ("The answer is B. Actually this is a textbook case.", "B"),
        ("答案是B。A不对,C不对。", "B"),
        ("答案最可能是B。", "B"),
        ("The answer is B. Wait, no. The answer is C.", "C"),
        ("The answer would be B, I think.", "B"),
        ("More likely pleural effusion than pneumothorax.", "B"),
    ],
)
def test_what_is_said_beside_it_does_not_hide_an_answer(reply, letter):
    assert read_option(reply, OPTIONS).value == letter


def test_a_size_after_a_comparison_is_read():
    assert read_option("It is 3 cm, larger than expected", SIZES).value == "B"
    assert read_option("More than 3 cm.", ("Less than 3 cm", "More than 3 cm", "3 cm")).value == "B"
