"""From runs to what each model was asked."""

import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.asked import by_run
from lmms_medtasks.report.med_cmr.reading import sources
from lmms_medtasks.samples import runs


def read(*folders):
    return sources(runs.find(folders))


def labels(found):
    return [(source.model, source.variant, [asked.label for asked in source.asked]) for source in found]


def test_tasks_of_a_run_are_one_source(write_cmr):
    folder = write_cmr(open={"q1": "5555"}, mcq_noimage={"q1": "A"}, mcq={"q1": "A"}, circular={"q1": "AAAA"})
    assert labels(read(folder)) == [("some_model", "", ["mcq", "mcq, no image", "circular", "open"])]


def test_tasks_of_several_runs_of_one_model_are_one_source(write_cmr):
    first, second = write_cmr("a", mcq={"q1": "A"}), write_cmr("b", open={"q1": "5555"})
    (found,) = read(first, second)
    assert [asked.label for asked in found.asked] == ["mcq", "open"]
    assert [tasks for _, tasks in by_run(found.asked)] == [["med_cmr_mcq"], ["med_cmr_open"]]


def test_task_that_was_run_twice_is_two_sources(write_cmr):
    first, second = write_cmr("a", mcq={"q1": "A"}), write_cmr("b", mcq={"q1": "B"}, open={"q1": "5555"})
    assert labels(read(first, second)) == [("some_model", "", ["mcq"]), ("some_model", "", ["mcq", "open"])]


def test_models_are_apart(write_cmr):
    found = read(write_cmr("a", mcq={"q1": "A"}), write_cmr("b", model="other", mcq={"q1": "A"}))
    assert [source.model for source in found] == ["some_model", "other"]


def test_runs_of_other_data_are_apart(write_cmr):
    found = read(write_cmr("a", mcq={"q1": "A"}), write_cmr("b", open={"q1": "5555"}, metadata={"data": "mini"}))
    assert labels(found) == [("some_model", "", ["mcq"]), ("some_model", "", ["open"])]


def test_task_of_ones_own_is_a_source_of_its_own(write_cmr):
    folder = write_cmr(mcq={"q1": "A"}, open={"q1": "5555"}, rename={"med_cmr_open": "my_open"})
    assert labels(read(folder)) == [("some_model", "", ["mcq"]), ("some_model", "my_open", ["open"])]


def change(folder, task, **changed):
    (path,) = folder.glob(f"*_samples_{task}.jsonl")
    row = json.loads(path.read_text().splitlines()[-1])
    (metric,) = (name for name, value in row.items() if isinstance(value, dict))
    row[metric] |= changed
    path.write_text(path.read_text() + json.dumps(row) + "\n")


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"id": "q9", "dimension": "XYZ"}, "line 2.*'XYZ'|'XYZ'.*line 2"),
        ({"id": "q9", "dimension": None}, "line 2: the record has no dimension. The log is not of a Med-CMR task"),
        ({"id": "q9", "score": 7}, "line 2: score is 7"),
        ({"id": "q9", "trials": "A"}, "line 2: trials is 'A'"),
        ({"id": "q9", "answer": None}, "line 2: the record has no answer"),
        ({}, "line 2: question 'q1' is there a second time"),
    ],
)
def test_broken_record_is_named_with_its_line(write_cmr, changed, text):
    folder = write_cmr(mcq={"q1": "A"})
    change(folder, "med_cmr_mcq", **changed)
    with pytest.raises(UserError, match=text):
        read(folder)


def test_tag_that_is_not_there_is_said_to_be_not_recorded(write_cmr):
    (found,) = read(write_cmr(mcq={"q1": "A"}, tags={"organ_system": "", "modality": "a\x1b[31m"}))
    (record,) = found.asked[0].records
    assert (record["organ_system"], record["modality"]) == ("not recorded", "a\ufffd[31m")
