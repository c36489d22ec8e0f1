"""Which option a reply chooses; the cases are data."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.parsing.option import OptionReading, read_option

DATA = json.loads((Path(__file__).parent / "cases" / "option_replies.json").read_text("utf-8"))
OPTIONS = DATA["options"]


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: str(case["reply"])[:50])
def test_case(case):
    reading = read_option(case["reply"], OPTIONS)
    assert (reading.status, reading.value, reading.rule) == (
        case["status"],
        case.get("value", ""),
        case.get("rule", ""),
    )


@pytest.mark.parametrize("case", DATA["cases"], ids=lambda case: str(case["reply"])[:50])
def test_a_case_means_the_same_with_white_space_around_it(case):
    if case["reply"] is not None and case["status"] != "failed":
        assert read_option(f"\n  {case['reply']}\n", OPTIONS).value == case.get("value", "")


@given(st.text(), st.lists(st.text(), min_size=2, max_size=10))
def test_reads_an_option_or_nothing(reply, options):
    reading = read_option(reply, options)
    assert (reading.status == "ok") == (reading.value != "")
    assert (reading.status == "ok") == (reading.rule != "")
    assert reading.value in string.ascii_uppercase[: len(options)]


@given(st.integers(2, 26), st.data())
def test_every_letter_is_read_back(count, data):
    letter = data.draw(st.sampled_from(string.ascii_uppercase[:count]))
    options = [f"option number {number}" for number in range(count)]
    for form in ("{}", "Answer: {}", "The answer is {}.", "\\boxed{{{}}}", "so **{}**", "({})", "{}. yes"):
        assert read_option(form.format(letter), options).value == letter, form


@given(st.permutations(range(5)))
def test_a_text_is_read_wherever_it_stands(order):
    shown = [OPTIONS[place] for place in order]
    for text in OPTIONS:
        expected = string.ascii_uppercase[shown.index(text)]
        # "grade B glioma" has a capital of its own that must not be taken for the letter.
        assert read_option(f"The answer is {text}.", shown) == OptionReading(
            "ok", expected, "statement", text=read_option(f"The answer is {text}.", shown).text
        )


@pytest.mark.parametrize("form", ["{}", "{}.", "**{}**", "Answer: {}", "The answer is {}. It fits.", "\\boxed{{{}}}"])
def test_a_text_that_begins_with_a_letter_is_the_text(form):
    options = ["E. coli", "T-cell lymphoma", "Klebsiella", "B-cell lymphoma", "C. difficile"]
    for letter, text in zip("ABCDE", options, strict=True):
        assert read_option(form.format(text), options).value == letter
    assert read_option(form.format("B cell lymphoma"), options).value == "D"


def test_options_whose_texts_are_letters_go_by_their_own_letters():
    assert read_option("Answer: A", ["B", "A"]).value == "A"


def test_the_text_of_two_options_alike_is_ambiguous():
    assert read_option("cyst", ["cyst", "stone", "Cyst"]).status == "ambiguous"


FINDINGS = ("Pneumothorax", "Pleural effusion", "Pneumonia", "Normal study")
SKIN = ("Melanoma", "Wart", "Benign nevus", "Cyst")
MILLIMETRES = ("<5 mm", "5-10 mm", ">10 mm")
MODALITIES = ("CT", "PET-CT", "MRI")
SIGNED = ("-1", "0", "1")


@pytest.mark.parametrize(
    ("reply", "options", "letter"),
    [
        ("5\u201310 mm", MILLIMETRES, "B"), ("It measures 5-10 mm.", MILLIMETRES, "B"), ("> 10 mm", MILLIMETRES, "C"),
        ("The mass is < 3 cm.", ("<3 cm", ">3 cm"), "A"), ("PET/CT", MODALITIES, "B"), ("CT", MODALITIES, "A"),
        (".5", ("0.5", "5", "50"), "A"), ("-1", SIGNED, "A"), ("\u22121", SIGNED, "A"), ("+1", SIGNED, "C"),
        # The last word counts.
        ("No, wait. Yes, there is one.", ("Yes", "No"), "A"), ("~~Yes~~ No", ("Yes", "No"), "B"),
        ("A. No, C.", FINDINGS, "C"), ("Answer: A -> C", FINDINGS, "C"),
        ("\\boxed{A}\nHmm, wait. The correct answer is D.", FINDINGS, "D"),
        ("<answer>A</answer> Hmm, wait. The correct answer is D.", FINDINGS, "D"),
        # Run-on text and unfinished sentences are not read.
        ("C. Benign nevus\n\nQuestion: What is the next step?\nAnswer: A", SKIN, "C"), ("C<|im_end|>\nA", SKIN, "C"),
        ("C\nUser: A", SKIN, "C"), ("C\nHuman: A", SKIN, "C"), ("C\nQ2: A", SKIN, "C"), ("C\n问题：A", SKIN, "C"),
        ("The lesion shows features of melanoma, such as asymmetry. However,", SKIN, ""),
        # A letter and its exact text are never ambiguous.
        ("B. N/A", ("Pneumonia", "N/A", "Cyst"), "B"), ("A. A and B", ("A and B", "B", "Neither"), "A"),
        ("D. D", ("Vitamin A", "Vitamin B", "Vitamin C", "D"), "D"), ("C. C/S", ("CT", "MRI", "C/S"), "C"),
        ("The answer is B. No, B", ("Yes, A", "No, B", "Both"), "B"), ("The answer is B. No, B", FINDINGS, "B"),
    ],
)  # fmt: skip
def test_the_option_that_is_meant(reply, options, letter):
    assert read_option(reply, options).value == letter


@pytest.mark.parametrize(
    ("reply", "letter"),
    [
        ("Option ③", "C"), ("Answer - C", "C"), ("Ans: C", "C"), ("Final: C", "C"), ("It should be C", "C"),
        ("Assistant: B", "B"), ("Neither A nor B; C.", "C"), ("【答案】C", "C"), ("故选：A。", "A"),
        ("Antwort (b) ist korrekt", "B"), ("B\nB\nB", "B"), ("\ufeffB", "B"), ("答えはBです。", "B"),
        ("정답은 B입니다.", "B"),
        ("الإجابة هي B", "B"), ("A resposta é B.", "B"), ("La risposta è B.", "B"), ("Ответ: B", "B"),
        # Numbers, turned statements and lists.
        ("I choose option 2", "B"), ("I choose 2", ""), ("The second option", "B"), ("Option 7", ""),
        ("The answer is not pneumonia but pleural effusion", "B"), ("Answer: A -> C (it grew)", "C"),
        ("The answer is A. Pneumothorax, B. Pleural effusion", ""), ("The answer is B or C", ""),
        ("B or C is correct", ""),
        ("Pneumonia.\nScratch that.", ""), ("**B** and **B**", "B"), ("**B** or **C**", ""),
        # A denial beside an answer leaves it.
        ("The answer is not A but C.", "C"), ("My answer is not B but D.", "D"),
        ("Pleural effusion, not pneumonia.", "B"), ("Pneumothorax. I do not see an effusion.", "A"),
        ("The answer is B. No pneumothorax is seen.", "B"),
    ],
)  # fmt: skip
def test_the_finding_that_is_meant(reply, letter):
    assert read_option(reply, FINDINGS).value == letter


@pytest.mark.parametrize(
    ("reply", "rule", "letter"),
    [
        ("C", "single_letter", "C"), ("C. Pneumonia", "exact", "C"), ('{"label": "C"}', "boxed", "C"),
        ('{"answer": "C"}', "statement", "C"),
        ("The answer is (C).", "statement", "C"), ("It grew, so C", "so", "C"), ("I see air. It is C.", "it_is", "C"),
        ("Air. Correction: C, as it fits", "correction", "C"), ("C is correct", "predicate", "C"),
        ("Air is seen.\nC", "last", "C"),
        ("A ✗\nB ✓\nC ✗\nD ✗", "checked", "B"), ("Air here: **C** fits", "bold", "C"),
        ("C because of the air", "leading", "C"), ("Air is seen.\nPneumonia", "text", "C"),
        ("There may be something (C) here", "brackets", "C"), ("Air is seen. Thus: pneumonia.", "concluded", "C"),
        ("The image shows pneumonia", "said", "C"),
    ],
)  # fmt: skip
def test_each_rule_of_the_docstring(reply, rule, letter):
    found = read_option(reply, FINDINGS)
    assert (found.value, found.rule) == (letter, rule)


@pytest.mark.parametrize(
    ("reply", "options", "status"),
    [
        ("B or C", FINDINGS, "ambiguous"), ("B. Pneumonia", FINDINGS, "ambiguous"), ("F", FINDINGS, "unreadable"),
        ("A nodule grows", FINDINGS, "unreadable"), ("It is grade B", FINDINGS, "unreadable"),
        ("A) is wrong. B) is wrong.", FINDINGS, "unreadable"),
        ("I think it is B. I think it is C.", FINDINGS, "ambiguous"),
        ("B is correct for adults, C is correct for children", FINDINGS, "ambiguous"),
    ],
)  # fmt: skip
def test_what_the_docstring_says_is_not_read(reply, options, status):
    assert read_option(reply, options).status == status


def test_in_a_grid_the_outlier_is_a_statement():
    assert read_option("The outlier is C", FINDINGS, grid=True).value == "C"
    assert read_option("C differs", FINDINGS, grid=True).rule == "predicate"
    assert read_option("C differs", FINDINGS).rule != "predicate"


def test_a_line_that_is_a_text_with_a_letter_of_its_own():
    options = ["Klebsiella", "E. coli", "Candida"]
    assert read_option("It grew well:\nE. coli\nand nothing else grew", options).value == "B"
