"""Bones and Joints on the mini data, through the real command line: eight tasks, a scripted judge, swapped images."""

import re

import pytest

TWINS = "bones_joints_t3_image,bones_joints_t3_image_noimage,bones_joints_t3_image_swapped"


def verdict(prompt, labels):
    """A judge by words: Correct where the reference is in the answer, Named where the answer objects as it should."""
    fields = dict(re.findall(r"<<<(\w+) [0-9a-f]{24}>>>\n(.*?)\n<<<END", prompt, re.DOTALL))
    answer = fields["ANSWER"].lower()
    if "TEXT_SITE" in fields:
        objects = fields["TEXT_SITE"] in answer and fields["IMAGE_SITE"] in answer and "belong" in answer
        return {"verdict": "Named" if objects else "Missed"}
    if '"steps_found": [<' in prompt:
        points = [line.partition(". ")[2].lower() for line in fields["REFERENCE"].splitlines()]
        found = [number for number, point in enumerate(points, start=1) if point in answer]
        return {"verdict": "Unclear" if found else "Incorrect", "steps_found": found}
    return {"verdict": "Correct" if fields["REFERENCE"].lower() in answer else "Incorrect"}


def shortcut(done, other):
    """The share of Task III's answers that stayed the same."""
    one, two = (
        {row["questions"]["id"]: row["questions"]["trials"][0] for row in done.samples(task)}
        for task in ("bones_joints_t3_image", other)
    )
    both = [name for name in one if len(one[name]) == len(two.get(name, "")) == 1]
    return sum(one[name] == two[name] for name in both) / len(both)


def test_the_eight_tasks_with_an_observer(harness, judge_server):
    judge_server.verdict = verdict
    done = harness(
        "--model", "medtasks_observer", "--tasks", f"bones_joints,{TWINS},bones_joints_t4_diagnosis_report",
        MEDTASKS_JUDGE="openai:stub", OPENAI_API_URL=judge_server.url, OPENAI_API_KEY="sk-test",
    )  # fmt: skip
    found = {name.removeprefix("bones_joints_"): values for name, values in done.run.tasks.items()}
    assert found["t1_knowledge"]["parse_rate,trials"] == 1 == found["t2_note"]["parse_rate,trials"]
    image = found["t3_image"]
    assert image["accuracy,trials"] >= 0.9 and image["accuracy_low,trials"] > 0.6
    assert found["t4_diagnosis"]["accuracy,trials"] >= 0.9
    chain = found["t5_diagnostic_reasoning"]
    # It tells the one step of four that can be seen: unclear to the scripted judge, and no accuracy.
    assert chain["steps_found,trials"] == pytest.approx(0.25 * chain["unclear_rate,trials"])
    assert chain["accuracy,trials"] == 0 and chain["unclear_rate,trials"] >= 0.9
    assert found["t6_treatment"]["accuracy,trials"] >= 0.9 and found["t7_treatment_reasoning"]["coverage,trials"] == 1
    pairs = found["t8_inconsistency"]
    assert pairs["accuracy,trials"] >= 0.9 and pairs["missed,trials"] <= 0.1 and pairs["complete,trials"] == 1
    # Without images it has nothing to say of an open question: settled, not asked.
    report = found["t4_diagnosis_report"]
    assert report["accuracy,trials"] == 0 and report["coverage,trials"] == 1
    assert len(judge_server.requests) == 5 * 25  # one judgement each at temperature 0
    for row in done.samples("bones_joints_t8_inconsistency"):
        tags = row["questions"]["tags"]
        assert tags["site"] != tags["image_site"] and tags["case_id"] != tags["image_case"]
        assert tags["site"] in row["input"] and tags["image_site"] not in row["input"]
    # It looks: other pixels, another answer.
    assert shortcut(done, "bones_joints_t3_image_noimage") < 0.6
    assert shortcut(done, "bones_joints_t3_image_swapped") < 0.2
    metadata = done.run.content["configs"]["bones_joints_t5_diagnostic_reasoning"]["metadata"]
    assert metadata["data"] == "mini"


def test_a_model_that_ignores_images(harness):
    # Answers to MedQ-Deg's questions: what they are does not matter, that no image is looked at does.
    learned = ("--model", "medtasks_most_frequent", "--model_args", "train=medtasks://medq_deg/train")
    done = harness(*learned, "--tasks", f"bones_joints_structured,{TWINS}")
    assert shortcut(done, "bones_joints_t3_image_noimage") == shortcut(done, "bones_joints_t3_image_swapped") == 1.0
    tasks = ("t1_knowledge", "t2_note", "t3_image")
    mean = sum(done.run.tasks[f"bones_joints_{task}"]["accuracy,trials"] for task in tasks) / 3
    assert done.run.tasks["bones_joints_structured"]["accuracy,trials"] == pytest.approx(mean)
