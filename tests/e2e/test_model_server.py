"""An OpenAI-compatible server as the model: what it gets, and what becomes of its failures."""

import base64
import io

import lmms_eval.models  # noqa: F401 (brings our tasks into the task manager)
import numpy as np
from lmms_eval.tasks import TaskManager
from PIL import Image

from lmms_medtasks.harness import hooks
from tests.stub_server import Answer

TASK = "medq_deg_l1"


def arguments(server, *more, retries=1):
    settings = f"model=tiny,base_url={server.url},api_key=none,max_retries={retries},retry_backoff_s=0,num_concurrent=4"
    return ("--model", "openai", "--model_args", settings, "--tasks", TASK, "--limit", "6", *more)


def pictures_of(request):
    parts = request["messages"][-1]["content"]
    for part in parts:
        if part["type"] == "image_url":
            kind, data = part["image_url"]["url"].split(",", 1)
            assert kind == "data:image/png;base64"
            yield Image.open(io.BytesIO(base64.b64decode(data)))


def test_replies_reach_the_metric_and_pictures_the_server(harness, stub, monkeypatch):
    stub.rule = lambda body: Answer(text="The answer is B.")
    done = harness(*arguments(stub))
    result, rows = done.run.tasks[TASK], done.samples(TASK)
    assert len(stub.requests) == 6 * 3
    assert result["accuracy,trials"] == sum(row["questions"]["expected"] == "B" for row in rows) / 6
    assert result["identical_trials,trials"] == 1.0
    assert result["failed_requests,trials"] == 0
    assert [row["questions"]["trials"] for row in rows] == [["B"] * 3] * 6

    request = stub.requests[0]
    assert request["temperature"] == 1.0
    text = next(part["text"] for part in request["messages"][-1]["content"] if part["type"] == "text")
    assert text.startswith("You are a medical AI assistant.")

    # The pixels are those of the hook, lossless and 8-bit RGB, and the same in this process as in the harness's.
    shown = [picture for request in stub.requests for picture in pictures_of(request)]
    assert {picture.mode for picture in shown} == {"RGB"}
    monkeypatch.setenv("MEDTASKS_DATA", "mini")
    task = TaskManager(include_defaults=False).load_task_or_group(TASK, "chat")[TASK]
    expected = {np.asarray(hooks.doc_to_visual(task.test_docs()[number])[0]).tobytes() for number in range(6)}
    assert {np.asarray(picture).tobytes() for picture in shown} == expected


def test_failed_requests_are_counted_apart(harness, stub):
    """Every request for one question fails, whatever is retried."""
    stub.rule = lambda body: Answer(500, "boom") if body["messages"] == stub.requests[0]["messages"] else Answer()
    done = harness(*arguments(stub), status=1)
    result, rows = done.run.tasks[TASK], done.samples(TASK)
    assert result["failed_requests,trials"] == 3
    assert [row["questions"]["trials"] for row in rows].count(["failed"] * 3) == 1
    scored = [row["accuracy"]["score"] for row in rows if "score" in row["accuracy"]]
    assert len(scored) == 5
    assert result["accuracy,trials"] == sum(scored) / 5
    assert result["parse_rate,trials"] == 1.0
    assert "3 of 18 requests failed" in done.printed


def test_a_run_whose_requests_all_failed_is_a_failed_run(harness, stub):
    stub.rule = lambda body: Answer(500, "A")
    done = harness(*arguments(stub), launcher="run", status=1)
    assert done.run.tasks[TASK]["accuracy,trials"] is None
    assert done.run.tasks[TASK]["failed_requests,trials"] == 18
    assert "no question got a reply that counts" in done.printed
