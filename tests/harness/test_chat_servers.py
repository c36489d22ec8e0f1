"""One situation, one outcome, whichever runner asks the server; and no body is read without an end."""

import json
import sys
import time
import types

import pytest

from lmms_medtasks.harness import calls, reply_endings
from lmms_medtasks.harness.server_model import ServerModel
from lmms_medtasks.parsing.reply import is_failed_request
from lmms_medtasks.parsing.texts import LONGEST_BODY
from tests.bare_runners import chat_request, request
from tests.stub_server import Answer

ONCE = {"max_retries": 2, "retry_backoff_s": 0}
RUNNERS = ("medtasks_server", "openai", "openai simple", "async_openai")


@pytest.fixture(params=RUNNERS)
def ask(request, stub):
    """Call as ask(answer, count): the replies through a runner to ``count`` requests, which are answered so."""
    return lambda answer, count=1: asked(request.param, stub, answer, count)


def asked(name, stub, answer, count=1):
    from lmms_eval.models.chat.async_openai import AsyncOpenAIChat
    from lmms_eval.models.chat.openai import OpenAICompatible

    sys.modules.setdefault("decord", types.SimpleNamespace(VideoReader=None, cpu=None))
    from lmms_eval.models.simple.openai import OpenAICompatible as Simple

    chosen = {"model": "tiny", "base_url": stub.url, "api_key": "x"}
    if name == "medtasks_server":
        lm = ServerModel(**chosen, retries=1)
    elif name == "async_openai":
        lm = AsyncOpenAIChat(**chosen, num_cpus=2, **ONCE)
    else:
        lm = (OpenAICompatible if name == "openai" else Simple)(**chosen, **ONCE)
    lm.task_dict = {"t": {"test": list(range(99))}}
    made = one if name == "openai simple" else chat_request
    requests = [made(number=number, max_new_tokens=64, temperature=0, do_sample=False) for number in range(count)]
    stub.rule = answer if callable(answer) else lambda body: answer
    stub.requests.clear()
    with calls.one_reply_each(lm), reply_endings.note_reply_endings(lm, {"t"}), calls.one_task_a_call(lm):
        found = lm.generate_until(requests)
    return [getattr(each, "text", each) for each in found]


def one(number, **settings):
    return request(f"question {number}", number, **settings)


@pytest.mark.parametrize(
    ("answer", "text", "ended"),
    [
        (Answer(text="It is B."), "It is B.", "stop"),
        (Answer(text="It is", finish="length"), "It is", "length"),
        (Answer(text="", finish="stop"), "", "stop"),
        (Answer(text=None, finish="stop"), "", "stop"),
        (Answer(text=None, finish="length", more={"reasoning_content": "The answer is A."}), "", "length"),
        (Answer(text="B", more={"reasoning_content": "The answer is A."}), "B", "stop"),
        (Answer(text=[{"type": "thinking", "thinking": "A"}, {"type": "text", "text": "B"}]), "B", "stop"),
    ],
)
def test_a_reply_is_the_same_through_every_runner(ask, answer, text, ended):
    (found,) = ask(answer)
    assert (found, found.ended, found.limit) == (text, ended, 64)


@pytest.mark.parametrize(
    ("answer", "said", "times"),
    [
        (Answer(text="It is B, sinc", finish="error"), "broke off (finish_reason error)", 2),
        (Answer(text="It is B, sinc", finish="abort"), "broke off (finish_reason abort)", 2),
        (Answer(text="It is", finish="content_filter"), "withheld the reply (finish_reason content_filter)", 1),
        (Answer(text=None, finish="tool_use"), "No content, finish_reason tool_use", 1),
        (Answer(body=b'{"error": {"message": "no GPU is left", "code": 503}}'), "no GPU is left", 2),
        (Answer(body=b'{"detail": "all GPUs are busy"}'), "all GPUs are busy", 2),
        (Answer(body=b'{"message": "quota used up", "choices": null}'), "an error with status 200: quota used up", 2),
        (Answer(body=b'{"choices": []}'), "choices", 2),
    ],
)
def test_a_failure_is_one_through_every_runner_says_why_and_is_asked_again(ask, stub, answer, said, times):
    (found,) = ask(answer)
    assert is_failed_request(found) and said in found and found.ended == "error"
    assert len(stub.requests) == times


def test_a_reply_that_broke_off_once_is_one_when_it_is_asked_again(ask):
    answers = iter([Answer(text="It is A, or", finish="abort"), Answer(text="B")])
    (found,) = ask(lambda body: None if isinstance(body["messages"][0]["content"], str) else next(answers))
    assert (found, found.ended) == ("B", "stop")


def test_of_several_replies_in_a_body_only_those_that_broke_off_are_asked_again(stub):
    def half(body):
        if body.get("n") != 3 or isinstance(body["messages"][0]["content"], str):
            return Answer(text="again")
        each = [
            {"index": n, "message": {"content": f"r{n}"}, "finish_reason": ("stop", "abort")[n == 1]} for n in range(3)
        ]
        return Answer(body=json.dumps({"choices": each, "model": "tiny"}).encode())

    lm = ServerModel(model="tiny", base_url=stub.url, retries=0)
    lm.task_dict = {"t": {"test": [0]}}
    stub.rule = half
    drawn = {"temperature": 1.0, "do_sample": True, "max_new_tokens": 8}
    found = lm.generate_until([chat_request(0, **drawn)] * 3)
    assert [each.text for each in found] == ["r0", "again", "r2"]
    assert [body.get("n") for body in stub.requests] == [3, None]


@pytest.mark.parametrize("size", [LONGEST_BODY + 1, 10_000_000])
def test_a_body_without_an_end_is_a_failed_request_that_says_so(ask, stub, size):
    """It is not asked again by our runner, which would get as much again."""
    began = time.monotonic()
    found = ask(Answer(text="A" * size), count=4)
    assert all(is_failed_request(each) and "larger than 4 MB" in each and len(each) < 400 for each in found)
    assert len(stub.requests) <= 4 * 2
    assert time.monotonic() - began < 60  # it took more than 300 s


def test_a_body_of_several_replies_may_have_as_much_for_each(stub):
    lm = ServerModel(model="tiny", base_url=stub.url, retries=0)
    lm.task_dict = {"t": {"test": [0]}}
    stub.rule = lambda body: Answer(text="A" * 3_000_000)
    drawn = {"temperature": 1.0, "do_sample": True, "max_new_tokens": 8}
    found = lm.generate_until([chat_request(0, **drawn)] * 3)
    assert [len(each.text) for each in found] == [3_000_000] * 3
    stub.rule = lambda body: Answer(text="A" * 5_000_000)
    assert all(is_failed_request(each.text) for each in lm.generate_until([chat_request(0, **drawn)] * 3))


def test_a_reply_of_any_runner_that_is_longer_is_none():
    class Long:
        def generate_until(self, requests):
            return ["A" * (LONGEST_BODY + 1), "B"]

    lm = Long()
    with reply_endings.note_reply_endings(lm, {"t"}):
        first, second = lm.generate_until([request("a"), request("b")])
    assert is_failed_request(first) and "4,000,001 characters" in first and second == "B"
