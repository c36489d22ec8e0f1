"""Lists that mark each option."""

import pytest

from lmms_medtasks.parsing.option_lines import read_checked

OPTIONS = ["fever", "cough", "rash"]


@pytest.mark.parametrize(
    ("text", "letters"),
    [
        ("A ✓\nB ✗\nC ✓", "AC"),
        ("A. fever ✅\nB. cough ❌\nC. rash ❌", "A"),
        ("[x] A. fever\n[ ] B. cough\n[x] C. rash", "AC"),
        ("fever: present\ncough: not present\nrash: yes", "AC"),
        ("A: no\nB: no\nC: no", ""),
        ("A ✓\nB ✗", None),
        ("A ✓\nB maybe\nC ✗", None),
        ("The fever is high.", None),
    ],
)
def test_marks_of_a_list(text, letters):
    assert read_checked(text, OPTIONS) == letters


def test_one_option_is_no_list():
    assert read_checked("A ✓", ["fever"]) is None
