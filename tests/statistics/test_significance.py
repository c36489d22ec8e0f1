"""p values: corrections, and how they are written."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.report.cells import p_value_cell
from lmms_medtasks.statistics import significance
from lmms_medtasks.statistics.significance import adjust_p_values, format_p_value

multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """statsmodels collects garbage twice a call, which takes longer the more the other tests have left behind."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def test_examples_in_docstrings():
    assert doctest.testmod(significance).failed == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holms_correction_is_statsmodels(p):
    assert adjust_p_values(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_corrections_of_nothing():
    assert adjust_p_values([]) == []
    assert adjust_p_values([0.2, 0.04], "none") == [0.2, 0.04]


@pytest.mark.parametrize(
    ("p", "text"), [(1.0, "1.0000"), (0.0001, "0.0001"), (0.00009, "9.0e-05"), (1e-12, "1.0e-12"), (0.0, "<1e-300")]
)
def test_small_ones_are_written_in_powers_of_ten(p, text):
    assert format_p_value(p) == text
    cell = p_value_cell(p).value
    assert cell == text if p < 0.0001 else cell == p
