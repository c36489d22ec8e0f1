"""What `lmms-medtasks run --estimate` reads of a real run of the harness."""

from __future__ import annotations

from lmms_medtasks.cli import estimate as estimating


def test_the_full_run_from_three_questions(harness, tmp_path):
    times = tmp_path / "times.json"
    arguments = ("--model", "medtasks_random", "--tasks", "medq_deg_l1,medobvious_neutral", "--limit", "3")
    done = harness(*arguments, MEDTASKS_CALL_TIMES=str(times))
    read = estimating.read_times(times)
    found = {each.task: each for each in estimating.estimate_tasks([done.run], read)}
    assert set(found) == set(read) == {"medq_deg_l1", "medobvious_neutral"}
    for task, each in found.items():
        assert each.questions == done.run.content["n-samples"][task]["original"] > 3
        assert read[task]["requests"] == 3 * each.trials
        assert each.pictures == each.requests  # a picture a question
        assert each.seconds > 0 and each.tokens_in is None
