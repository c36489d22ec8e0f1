"""What is missing from a run's result files."""

import json
import math
import re

import pytest

from lmms_medtasks.board import rules
from lmms_medtasks.errors import UserError
from lmms_medtasks.samples import result_files as results

MOST = rules.read_board_rules().thresholds["failure_rate"]
WHOLE = {
    "results": {"a": {"alias": "a"}},
    "configs": {
        "a": {
            "metadata": {"digests": {}, "degradation": {}, "judge": {"protocols": []}},
            "lmms_eval_specific_kwargs": {},
        }
    },
    "config": {"model_args": ""},
    "versions": {"a": 1.0},
    "n-samples": {"a": {"original": 2, "effective": 2}},
    "group_subtasks": {"g": ["a"]},
}


def write(folder, tasks, groups=None, samples=None, effective=2):
    content = {
        "results": tasks,
        "group_subtasks": groups or {},
        "n-samples": {task: {"original": 9, "effective": effective} for task in tasks},
    }
    path = folder / "20260101_000000_results.json"
    path.write_text(json.dumps(content))
    for task, count in (samples or {}).items():
        (folder / f"20260101_000000_samples_{task}.jsonl").write_text('{"doc_id": 0}\n' * count)
    return results.read_result_file(path)


def test_complete_run_has_no_problems(tmp_path):
    run = write(tmp_path, {"a_1": {"alias": "a", "accuracy,none": 0.5}}, samples={"a_1": 2})
    assert results.list_missing_results([run], ["a_1"]) == []
    assert results.list_missing_results([run], ["a_*"]) == []


def test_missing_task_is_named(tmp_path):
    run = write(tmp_path, {"a_1": {"accuracy,none": 0.5}})
    assert results.list_missing_results([run], ["a_1", "b"]) == ["No result of task 'b'."]
    assert results.list_missing_results([], ["a_1"]) == ["No result of task 'a_1'."]


def test_group_needs_each_of_its_tasks(tmp_path):
    tasks = {"group": {"alias": "group"}, "a_1": {"accuracy,none": 0.5}}
    run = write(tmp_path, tasks, groups={"group": ["a_1", "a_2"]})
    assert results.list_missing_results([run], ["group"]) == [
        "No result of task 'a_2' in 20260101_000000_results.json."
    ]


def test_a_tag_stands_for_its_tasks_and_so_does_a_degraded_one(tmp_path):
    tasks = {name: {"accuracy,none": 0.5} for name in ("a_1", "b", "a_1@gaussian_noise.2")}
    run = write(tmp_path, tasks)
    run.content["configs"] = {"a_1": {"tag": ["some"]}, "b": {"tag": "some"}, "a_1@gaussian_noise.2": {"tag": "some"}}
    assert results.list_missing_results([run], ["some", "some@gaussian_noise.2"]) == []
    assert results.list_missing_results([run], ["some@gaussian_noise.1"]) == [
        "No result of task 'some@gaussian_noise.1'."
    ]


def test_task_without_any_value(tmp_path):
    run = write(tmp_path, {"a_1": {"alias": "a", "accuracy,none": None, "accuracy_stderr,none": 0.1}})
    assert "no metric with a value" in results.list_missing_results([run], ["a_1"])[0]


@pytest.mark.parametrize(
    ("judge", "failed", "complete"), [("none", 0, True), ("none", 2, False), ("openai:x", 0, False)]
)
def test_a_task_that_waits_for_a_judge_is_complete(tmp_path, judge, failed, complete):
    run = write(tmp_path, {"a_1": {"accuracy,none": None, "coverage,none": 0.0, "failed_requests,none": failed}})
    run.content["configs"] = {"a_1": {"metadata": {"judge": {"name": judge}}}}
    found = results.list_missing_results([run], ["a_1"])
    assert found == [] if complete else "Task 'a_1' has no accuracy" in found[0]


def test_a_row_is_read_as_json_reads_it(tmp_path):
    path = tmp_path / "x.jsonl"
    assert results.parse_sample_line(b'{"a": 0.1, "b": "\\ud800"}', 1, path) == {"a": 0.1, "b": "\ud800"}
    assert math.isnan(results.parse_sample_line(b'{"a": NaN}', 1, path)["a"])
    for broken in (b'{"a": 1', b"[" * 100_000, b"3"):
        with pytest.raises(UserError, match=r"x\.jsonl, line 7"):
            results.parse_sample_line(broken, 7, path)


def test_missing_samples(tmp_path):
    run = write(tmp_path, {"a_1": {"accuracy,none": 0.5}}, samples={"a_1": 1})
    assert results.list_missing_results([run], ["a_1"]) == ["Task 'a_1' has 1 samples in its log, 2 were asked for."]


@pytest.mark.parametrize("text", ["", "{", "[]", '{"results": 3}'])
def test_no_result_file(tmp_path, text):
    path = tmp_path / "x_results.json"
    path.write_text(text)
    with pytest.raises(UserError, match="x_results.json"):
        results.read_result_file(path)


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        ("results", None, "a mapping"),
        ("results", 3, "a mapping"),
        ("results a", None, "a mapping"),
        ("versions", None, "a mapping"),
        ("versions", [1.0], "a mapping"),
        ("configs", None, "a mapping"),
        ("configs", ["a"], "a mapping"),
        ("configs a", None, "a mapping"),
        ("configs a metadata", [1], "a mapping or a list of mappings or null"),
        ("configs a metadata digests", [1], "a mapping or null"),
        ("configs a metadata judge", "lexical", "a mapping or null"),
        ("configs a metadata judge protocols", [None], "a list of mappings or null"),
        ("configs a lmms_eval_specific_kwargs", [1], "a mapping or null"),
        ("configs a lmms_eval_specific_kwargs default", "x", "a mapping or null"),
        ("configs a metadata degradation scores", [1], "a mapping or null"),
        ("configs a metadata degradation pictures", "many", "a whole number from 0 or null"),
        ("configs a repeats", "3", "a whole number from 0 or null"),
        ("config", None, "a mapping"),
        ("config model_args", [1], "a text or a mapping or null"),
        ("n-samples", None, "a mapping"),
        ("n-samples a", "x", "a mapping"),
        ("n-samples a original", "2", "a whole number from 0"),
        ("n-samples a effective", None, "a whole number from 0"),
        ("n-samples a effective", -1, "a whole number from 0"),
        ("n-samples a effective", True, "a whole number from 0"),
        ("group_subtasks g", "a", "a list of texts"),
    ],
)
def test_what_was_damaged_by_hand_is_named_with_its_key(tmp_path, place, value, expected):
    content = json.loads(json.dumps(WHOLE))
    part = content
    *outer, last = place.split()
    for name in outer:
        part = part[name]
    part[last] = value
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(content))
    said = f"{path}: {', '.join(place.split())} is {value!r}; expected {expected}."
    with pytest.raises(UserError, match=re.escape(said)):
        results.read_result_file(path)


@pytest.mark.parametrize("data", ["chest/test", "medtasks://chest/test"])
def test_a_list_of_metadata_is_the_form_of_the_harness_and_not_of_ours(tmp_path, data):
    config = {"metadata": [{"version": 0.0}], "dataset_kwargs": {"data_files": data}}
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps({**WHOLE, "configs": {"a": config}}))
    if "medtasks" not in data:
        assert results.read_result_file(path).config("a") == config
        return
    with pytest.raises(UserError, match="configs, a, metadata is a list; expected a mapping"):
        results.read_result_file(path)


def test_files_of_a_folder_that_is_not_there(tmp_path):
    assert results.list_result_files(tmp_path / "none") == set()


def test_a_task_whose_requests_all_failed(tmp_path):
    run = write(tmp_path, {"a_1": {"accuracy,none": None, "failed_requests,none": 12}})
    assert (
        "no question got a reply that counts (failed requests: 12)" in results.list_missing_results([run], ["a_1"])[0]
    )


def test_one_level_without_questions_is_no_failure(tmp_path):
    run = write(tmp_path, {"a_1": {"accuracy_l0,none": 0.5, "accuracy_l1,none": None}})
    assert results.list_missing_results([run], ["a_1"]) == []


@pytest.mark.parametrize(
    ("failed", "repeats", "complete"), [(12, 1, False), (11, 1, True), (12, 3, True), (36, 3, False)]
)
def test_a_task_without_accuracy_whose_requests_all_failed(tmp_path, failed, repeats, complete):
    run = write(tmp_path, {"a_1": {"open_iid,none": None, "questions,none": 12, "failed_requests,none": failed}})
    run.content["configs"] = {"a_1": {"repeats": repeats}}
    run.content["n-samples"] = {"a_1": {"original": 50, "effective": 12}}
    found = results.list_missing_results([run], ["a_1"])
    assert found == [] if complete else "none of its 12 questions got a reply" in found[0]


def test_a_run_that_is_not_there(tmp_path):
    with pytest.raises(UserError, match=r"RUN is not there\. Give a result folder of a run"):
        results.read_result_file(tmp_path / "RUN")


def test_a_result_file_that_is_nested_too_deeply_is_named(tmp_path):
    path = tmp_path / "x_results.json"
    path.write_text('{"results": ' + "[" * 200_000 + "]" * 200_000 + "}", "utf-8")
    with pytest.raises(UserError, match="Can't read .*x_results.json"):
        results.read_result_file(path)


@pytest.mark.parametrize(
    ("more", "count"),
    [("", 2), ('{"doc_id": 1, "targ', 2), ('{"doc_id": 1}', 3), ("7\n", 2), ("\n", 2), ("\x00\x00", 2)],
)
def test_a_row_counts_when_it_can_be_read(tmp_path, more, count):
    run = write(tmp_path, {"a_1": {"accuracy,none": 0.5}}, samples={"a_1": 2}, effective=3)
    path = run.samples_file("a_1")
    path.write_text(path.read_text() + more)
    assert run.sample_count("a_1") == count
    assert bool(results.list_missing_results([run], ["a_1"])) == (count < 3)
    lacks = results.unwritten_problem([run.path], ["a_1", "of another run"], log_samples=True)
    assert lacks == ("" if count == 3 else f"{path} has {count} whole samples of 3")
    assert results.unwritten_problem([run.path], ["a_1"], log_samples=False) == ""


def test_what_a_disk_says_late_is_heard(tmp_path, monkeypatch):
    run = write(tmp_path, {"a_1": {"accuracy,none": 0.5}}, samples={"a_1": 2})

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(results.os, "fsync", full)
    assert "No space left" in results.unwritten_problem([run.path], ["a_1"], log_samples=True)
    assert results.unwritten_problem([], ["a_1"], log_samples=True) == "no results were written"


def counted(*counts, repeats=1):
    """A result file's content of tasks with (failed, questions)."""
    names = [f"t{number}" for number in range(len(counts))]
    found = {
        name: {"alias": name, **({} if failed is None else {"failed_requests,none": failed})}
        for name, (failed, _) in zip(names, counts, strict=True)
    }
    samples = {name: {"effective": count} for name, (_, count) in zip(names, counts, strict=True)}
    return {"results": found, "n-samples": samples, "configs": {name: {"repeats": repeats} for name in names}}


@pytest.mark.parametrize(
    ("counts", "tasks"),
    [
        ([(0, 10)], []),
        ([(1, 10)], []),  # one says nothing of a share
        ([(2, 200)], []),  # 1 %, as many as may
        ([(2, 199)], ["t0"]),
        ([(3, 10), (0, 10), (None, 10)], ["t0"]),
        ([(1, 10), (1, 10)], ["all tasks"]),
        ([(1, 150), (1, 150)], []),
        ([(float("nan"), 10)], []),
    ],
)
def test_which_are_too_many(counts, tasks):
    assert [each.task for each in results.too_many_failed([counted(*counts)], MOST)] == tasks


def test_trials_are_requests_and_several_files_are_one_run():
    assert results.too_many_failed([counted((2, 40), repeats=5)], MOST) == []
    (found,) = results.too_many_failed([counted((1, 10)), counted((1, 10))], MOST)
    assert str(found) == "2 of 20 requests of all tasks failed (10.0%)"
    assert results.too_many_failed([{"results": {"a": {}}}, {"configs": {"a": {}}, "results": {}}], MOST) == []
