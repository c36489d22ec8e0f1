"""What a user writes of pairs of models and of their sizes."""

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.arguments import pair, parameters


def test_pair():
    assert pair("org/base = org/tuned") == ("org/base", "org/tuned")


@pytest.mark.parametrize("text", ["", "base", "=tuned", "base=", " = "])
def test_pair_that_is_none(text):
    with pytest.raises(UserError, match="expected BASE=TUNED"):
        pair(text)


@pytest.mark.parametrize(
    ("text", "number"),
    [("a=7e9", 7e9), ("a=7B", 7e9), ("a= 500 m", 5e8), ("a=1.5t", 1.5e12), ("a=7000000000", 7e9)],
)
def test_number_of_parameters(text, number):
    assert parameters([text]) == {"a": number}


def test_name_may_hold_an_equals_sign():
    assert parameters(["a=b=7B"]) == {"a=b": 7e9}


@pytest.mark.parametrize("number", ["", "seven", "-7B", "0", "1.2.3", "inf", "1e999", "7 BB"])
def test_number_that_is_none(number):
    with pytest.raises(UserError, match="is no number of parameters"):
        parameters([f"a={number}"])


def test_sizes_from_a_file_and_beside_it(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text('\ufeffmodel,parameters,note\na,7B,x\n"b, c",3e9,\n', "utf-8")
    assert parameters([str(path), "d=1B", "a=7e9"]) == {"a": 7e9, "b, c": 3e9, "d": 1e9}


def test_two_sizes_of_one_model():
    with pytest.raises(UserError, match="'a' has 8e.09 parameters here and 7e.09 before"):
        parameters(["a=7B", "a=8B"])


def test_file_of_another_form(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("name,size\na,7B\n")
    with pytest.raises(UserError, match="expected the columns model and parameters, it has name, size"):
        parameters([str(path)])
    path.write_text("model,parameters\na,big\n")
    with pytest.raises(UserError, match="sizes.csv, line 2: 'big' is no number"):
        parameters([str(path)])
    path.write_bytes(b"model,parameters\n\xff,1\n")
    with pytest.raises(UserError, match="can't be read as CSV"):
        parameters([str(path)])


def test_neither_a_pair_nor_a_file():
    with pytest.raises(UserError, match="there is no file of this name"):
        parameters(["7B"])
