"""Tasks that are not installed, and configurations that are none, on a board."""

import json

import pytest

from lmms_medtasks.board import packing
from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.trust.rules_of_trust import ModelOwners, TrustRules
from lmms_medtasks.suites import registry
from tests.board.trust.submissions import signed_again

TASK = "medq_deg_l1"
GOOD = {"q1": "AAA", "q2": "AAB", "q3": "BBA", "q4": "BBB"}


def test_a_contributed_task_has_a_board_of_its_own(tmp_path, runs):
    rows = runs.choice_rows({"q1": "A", "q2": "B"})
    own = {"template": "multiple_choice", "data": "full"}
    for model in ("a", "b"):
        runs.write(tmp_path / model, {"chest_side": rows}, model=model, metadata=own)
    board = collect_entries([tmp_path])
    assert board.suites == ["chest_side"] and all(entry.ranked for entry in board.entries)
    assert {problem.code for problem in board.problems} == {"contributed_task"} and not board.bad
    # Its pack stands beside it; one that names a suite is none.
    packed = packing.make_submission(board.entries[:1], "A <a@b.org>")
    packing.write_submission(packed, tmp_path / "b" / "a.json")
    assert len(collect_entries([tmp_path / "b"]).entries) == 2
    packed["entries"][0]["suite"] = "medq_deg"
    packing.write_submission(signed_again(packed), tmp_path / "b" / "a.json")
    (problem,) = collect_entries([tmp_path / "b"]).refused
    assert problem.code == "bad_pack" and "it has suite; expected nothing but" in problem.reason


@pytest.mark.parametrize("benchmark", ["med_cmr", "Med-CMR", "medcmr", "index"])
def test_a_contributed_benchmark_can_not_be_called_as_one_of_ours(tmp_path, runs, benchmark):
    own = {"template": "multiple_choice", "data": "full", "benchmark": benchmark}
    runs.write(tmp_path, {"chest_side": runs.choice_rows({"q1": "A", "q2": "B"})}, metadata=own)
    (suite,) = collect_entries([tmp_path]).suites
    assert suite.endswith("_contributed")


def test_in_public_a_contributed_task_is_one_whose_folder_the_keepers_give(tmp_path, runs, monkeypatch):
    own = {"template": "multiple_choice", "data": "full"}
    runs.write(tmp_path / "ada", {"chest_side": runs.choice_rows({"q1": "A", "q2": "B"})}, model="a", metadata=own)
    trust = TrustRules(owners=ModelOwners({"a": ("ada",)}))
    board = collect_entries([tmp_path], trust=trust)
    assert not board.entries and [problem.code for problem in board.refused] == ["unknown_task"]
    assert "or give its folder with --include_path" in board.refused[0].reason
    monkeypatch.setattr(registry, "is_here", lambda task: task == "chest_side")
    assert [entry.task for entry in collect_entries([tmp_path], trust=trust).entries] == ["chest_side"]


def test_a_contributed_task_says_in_its_records_which_data_it_read(tmp_path, runs):
    path = runs.write(tmp_path, {"chest_side": runs.choice_rows({"q1": "A"})}, metadata={"template": "multiple_choice"})
    content = json.loads(path.read_text())
    del content["configs"]["chest_side"]["metadata"]["data"]
    path.write_text(json.dumps(content))
    assert collect_entries([tmp_path]).entries[0].data == "full"


def test_a_task_of_the_harness_beside_ours_is_named_and_the_rest_is_built(tmp_path, runs):
    # Many of the harness's own tasks say "metadata: - version: 0.0".
    path = runs.write(tmp_path, {"mmmu_val": runs.choice_rows(GOOD), TASK: runs.choice_rows(GOOD)})
    content = json.loads(path.read_text())
    content["configs"]["mmmu_val"]["metadata"] = [{"version": 0.0}]
    path.write_text(json.dumps(content))
    board = collect_entries([tmp_path])
    assert [entry.task for entry in board.entries] == [TASK]
    assert [problem.code for problem in board.refused] == ["unknown_task"]


@pytest.mark.parametrize("damaged", [{"versions": None}, {"configs": [TASK]}, {"n-samples": {TASK: {"original": "4"}}}])
def test_what_was_damaged_by_hand_is_refused_and_the_rest_read(damaged, tmp_path, runs):
    runs.write(tmp_path / "good", {TASK: runs.choice_rows(GOOD)})
    path = runs.write(tmp_path / "bad", {TASK: runs.choice_rows(GOOD)}, model="other")
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **damaged}), "utf-8")
    board = collect_entries([tmp_path])
    assert len(board.entries) == 1
    (problem,) = board.refused
    assert problem.code == "unreadable" and f"{next(iter(damaged))}" in problem.reason and "expected" in problem.reason


def test_without_any_score_there_is_nothing_to_rank_by(tmp_path, runs):
    rows = runs.choice_rows(dict.fromkeys(GOOD, "!"))
    runs.write(tmp_path, {"chest_side": rows}, metadata={"template": "multiple_choice"})
    board = collect_entries([tmp_path])
    assert ("no_scores", "unranked") in [(problem.code, problem.level) for problem in board.problems]


def test_a_contributed_folder_that_can_not_be_imported_is_a_problem_of_its_entries(tmp_path, runs, monkeypatch):
    monkeypatch.setattr(registry, "_GIVEN", {})
    folder = tmp_path / "broken_spots"
    folder.mkdir()
    (folder / "broken_spots.yaml").write_text("task: broken_spots\n")
    (folder / "measures.py").write_text("\nSUITE = Suite()\n")
    registry.add_suite_folders([folder])
    own = {"template": "multiple_choice", "benchmark": "broken_spots"}
    runs.write(tmp_path / "runs" / "a", {"broken_spots": runs.choice_rows(GOOD)}, metadata=own)
    runs.write(tmp_path / "runs" / "b", {TASK: runs.choice_rows(GOOD)})
    board = collect_entries([tmp_path / "runs"])
    assert [entry.task for entry in board.entries] == [TASK]
    (problem,) = board.refused
    assert (problem.code, problem.task) == ("unreadable", "broken_spots") and "measures.py, line 2" in problem.reason
