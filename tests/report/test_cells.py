"""Numbers as cells: scaled with their ends, marked with the reason why there is no interval."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.report import cells
from lmms_medtasks.report.cells import (
    NONE,
    negate_estimate,
    number_cell,
    p_value_cell,
    percent_cell,
    percent_of,
    scaled_cell,
)
from lmms_medtasks.statistics import intervals
from lmms_medtasks.statistics.intervals import IntervalEstimate

WHOLE = IntervalEstimate(0.25, 0.125, 0.5, n=8, clusters=8)


def test_a_share_is_shown_in_percent_with_both_ends() -> None:
    found = percent_cell(WHOLE)
    assert (found.value, found.low, found.high, found.mark) == (25.0, 12.5, 50.0, "")
    bare = percent_cell(WHOLE, bare=True)
    assert (bare.value, bare.low, bare.high) == (25.0, None, None)
    assert (number_cell(WHOLE).value, number_cell(WHOLE).high) == (0.25, 0.5)
    assert percent_of(0.25).value == 25.0 and percent_of(None).value is None


def test_without_a_number_the_cell_is_empty() -> None:
    empty = IntervalEstimate(None, None, None, n=0, clusters=0)
    assert percent_cell(None) == percent_cell(empty) == number_cell(empty) == scaled_cell(None, 3.0) == NONE


@pytest.mark.parametrize(
    ("reason", "mark"),
    [(intervals.FEW, "‖"), (intervals.FEW_IN_GROUP, "‖"), (intervals.ALIKE, "°"), (intervals.MISSING, "*"),
     (intervals.ZERO, "¶"), ("", ""), ("another reason", "")],
)  # fmt: skip
def test_a_number_without_an_interval_has_the_mark_of_its_reason(reason: str, mark: str) -> None:
    found = percent_cell(IntervalEstimate(0.25, None, None, n=2, clusters=2, reason=reason))
    assert (found.value, found.low, found.high, found.mark, found.reason) == (25.0, None, None, mark, reason or None)
    # A bare number has no interval to miss.
    assert percent_cell(IntervalEstimate(0.25, None, None, n=2, clusters=2, reason=reason), bare=True).mark == ""


@given(st.lists(st.floats(-1, 1), min_size=3, max_size=3).map(sorted))
def test_a_change_turned_round_has_its_ends_turned_round_and_twice_is_the_same(ends: list[float]) -> None:
    low, estimate, high = ends
    found = negate_estimate(IntervalEstimate(estimate, low, high, n=9, clusters=9))
    assert found is not None and (found.estimate, found.low, found.high) == (-estimate, -high, -low)
    assert negate_estimate(found) == IntervalEstimate(estimate, low, high, n=9, clusters=9)


def test_nothing_turned_round_is_nothing_and_zero_has_no_minus() -> None:
    empty = IntervalEstimate(None, None, None, n=0, clusters=0)
    assert negate_estimate(None) is None and negate_estimate(empty) is empty
    found = negate_estimate(IntervalEstimate(0.0, None, None, n=1, clusters=1))
    assert found is not None and (str(found.estimate), found.low, found.high) == ("0.0", None, None)


@pytest.mark.parametrize("p", [0.0001, 0.04, 1.0, None])
def test_a_p_value_is_a_number_from_one_in_ten_thousand_on(p: float | None) -> None:
    assert p_value_cell(p).value == p


def test_a_smaller_p_value_is_a_text() -> None:
    assert isinstance(p_value_cell(0.00009).value, str)


def test_columns_have_the_digits_and_the_sign_that_their_kind_has() -> None:
    kinds = (
        cells.label_column,
        cells.count_column,
        cells.percent_column,
        cells.points_column,
        cells.decimal_column,
        cells.p_value,
    )
    found = [column("a") for column in kinds]
    assert [each.digits for each in found[2:]] == [1, 1, 3, 4]
    assert [each.signed for each in found] == [False, False, False, True, False, False]
    assert [each.unit for each in found[2:4]] == ["%", "points"] and found[0].kind == "text"
