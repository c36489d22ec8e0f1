"""The main job as the README has it, through the real command line."""

import math
import re
from pathlib import Path

import pytest

from lmms_medtasks import __version__, digests

ROOT = Path(__file__).parents[2]

LEVELS = ("medq_deg_l0", "medq_deg_l1", "medq_deg_l2")


def accuracy(finished, task):
    return finished.run.tasks[task]["accuracy,trials"]


def test_random_is_at_chance(harness):
    done = harness("--model", "medtasks_random", "--tasks", "medq_deg_l0")
    rows = done.samples("medq_deg_l0")
    # A trial is right with probability 1 / K: mean and standard error over independent questions and trials.
    chances = [1 / row["questions"]["tags"]["option_count"] for row in rows]
    expected = sum(chances) / len(rows)
    error = math.sqrt(sum(chance * (1 - chance) / 3 for chance in chances)) / len(rows)
    assert abs(accuracy(done, "medq_deg_l0") - expected) < 4 * error
    assert done.run.tasks["medq_deg_l0"]["parse_rate,trials"] == 1.0
    assert done.run.tasks["medq_deg_l0"]["failed_requests,trials"] == 0
    # Three draws of one of K agree with probability 1 / K**2.
    identical = sum(1 / row["questions"]["tags"]["option_count"] ** 2 for row in rows) / len(rows)
    assert abs(done.run.tasks["medq_deg_l0"]["identical_trials,trials"] - identical) < 0.1


def test_observer_loses_accuracy_with_severity(harness):
    done = harness("--model", "medtasks_observer", "--tasks", "medq_deg_levels")
    values = [accuracy(done, task) for task in LEVELS]
    assert values[0] > 0.8
    assert values[0] - values[1] > 0.02
    assert values[1] - values[2] > 0.02
    assert values[2] > 0.3

    content = done.run.content
    for task in LEVELS:
        metadata = content["configs"][task]["metadata"]
        assert metadata["data"] == "mini"
        assert metadata["digests"]["package"] == digests.package_digest() and metadata["package_version"] == __version__
        assert "image_encoding" not in metadata
        assert content["versions"][task] == (1.2 if task == "medq_deg_l0" else 1.3)
    assert content["results"]["medq_deg_l1"]["accuracy_stderr_clustered,trials"] > 0
    # The table that a user sees says which data it is.
    assert set(re.findall(r"(medq_deg_l\d) \(mini data\)", done.printed)) == set(LEVELS)

    # The README says these numbers. Other versions of NumPy or SciPy may turn single replies.
    readme = " ".join((ROOT / "README.md").read_text("utf-8").split())
    said = re.search(r"right on (\d+) % of the clean images, (\d+) % of the mildly degraded ones and (\d+) %", readme)
    assert [100 * value for value in values] == pytest.approx([int(each) for each in said.groups()], abs=0.65)

    record = done.samples("medq_deg_l2")[0]["questions"]
    assert {"modality", "degradation", "severity", "capability"} <= set(record["tags"])
    assert record["expected"] and record["pair"] and record["cluster"] and record["details"]["degradation_parameters"]
    assert len(record["trials"]) == 3


def test_most_frequent_answers_without_looking(harness):
    done = harness("--model", "medtasks_most_frequent", "--tasks", "medq_deg_l0")
    # No question is answerable from its text: knowing the training answers is worth next to nothing.
    assert accuracy(done, "medq_deg_l0") < 0.45
    assert done.run.tasks["medq_deg_l0"]["identical_trials,trials"] == 1.0
    assert "All trials gave the same reply" in done.printed


def test_most_frequent_names_all_tasks_whose_benchmarks_train_on_nothing(harness):
    untaught = ["bones_joints_t1_knowledge", "med_cmr_mcq", "medobvious_t1"]
    done = harness(
        "--model", "medtasks_most_frequent", "--tasks", ",".join([*untaught, "medq_deg_l0"]), "--limit", "2", status=2
    )
    assert "Building contexts for" not in done.printed
    (said,) = [line for line in done.printed.splitlines() if "training split" in line]
    before, after = said.split("It can be asked: ")
    assert all(task in before for task in untaught) and after.startswith("medq_deg_l0.")


def test_two_processes_give_the_same_as_one(harness):
    """On all tasks that a wildcard names, and on those whose metrics need all levels."""
    tasks = "medq_deg_l*,medq_deg,medq_deg_calib"
    arguments = ("--model", "medtasks_observer", "--tasks", tasks, "--limit", "15")
    one, two = harness(*arguments), harness(*arguments, launcher="torchrun")
    assert {*LEVELS, "medq_deg", "medq_deg_calib"} <= set(one.run.tasks)
    for task in ("medq_deg", "medq_deg_calib"):
        # To the last bit, but for the harness's own standard errors, which depend on the order of the samples.
        results = [
            {key: value for key, value in done.run.tasks[task].items() if "_stderr" not in key} for done in (one, two)
        ]
        assert results[0] == results[1]
        assert one.run.tasks[task]["accuracy_l2,trials"] is not None
    assert one.run.tasks["medq_deg_calib"]["shift_l2,trials"] is not None
    assert all(len(row["filtered_resps"]) == 10 for row in one.samples("medq_deg_calib"))
    for task in LEVELS:
        records = [[row["questions"] for row in done.samples(task)] for done in (one, two)]
        assert len(records[0]) == 15
        assert records[0] == records[1]
        assert accuracy(one, task) == pytest.approx(accuracy(two, task))
        metadata = [done.run.content["configs"][task]["metadata"] for done in (one, two)]
        assert metadata[0] == metadata[1]
