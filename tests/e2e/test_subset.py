"""A run of a subset, through the real harness: which questions are asked, what the result says, what is refused."""

from __future__ import annotations

import pytest

from lmms_medtasks.data import subsets

RANDOM = ("--model", "medtasks_random")
TWO = ("--processes", "2", "--subset", "12", "--subset-seed", "3")


def units(done, task):
    return {row["questions"]["cluster"] for row in done.samples(task)}


def test_the_same_images_at_every_level_and_in_any_number_of_processes(harness):
    tasks = ("--tasks", "medq_deg_l0,medq_deg_l2")
    done = harness(*RANDOM, *tasks, **{subsets.VARIABLE: "12/3"})
    assert len(units(done, "medq_deg_l0")) == 12
    assert units(done, "medq_deg_l0") == units(done, "medq_deg_l2")
    # All questions of an image are asked, each with three degradations.
    clean, severe = done.samples("medq_deg_l0"), done.samples("medq_deg_l2")
    assert len(severe) == 3 * len(clean)
    metadata = done.run.content["configs"]["medq_deg_l2"]["metadata"]
    assert metadata["subset"] == {"size": 12, "seed": 3, "unit": "image", "units": 140, "questions": 1218}
    assert metadata["data"] == "12 images of mini"
    assert done.run.tasks["medq_deg_l2"]["alias"].strip(" -") == "medq_deg_l2 (12 images of mini data)"
    assert done.run.content["n-samples"]["medq_deg_l0"] == {"original": len(clean), "effective": len(clean)}
    # The one run of two processes in which everything begins anew, as it does for a user.
    other = harness(*TWO, *RANDOM, *tasks, launcher="run", anew=True)
    assert [row["questions"]["id"] for row in other.samples("medq_deg_l2")] == [
        row["questions"]["id"] for row in severe
    ]


def test_items_of_medobvious_and_images_of_tasks_that_make_their_own(harness):
    done = harness(*RANDOM, "--tasks", "medobvious,medq_deg_release,sure_slake_modality", **{subsets.VARIABLE: "8"})
    for task in ("medobvious", "medq_deg_release", "sure_slake_modality"):
        assert len(units(done, task)) == 8
    assert done.run.content["configs"]["medobvious"]["metadata"]["data"] == "8 items of mini"


@pytest.mark.parametrize(
    ("tasks", "more", "size", "message"),
    [
        ("medobvious", (), "17", "the largest task has 17 items"),
        ("medobvious", ("--limit", "3"), "5", "give one of both"),
        ("medobvious", (), "five", "expected SIZE or SIZE/SEED"),
    ],
    ids=["larger than the data", "limit", "no number"],
)
def test_refused(harness, tasks, more, size, message):
    done = harness(*RANDOM, "--tasks", tasks, *more, **{subsets.VARIABLE: size}, status=2)
    assert message in " ".join(done.printed.split())


def test_a_small_task_beside_a_large_one_is_asked_whole(harness):
    done = harness(*RANDOM, "--tasks", "medobvious,medq_deg_l0", **{subsets.VARIABLE: "20"})
    assert done.run.content["configs"]["medobvious"]["metadata"]["data"] == "mini"
    assert len(units(done, "medobvious")) == 17
    assert len(units(done, "medq_deg_l0")) == 20
