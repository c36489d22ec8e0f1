"""Runners that take a batch's task and pictures from its first request: every question is shown its own picture."""

import hashlib
import json
from collections import Counter

import datasets
import pytest
from PIL import Image

from lmms_medtasks import data as sources
from lmms_medtasks import degradations, pictures
from lmms_medtasks.task_configs.medq_deg import hooks
from tests.foreign_tasks import COMMON, EXACT

LEVELS = {"medq_deg_l0": hooks.level_0, "medq_deg_l1": hooks.level_1, "medq_deg_l2": hooks.level_2}
TRIALS = 3


def digest(picture):
    """What the runner replies to a question with this picture."""
    return hashlib.sha256(picture.tobytes()).hexdigest()[:16]


def shown(document):
    """What the document's picture is once degraded, as a reply of the runner."""
    image = document["image"]
    if document["severity"]:
        seed = f"{document['question_id']}/0/0"
        given = {"severity": document["severity"], "seed": seed, "modality": document["modality"]}
        image = degradations.apply(image, document["degradation"], **given)
    return digest(pictures.to_rgb8(pictures.open_image(image)))


def documents(task, count, monkeypatch):
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    path = str(sources.locate_split("medq_deg", "clean").path)
    found = LEVELS[task](datasets.load_dataset("parquet", data_files=path, split="train"))
    return found.select(range(count))


def wrong_pictures(done, count, monkeypatch):
    """Of each task's requests, how many were answered from another picture than their own."""
    wrong = Counter()
    for task in LEVELS:
        rows = done.samples(task)
        own = documents(task, count, monkeypatch)
        assert [row["questions"]["id"] for row in rows] == own["id"]
        for row, document in zip(rows, own, strict=True):
            assert len(row["filtered_resps"]) == TRIALS
            wrong[task] += sum(reply != shown(document) for reply in row["filtered_resps"])
    return wrong


@pytest.fixture
def foreign_task(tmp_path):
    """A folder with somebody else's task: one question on one picture, greedy, and no hook of ours."""
    folder = tmp_path / "foreign"
    folder.mkdir()
    Image.new("RGB", (8, 8), (200, 10, 10)).save(folder / "red.png")
    (folder / "rows.json").write_text(json.dumps({"question": "Which colour?", "answer": "red"}) + "\n", "utf-8")
    (folder / "utils.py").write_text(
        "from pathlib import Path\nfrom PIL import Image\n"
        "def doc_to_visual(doc):\n    return [Image.open(Path(__file__).with_name('red.png'))]\n",
        "utf-8",
    )
    visual = "doc_to_visual: !function utils.doc_to_visual\n"
    (folder / "foreign_colour.yaml").write_text(f"task: foreign_colour{COMMON}{EXACT}{visual}", "utf-8")
    return folder


def calls(folder, rank=0):
    return [json.loads(line) for line in (folder / f"{rank}.jsonl").read_text("utf-8").splitlines()]


def test_every_request_of_a_batch_is_shown_its_own_picture(harness, batch_runner, foreign_task, tmp_path, monkeypatch):
    (tmp_path / "calls").mkdir()
    done = harness(
        "--model", "batch_runner", "--model_args", f"calls={tmp_path / 'calls'}", "--batch_size", "4",
        "--tasks", "medq_deg_levels,foreign_colour", "--include_path", str(foreign_task), "--limit", "8",
        PYTHONPATH=batch_runner,
    )  # fmt: skip
    assert wrong_pictures(done, 8, monkeypatch) == Counter(dict.fromkeys(LEVELS, 0))
    assert sorted((call["tasks"], call["requests"]) for call in calls(tmp_path / "calls")) == [
        (["foreign_colour"], 1), *(([task], 8 * TRIALS) for task in LEVELS)
    ]  # fmt: skip
    [row] = done.samples("foreign_colour")
    assert row["filtered_resps"] == digest(Image.open(foreign_task / "red.png"))


def test_two_processes_that_meet_in_every_batch_end_and_lose_nothing(
    harness, batch_runner, foreign_task, tmp_path, monkeypatch
):
    """Each process has as many batches of each task as the other, also with an odd number of questions, or only one."""
    (tmp_path / "calls").mkdir()
    done = harness(
        "--model", "batch_runner", "--model_args", f"calls={tmp_path / 'calls'},sharded=True", "--batch_size", "4",
        "--tasks", "medq_deg_levels,foreign_colour", "--include_path", str(foreign_task), "--limit", "9",
        launcher="torchrun", PYTHONPATH=batch_runner,
    )  # fmt: skip
    assert wrong_pictures(done, 9, monkeypatch) == Counter(dict.fromkeys(LEVELS, 0))
    assert len(done.samples("foreign_colour")) == 1
    assert calls(tmp_path / "calls", 0) == calls(tmp_path / "calls", 1)
    assert sorted((call["tasks"], call["requests"], call["batches"]) for call in calls(tmp_path / "calls")) == [
        (["foreign_colour"], 1, 1), *(([task], 5 * TRIALS, 4) for task in LEVELS)
    ]  # fmt: skip


@pytest.mark.parametrize(("processes", "more", "returned"), [(2, -1, 2), (1, 1, 7)], ids=["too few", "too many"])
def test_replies_that_are_not_as_many_as_the_requests_end_the_run(harness, batch_runner, processes, more, returned):
    """Of two processes only the second one has a reply too few: it says so itself."""
    done = harness(
        "--model", "batch_runner", "--model_args", f"more={more},by={processes - 1}", "--tasks", "medq_deg_l1",
        "--limit", "2", "--processes", str(processes), launcher="run", PYTHONPATH=batch_runner,
        # The launcher of several processes says 1, whatever they say.
        status=2 if processes == 1 else 1,
    )  # fmt: skip
    asked = TRIALS * 2 // processes
    assert f"BatchRunner returned {returned} replies to {asked} requests of medq_deg_l1." in done.printed
    assert not list(done.folder.rglob("*_results.json"))
