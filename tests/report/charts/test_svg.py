"""Axes: round ticks around all values, and numbers that stand in proportion between them."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lmms_medtasks.report.charts.svg import Axis, axis_of, percent_axis, places_axis, step_of

VALUES = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ((0.0, 0.37), (0.0, 0.1, 0.2, 0.3, 0.4)),  # 0.37 in at most five parts: 0.074, so 0.1
        ((-12.0, 3.0), (-15.0, -10.0, -5.0, 0.0, 5.0)),  # 15 / 5 = 3, so 5
        ((0.0, 100.0), (0.0, 20.0, 40.0, 60.0, 80.0, 100.0)),  # 20 exactly
        ((0.0, 12.0), (0.0, 2.5, 5.0, 7.5, 10.0, 12.5)),  # 2.4, so 2.5
        ((7.0, 7.0), (6.0, 6.5, 7.0, 7.5, 8.0)),  # a tenth of 7 on each side, in steps of 0.5
        ((0.0,), (-0.6, -0.4, -0.2, 0.0, 0.2, 0.4, 0.6)),
        ((), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((None, math.nan, math.inf), (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)),
        ((None, 0.0, math.nan, 10.0), (0.0, 2.0, 4.0, 6.0, 8.0, 10.0)),
    ],
)
def test_ticks_are_round_and_as_worked_by_hand(values: tuple[float | None, ...], ticks: tuple[float, ...]) -> None:
    axis = axis_of(values)
    assert axis.ticks == ticks and (axis.low, axis.high) == (ticks[0], ticks[-1])


@pytest.mark.parametrize("noise", [2e-16, -5e-17, 1e-300])
def test_what_rounding_leaves_of_zero_has_the_axis_of_zero(noise: float) -> None:
    assert axis_of((noise,)).ticks == axis_of((0.0, noise)).ticks == axis_of((0.0,)).ticks
    assert axis_of((noise,)).place(noise) == pytest.approx(50.0)


def test_ticks_of_tiny_numbers_are_as_even_as_those_of_others() -> None:
    assert axis_of((0.0, 1.2e-9)).ticks == pytest.approx([2.5e-10 * number for number in range(6)], abs=1e-15)


@given(VALUES, st.integers(2, 8))
def test_ticks_are_sorted_round_multiples_that_cover_all_values(values: list[float], most: int) -> None:
    axis = axis_of(values, most=most)
    rounding = 1e-9 * max(map(abs, values))
    assert axis.low <= min(values) + rounding and max(values) - rounding <= axis.high
    assert (axis.low, axis.high) == (axis.ticks[0], axis.ticks[-1])
    steps = [later - earlier for earlier, later in pairwise(axis.ticks)]
    assert steps and min(steps) > 0 and max(steps) == pytest.approx(min(steps), rel=1e-3)
    # At most so many parts of the values' width, and one more at each end.
    assert len(steps) <= most + 2
    step = steps[0]
    assume(step > 1e-9 * max(map(abs, axis.ticks)))
    mantissa = step / 10 ** math.floor(math.log10(step) + 1e-6)
    assert min(abs(mantissa - each) for each in (1, 2, 2.5, 5, 10)) < 1e-3
    assert all(abs(tick / step - round(tick / step)) < 1e-3 for tick in axis.ticks)


@given(st.floats(1e-6, 1e9), st.integers(1, 10))
def test_the_step_is_the_least_round_one(width: float, most: int) -> None:
    step = step_of(width, most)
    assert width / step <= most * (1 + 1e-9) + 1e-9
    decade = 10.0 ** math.floor(math.log10(step) + 1e-9)
    smaller = [decade * each for each in (0.5, 1, 2, 2.5, 5) if decade * each < step * (1 - 1e-9)]
    assert width / max(smaller) > most


@given(st.floats(-100, 100), st.floats(-100, 100), st.floats(-200, 200), st.floats(-200, 200))
def test_places_are_within_the_axis_and_keep_the_order(one: float, other: float, first: float, second: float) -> None:
    low, high = sorted((one, other))
    assume(high - low > 1e-3)
    axis = Axis(low, high)
    places = [axis.place(each) for each in sorted((first, second))]
    assert 0 <= places[0] <= places[1] <= 100
    assert [axis.place(low), axis.place(high)] == pytest.approx([0.0, 100.0])
    assert axis.place((low + high) / 2) == pytest.approx(50.0)


def test_numbers_beyond_an_axis_stand_at_its_end() -> None:
    assert (percent_axis().place(120), percent_axis().place(-5), percent_axis().place(25)) == (100.0, 0.0, 25.0)


def test_each_label_has_a_place_with_room_at_the_ends() -> None:
    axis = places_axis(["a", "b", "c"])
    # From -0.5 to 2.5: a sixth, a half, five sixths.
    assert [axis.place(tick) for tick in axis.ticks] == pytest.approx([100 / 6, 50, 500 / 6])
    assert axis.texts == ((0.0, "a"), (1.0, "b"), (2.0, "c"))


def test_numbers_are_written_with_the_digits_of_the_step_and_with_a_minus() -> None:
    assert axis_of((-0.5, 0.0)).texts[0] == (-0.5, "−0.5")
    # Steps of 0.1 and of 0.01 have a digit more than the step.
    assert (axis_of((0.0, 0.37)).text(0.123), axis_of((0.0, 0.037)).text(0.0123)) == ("0.12", "0.012")
    assert percent_axis().text(12.34) == "12.3 %"
