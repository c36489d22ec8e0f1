"""What the sample log of a run holds is read as records, and what is none is told with its line."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import QuestionRecord, ScoreValue
from lmms_medtasks.samples import runs


def log(*rows):
    lines = list(enumerate(rows, start=1))
    return SimpleNamespace(samples_file=lambda task: f"run/x_samples_{task}.jsonl", rows=lambda task: lines)


def test_records_stand_with_their_lines():
    written = QuestionRecord("a", "i", ("A",), "A", {"accuracy": ScoreValue(1.0)})
    assert list(runs.iter_records(log({"questions": written.to_json()}), "t")) == [(written, 1)]


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
        list(runs.iter_records(log(*rows), "t"))
    assert f"run/x_samples_t.jsonl, {said}" in str(error.value)


def test_a_question_that_is_there_twice_and_a_log_without_any():
    row = {"questions": QuestionRecord("a", "i", ("A",), "A", {}).to_json()}
    with pytest.raises(UserError, match="line 2: question 'a' is there a second time"):
        list(runs.iter_records(log(row, row), "t"))
    with pytest.raises(UserError, match="holds no sample"):
        list(runs.iter_records(log(), "t"))


@pytest.mark.parametrize(
    ("date", "zone", "said"),
    [
        ("20260101_033000", "Asia/Singapore", "20251231_193000 UTC"),
        ("20260101_033000", "UTC", "20260101_033000 UTC"),
        ("20260701_033000", "America/New_York", "20260701_073000 UTC"),
        ("20260101_033000", "Nowhere/Known", "20260101_033000 Nowhere/Known"),
        ("yesterday", "UTC", "yesterday UTC"),
        ("20260101_033000", None, "20260101_033000"),
        (None, "UTC", ""),
    ],
)
def test_the_time_of_a_run_is_said_in_utc_wherever_the_harness_wrote_it(date, zone, said):
    content = {"date": date, "config": {"resolved_cli_args": {"timezone": zone}}}
    assert runs.date_of(content) == said


def test_a_log_without_scores_is_told_as_what_it_is():
    with pytest.raises(UserError, match="--predict_only"):
        list(runs.iter_records(log({"doc_id": 0, "bypass": ["A"]}), "t"))


def test_nothing_pairs_questions_by_the_harnesss_doc_hash():
    """It is one value for all questions of a log: the harness leaves the document out of it."""
    sources = [path for path in Path(runs.__file__).parents[1].rglob("*.py") if "doc_hash" in path.read_text("utf-8")]
    assert sources == []
