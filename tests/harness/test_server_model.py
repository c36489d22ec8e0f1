"""The runner for servers: which requests it sends for which trials, and what becomes of what comes back."""

import base64
import dataclasses
import io
import itertools
import json
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import model_terms, runners, server_asking
from lmms_medtasks.harness.calls import TRIAL
from lmms_medtasks.harness.server_model import ServerModel
from lmms_medtasks.parsing import is_failed_request
from tests.stub_server import Answer

SAMPLED = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True, "max_new_tokens": 8, "until": []}
GREEDY = {"temperature": 0, "do_sample": False, "max_new_tokens": 8, "until": ["\n\n"]}
TASK = "a_task"


def picture(number):
    return Image.fromarray(np.random.default_rng(number).integers(0, 256, (9, 7, 3), dtype=np.uint8))


def user(*parts):
    return [{"role": "user", "content": list(parts)}]


def messages(number):
    return user({"type": "image", "url": picture(number)}, {"type": "text", "text": "Which?"})


def model(stub, **arguments):
    made = ServerModel(**{"model": "tiny", "base_url": stub.url, "retries": 0, **arguments})
    made.task_dict = {TASK: {"test": list(range(1000))}}
    return made


def request(number, settings=SAMPLED, **metadata):
    arguments = (f"Which {number}?", messages, settings, number, TASK, "test")
    return SimpleNamespace(args=arguments, metadata=metadata)


def asked(count, trials, settings=SAMPLED):
    """As the harness repeats them: the same object for the trials of a question."""
    return [each for number in range(count) for each in [request(number, settings)] * trials]


def texts(lm, requests):
    return [getattr(each, "text", each) for each in lm.generate_until(requests)]


def by_question(found, trials):
    return [found[at : at + trials] for at in range(0, len(found), trials)]


def shown(body):
    """The picture in a request."""
    [part] = [part for part in body["messages"][0]["content"] if part["type"] == "image_url"]
    kind, data = part["image_url"]["url"].split(",", 1)
    assert kind == "data:image/png;base64"
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))))


def test_a_question_s_trials_are_one_request_and_get_the_replies_of_requests_of_their_own(stub):
    together = texts(model(stub), asked(12, 3))
    assert [body["n"] for body in stub.requests] == [3] * 12
    stub.requests.clear()
    apart = texts(model(stub, many=False), asked(12, 3))
    assert len(stub.requests) == 36 and not any("n" in body for body in stub.requests)
    assert together == apart
    assert len({tuple(each) for each in by_question(together, 3)}) > 3
    assert any(len(set(each)) > 1 for each in by_question(together, 3))  # trials of one question differ


def test_the_pixels_that_are_sent_are_those_that_were_shown(stub):
    texts(model(stub), asked(5, 3))
    sent = {shown(body).tobytes() for body in stub.requests}
    assert sent == {np.asarray(picture(number)).tobytes() for number in range(5)}


@pytest.mark.parametrize(
    ("owner", "expected"),
    [
        ("vllm", {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
        ("sglang", {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}),
        ("llamacpp", {"top_k": 0, "min_p": 0.0, "typical_p": 1.0, "repeat_penalty": 1.0}),
        ("openai", {}),
        ("somebody", {}),
    ],
)
def test_every_request_says_the_sampling_settings_that_its_server_knows(stub, owner, expected):
    stub.owner = owner
    lm = model(stub)
    texts(lm, asked(2, 2))
    plain = {"temperature": 1.0, "top_p": 1.0, "max_tokens": 8}
    for body in stub.requests:
        seen = {name: each for name, each in body.items() if name not in ("messages", "model", "n", "seed")}
        assert seen == {**plain, **expected}
    assert lm.server_record(TASK, SAMPLED, 2)["sent"] == {**plain, **expected}
    together = owner in ("vllm", "llamacpp", "openai")
    assert len(stub.requests) == (2 if together else 4)


def test_a_task_s_own_settings_are_sent_by_the_server_s_names(stub):
    stub.owner = "llamacpp"
    settings = {**SAMPLED, "top_k": 20, "repetition_penalty": 1.2, "until": ["END"], "image_aspect_ratio": "pad"}
    lm = model(stub)
    texts(lm, asked(1, 1, settings))
    [body] = stub.requests
    assert (body["top_k"], body["repeat_penalty"], body["stop"]) == (20, 1.2, ["END"])
    assert lm.server_record(TASK, settings, 1)["not_sent"] == ["image_aspect_ratio"]


def test_a_setting_that_the_server_can_t_be_told_is_refused(stub):
    stub.owner = "openai"
    with pytest.raises(UserError, match="sets top_k to 20"):
        texts(model(stub), asked(1, 1, {**SAMPLED, "top_k": 20}))
    with pytest.raises(UserError, match="num_beams 4"):
        texts(model(stub), asked(1, 1, {**GREEDY, "num_beams": 4}))
    assert not stub.requests


def test_greedy_questions_are_asked_once(stub):
    lm = model(stub)
    found = by_question(texts(lm, asked(6, 3, GREEDY)), 3)
    assert len(stub.requests) == 6
    assert {body["temperature"] for body in stub.requests} == {0.0}
    assert not any("n" in body or "stop" in body for body in stub.requests)
    assert all(len(set(each)) == 1 for each in found)
    assert lm.server_record(TASK, GREEDY, 3)["trials"] == "asked once, temperature 0"


@pytest.mark.parametrize(("owner", "written"), [("vllm", [1, 1, 1]), ("llamacpp", [3, None, None])])
def test_tokens_of_trials_are_counted_as_the_server_counts_those_of_n(stub, owner, written):
    """vLLM counts those of all choices, llama.cpp those of the first; the stub says as many as there are choices."""
    stub.owner = owner
    found = model(stub).generate_until(asked(1, 3))
    assert [each.token_counts.output_tokens for each in found] == written


@pytest.mark.parametrize("many", [True, False])
def test_replies_are_told_as_they_come(stub, many):
    lm, told = model(stub, many=many), []
    lm.on_replies = told.append
    found = texts(lm, asked(5, 3))
    assert [len(each) for each in told] == ([3] * 5 if many else [1] * 15)
    assert {place: reply.text for each in told for place, reply in each.items()} == dict(enumerate(found))


def test_the_record_of_a_task_that_was_not_asked_says_so(stub):
    assert model(stub).server_record(TASK, SAMPLED, 3)["trials"].startswith("not asked")


def test_one_probe_finds_out_that_n_is_refused_or_ignored(stub):
    expected = texts(model(stub), asked(4, 3))
    for change in ({"most_n": 1}, {"ignores_n": True}):
        vars(stub).update(change)
        stub.requests.clear()
        stub.probes.clear()
        lm = model(stub)
        assert texts(lm, asked(4, 3)) == expected
        assert len(stub.requests) == 12 and not any("n" in body for body in stub.requests)
        assert len(stub.probes) <= 2
        assert lm.server_record(TASK, SAMPLED, 3)["trials"] == "one request each"


def test_n_that_is_refused_or_ignored_later_is_given_up(stub):
    expected = texts(model(stub, many=False, concurrency=1), asked(4, 3))
    for change in ({"most_n": 2}, {"most_n": 100, "ignores_n": True}):
        lm = model(stub, concurrency=1, threads=1)
        vars(stub).update(change)
        stub.requests.clear()
        assert texts(lm, asked(4, 3)) == expected
        first = [body.get("n") for body in stub.requests].index(None)
        assert sum("n" in body for body in stub.requests[first + 6 :]) == 0
        assert sum("n" in body for body in stub.requests) <= 4


def test_two_calls_of_one_model_and_the_order_of_questions_do_not_matter(stub):
    lm = model(stub)
    whole = by_question(texts(lm, asked(6, 3)), 3)
    for numbers in ([5, 1], [0]):
        again = texts(lm, [each for number in numbers for each in [request(number)] * 3])
        assert by_question(again, 3) == [whole[number] for number in numbers]


def test_a_trial_that_is_asked_alone_later_gets_the_same_reply(stub):
    lm = model(stub)
    whole = by_question(texts(lm, asked(8, 3)), 3)
    later = [request(number, **{TRIAL: trial}) for number in range(8) for trial in (1, 2)]
    assert by_question(texts(lm, later), 2) == [each[1:] for each in whole]
    assert stub.requests[-1]["n"] == 2


def test_copies_of_a_request_are_trials_of_its_question(stub):
    lm = model(stub)
    whole = texts(lm, asked(4, 3))
    assert texts(lm, [request(number) for number in range(4) for _ in range(3)]) == whole


def test_requests_that_only_fill_up_are_not_asked(stub):
    lm = model(stub)
    padding = request(1, __padding_only__=True)
    found = texts(lm, [*asked(2, 3), padding, padding, padding])
    assert len(stub.requests) == 2
    assert found[6:] == ["", "", ""]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(text=None, finish="stop"), ""),
        (Answer(text=None, finish="stop", refusal="I can't."), "I can't."),
        (Answer(text="B", finish="content_filter"), None),
        (Answer(body=b"<html>gateway</html>"), None),
        (Answer(body=b"null"), None),
        (Answer(body=b"[]"), None),
        (Answer(body=b'"overloaded"'), None),
        (Answer(body=b'{"choices": []}'), None),
        (Answer(body=b'{"choices": "ab"}'), None),
        (Answer(body=b'{"choices": [null]}'), None),
        (Answer(body=b'{"choices": [{}]}'), None),
        (Answer(text="It is", finish="abort"), None),
        (Answer(body=b'{"choices": [{"message": {"content": "B \\ud83d"}}]}'), "B \ufffd"),
        (Answer(body=b'{"choices": [{"message": {"content": "B"}}], "usage": {"completion_tokens": "x"}}'), "B"),
        (Answer(500, "boom"), None),
        (Answer(429, "slow down"), None),
    ],
)
def test_empty_replies_and_failures_are_told_apart(stub, answer, expected):
    lm = model(stub)
    stub.rule = lambda body: answer
    found = texts(lm, asked(1, 2))
    if expected is None:
        assert all(map(is_failed_request, found))
        assert all(each.startswith(server_asking.FAILED) for each in found)
    else:
        assert found == [expected] * 2
        assert not any(map(is_failed_request, found))


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"null",
        b"[]",
        b'"x"',
        b'{"data": "abc"}',
        b'{"data": [1]}',
        b'{"choices": "ab"}',
        b'{"choices": [{}]}',
    ],
)
def test_a_server_that_answers_something_else_ends_the_run_before_anything_is_asked(stub, monkeypatch, body):
    """A page of a web interface at an address without /v1, say: first as the probe's answer, then as the list."""
    stub.rule = lambda request: Answer(body=body)
    with pytest.raises(UserError, match="does not answer as a server of models"):
        model(stub)
    monkeypatch.setattr(stub, "listed", lambda: (200, body), raising=False)
    with pytest.raises(UserError, match="does not answer as a server of models|does not serve"):
        model(stub)


@pytest.mark.parametrize(
    ("owner", "arguments", "doubted"),
    [
        ("vllm", {}, False),
        ("llamacpp", {}, False),
        ("openai", {}, True),  # a proxy's list: the stub is not at an address of OpenAI's
        ("library", {}, True),
        ("library", {"kind": "vllm"}, False),
    ],
)
def test_trials_of_a_server_that_can_t_be_told_all_settings_are_in_doubt(stub, owner, arguments, doubted):
    stub.owner = owner
    why = runners.why_trials_may_depend(model(stub, **arguments), 1, settings_reached=False)
    assert bool(why) == doubted
    assert not doubted or "top_k" in why


def test_openai_s_own_server_is_not_in_doubt(stub):
    lm = model(stub, kind="openai")
    lm.connection = dataclasses.replace(lm.connection, base_url="https://api.openai.com/v1")
    assert lm._trials_doubt() is None


def test_what_fails_for_a_while_is_asked_again(stub):
    lm = model(stub, retries=3)
    numbers = itertools.count()
    stub.rule = lambda body: Answer(503, "loading") if next(numbers) < 2 else None
    assert set(texts(lm, asked(1, 1))) <= set("ABCD")
    assert len(stub.requests) == 3


def test_a_question_that_is_too_long_ends_only_itself(stub):
    lm = model(stub)
    long = np.asarray(picture(3)).tobytes()
    stub.rule = lambda body: (
        Answer(400, "maximum context length is 10 tokens") if shown(body).tobytes() == long else None
    )
    found = by_question(texts(lm, asked(6, 3)), 3)
    assert [any(map(is_failed_request, each)) for each in found] == [n == 3 for n in range(6)]
    assert all("maximum context length" in each for each in found[3])
    assert sum("n" in body for body in stub.requests) == 6  # one question too long says nothing about n
    assert len(stub.requests) == 7


def test_twenty_questions_in_a_row_without_a_reply_end_the_run(stub):
    lm = model(stub, concurrency=4)
    stub.rule = lambda body: Answer(500, "out of memory")
    with pytest.raises(UserError, match="20 questions in a row .*out of memory.*same command again"):
        texts(lm, asked(500, 1))
    assert 20 <= len(stub.requests) <= 40


def test_failures_among_replies_do_not_end_the_run(stub):
    lm = model(stub, concurrency=1, threads=1)
    numbers = itertools.count()
    stub.rule = lambda body: Answer(500, "boom") if next(numbers) % 2 else None
    found = texts(lm, asked(60, 1))
    assert sum(map(is_failed_request, found)) == 30


def test_a_wrong_key_ends_the_run_before_anything_is_asked(stub, monkeypatch):
    stub.key = "right-and-secret"
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UserError, match="refuses the key.*OPENAI_API_KEY") as caught:
        model(stub, api_key="wrong-and-secret")
    assert "wrong-and-secret" not in str(caught.value)
    monkeypatch.setenv("OPENAI_API_KEY", stub.key)
    assert set(texts(model(stub), asked(1, 1))) <= set("ABCD")


def test_a_key_that_is_withdrawn_ends_the_run(stub):
    lm = model(stub, concurrency=1)
    stub.key = "another"
    with pytest.raises(UserError, match="refuses the key"):
        texts(lm, asked(50, 1))


def test_an_unknown_model_ends_the_run(stub):
    with pytest.raises(UserError, match="does not serve 'tny', but: tiny"):
        model(stub, model="tny")
    lm = model(stub)
    stub.models = ("other",)
    with pytest.raises(UserError, match="does not know the model"):
        texts(lm, asked(50, 1))
    stub.models, stub.rule = None, lambda body: Answer(404, "no such model")
    with pytest.raises(UserError, match="does not know the model"):  # no list of models: the probe finds out
        model(stub)


def test_a_server_that_is_not_there_or_refuses_the_settings(stub):
    with pytest.raises(UserError, match="does not answer as a server"):
        ServerModel(model="tiny", base_url="http://127.0.0.1:9/v1", retries=0)
    stub.rule = lambda body: Answer(400, "top_p is not supported") if "top_p" in body else None
    with pytest.raises(UserError, match="refuses a question with the settings .*top_p is not supported"):
        model(stub)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"sed": 1}, "Unknown model argument 'sed'"),
        ({"seed": "x"}, "seed must be a whole number"),
        ({"concurrency": 0}, "concurrency must be a whole number of at least 1"),
        ({"kind": "vlm"}, "Did you mean 'vllm'"),
        ({"many": "perhaps"}, "many must be auto, True or False"),
        ({"timeout": 0}, "timeout must be"),
        ({"timeout": float("inf")}, "timeout must be"),
        ({"base_url": "localhost"}, "base_url='localhost'"),
        ({"base_url": "http://127.0.0.1:port/v1"}, "base_url='http://127.0.0.1:port/v1'"),
        ({"base_url": "http://[::1/v1"}, "base_url='http"),
        ({"model": ""}, "model=''"),
    ],
)
def test_arguments_that_are_wrong(stub, arguments, match):
    with pytest.raises(UserError, match=match):
        model(stub, **arguments)


def test_seeds_can_be_left_out_and_changed(stub):
    texts(model(stub, seed="none"), asked(2, 3))
    assert not any("seed" in body for body in stub.requests + stub.probes)
    stub.requests.clear()
    one, two = (texts(model(stub, seed=seed), asked(8, 3)) for seed in (0, 1))
    assert one != two and one == texts(model(stub), asked(8, 3))
    assert all(0 <= body["seed"] < 2**31 for body in stub.requests)


def test_requests_in_flight_and_questions_held_are_bounded(stub, monkeypatch):
    monkeypatch.setattr(server_asking, "HELD_BYTES", 1000)  # a picture or two
    stub.rule = lambda body: Answer(text="B", sleep=0.02)
    lm = model(stub, many=False, concurrency=16, threads=1)
    prepared, asked_so_far = [], []
    own, count = lm._prepare_question, lm._asker.count_in_a_row
    monkeypatch.setattr(lm, "_prepare_question", lambda question: prepared.append(question) or own(question))
    held = []

    def counted(replies):
        asked_so_far.append(replies)
        held.append(len(prepared) - len(asked_so_far))
        count(replies)

    monkeypatch.setattr(lm._asker, "count_in_a_row", counted)
    assert texts(lm, asked(40, 2)) == ["B"] * 80
    assert len(held) == 40
    assert stub.most <= 16
    assert max(held) <= 6


def test_data_under_terms_reaches_this_machine_only(stub):
    terms = [("sure_mimic_age", "PhysioNet forbids it.")]
    lm = model(stub)
    model_terms.check_model_terms(lm, terms)
    lm.client = SimpleNamespace(base_url="https://api.openai.com/v1/")
    with pytest.raises(UserError, match="not this machine"):
        model_terms.check_model_terms(lm, terms, resolve=lambda host: ["162.159.140.245"])
    model_terms.check_model_terms(lm, [("open_task", "")])


def test_other_media_are_refused_and_other_pictures_are_sent_as_rgb(stub, tmp_path):
    lm = model(stub)

    def ask(part):
        arguments = ("?", lambda doc: user(part), GREEDY, 0, TASK, "test")
        lm.generate_until([SimpleNamespace(args=arguments, metadata=None)])

    with pytest.raises(UserError, match="shows a video"):
        ask({"type": "video", "url": "x"})
    grey = picture(0).convert("L")
    grey.save(tmp_path / "grey.png")
    for form in (grey, str(tmp_path / "grey.png")):
        ask({"type": "image", "url": form})
        assert np.array_equal(shown(stub.requests[-1]), np.asarray(grey.convert("RGB")))


@pytest.mark.parametrize("said", [["m"], 7, {"a": "b"}, "", None, "n" * 999])
def test_what_a_server_says_of_itself_is_a_short_name_or_nothing(stub, said):
    def other(body):
        choices = [{"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"}]
        return Answer(body=json.dumps({"model": said, "system_fingerprint": said, "choices": choices}).encode())

    lm = model(stub)
    stub.rule = other
    assert texts(lm, asked(30, 1, GREEDY)) == ["A"] * 30
    record = lm.server_record(TASK, GREEDY, 1)
    assert record["answers_as"] == record["fingerprints"] == (["n" * 200] if isinstance(said, str) and said else [])
    stub.rule = lambda body: Answer(body=json.dumps(
        {"model": f"m{body['seed']}", "choices": [{"index": 0, "message": {"content": "A"}, "finish_reason": "stop"}]}
    ).encode())  # fmt: skip
    texts(lm, asked(30, 1, GREEDY))
    assert len(lm.server_record(TASK, GREEDY, 1)["answers_as"]) == 20
