"""Columns of few values."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board.columns import coded, mean_of
from lmms_medtasks.board.reading import Columns, canonical

VALUES = st.lists(st.one_of(st.none(), st.integers(-3, 3).map(float)))


@given(VALUES)
def test_a_column_holds_what_was_put_in(values):
    column = coded(values)
    assert column.labels() == values
    assert [None if math.isnan(value) else value for value in column.floats()] == values
    had = [value for value in values if value is not None]
    assert mean_of(column) == (math.fsum(had) / len(had) if had else None)


@given(VALUES, st.randoms(use_true_random=False))
def test_columns_grown_row_by_row_are_the_same_as_made_at_once(values, random):
    columns, order = Columns(), list(range(len(values)))
    for row, value in enumerate(values):
        if value is not None:
            columns.add("x", row, value)
    random.shuffle(order)
    found = columns.coded(len(values), np.array(order, dtype=int)).get("x")
    wanted = coded([values[row] for row in order])
    if found is None:
        assert wanted.values == (None,)
    else:
        assert found.labels() == wanted.labels()
        # Equal to the byte, so that equal questions have equal digests.
        assert (found.values, found.codes.tolist()) == (wanted.values, wanted.codes.tolist())


def test_codes_take_little_room():
    assert coded(["a"] * 9).codes.dtype == np.uint8
    assert coded(list(range(300))).codes.dtype == np.uint16


def test_values_that_no_row_has_are_dropped():
    column = canonical((None, "a", "b", "c"), np.array([3, 0, 1], dtype=np.uint32))
    assert column.values == (None, "c", "a")
    assert column.where("c").tolist() == [True, False, False]
    assert column.where("b").tolist() == [False, False, False]
    assert column.where(None).tolist() == [False, True, False]
