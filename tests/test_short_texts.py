"""Texts where there is little room: a cut one is never longer than it may be, and what is left out is counted."""

import doctest

import pytest

from lmms_medtasks import short_texts
from lmms_medtasks.short_texts import cut_apart, first_listed, join_with_and, listed_or_counted, shorten_text

LONG = "x" * 30


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, "abcd…"), ({"mark": " […]"}, "a […]")],
)
def test_a_cut_text_has_so_many_characters_with_its_mark(options, expected):
    assert shorten_text("abcdefghi", 5, **options) == expected and len(expected) == 5
    assert shorten_text("abcde", 5, **options) == "abcde"


def test_lists_name_few_and_count_the_rest():
    assert [join_with_and("abc"[:count]) for count in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert first_listed("abc", 2) == "a; b; and 1 more" and first_listed("ab", 2) == "a; b"
    assert listed_or_counted("ab", 2, "models") == "a and b" and listed_or_counted("abc", 2, "models") == "3 models"


@pytest.mark.parametrize(
    "texts",
    [
        ["sure_slake_question_type, closed_iid", "sure_slake_question_type, closed_ood"],
        [f"{LONG}a{LONG}", f"{LONG}b{LONG}"],  # they differ in the middle alone
        [f"a{LONG}{LONG}", f"b{LONG}{LONG}"],
        [f"{LONG}{number:03}{LONG}" for number in range(300)],
        [LONG * 2, f"{'x' * 18}…1"],  # a whole text looks as one that was cut
        ["short", "", "short"],
    ],
)
def test_no_two_texts_become_one(texts: list[str]) -> None:
    found = cut_apart(texts, 20)
    assert len(set(found.values())) == len(set(texts)) and max(map(len, found.values())) <= 20
    assert all(found[text] == text for text in texts if len(text) <= 20)


def test_the_example_holds() -> None:
    found = doctest.testmod(short_texts)
    assert found.attempted and not found.failed
