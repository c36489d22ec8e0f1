"""What the sample log of a run holds is read as records, and what is none is told with its line."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import MeasureValue, Record
from lmms_medtasks.samples import runs


def log(*rows):
    lines = list(enumerate(rows, start=1))
    return SimpleNamespace(samples_file=lambda task: f"run/x_samples_{task}.jsonl", rows=lambda task: lines)


def test_records_stand_with_their_lines():
    written = Record("a", "i", ("A",), "A", {"accuracy": MeasureValue(1.0)})
    assert list(runs.records(log({"questions": written.to_json()}), "t")) == [(written, 1)]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        # The form of a log before records: the row's parts stood under each metric.
        ([{"accuracy": {"id": "a", "trials": ["A"], "score": 1.0}}], "line 1: no record of a question"),
        ([{"questions": {"version": 1, "id": "a"}}], "line 1: the record is of version 1"),
    ],
)
def test_a_log_of_an_earlier_version_is_told_with_the_way_out(rows, said):
    with pytest.raises(UserError, match="Run the task again") as error:
        list(runs.records(log(*rows), "t"))
    assert f"run/x_samples_t.jsonl, {said}" in str(error.value)


def test_a_question_that_is_there_twice_and_a_log_without_any():
    row = {"questions": Record("a", "i", ("A",), "A", {}).to_json()}
    with pytest.raises(UserError, match="line 2: question 'a' is there a second time"):
        list(runs.records(log(row, row), "t"))
    with pytest.raises(UserError, match="holds no sample"):
        list(runs.records(log(), "t"))
