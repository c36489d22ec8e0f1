"""The text-shortcut rate, worked by hand."""

import pytest

from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.task_configs.bones_joints.text_shortcut import Asked, text_shortcut


def answers(letters, right="AAAA"):
    return {
        str(n): Asked(f"i{n}", "" if letter in "?!" else letter, right[n], failed=letter == "!")
        for n, letter in enumerate(letters)
        if letter != "-"
    }


def test_a_model_that_does_not_look():
    found = text_shortcut(answers("ABCA"), answers("ABCA"))
    assert found.rate.estimate == 1.0 and found.rate.reason == FEW and found.n == 4
    assert found.stayed_right.estimate == 1.0 and found.stayed_right.n == 2


def test_a_rate_by_hand():
    # Compared: A A, B C, A B: one of three stayed; of the two right ones (A) one. Chance: shares of A 2/3, B 1/3 with
    # A 1/3, C 1/3, B 1/3: 2/3 * 1/3 + 1/3 * 1/3 = 1/3.
    found = text_shortcut(answers("ABA"), answers("ACB"))
    assert found.rate.estimate == pytest.approx(1 / 3)
    assert found.stayed_right.estimate == 0.5 and found.chance == pytest.approx(1 / 3)


def test_what_is_left_out_is_counted():
    found = text_shortcut(answers("A?!A"), answers("AAA-"))
    assert (found.n, found.unread, found.failed, found.only_one) == (1, 1, 1, 1)


def test_nothing_to_compare():
    found = text_shortcut({}, answers("A"))
    assert found.rate.estimate is None and found.chance is None and found.only_one == 1
