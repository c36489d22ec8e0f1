"""Texts where there is little room: a cut one is never longer than it may be, and what is left out is counted."""

import pytest

from lmms_medtasks.short_texts import first_listed, listed, listed_or_counted, short


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "abcd…"), ({"mark": " […]"}, "a […]"), ({"from_end": True}, "…fghi")],
)
def test_a_cut_text_has_so_many_characters_with_its_mark(options, expected):
    assert short("abcdefghi", 5, **options) == expected and len(expected) == 5
    assert short("abcde", 5, **options) == "abcde"


def test_lists_name_few_and_count_the_rest():
    assert [listed("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert first_listed("abc", 2) == "a; b; and 1 more" and first_listed("ab", 2) == "a; b"
    assert listed_or_counted("ab", 2, "models") == "a and b" and listed_or_counted("abc", 2, "models") == "3 models"
