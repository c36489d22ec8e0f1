"""MedObvious through the real command line, on the mini data."""

import math

import pytest

FORMATS = ("detection_mcq", "detection_open", "referring_mcq", "referring_open", "visual_referring")
TASKS = ("medobvious", "medobvious_noimage", "medobvious_neutral", "medobvious_detection_open", "medobvious_t3")


def guess(tags):
    side = int(tags["grid"][0])
    return 1 / 2 if tags["task_type"] == "visual_referring" else 1 / (side * side + 1)


def mean(numbers):
    numbers = list(numbers)
    return math.fsum(numbers) / len(numbers)


def naive(records):
    """The metrics by their definitions, from the records alone: no estimate is asked."""
    score = {record["id"]: record["measures"]["accuracy"]["score"] for record in records}
    columns = [[r for r in records if r["tags"]["task_type"] == name] for name in FORMATS]
    columns += [[r for r in records if r["tags"]["negative"] == sign] for sign in (0, 1)]
    sides = {(r["cluster"], r["tags"]["negative"], r["tags"]["task_type"]): r for r in records}
    gaps = [
        score[record["id"]] - score[sides[item, sign, "referring_open"]["id"]]
        for (item, sign, name), record in sides.items()
        if name == "referring_mcq" and (item, sign, "referring_open") in sides
    ]
    return {
        "accuracy": mean(score.values()),
        "paper_average": mean(mean(score[r["id"]] for r in column) for column in columns),
        "format_gap_referring": mean(gaps),
    }


def test_random_gets_chance_in_every_task(harness):
    done = harness("--model", "medtasks_random", "--tasks", ",".join(TASKS))
    assert set(TASKS) <= set(done.run.tasks), done.printed[-2000:]
    for task in TASKS:
        found = done.run.tasks[task].items()
        metrics = {key.partition(",")[0]: value for key, value in found if key.endswith(",trials")}
        records = [row["questions"] for row in done.samples(task)]
        for name, sign in (("positive", 0), ("negative", 1)):
            part = [guess(record["tags"]) for record in records if record["tags"]["negative"] == sign]
            error = math.sqrt(sum(p * (1 - p) for p in part)) / len(part)
            assert abs(metrics[f"accuracy_{name}"] - mean(part)) < 4 * error
        assert (metrics["parse_rate"], metrics["failed_requests"], metrics["questions"]) == (1, 0, len(records))
        # The table's numbers are those of the records in the log.
        if task != "medobvious_detection_open":
            expected = naive(records)
            assert {name: metrics[name] for name in expected} == pytest.approx(expected)

    result = done.run.tasks["medobvious"]
    by_tier = [result[f"accuracy_t{tier},trials"] for tier in (1, 2, 3, 4, 5)]
    assert all(value is not None for value in by_tier)
    assert result["accuracy_stderr_clustered,trials"] > 0
    # Every question was asked once, with the same words with and without its picture.
    asked = {task: [row["input"] for row in done.samples(task)] for task in TASKS}
    assert asked["medobvious"] == asked["medobvious_noimage"] != asked["medobvious_neutral"]
    assert "medobvious (mini data)" in done.printed
