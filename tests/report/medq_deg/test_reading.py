"""From a run's files to task sets."""

import json
import re

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report.medq_deg import reading
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.samples import runs as report_runs


def sets(*folders):
    return [each for run in report_runs.find(folders) for each in reading.task_sets(run)]


def test_tasks_of_one_level_each_are_one_set(write_run):
    (found,) = sets(write_run())
    assert found.tasks == ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2")
    assert (found.family, found.trials, found.label) == ("simulated", 2, "simulated, T = 2")
    assert {level: [each["id"] for each in records] for level, records in found.levels.items()} == {
        0: ["q1", "q2"],
        1: ["q1/gaussian_noise/L1", "q2/motion_blur/L1"],
        2: ["q1/gaussian_noise/L2", "q2/motion_blur/L2"],
    }


def test_task_of_all_levels_holds_its_record_under_its_levels_metric(write_run):
    (apart,), (together,) = sets(write_run("a")), sets(write_run("b", together=True))
    assert together.levels == apart.levels
    assert together.tasks == ("medq_deg",)


def test_what_a_record_becomes(write_run):
    (found,) = sets(write_run(trials={2: {"q1": "A-!"}}, levels=[2]))
    (only,) = found.levels[2]
    assert (only["mid"], only["category"], only["degradation"]) == ("Imaging Perception", "noise", "gaussian_noise")
    assert (only["replies"], only["parsed"], only["failed"], only["identical"]) == (2, 1, 1, False)


def test_clean_questions_are_lent_to_the_release(write_run):
    folder = write_run("a", levels=[0])
    # The same run, with the release's levels beside: written by hand into one result file.
    other = write_run("b", stem="medq_deg_release", levels=[1, 2])
    one, two = (results.read(next(each.glob("*_results.json"))) for each in (folder, other))
    two.content["configs"].update(one.content["configs"])
    for path in folder.glob("*.jsonl"):
        path.rename(other / path.name)
    (found,) = reading.task_sets(two)
    assert found.family == "release"
    assert found.tasks == ("medq_deg_l0", "medq_deg_release_l1", "medq_deg_release_l2")
    assert set(found.levels) == {0, 1, 2}


@pytest.mark.parametrize("tail", ['{"accuracy": {"id": "q', "not json\n", "[1, 2]\n", '{"accuracy": {"id": "q1"}}\n'])
def test_broken_line_is_named(write_run, tail):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    with path.open("a") as file:
        file.write(tail)
    with pytest.raises(UserError, match=r"samples_medq_deg_l1\.jsonl, line 3"):
        sets(folder)


@pytest.mark.parametrize(
    ("name", "value"), [("trials", 5), ("trials", []), ("option_count", "4"), ("score", "right"), ("score", 1.5)]
)
def test_value_of_a_wrong_kind_is_named_with_its_line(write_run, name, value):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    first, second = path.read_text().splitlines()
    row = json.loads(second)
    row["accuracy"][name] = value
    path.write_text(f"{first}\n{json.dumps(row)}\n")
    with pytest.raises(UserError, match=rf"l1\.jsonl, line 2: {name} is {re.escape(repr(value))}, wanted"):
        sets(folder)


def test_line_of_broken_bytes_is_named(write_run):
    folder = write_run()
    with (folder / "20260101_000000_samples_medq_deg_l2.jsonl").open("ab") as file:
        file.write(b'{"a": "\xff\xfe"}\n')
    with pytest.raises(UserError, match="l2.jsonl, line 3"):
        sets(folder)


def test_question_that_is_there_twice(write_run):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l0.jsonl"
    path.write_text(path.read_text() * 2)
    with pytest.raises(UserError, match="line 3: question 'q1' is there a second time"):
        sets(folder)


def test_missing_log_says_what_to_do(write_run):
    folder = write_run()
    (folder / "20260101_000000_samples_medq_deg_l0.jsonl").unlink()
    with pytest.raises(UserError, match="--log_samples"):
        sets(folder)


def test_unknown_degradation_is_named_with_its_line(write_run):
    questions = {"q1": ("image a", "CT", "Counting", "gausian_noise", 4, "A")}
    with pytest.raises(UserError, match="line 1: .*'gausian_noise'.*gaussian_noise"):
        sets(write_run(questions=questions, trials={1: {"q1": "A"}}, levels=[1]))
