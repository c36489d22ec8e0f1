"""A report's source: its numbers are those of the estimate that is asked for."""

import weakref

import pytest

from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Mean


@pytest.fixture
def source():
    found = [
        QuestionRecord(f"q{n}", "image", ("A",), "A", {"accuracy": ScoreValue(float(n))}, {"n": n}) for n in (0, 1)
    ]
    rows = QuestionTable.of_records(found)
    return ModelResults("source", rows, rows, 0)


def test_an_estimate_is_kept_with_its_numbers(source):
    """They are found by the estimate's identity, which a later one would have were the first one gone."""
    estimate = Mean(where={"n": 1})
    assert source.interval(estimate).estimate == 1
    kept = weakref.ref(estimate)
    del estimate
    assert kept() is not None
    assert [source.interval(Mean(where={"n": n})).estimate for n in (0, 1, 0, 1)] == [0, 1, 0, 1]


def test_an_estimate_is_computed_once_for_each_restriction(source):
    estimate = Mean()
    assert source.intervals(estimate) is source.intervals(estimate)
    assert [source.interval(estimate, {"n": n}).estimate for n in (0, 1)] == [0, 1]
    assert source.interval(estimate, {"n": (0, 1)}).estimate == 0.5
