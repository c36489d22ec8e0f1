"""medtasks_server in real runs: the same replies in one process and two, the record, and runs that end early."""

import json

import pytest

from tests.stub_server import Answer

TASK = "medq_deg_l1"


def arguments(stub, *more, tasks=TASK, limit=7, settings=""):
    given = f"model=tiny,base_url={stub.url},retries=0{settings}"
    return ("--model", "medtasks_server", "--model_args", given, "--tasks", tasks, "--limit", str(limit), *more)


def trials(done, task=TASK):
    return [row["filtered_resps"] for row in done.samples(task)]


def test_replies_record_and_pictures_are_the_same_in_one_process_in_two_and_without_n(harness, stub):
    tasks = f"{TASK},medq_deg_l0,med_cmr_mcq"
    one = harness(*arguments(stub, tasks=tasks))
    asked, stub.requests = stub.requests, []
    assert len(asked) == 7 * 3 and sum("n" in body for body in asked) == 14
    two = harness(*arguments(stub, tasks=tasks), launcher="torchrun")
    assert sorted(map(str, stub.requests)) == sorted(map(str, asked))  # the padding of the second process is not asked
    stub.requests = []
    apart = harness(*arguments(stub, tasks=tasks, settings=",many=False"))
    assert len(stub.requests) == 7 * (3 + 3 + 1)
    for task in tasks.split(","):
        assert trials(one, task) == trials(two, task) == trials(apart, task)
        assert one.run.tasks[task] == two.run.tasks[task] == apart.run.tasks[task]
    assert one.run.tasks[TASK]["identical_trials,trials"] < 1

    record = one.run.content["configs"][TASK]["metadata"]["server"]
    assert (record["kind"], record["version"], record["seed"]) == ("vllm", "0.0.stub", 0)
    assert record["serves"]["id"] == "tiny" and record["answers_as"] == ["tiny"]
    assert record["trials"] == "one request with n"
    assert record["sent"] == {
        "temperature": 1.0, "top_p": 1.0, "max_tokens": 512, "top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0,
    }  # fmt: skip
    greedy = one.run.content["configs"]["med_cmr_mcq"]["metadata"]["server"]
    assert greedy["trials"] == "asked once, temperature 0" and greedy["sent"]["temperature"] == 0.0
    assert apart.run.content["configs"][TASK]["metadata"]["server"]["trials"] == "one request each"


def test_a_run_whose_server_fails_ends_early_and_says_why(harness, stub):
    stub.rule = lambda body: None if isinstance(body["messages"][0]["content"], str) else Answer(500, "out of memory")
    done = harness(*arguments(stub, limit=100), launcher="run", status=2)
    assert "20 questions in a row got no reply" in done.printed and "out of memory" in done.printed
    assert len(stub.requests) < 100


def test_a_wrong_key_and_an_unknown_model_are_one_message(harness, stub):
    stub.key = "right"
    done = harness(*arguments(stub), OPENAI_API_KEY="wrong", status=2)
    assert "The server refuses the key." in done.printed
    done = harness(*arguments(stub), OPENAI_API_KEY="right")
    done = harness(*arguments(stub, settings=",model=other"), OPENAI_API_KEY="right", status=2)
    assert "does not serve 'other', but: tiny" in done.printed


@pytest.mark.parametrize("runner", ["openai", "async_openai"])
def test_a_wrong_key_ends_a_run_of_the_harness_s_runners_before_a_question_is_asked(harness, stub, runner):
    """They would ask each question of greedy tasks and others five times."""
    stub.key = "right"
    tasks = "med_cmr_mcq"
    more = ("--tasks", tasks, "--limit", "3")
    model = f"base_url={stub.url},api_key=wrong,model=tiny"
    done = harness("--model", runner, "--model_args", model, *more, status=2)
    assert "refuses the key (HTTP 401)" in done.printed
    assert not stub.requests


def test_data_under_terms_is_kept_from_a_host_that_is_not_private(harness, stub, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    done = harness(*arguments(stub, tasks="sure_mimic_age", limit=2))
    stub.requests = []
    # Loopback through a proxy, which would see it, is not this machine.
    done = harness(*arguments(stub, tasks="sure_mimic_age", limit=2), http_proxy=stub.url, no_proxy="", status=2)
    assert "Nothing was sent" in done.printed
    assert not stub.requests


@pytest.mark.parametrize("by", ["run", "lmms-eval"])
def test_a_part_of_failed_requests_is_status_1_with_all_written(harness, stub, by):
    def every(count):
        asked = iter(range(10**6))
        return lambda body: (
            Answer(400, "too long")
            if not isinstance(body["messages"][0]["content"], str) and next(asked) % count == 0
            else None
        )

    launcher = "run" if by == "run" else ("-m", "lmms_eval")
    stub.rule = every(5)
    done = harness(*arguments(stub, tasks="med_cmr_mcq", limit=20), launcher=launcher, status=1)
    assert "4 of 20 requests of med_cmr_mcq failed (20.0%), at most 1.0% may." in done.printed
    numbers = "choice questions " if by == "run" else "|med_cmr_mcq"
    assert numbers in done.printed and "Traceback" not in done.printed
    assert len(done.samples("med_cmr_mcq")) == 20
    allowed = harness(*arguments(stub, tasks="med_cmr_mcq", limit=20), MEDTASKS_ALLOW_FAILURES="1",
                      launcher=launcher)  # fmt: skip
    assert "warning: " in allowed.printed
    stub.rule = every(100)
    few = harness(*arguments(stub, tasks="med_cmr_mcq", limit=30), launcher=launcher)
    told = "warning: 1 of 30 requests of med_cmr_mcq failed (3.3%).", "med_cmr_mcq: 1 of 30 requests failed"
    once, other = reversed(told) if by == "run" else told
    assert few.printed.count(once) == 1 and (by == "lmms-eval" or other not in few.printed)


def test_a_server_that_answers_as_two_models_is_told_at_the_end(harness, stub):
    asked = iter(range(10**6))

    def other(body):
        content = {"role": "assistant", "content": "A"}
        found = {"id": "1", "object": "chat.completion", "created": 1, "model": f"m-{next(asked) % 2}x"}
        body = {**found, "choices": [{"index": 0, "message": content, "finish_reason": "stop"}]}
        return Answer(body=json.dumps(body).encode())

    stub.rule = other
    done = harness(*arguments(stub, tasks="med_cmr_mcq", limit=6))
    assert "med_cmr_mcq was asked for 'tiny', answered as 'm-0x' and 'm-1x' in turn." in done.printed
