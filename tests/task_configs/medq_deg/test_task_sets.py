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


def ids(source):
    by_level = source.rows.by(["severity"])
    return {level: sorted(rows.column("id")) for (level,), rows in by_level.items()}


def test_tasks_of_one_level_each_are_one_set(write_run, task_sets_of):
    (found,) = task_sets_of(write_run())
    assert found.tasks == ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2")
    assert setup_of(found) == ("simulated", "", 2)
    assert found.condition == "our degradations, 2 trials"
    assert _row_names([found]) == ["some_model"]
    assert ids(found) == {
        0: ["q1", "q2"],
        1: ["q1/gaussian_noise/L1", "q2/motion_blur/L1"],
        2: ["q1/gaussian_noise/L2", "q2/motion_blur/L2"],
    }


def test_task_of_all_levels_is_a_set_of_its_own(write_run, task_sets_of):
    (apart,), (together,) = task_sets_of(write_run("a")), task_sets_of(write_run("b", together=True))
    assert ids(together) == ids(apart)
    assert together.tasks == ("medq_deg",)


def test_tasks_of_another_t_are_another_set(write_run, task_sets_of):
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


BROKEN = (
    b'{"questions": {"id": "q', b"not json\n", b"[1, 2]\n", b'{"questions": {"id": "q1"}}\n', b'{"a": "\xff\xfe"}\n',
)  # fmt: skip


@pytest.mark.parametrize("tail", BROKEN)
def test_broken_line_is_named(write_run, task_sets_of, tail):
    folder = write_run()
    with (folder / "20260101_000000_samples_medq_deg_l1.jsonl").open("ab") as file:
        file.write(tail)
    with pytest.raises(UserError, match=r"samples_medq_deg_l1\.jsonl, line 3"):
        task_sets_of(folder)


def changed(folder, change):
    """Change the second record of L1 as it stands in the log."""
    path = folder / "20260101_000000_samples_medq_deg_l1.jsonl"
    first, second = path.read_text().splitlines()
    row = json.loads(second)
    change(row["questions"])
    path.write_text(f"{first}\n{json.dumps(row)}\n")
    return folder


@pytest.mark.parametrize(
    ("part", "name", "values", "said"),
    [
        ("", "trials", [5, []], "l1.jsonl, line 2: trials is {}, expected"),
        ("", "trials", [["A", "Z"], ["A", "C"]], "is '[CZ]', allowed are A, B"),
        ("", "expected", ["Z"], "l1.jsonl, line 2: .* is {}, allowed are A, B"),
        ("accuracy", "score", ["right", 1.5, -1], "l1.jsonl, line 2: .*{}, expected a number"),
        ("tags", "option_count", ["4", 0, None], "l1.jsonl, line 2: option_count is {}, "),
        ("tags", "modality", [None], "l1.jsonl, line 2: modality is {}, "),
        ("tags", "capability", [7], "l1.jsonl, line 2: capability is {}, "),
        ("tags", "severity", [3, None], "Unknown severity '.*' in .*l1.jsonl, line 2; .*Allowed: "),
        ("tags", "mid", ["Tea Making"], "Unknown mid {} in .*l1.jsonl, line 2; .*Allowed: "),
        ("tags", "category", ["tea"], "Unknown category {} in .*l1.jsonl, line 2; .*Allowed: "),
        ("tags", "degradation", ["gausian_noise"], "line 2: .*{}.*gaussian_noise"),
    ],
)
def test_what_a_record_can_not_have_is_named_with_its_line(write_run, task_sets_of, part, name, values, said):
    for number, value in enumerate(values):

        def change(record, value=value):
            own = record["measures"]["accuracy"] if part == "accuracy" else record.get(part, record)
            own[name] = value

        with pytest.raises(UserError, match=said.format(re.escape(repr(value)))):
            task_sets_of(changed(write_run(str(number)), change))


def test_question_that_is_there_twice(write_run, task_sets_of):
    folder = write_run()
    path = folder / "20260101_000000_samples_medq_deg_l0.jsonl"
    path.write_text(path.read_text() * 2)
    with pytest.raises(UserError, match="line 3: question 'q1' is there a second time"):
        task_sets_of(folder)


def test_missing_log_says_what_to_do(write_run, task_sets_of):
    folder = write_run()
    (folder / "20260101_000000_samples_medq_deg_l0.jsonl").unlink()
    with pytest.raises(UserError, match="--log_samples"):
        task_sets_of(folder)
