"""Names are listed as people count, whatever numbers stand in them."""

from __future__ import annotations

import doctest

import numpy as np

from lmms_medtasks import natural_order


def test_numbers_count_as_numbers_and_equal_ones_keep_an_order_of_their_own() -> None:
    names = ["q10", "q9", "x", "q010", "", "10", "9a", "q1/2", "q1/10", "q" + "9" * 5000, "q" + "1" * 5001]
    found = [names[place] for place in natural_order.natural_order(np.array(names))]
    assert found[:8] == ["", "9a", "10", "q1/2", "q1/10", "q9", "q010", "q10"]
    assert [len(name) for name in found[8:]] == [5001, 5002, 1]


def test_the_example_holds() -> None:
    assert doctest.testmod(natural_order).failed == 0
