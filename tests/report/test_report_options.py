"""What a user writes of pairs of models and of their sizes."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.report_options import parse_model_pair, parse_model_sizes


def test_pair():
    assert parse_model_pair("org/base = org/tuned") == ("org/base", "org/tuned")


@pytest.mark.parametrize("text", ["", "base", "=tuned", "base=", " = "])
def test_pair_that_is_none(text):
    with pytest.raises(UserError, match="expected BASE=TUNED"):
        parse_model_pair(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("a=7e9", 7e9), ("a=7B", 7e9), ("a= 500 m", 5e8), ("a=1.5t", 1.5e12), ("a=7000000000", 7e9)],
)
def test_number_of_parameters(text, number):
    assert parse_model_sizes([text]) == {"a": number}


def test_name_may_hold_an_equals_sign():
    assert parse_model_sizes(["a=b=7B"]) == {"a=b": 7e9}


@pytest.mark.parametrize("number", ["", "seven", "-7B", "0", "1.2.3", "inf", "1e999", "7 BB"])
def test_number_that_is_none(number):
    with pytest.raises(UserError, match="is not a number of parameters"):
        parse_model_sizes([f"a={number}"])


def test_two_sizes_of_one_model():
    with pytest.raises(UserError, match="'a' has 8e.09 parameters here and 7e.09 before"):
        parse_model_sizes(["a=7B", "a=8B"])


def test_a_number_without_a_name():
    with pytest.raises(UserError, match="expected NAME=NUMBER"):
        parse_model_sizes(["7B"])
