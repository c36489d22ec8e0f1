"""MedObvious through the real command line, on the mini data."""

import math

import pytest

from lmms_medtasks.statistics import triage

TASKS = ("medobvious", "medobvious_noimage", "medobvious_neutral", "medobvious_detection_open", "medobvious_t3")


def test_random_gets_chance_in_every_task(harness):
    done = harness("--model", "medtasks_random", "--tasks", ",".join(TASKS))
    assert set(TASKS) <= set(done.run.tasks), done.printed[-2000:]
    for task in TASKS:
        found = done.run.tasks[task].items()
        metrics = {key.partition(",")[0]: value for key, value in found if key.endswith(",trials")}
        records = [row["accuracy"] for row in done.samples(task)]
        expected = triage.expected_accuracy(records)
        for name, sign in (("positive", 0), ("negative", 1)):
            part = [triage.chance(record) for record in records if record["negative"] == sign]
            error = math.sqrt(sum(p * (1 - p) for p in part)) / len(part)
            assert abs(metrics[f"accuracy_{name}"] - getattr(expected, name)) < 4 * error
        assert (metrics["parse_rate"], metrics["failed_requests"]) == (1, 0)
        # The table's numbers are those of the records in the log.
        assert metrics["accuracy"] == pytest.approx(triage.accuracy(records))
        if task != "medobvious_detection_open":
            assert metrics["paper_average"] == pytest.approx(triage.paper_average(records))
            assert metrics["consistency"] == triage.consistency(records)
            assert metrics["format_gap_referring"] == pytest.approx(triage.format_gap(records, "referring"))

    result = done.run.tasks["medobvious"]
    by_tier = [result[f"accuracy_t{tier},trials"] for tier in (1, 2, 3, 4, 5)]
    assert all(value is not None for value in by_tier)
    assert result["accuracy_stderr_clustered,trials"] > 0
    assert done.run.content["configs"]["medobvious"]["metadata"]["fingerprint_recorded"] is True
    # Every question was asked once, with the same words with and without its picture.
    asked = {task: [row["input"] for row in done.samples(task)] for task in TASKS}
    assert asked["medobvious"] == asked["medobvious_noimage"] != asked["medobvious_neutral"]
    assert "medobvious (mini data)" in done.printed
