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
            "ok", expected, "statement", read_option(f"The answer is {text}.", shown).text
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
