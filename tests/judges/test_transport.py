"""One request: the reply, or a failure that says whether to try again; and how long is waited between two."""

from __future__ import annotations

import dataclasses
import json
import threading
import time
from datetime import datetime, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.judges import settings as _settings
from lmms_medtasks.judges.settings import default_settings as real_defaults
from lmms_medtasks.judges.transport import (
    ChatTransport,
    RequestFailure,
    RequestPause,
    backoff_seconds,
    parse_retry_after,
)

ASK = [{"role": "user", "content": "How good?"}]


@pytest.fixture
def send(judge_server, settings_for):
    """Call as send(answer): sends one request, which is answered so."""

    def call(answer, schema=None, judge="openai:stub-judge", **values):
        judge_server.rule = lambda request: answer
        transport = ChatTransport(settings_for(judge_server, judge, **values))
        try:
            return transport.send(ASK, schema)
        finally:
            transport.close()

    return call


def test_a_reply(send, stub_judge, judge_server, key):
    reply = send(stub_judge.Answer(text="fine", finish="stop"))
    assert (reply.text, reply.finish, reply.refusal) == ("fine", "stop", "")
    assert (reply.input_tokens, reply.output_tokens) == (2, 10)  # 9 characters, and what the stub says
    (body,) = judge_server.requests
    assert body == {"model": "stub-judge", "messages": ASK, "max_tokens": 1024, "temperature": 0.0}
    assert judge_server.headers[0]["authorization"] == f"Bearer {key}"
    assert judge_server.headers[0]["user-agent"].startswith("lmms-medtasks/")


def test_a_reasoning_model(send, stub_judge, judge_server):
    send(stub_judge.Answer(text="fine"), judge="openai:gpt-5-mini")
    assert judge_server.requests == [{"model": "gpt-5-mini", "messages": ASK, "max_completion_tokens": 1024}]


def test_by_schema(send, stub_judge, judge_server):
    send(stub_judge.Answer(text="fine"), schema={"type": "object"})
    assert judge_server.requests[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "verdict", "strict": True, "schema": {"type": "object"}},
    }


def test_a_local_judge_gets_no_key(send, stub_judge, judge_server):
    send(stub_judge.Answer(text="fine"), judge="local:m")
    assert "authorization" not in judge_server.headers[0]


def test_name_and_password_in_the_url(judge_server, key):
    url = judge_server.url.replace("http://", "http://me:hidden@")
    found = _settings.read_judge_settings({"OPENAI_API_KEY": key, "OPENAI_API_URL": url}, "openai:m")
    ChatTransport(found).send(ASK, None)
    assert judge_server.headers[0]["authorization"] == "Basic bWU6aGlkZGVu"  # base64 of me:hidden


def test_null_content_and_refusals_are_replies(send, stub_judge):
    assert send(stub_judge.KINDS["null"]).text == ""
    assert send(stub_judge.KINDS["refusal_field"]).refusal == "I can't judge this."
    assert send(stub_judge.KINDS["filtered"]).finish == "content_filter"
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "fine"}]
    reply = send(stub_judge.Answer(body=json.dumps({"choices": [{"message": {"content": parts}}]}).encode()))
    assert (reply.text, reply.input_tokens, reply.output_tokens) == ("fine", None, None)


@pytest.mark.parametrize(
    ("answer", "repeat", "fatal", "said"),
    [
        ("429", True, False, "request failed: status 429, .*slow down"),
        ("500", True, False, "request failed: status 500, .*boom"),
        ("hang_up", True, False, "request failed: "),
        ("truncated_body", True, False, "request failed: malformed body"),
        ("malformed_body", True, False, "malformed body, <html>bad gateway</html>"),
        ("no_choices", True, False, "malformed body"),
        ("redirect", False, True, "it answers with a redirect, and none is followed"),
        ("401", False, True, "status 401, .*wrong key"),
        ("404", False, True, "status 404, .*no such model"),
        # No money is not too many requests; after a message that is no text the next one has the same form.
        ({"status": 429, "text": "insufficient_quota: check your plan"}, False, True, "insufficient_quota"),
        ({"body": b'{"choices": [{"message": {"content": [1]}}]}'}, False, False, "the message is no text"),
    ],
)
def test_failures(send, stub_judge, judge_server, answer, repeat, fatal, said):
    with pytest.raises(RequestFailure, match=said) as caught:
        send(stub_judge.KINDS[answer] if isinstance(answer, str) else stub_judge.Answer(**answer))
    assert (caught.value.repeat, caught.value.fatal) == (repeat, fatal)
    assert caught.value.wait == (0.05 if answer == "429" else None)
    assert len(judge_server.requests) == 1


def with_finish(finish, content="it is", **choice):
    return json.dumps({"choices": [{"message": {"content": content}, "finish_reason": finish, **choice}]}).encode()


@pytest.mark.parametrize(
    ("body", "repeat", "said"),
    [
        (with_finish("error", error={"message": "upstream is gone"}), True, "broke off, finish_reason error: upstream"),
        (with_finish("abort"), True, "broke off, finish_reason abort"),
        (b'{"error": {"message": "no GPU is left"}}', True, "an error with status 200, no GPU is left"),
        (b'{"detail": "all GPUs are busy"}', True, "status 200, .*all GPUs are busy"),
        (with_finish("stop", "A" * 10_000_000), False, "larger than 4 MB, so it was cut off"),
    ],
    ids=["error", "abort", "error body", "detail", "huge body"],
)
def test_what_is_no_reply_though_its_status_is_200(send, stub_judge, body, repeat, said):
    with pytest.raises(RequestFailure, match=f"request failed: .*{said}") as caught:
        send(stub_judge.Answer(body=body))
    assert (caught.value.repeat, caught.value.fatal) == (repeat, False)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 529])
def test_statuses_to_repeat(send, stub_judge, status):
    with pytest.raises(RequestFailure) as caught:
        send(stub_judge.Answer(status, "x", after="3600"))
    assert (caught.value.repeat, caught.value.fatal, caught.value.wait) == (True, False, 3600.0)


@pytest.mark.parametrize("status", [400, 413, 422, 500])
def test_statuses_of_one_request(send, stub_judge, status):
    with pytest.raises(RequestFailure) as caught:
        send(stub_judge.Answer(status, "x"))
    assert (caught.value.repeat, caught.value.fatal, caught.value.unsupported) == (status == 500, False, False)
    with pytest.raises(RequestFailure) as caught:
        send(stub_judge.Answer(status, "x"), schema={})
    assert caught.value.unsupported == (status != 413)


def test_timeout(send, stub_judge):
    with pytest.raises(RequestFailure, match="no reply in 0.1 s") as caught:
        send(stub_judge.Answer(text="late", sleep=0.5), timeout=0.1)
    assert caught.value.repeat and caught.value.billed


def test_nobody_listens(settings_for, judge_server):
    found = settings_for(judge_server)
    nowhere = dataclasses.replace(found, address=dataclasses.replace(found.address, url="http://127.0.0.1:9/v1"))
    with pytest.raises(RequestFailure, match="request failed: ") as caught:
        ChatTransport(nowhere).send(ASK, None)
    assert caught.value.repeat and not caught.value.billed


@pytest.mark.parametrize(
    ("usage", "cached"),
    [
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 7}}, 7),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 6}, 6),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, None),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": -1}}, None),
    ],
)
def test_tokens_of_a_prefix_cache(send, stub_judge, usage, cached):
    body = {"choices": [{"message": {"content": "fine"}}], "usage": usage}
    assert send(stub_judge.Answer(body=json.dumps(body).encode())).cached_tokens == cached


def test_what_the_server_says_of_itself(send, stub_judge, judge_server, key):
    assert send(stub_judge.Answer(text="fine")).system_fingerprint == ""
    judge_server.system_fingerprint = f"fp_1\n{key}"
    reply = send(stub_judge.Answer(text="fine"))
    assert (reply.model, reply.system_fingerprint) == ("stub-judge", "fp_1 ***")


def test_the_key_is_in_no_message(judge_server, settings_for, key):
    judge_server.key = "another"  # the stub repeats the key that it got
    with pytest.raises(RequestFailure) as caught:
        ChatTransport(settings_for(judge_server)).send(ASK, None)
    assert "wrong key Bearer ***" in str(caught.value)
    assert key not in str(caught.value)


def test_private_texts_go_through_no_proxy(judge_server, stub_judge, settings_for, monkeypatch):
    proxy = stub_judge.Stub()
    server = stub_judge.start(proxy)
    try:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url.removesuffix("/v1"))
        for name in ("NO_PROXY", "no_proxy"):
            monkeypatch.delenv(name, raising=False)
        judge_server.rule = proxy.rule = lambda request: stub_judge.Answer(text="fine")
        ChatTransport(settings_for(judge_server), private=True).send(ASK, None)
        assert (len(judge_server.requests), len(proxy.requests)) == (1, 0)
    finally:
        server.shutdown()
        server.server_close()


def test_closing_ends_what_is_in_flight(judge_server, settings_for, stub_judge):
    judge_server.rule = lambda request: stub_judge.Answer(text="late", sleep=60)
    transport, ended = ChatTransport(settings_for(judge_server)), []

    def ask():
        try:
            transport.send(ASK, None)
        except RequestFailure as failure:
            ended.append(failure)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    while not judge_server.in_flight:
        time.sleep(0.01)
    transport.close()
    asking.join(20)
    assert len(ended) == 1 and ended[0].repeat


NOW = datetime(2026, 11, 20, 12, 0, 0, tzinfo=timezone.utc)


@pytest.fixture
def real_waits(monkeypatch):
    """The waits of defaults.yml."""
    monkeypatch.setattr("lmms_medtasks.judges.transport.default_settings", real_defaults)


def test_backoff_doubles_up_to_its_longest(real_waits):
    for attempt, longest in enumerate((1, 2, 4, 8, 16, 32, 60, 60)):
        for key in "abc":
            assert longest / 2 <= backoff_seconds(attempt, key) <= longest
    assert backoff_seconds(500, "a") <= 60


def test_jitter_depends_on_the_question_alone(real_waits):
    assert backoff_seconds(2, "a") == backoff_seconds(2, "a")
    assert len({backoff_seconds(2, str(number)) for number in range(50)}) == 50


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after": "7200"}, 7200.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "7"}, 7.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:02:30 GMT"}, 150.0),
        ({"retry-after": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 20 Nov 2026 12:02:30"}, 150.0),
        ({"retry-after": "later"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, seconds):
    assert parse_retry_after(headers, NOW) == seconds


@given(st.text(max_size=30))
def test_any_header(text):
    found = parse_retry_after({"retry-after": text}, NOW)
    assert found is None or found >= 0


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_the_brake_holds_for_the_longest_that_was_asked():
    clock = Clock()
    brake = RequestPause(clock)
    waited = []
    brake._stopped.wait = lambda seconds: (waited.append(round(seconds, 6)), setattr(clock, "now", clock.now + seconds))
    brake.hold_requests(5)
    brake.hold_requests(2)
    assert brake.wait_until_free()
    assert waited == [5]
    assert brake.wait_until_free(1)
    assert waited == [5, 1]


def test_waits_add_up_until_something_came_through():
    clock = Clock()
    brake = RequestPause(clock)
    assert brake.hold_requests(2000, 3600) == 2000
    clock.now += 2000
    assert brake.hold_requests(1500, 3600) == 3500
    clock.now += 1500
    assert brake.hold_requests(200, 3600) == 3700 and brake.seconds_left == 0  # too long in all: nothing is held
    brake.note_reply()
    assert brake.hold_requests(3600, 3600) == 3600 and brake.seconds_left == 3600


def test_a_stop_ends_all_waiting():
    brake = RequestPause()
    brake.hold_requests(3600)
    done = []
    threads = [threading.Thread(target=lambda: done.append(brake.wait_until_free(3600))) for _ in range(4)]
    for thread in threads:
        thread.start()
    brake.stop_waiting()
    for thread in threads:
        thread.join(timeout=10)
    assert done == [False] * 4
    assert brake.is_stopped and not brake.wait_until_free()


def test_requests_in_flight_that_are_told_the_same_wait_ask_for_no_second_one():
    """Twelve requests are answered with an hour each, a moment apart: it is one hour's wait, not more than one."""
    now = [0.0]
    brake = RequestPause(lambda: now[0])
    assert brake.hold_requests(3600.0, 3600.0) <= 3600.0
    for now[0] in (0.25, 0.5):
        assert brake.hold_requests(3600.0, 3600.0) <= 3600.0
    assert brake.seconds_left == 3599.5
    now[0] = 3601.0
    assert brake.hold_requests(3600.0, 3600.0) > 3600.0  # a second one
