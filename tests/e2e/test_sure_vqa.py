"""SURE-VQA through the real command line: a true loss out of distribution, a judge, baselines, nothing that leaks."""

import json

import pytest

from tests.stub_server import Answer

SHIFTS = (
    "sure_slake_modality", "sure_slake_question_type", "sure_ovqa_body_part", "sure_ovqa_question_type",
    "sure_mimic_gender", "sure_mimic_ethnicity", "sure_mimic_age",
)  # fmt: skip


def test_observer_with_a_judge(harness, stub, tmp_path):
    def verdict_on(request):
        asked = json.dumps(request["messages"])
        verdict = {"stars": 2} if "stars" in asked else {"correct": 0}
        return Answer(text=json.dumps({"reasons": "as the rules have it", **verdict}))

    stub.rule = verdict_on
    done = harness(
        "--model", "medtasks_observer", "--tasks", "sure_mimic_age,sure_slake_corrupted_high",
        MEDTASKS_JUDGE="local:tiny", LLM_JUDGE_URL=f"{stub.url}/chat/completions",
    )  # fmt: skip
    age = done.run.tasks["sure_mimic_age"]
    # The young of the mini data are small, which the observer does not know.
    assert age["closed_iid,trials"] > 0.85
    assert age["closed_ood,trials"] < age["closed_iid,trials"] - 0.2
    assert age["closed_rr,trials"] == pytest.approx(age["closed_ood,trials"] / age["closed_iid,trials"])
    assert age["closed_iid_stderr_clustered,trials"] > 0
    # All open answers were judged: 5 stars where they match exactly, 2 otherwise.
    share = age["open_ood_exact_match,trials"]
    assert age["open_judged,trials"] == 1.0
    assert age["open_ood,trials"] == pytest.approx(5 * share + 2 * (1 - share))
    assert age["open_ood_worst,trials"] == age["open_ood_best,trials"] == age["open_ood,trials"]
    assert age["questions,trials"] == 153

    corrupted = done.run.tasks["sure_slake_corrupted_high"]
    assert corrupted["closed_iid,trials"] - corrupted["closed_ood,trials"] > 0.1
    twins = [row["questions"] for row in done.samples("sure_slake_corrupted_high")]
    assert {row["tags"]["set"] for row in twins} == {"iid", "ood"}
    assert len({row["pair"] for row in twins}) == len(twins) / 2

    # The judge asked about nothing that a rule settles, and saw no mini MIMIC text leave for the log.
    log = done.run.samples_file("sure_mimic_age").read_text("utf-8")
    for text in ("chest X-ray", "lung", "WHITE", "enlarged", "gender"):
        assert text not in log.replace("sure_mimic_age", "")
    row = done.samples("sure_mimic_age")[0]
    assert row["target"] == row["input"] == "withheld: the terms of its data"
    assert row["filtered_resps"] == []
    metadata = done.run.content["configs"]["sure_mimic_age"]["metadata"]
    protocols = [each["protocol"] for each in metadata["judge"]["protocols"]]
    assert protocols == ["sure_mimic_open", "sure_mimic_closed", "sure_mimic_multilabel"]
    assert metadata["agreement"].startswith("PhysioNet")
    assert "agreement" not in done.run.content["configs"]["sure_slake_corrupted_high"]["metadata"]


def test_most_frequent_on_the_seven_shifts(harness):
    done = harness("--model", "medtasks_most_frequent", "--tasks", "sure_vqa,sure_slake_modality_noimage")
    for task in SHIFTS:
        found = done.run.tasks[task]
        assert found["closed_iid,trials"] is not None, task
        assert found["closed_iid_worst,trials"] <= found["closed_iid_best,trials"]
        assert found["open_iid_exact_match,trials"] is not None
        assert found["failed_requests,trials"] == 0
    # The training set of a shift has none of its OoD questions: no match, no answer, nothing right.
    assert done.run.tasks["sure_slake_modality"]["closed_ood,trials"] == 0.0
    assert "112 of 211 requests of sure_slake_modality ask what a training question of medtasks:" in done.printed
    empty = [row["questions"] for row in done.samples("sure_slake_modality") if row["questions"]["trials"] == ["empty"]]
    assert len(empty) == 211 - 112
    assert {row["tags"]["set"] for row in empty} == {"ood"}
    # It never looks: without the image it says the same.
    tasks = ("sure_slake_modality", "sure_slake_modality_noimage")
    with_image, without = ([row["filtered_resps"] for row in done.samples(task)] for task in tasks)
    assert with_image == without
    assert done.run.tasks["sure_slake_question_type"]["shared_images,trials"] == 21
