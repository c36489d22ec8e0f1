"""From a run's files to task sets."""

import json
import re

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.report import ReportOptions
from lmms_medtasks.samples import result_files as results
from lmms_medtasks.suites.suite_rows import suite_table
from lmms_medtasks.task_configs.medq_deg.measures import SUITE
from lmms_medtasks.task_configs.medq_deg.report import _row_names
from lmms_medtasks.task_configs.medq_deg.report_paper import shared_conditions
from lmms_medtasks.task_configs.medq_deg.report_published import requested_levels, setup_of, task_sets


@pytest.fixture
def sets(task_sets_of):
    return task_sets_of


def ids(source):
    by_level = source.rows.by(["severity"])
    return {level: sorted(rows.column("id")) for (level,), rows in by_level.items()}


def test_tasks_of_one_level_each_are_one_set(write_run, sets):
    (found,) = sets(write_run())
    assert found.tasks == ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2")
    assert setup_of(found) == ("simulated", "", 2)
    assert found.condition == "our degradations, 2 trials"
    assert _row_names([found]) == ["some_model"]
    assert ids(found) == {
        0: ["q1", "q2"],
        1: ["q1/gaussian_noise/L1", "q2/motion_blur/L1"],
        2: ["q1/gaussian_noise/L2", "q2/motion_blur/L2"],
    }


def test_task_of_all_levels_is_a_set_of_its_own(write_run, sets):
    (apart,), (together,) = sets(write_run("a")), sets(write_run("b", together=True))
    assert ids(together) == ids(apart)
    assert together.tasks == ("medq_deg",)


def test_tasks_of_another_t_are_another_set(write_run, sets):
    folder, other = write_run("a", levels=[0, 1]), write_run("b", trials={0: {"q1": "AAA"}}, levels=[0], together=True)
    one, two = (results.read_result_file(next(each.glob("*_results.json"))) for each in (folder, other))
    one.content["configs"].update(two.content["configs"])
    next(other.glob("*.jsonl")).rename(folder / "20260101_000000_samples_medq_deg.jsonl")
    found = task_sets(SUITE, [one], suite_table(SUITE, [one]), ReportOptions(resamples=0))
    assert [(each.tasks, each.condition) for each in found] == [
        (("medq_deg_l0", "medq_deg_l1"), "our degradations, 2 trials"),
        (("medq_deg",), "our degradations, 3 trials"),
    ]


def test_two_sets_of_a_run_that_were_asked_alike_have_their_tasks_names_and_are_not_two_models(write_run):
    folder, other = write_run("a"), write_run("b", together=True)
    one, two = (results.read_result_file(next(each.glob("*_results.json"))) for each in (folder, other))
    one.content["configs"].update(two.content["configs"])
    next(other.glob("*.jsonl")).rename(folder / "20260101_000000_samples_medq_deg.jsonl")
    found = task_sets(SUITE, [one], suite_table(SUITE, [one]), ReportOptions(resamples=0))
    assert [each.condition for each in found] == [
        "our degradations, 2 trials, medq_deg_l0 to l2", "our degradations, 2 trials, medq_deg",
    ]  # fmt: skip
    assert shared_conditions(found) == []
    assert _row_names(found) == [each.name for each in found]


def test_clean_questions_are_lent_to_the_release(write_run):
    folder = write_run("a", levels=[0])
    # The same run, with the release's levels beside: written by hand into one result file.
    other = write_run("b", stem="medq_deg_release", levels=[1, 2])
    one, two = (results.read_result_file(next(each.glob("*_results.json"))) for each in (folder, other))
    two.content["configs"].update(one.content["configs"])
    for path in folder.glob("*.jsonl"):
        path.rename(other / path.name)
    (found,) = task_sets(SUITE, [two], suite_table(SUITE, [two]), ReportOptions(resamples=0))
    assert setup_of(found).family == "release"
    assert found.tasks == ("medq_deg_l0", "medq_deg_release_l1", "medq_deg_release_l2")
    assert requested_levels(found) == [0, 1, 2]


@pytest.mark.parametrize("tail", ['{"questions": {"id": "q', "not json\n", "[1, 2]\n", '{"questions": {"id": "q1"}}\n'])
def test_broken_line_is_named(write_run, sets, tail):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    with path.open("a") as file:
        file.write(tail)
    with pytest.raises(UserError, match=r"samples_medq_deg_l1\.jsonl, line 3"):
        sets(folder)


def changed(folder, change):
    """Change the second record of L1 as it stands in the log."""
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    first, second = path.read_text().splitlines()
    row = json.loads(second)
    change(row["questions"])
    path.write_text(f"{first}\n{json.dumps(row)}\n")
    return folder


@pytest.mark.parametrize(("name", "value"), [("trials", 5), ("trials", [])])
def test_value_of_a_wrong_kind_is_named_with_its_line(write_run, sets, name, value):
    folder = changed(write_run(), lambda record: record.update({name: value}))
    with pytest.raises(UserError, match=rf"l1\.jsonl, line 2: {name} is {re.escape(repr(value))}, expected"):
        sets(folder)


@pytest.mark.parametrize("value", ["right", 1.5, -1])
def test_score_of_a_wrong_kind_is_named_with_its_line(write_run, sets, value):
    folder = changed(write_run(), lambda record: record["measures"]["accuracy"].update(score=value))
    with pytest.raises(UserError, match=rf"l1\.jsonl, line 2: .*{re.escape(repr(value))}, expected a number"):
        sets(folder)


@pytest.mark.parametrize(
    ("name", "value"),
    [("option_count", "4"), ("option_count", 0), ("option_count", None), ("modality", None), ("capability", 7)],
)
def test_tag_of_a_wrong_kind_is_named_with_its_line(write_run, sets, name, value):
    folder = changed(write_run(), lambda record: record["tags"].update({name: value}))
    with pytest.raises(UserError, match=rf"l1\.jsonl, line 2: {name} is {re.escape(repr(value))}, "):
        sets(folder)


@pytest.mark.parametrize(
    ("name", "value"), [("severity", 3), ("severity", None), ("mid", "Tea Making"), ("category", "tea")]
)
def test_tag_without_such_a_value_is_named_with_its_line(write_run, sets, name, value):
    folder = changed(write_run(), lambda record: record["tags"].update({name: value}))
    with pytest.raises(UserError, match=rf"Unknown {name} '{value}' in .*l1\.jsonl, line 2; .*Allowed: "):
        sets(folder)


@pytest.mark.parametrize("change", [{"trials": ["A", "Z"]}, {"trials": ["A", "C"]}, {"expected": "Z"}])
def test_trial_or_answer_that_is_no_option_is_named_with_its_line(write_run, sets, change):
    folder = changed(write_run(), lambda record: record.update(change))
    with pytest.raises(UserError, match=r"l1\.jsonl, line 2: .* is '[CZ]', allowed are A, B"):
        sets(folder)


def test_line_of_broken_bytes_is_named(write_run, sets):
    folder = write_run()
    with (folder / "20260101_000000_samples_medq_deg_l2.jsonl").open("ab") as file:
        file.write(b'{"a": "\xff\xfe"}\n')
    with pytest.raises(UserError, match="l2.jsonl, line 3"):
        sets(folder)


def test_question_that_is_there_twice(write_run, sets):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l0.jsonl"
    path.write_text(path.read_text() * 2)
    with pytest.raises(UserError, match="line 3: question 'q1' is there a second time"):
        sets(folder)


def test_missing_log_says_what_to_do(write_run, sets):
    folder = write_run()
    (folder / "20260101_000000_samples_medq_deg_l0.jsonl").unlink()
    with pytest.raises(UserError, match="--log_samples"):
        sets(folder)


def test_unknown_degradation_is_named_with_its_line(write_run, sets):
    folder = changed(write_run(), lambda record: record["tags"].update(degradation="gausian_noise"))
    with pytest.raises(UserError, match="line 2: .*'gausian_noise'.*gaussian_noise"):
        sets(folder)
