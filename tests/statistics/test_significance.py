"""Corrections against statsmodels."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.statistics import significance
from lmms_medtasks.statistics.significance import adjust

multitest = pytest.importorskip("statsmodels.stats.multitest")


@pytest.fixture(autouse=True)
def no_collection(monkeypatch):
    """statsmodels collects garbage twice a call, which takes longer the more the other tests have left behind."""
    monkeypatch.setattr("gc.collect", lambda: 0)


def test_examples_in_docstrings():
    assert doctest.testmod(significance).failed == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holms_correction_is_statsmodels(p):
    assert adjust(p) == pytest.approx(multitest.multipletests(p, method="holm")[1])


def test_corrections_of_nothing():
    assert adjust([]) == []
    assert adjust([0.2, 0.04], "none") == [0.2, 0.04]
