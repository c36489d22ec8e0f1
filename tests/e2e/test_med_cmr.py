"""Med-CMR on the mini data, through the real command line: one run of each kind of question."""

import pytest

from lmms_medtasks.task_configs.med_cmr.judging import WEIGHTS


def test_multiple_choice(harness):
    done = harness("--model", "medtasks_observer", "--tasks", "med_cmr_mcq,med_cmr_mcq_circular,med_cmr_mcq_noimage")
    plain, turned, blind = (
        done.run.tasks[task] for task in ("med_cmr_mcq", "med_cmr_mcq_circular", "med_cmr_mcq_noimage")
    )
    assert plain["accuracy,trials"] > 0.85 and plain["parse_rate,trials"] == 1
    assert plain["visual_mean,trials"] > 0.8 and plain["reasoning_mean,trials"] > 0.8
    assert plain["accuracy_stderr_clustered,trials"] > 0
    # It answers from pixels, so that the order of the options is nothing to it; without pictures it guesses.
    assert turned["circular_accuracy,trials"] > 0.85 and turned["incomplete_questions,trials"] == 0
    assert turned["position_bias,trials"] < 0.05
    assert blind["accuracy,trials"] < 0.5

    records = [row["questions"] for row in done.samples("med_cmr_mcq_circular")]
    counts = [each["tags"]["option_count"] for each in records if each["tags"]["rotation"] == 0]
    assert len(records) == sum(counts) and len({each["pair"] for each in records}) == len(counts) == 70
    assert {"dimension", "modality", "organ_system"} <= set(records[0]["tags"])
    assert "visual_description" not in str(records[0])
    metadata = done.run.content["configs"]["med_cmr_mcq"]["metadata"]
    assert metadata["data"] == "mini"


def test_open_questions_and_the_judge(harness, judge_server):
    done = harness(
        "--model", "medtasks_observer", "--tasks", "med_cmr", "--limit", "21",
        MEDTASKS_JUDGE="openai:stub", OPENAI_API_URL=judge_server.url, OPENAI_API_KEY="sk-test",
    )  # fmt: skip
    found = done.run.tasks["med_cmr_open"]
    rows = [row["questions"]["judgement"] for row in done.samples("med_cmr_open")]
    # The stub's judge is honest: best in everything where the answer holds the reference, else worst.
    right = [row["items"][0]["reference"].lower() in row["items"][0]["answer"].lower() for row in rows]
    assert len(rows) == 21 and sum(right) >= 17
    assert found["total,trials"] == pytest.approx(100 * sum(right) / 21)
    assert found["ground_truth_correctness,trials"] == pytest.approx(5 * sum(right) / 21)
    assert found["coverage,trials"] == 1 == found["both_parts,trials"]
    assert found["bound_worst,trials"] == found["bound_best,trials"] == found["total,trials"]
    assert found["failed_requests,trials"] == 0 == found["empty_replies,trials"]
    assert len(judge_server.requests) == 21
    assert all(set(row["verdicts"][0][0]["labels"]) == set(WEIGHTS) for row in rows)
    assert done.run.tasks["med_cmr_mcq"]["accuracy,trials"] > 0.8
