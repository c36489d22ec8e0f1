"""Welch's test against scipy on the same values and by its formula; corrections against statsmodels."""

import doctest

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import significance
from lmms_medtasks.statistics.significance import adjust, welch, win_loss

multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """statsmodels collects garbage twice a call, which takes longer the more the other tests have left behind."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def test_examples_in_docstrings():
    assert doctest.testmod(significance).failed == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.sampled_from(["holm", "bh"]))
def test_corrections_are_statsmodels(p, correction):
    name = {"holm": "holm", "bh": "fdr_bh"}[correction]
    assert adjust(p, correction) == pytest.approx(multitest.multipletests(p, method=name)[1])


def test_corrections_of_nothing():
    assert adjust([]) == [] and adjust([], "bh") == []
    assert adjust([0.2, 0.04], "none") == [0.2, 0.04]


def test_welch_by_its_formula():
    # Means 3 and 5, variances 1 (n = 3) and 4 (n = 3): t = -2 / sqrt(1/3 + 4/3) = -1.549193;
    # df = (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.941176.
    (found,) = welch({"s": {"a": [2, 3, 4], "b": [3, 5, 7]}})
    assert found.difference == -2
    assert found.statistic == pytest.approx(-1.549193, abs=1e-6)
    assert found.p == found.adjusted == pytest.approx(2 * scipy.stats.t.cdf(-1.549193, 2.941176), abs=1e-6)


@pytest.fixture
def three_methods():
    rng = generator("test", "welch")
    means = {"first": {"a": 0.9, "b": 0.5, "c": 0.5}, "second": {"a": 0.5, "b": 0.7, "c": 0.5}}
    return {
        shift: {name: mean + 0.05 * rng.standard_normal(100) for name, mean in methods.items()}
        for shift, methods in means.items()
    }


def test_each_pair_under_each_shift_and_all_corrected_together(three_methods):
    found = welch(three_methods)
    assert [(each.condition, each.first, each.second) for each in found] == [
        (shift, *pair) for shift in ("first", "second") for pair in [("a", "b"), ("a", "c"), ("b", "c")]
    ]
    for each in found:
        values = three_methods[each.condition]
        expected = scipy.stats.ttest_ind(values[each.first], values[each.second], equal_var=False)
        assert (each.statistic, each.p) == pytest.approx((expected.statistic, expected.pvalue))
    corrected = multitest.multipletests([each.p for each in found], method="holm")[1]
    assert [each.adjusted for each in found] == pytest.approx(corrected)


def test_wins_and_losses(three_methods):
    found = win_loss(welch(three_methods), alpha=0.05)
    assert found.methods == ("a", "b", "c")
    # First shift: a beats b and c. Second: b beats a and c. b and c, a and c are alike where not said.
    assert found.wins.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]
    assert found.comparisons.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert win_loss(welch(three_methods), alpha=0.0).wins.sum() == 0


def test_what_can_not_be_tested_is_no_win_and_not_corrected_for():
    found = welch(
        {"s": {"a": [1.0], "b": [2.0, 3.0], "c": [2.5, 2.0], "d": [np.nan, np.nan]}, "t": {"a": [1, 1], "b": [2, 2]}}
    )
    tested = [each for each in found if each.p is not None]
    assert [(each.first, each.second) for each in tested] == [("b", "c")]
    assert tested[0].adjusted == tested[0].p
    assert found[-1].difference == -1 and found[-1].adjusted is None  # no variation: t is not defined
    assert next(each for each in found if each.second == "d").difference is None
    assert win_loss(found, alpha=0.05).wins.sum() == 0
    assert win_loss(found, alpha=0.05).comparisons.sum() == 2
    assert win_loss([], alpha=0.05).methods == ()


def test_nan_is_left_out():
    one = welch({"s": {"a": [1, 2, np.nan, 3], "b": [2, 4, 5]}})
    assert one == welch({"s": {"a": [1, 2, 3], "b": [2, 4, 5]}})
