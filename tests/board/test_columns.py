"""Columns of few values."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.board import columns
from lmms_medtasks.errors import UserError

VALUES = st.one_of(
    st.lists(st.one_of(st.none(), st.integers(-3, 3).map(float))),
    st.lists(st.one_of(st.none(), st.sampled_from(["a", "b", ""]))),
    st.lists(st.one_of(st.none(), st.lists(st.sampled_from("AB"), min_size=1, max_size=3))),
    st.lists(st.one_of(st.none(), st.booleans())),
)


@given(VALUES)
def test_a_column_holds_what_was_put_in(values):
    column = columns.dictionary_encode(pa.array(values))
    assert column.to_pylist() == values
    kind = "lists" if any(isinstance(value, list) for value in values) else ""
    if {*map(type, values)} & {float}:
        kind = "numbers"
    again = columns.column_from_json(columns.column_to_json(column), len(values), "here", kind=kind)
    assert again.to_pylist() == values
    assert columns.column_to_json(again) == columns.column_to_json(column)


@given(VALUES, st.randoms(use_true_random=False))
def test_the_same_rows_are_the_same_column_whatever_was_before(values, random):
    """Equal to the byte, so that equal questions have equal digests."""
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = columns.dictionary_encode(columns.dictionary_encode(pa.array(values)).take(pa.array(order, pa.int64())))
    made = columns.dictionary_encode(pa.array([values[row] for row in order], pa.array(values).type))
    assert columns.column_to_json(shuffled) == columns.column_to_json(made)


@given(st.lists(st.one_of(st.none(), st.lists(st.sampled_from(["A", "", "1"]), max_size=3))))
def test_lists_are_told_apart_whatever_their_texts(values):
    column = columns.dictionary_encode(pa.array(values, pa.list_(pa.string())))
    assert column.to_pylist() == values
    lists = [each for each in values if each is not None]
    assert column.dictionary.to_pylist() == [each for row, each in enumerate(lists) if each not in lists[:row]]


def test_codes_take_little_room():
    assert columns.dictionary_encode(pa.array(["a"] * 9)).indices.type == pa.uint8()
    assert columns.dictionary_encode(pa.array(range(300))).indices.type == pa.uint16()


def test_none_is_zero_and_values_begin_at_one():
    column = columns.dictionary_encode(pa.array([None, "b", "a", "b"]))
    assert columns.codes_of(column).tolist() == [0, 1, 2, 1]
    assert np.asarray(columns.codes_of(column)).dtype.kind == "i"


@pytest.mark.parametrize(
    ("content", "kind", "said"),
    [
        ([1], "", "expected values and codes"),
        ({"values": [1.0], "codes": [1.0, 1]}, "numbers", "expected values and codes"),
        ({"values": ["a"], "codes": [0, 2]}, "", "codes from 0 to 1 expected for 2 questions"),
        ({"values": ["a"], "codes": [1]}, "", "1 codes"),
        ({"values": [True], "codes": [1, 1]}, "numbers", "no number"),
        ({"values": [float("nan")], "codes": [1, 1]}, "numbers", "no number"),
        ({"values": ["\x1b"], "codes": [1, 1]}, "", "that can be shown"),
        ({"values": ["a", 1], "codes": [1, 2]}, "", "several kinds"),
        ({"values": [[]], "codes": [1, 1]}, "lists", "no list of texts"),
    ],
)
def test_what_is_no_column(content, kind, said):
    with pytest.raises(UserError, match=said):
        columns.column_from_json(content, 2, "here", kind=kind)
