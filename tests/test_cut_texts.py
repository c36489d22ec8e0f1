"""Cut texts fit their width, and those that differ are never cut to the same."""

from __future__ import annotations

import doctest

import pytest

from lmms_medtasks import cut_texts
from lmms_medtasks.cut_texts import cut_apart

LONG = "x" * 30


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
    assert doctest.testmod(cut_texts).failed == 0
