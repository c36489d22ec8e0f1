"""From runs to what each model was asked."""

import json

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import ReportOptions, build_report
from lmms_medtasks.samples import runs
from lmms_medtasks.samples.runs import model_name
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.med_cmr.measures import SUITE
from lmms_medtasks.task_configs.med_cmr.report_published import model_rows


def read(*folders):
    found = runs.find_result_files(folders)
    return model_rows(SUITE, found, suite_table(SUITE, found), ReportOptions(resamples=0))


def forms(source):
    """``mcq, no image`` and so on, in the source's order."""
    columns = (source.rows.column(name) for name in ("form", "image_shown"))
    return list(dict.fromkeys(form if shown else f"{form}, no image" for form, shown in zip(*columns, strict=True)))


def labels(found):
    return [(model_name(source.run.content), source.condition, forms(source)) for source in found]


def test_tasks_of_a_run_are_one_source(write_cmr):
    folder = write_cmr(open={"q1": "5555"}, mcq_noimage={"q1": "A"}, mcq={"q1": "A"}, circular={"q1": "AAAA"})
    assert labels(read(folder)) == [("some_model", "", ["open", "mcq, no image", "mcq", "circular"])]


def test_tasks_of_several_runs_of_one_model_are_one_source(write_cmr):
    first, second = write_cmr("a", mcq={"q1": "A"}), write_cmr("b", open={"q1": "5555"})
    (found,) = read(first, second)
    assert forms(found) == ["mcq", "open"]
    assert [tasks for _, tasks in found.asked] == [("med_cmr_mcq",), ("med_cmr_open",)]


def test_task_that_was_run_twice_is_two_sources(write_cmr):
    first, second = write_cmr("a", mcq={"q1": "A"}), write_cmr("b", mcq={"q1": "B"}, open={"q1": "5555"})
    assert labels(read(first, second)) == [("some_model", "", ["mcq"]), ("some_model", "", ["mcq", "open"])]


def test_models_are_apart(write_cmr):
    found = read(write_cmr("a", mcq={"q1": "A"}), write_cmr("b", model="other", mcq={"q1": "A"}))
    assert [model_name(source.run.content) for source in found] == ["some_model", "other"]


def test_runs_of_other_data_are_apart(write_cmr):
    found = read(write_cmr("a", mcq={"q1": "A"}), write_cmr("b", open={"q1": "5555"}, metadata={"data": "mini"}))
    assert labels(found) == [("some_model", "", ["mcq"]), ("some_model", "", ["open"])]


def test_task_of_ones_own_is_a_source_of_its_own(write_cmr):
    folder = write_cmr(mcq={"q1": "A"}, open={"q1": "5555"}, rename={"med_cmr_open": "my_open"})
    assert labels(read(folder)) == [("some_model", "", ["mcq"]), ("some_model", "my_open", ["open"])]


def change(folder, task, **changed):
    """Append the log's last row once more, with other fields in its record; of mappings only what is given."""
    (path,) = folder.glob(f"*_samples_{task}.jsonl")
    row = json.loads(path.read_text().splitlines()[-1])
    record = row["questions"]
    for name, value in changed.items():
        record[name] = {**record[name], **value} if isinstance(value, dict) else value
    path.write_text(path.read_text() + json.dumps(row) + "\n")


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"id": "q9", "tags": {"dimension": "XYZ"}}, "Unknown dimension 'XYZ'.*line 2"),
        ({"id": "q9", "tags": {"dimension": None}}, "Unknown dimension 'None'.*line 2"),
        ({"id": "q9", "measures": {"accuracy": {"score": 7}}}, "line 2: accuracy is 7"),
        ({"id": "q9", "trials": "A"}, "line 2: trials is 'A'"),
        ({"id": "q9", "expected": None}, "line 2: the record has no correct letter"),
        ({}, "line 2: question 'q1' is there a second time"),
    ],
)
def test_broken_record_is_named_with_its_line(write_cmr, changed, text):
    folder = write_cmr(mcq={"q1": "A"})
    change(folder, "med_cmr_mcq", **changed)
    with pytest.raises(UserError, match=text):
        read(folder)


def test_tag_that_is_not_there_is_said_to_be_not_recorded(write_cmr):
    folder = write_cmr(mcq={"q1": "A", "q2": "A"}, tags={"organ_system": "", "modality": "a\x1b[31m"})
    (log,) = folder.glob("*samples*")
    first, second = log.read_text().splitlines()
    log.write_text(first + "\n" + second.replace('"organ_system": "", ', "") + "\n")
    (part,) = build_report([folder], ReportOptions(resamples=0, drawn=False)).parts
    shown = {each.key: [[cell.value for cell in row.cells[:2]] for row in each.rows]
             for section in part.sections for each in section.tables}  # fmt: skip
    # An empty text and none at all are one group.
    assert shown["mcq_organ_system"] == [["not recorded", 2]]
    assert shown["mcq_modality"] == [["a\ufffd[31m", 2]]
