"""MedQ-Deg's own rule, literally: replies and what it reads from them; the cases are data."""

import json
import string
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks import parsing
from lmms_medtasks.parsing.option import OptionReading, read_first_capital

CASES = json.loads((Path(__file__).parent / "cases" / "choice_replies.json").read_text("utf-8"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['options']}-{case['reply']}"[:40])
def test_case(case):
    expected = OptionReading(case["status"], case["value"], case["rule"])
    assert read_first_capital(case["reply"], case["options"]) == expected


@given(st.text(), st.integers(2, 10))
def test_reads_an_option_or_nothing(reply, count):
    reading = read_first_capital(reply, count)
    assert (reading.value in [*parsing.option_letters(count)]) == (reading.status == "ok")


@given(st.integers(2, 26), st.data())
def test_every_letter_is_read_back(count, data):
    letter = data.draw(st.sampled_from(string.ascii_uppercase[:count]))
    assert read_first_capital(letter, count).value == letter
    assert read_first_capital(f"the answer is {letter}", count).value == letter


@given(st.text(alphabet=string.ascii_lowercase + " .,:()", min_size=2))
def test_lower_case_prose_has_no_answer(reply):
    words = reply.replace(".", " ").replace(",", " ").replace(":", " ").replace("(", " ").replace(")", " ").split()
    if "".join(words) and len("".join(words)) > 1:
        assert read_first_capital(reply, 5).status == "unreadable"


@pytest.mark.parametrize("count", [0, -1, 27])
def test_option_count_out_of_range(count):
    with pytest.raises(ValueError, match=str(count)):
        parsing.option_letters(count)
