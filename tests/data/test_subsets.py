"""Drawing a subset: sizes, shares of strata, equal chances, and what it depends on."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.data import subsets
from lmms_medtasks.data.subsets import DataSubset, draw_subset, strata_of
from lmms_medtasks.errors import UserError

# 60 units in three strata of 30, 20 and 10.
PLACES = {f"u{number}": ("a" if number < 30 else "b" if number < 50 else "c",) for number in range(60)}


def test_each_stratum_has_its_share_of_the_sample():
    for seed in range(20):
        found = Counter(PLACES[unit][0] for unit in draw_subset(PLACES, DataSubset(12, seed)))
        # 12 of 60: 6, 4 and 2; every 5th of the sorted units is taken, and the strata end at multiples of 5.
        assert found == {"a": 6, "b": 4, "c": 2}


def test_every_unit_has_the_same_chance():
    counts = Counter(unit for seed in range(2000) for unit in draw_subset(PLACES, DataSubset(12, seed)))
    # 2,000 draws with chance 1/5: 400, standard deviation 17.9; 60 units stay within 5 standard deviations.
    assert all(abs(counts[unit] - 400) < 90 for unit in PLACES)


@given(st.integers(1, 80), st.integers(0, 5), st.randoms())
def test_the_draw_has_the_size_asked_for_and_does_not_depend_on_the_order_of_rows(size, seed, random):
    found = draw_subset(PLACES, DataSubset(size, seed))
    assert len(found) == min(size, 60) and found <= PLACES.keys()
    shuffled = list(PLACES.items())
    random.shuffle(shuffled)
    assert draw_subset(dict(shuffled), DataSubset(size, seed)) == found


def test_another_seed_draws_others():
    assert draw_subset(PLACES, DataSubset(12, 1)) != draw_subset(PLACES, DataSubset(12, 2))


def test_a_units_place_is_once_for_all_rows_its_rows():
    rows = [("x", ("CT", "Counting")), ("y", ("MRI", "Counting")), ("x", ("CT", "Attribute"))]
    assert strata_of(rows) == {"x": ("CT", "Attribute Counting", "000000002"), "y": ("MRI", "Counting", "000000001")}


@pytest.mark.parametrize(("value", "wanted"), [("", None), ("40", DataSubset(40)), ("40/7", DataSubset(40, 7))])
def test_the_variable_names_a_subset(monkeypatch, value, wanted):
    monkeypatch.setenv(subsets.VARIABLE, value)
    assert subsets.requested_subset() == wanted
    assert value in ("", "40") or str(subsets.requested_subset()) == value


@pytest.mark.parametrize("value", ["many", "0", "-3", "1.5", "5/-1", "5/x"])
def test_anything_else_is_refused(monkeypatch, value):
    monkeypatch.setenv(subsets.VARIABLE, value)
    with pytest.raises(UserError):
        subsets.requested_subset()
