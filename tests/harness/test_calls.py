"""A model is asked one task at a time, gives one reply to each request, and is left as it was."""

import contextlib
import copy
from types import SimpleNamespace

import lmms_eval.api.task
import pytest
from lmms_eval.api.instance import Instance

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, sampling
from tests.bare_runners import chat_request, chat_server


class Model:
    """Replies with the request's text; ``more`` replies than asked."""

    def __init__(self, more=0):
        self.asked, self.more = [], more

    def generate_until(self, requests):
        self.asked.append([request.task_name for request in requests])
        return ([request.text for request in requests] + ["x"] * max(self.more, 0))[: len(requests) + self.more]

    def loglikelihood(self, requests):
        self.asked.append([request.task_name for request in requests])
        return tuple((float(request.text), True) for request in requests)


def requests(*tasks):
    return [SimpleNamespace(task_name=task, text=f"{place}") for place, task in enumerate(tasks)]


def test_a_call_has_one_task_and_replies_come_in_the_order_of_the_requests():
    lm = Model()
    with calls.one_task_a_call(lm):
        assert lm.generate_until(requests("b", "a", "b", "c", "a")) == ["0", "1", "2", "3", "4"]
        assert lm.asked == [["b", "b"], ["a", "a"], ["c"]]
        assert lm.loglikelihood(requests("a", "b", "a")) == [(0.0, True), (1.0, True), (2.0, True)]
        assert lm.asked[3:] == [["a", "a"], ["b"]]
        assert lm.generate_until([]) == []


def test_what_holds_for_a_task_holds_while_it_is_answered():
    held = []

    @contextlib.contextmanager
    def during(task):
        held.append(task)
        yield
        held.append(f"end of {task}")

    lm = Model()
    with calls.one_task_a_call(lm, during):
        lm.generate_until(requests("a", "b", "a"))
    assert held == ["a", "end of a", "b", "end of b"]


@pytest.mark.parametrize(("more", "returned"), [(-1, 2), (1, 4)])
def test_another_number_of_replies_than_requests_ends_the_run(more, returned):
    lm = Model(more)
    with calls.one_task_a_call(lm), pytest.raises(UserError) as raised:
        lm.generate_until(requests("a", "a", "a"))
    assert f"Model returned {returned} replies to 3 requests of a." in str(raised.value)


def test_no_list_of_replies_is_none():
    lm = SimpleNamespace(loglikelihood=lambda requests: None)
    with calls.one_task_a_call(lm), pytest.raises(UserError, match="returned 0 replies to 2 requests of a"):
        lm.loglikelihood(requests("a", "a"))


def test_the_model_is_afterwards_as_it_was():
    lm = Model()
    lm.loglikelihood = own = lambda requests: []
    with pytest.raises(KeyError), calls.one_task_a_call(lm):
        assert "generate_until" in vars(lm) and lm.loglikelihood is not own
        raise KeyError
    assert "generate_until" not in vars(lm) and lm.loglikelihood is own


def test_every_way_in_which_the_harness_asks_is_known():
    kinds = set(lmms_eval.api.task.ALL_OUTPUT_TYPES)
    # multiple_choice asks by loglikelihood, generate_until_agentic by generate_until.
    assert kinds - {"multiple_choice", "generate_until_agentic"} == set(calls.METHODS)


TASK = sampling.trial_sampling_settings({"temperature": 1.0, "top_p": 1.0, "top_k": 0, "do_sample": True})


def test_other_tasks_of_the_run_are_answered_as_the_checkpoint_is_shipped():
    transformers = pytest.importorskip("transformers")
    config = transformers.GenerationConfig(do_sample=True, top_k=1, repetition_penalty=1.05)
    model = SimpleNamespace(generation_config=config)
    lm = SimpleNamespace(generate_until=lambda asked: [(each.text, config.top_k) for each in asked], model=model)
    wanted = {"draws": TASK, "narrow": {**TASK, "top_k": 5}}
    with calls.one_task_a_call(
        lm,
        lambda task: sampling.set_settings_aside(model, wanted[task]) if task in wanted else contextlib.nullcontext(),
    ):
        replies = lm.generate_until(requests("greedy", "draws", "narrow", "greedy", "draws"))
    assert replies == [("0", 1), ("1", 0), ("2", 5), ("3", 1), ("4", 0)]
    assert config.top_k == 1


class Task:
    """A task of the harness as far as its requests go; ``filtered`` is what its filters saw."""

    def __init__(self, count, repeats=3):
        self.count, self.repeats, self._instances = count, repeats, None

    @property
    def instances(self):
        return self._instances

    def build_all_requests(self, *, rank):
        arguments = ("prompt", {}, None, 0, "t", "test")
        self._instances = [
            Instance("generate_until", arguments, 0, {"task": "t", "doc_id": number, "repeats": self.repeats})
            for number in range(self.count)
        ]

    def apply_filters(self):
        self.filtered = list(self.instances)


def test_a_task_has_as_many_requests_on_every_rank_until_it_is_filtered(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setattr(calls, "gather_values", lambda count: [count, 4])
    short, full, empty = Task(3), Task(4), Task(0)
    with calls.pad_requests_of_ranks([short, full, empty, short]):
        for task in (short, full, empty):
            task.build_all_requests(rank=1)
        own, copies = short.instances[:3], short.instances[3:]
        assert [len(task.instances) for task in (short, full, empty)] == [4, 4, 0]
        assert [copy.metadata.get("__padding_only__") for copy in copies] == [True]
        assert copies[0].doc_id == own[-1].doc_id and copies[0].arguments is own[-1].arguments
        copies[0].resps.append("a reply")
        assert own[-1].resps == [] and "__padding_only__" not in own[-1].metadata
        short.apply_filters()
        assert short.filtered == own and all(a is b for a, b in zip(short.filtered, own, strict=True))
    assert not {"build_all_requests", "apply_filters"} & set(vars(short))


def test_a_single_process_builds_what_it_did(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    task = Task(3)
    with calls.pad_requests_of_ranks([task]):
        assert "build_all_requests" not in vars(task)


def one_call(module="lmms_eval.models.simple.srt_api", **attributes):
    """A runner of the harness as far as its class goes."""
    found = type("Srt", (), {"__module__": module, "generate_until": lambda self, requests: []})()
    vars(found).update(attributes)
    return found


@pytest.mark.parametrize("module", ["chat.async_openai", "chat.sglang"])
def test_a_runner_that_can_be_called_once_gets_one_task_a_run(module):
    calls.check_task_count(one_call(), ["a"])
    with pytest.raises(UserError, match=r"Srt can answer one task a run: it stops its server.*Asked for are a, b"):
        calls.check_task_count(one_call(), ["b", "a"])
    tools = one_call(f"lmms_eval.models.{module}", mcp_client=object())
    with pytest.raises(UserError, match="removes the folder of its tools"):
        calls.check_task_count(tools, ["b", "a"])
    calls.check_task_count(one_call(f"lmms_eval.models.{module}", mcp_client=None), ["b", "a"])
    calls.check_task_count(one_call("elsewhere"), ["b", "a"])
    # One that is derived from it, and has its method.
    derived = type("Own", (type(one_call()),), {"__module__": "own"})()
    assert (
        calls.needs_one_call(derived)
        and calls.needs_one_call(tools)
        and not calls.needs_one_call(one_call("elsewhere"))
    )


def test_async_openai_answers_several_tasks():
    """Its connections belong to the event loop of one call: those of the second task failed."""
    from lmms_eval.models.chat.async_openai import AsyncOpenAIChat

    once = {"max_retries": 1, "retry_backoff_s": 0, "num_cpus": 8}
    asked = [chat_request(number, task=task, temperature=1.0) for task in "abc" for number in range(16)]
    with chat_server() as server:
        lm = AsyncOpenAIChat(model="stub", base_url=server.url, api_key="x", **once)
        lm.task_dict = {task: {"test": list(range(16))} for task in "abc"}
        own = lm.client
        with calls.one_reply_each(lm), calls.one_task_a_call(lm):
            assert [reply.text for reply in lm.generate_until(asked)] == ["B"] * 48
        assert len(server.requests) == 48 and lm.client is own


def test_trials_of_qwen3_vl_are_drawn_one_request_a_call():
    """It renders the next pictures, which seeds, in a thread while it draws."""
    sizes = []

    def generate_until(self, requests):
        sizes.append(len(requests))
        return ["B"] * len(requests)

    at = {"__module__": "lmms_eval.models.simple.qwen3_vl", "generate_until": generate_until, "batch_size": 1}
    lm = type("Qwen3_VL", (), at)()
    asked = [chat_request(number, task=task) for task in "ab" for number in range(3)]
    with calls.one_reply_each(lm, {"a": TASK}), calls.one_task_a_call(lm):
        lm.generate_until(asked)
    assert sizes == [1, 1, 1, 3]
    type(lm).batch_size = 2
    sizes.clear()
    with calls.one_reply_each(lm, {"a": TASK}), calls.one_task_a_call(lm):
        lm.generate_until(asked)
    assert sizes == [3, 3]


class Engine:
    """The harness's chat runner of vLLM as far as its settings go; ``got`` are those of each request."""

    __module__ = "lmms_eval.models.chat.vllm"

    def __init__(self):
        self.got = {}

    def generate_until(self, requests):
        for request in requests:
            settings = request.arguments[2]
            self.got.setdefault((request.task_name, request.doc_id), []).append((settings.get("seed"), settings))
        return ["B"] * len(requests)


def test_trials_of_vllm_have_seeds_of_their_own_in_any_number_of_processes():
    questions = [chat_request(number, task=task, temperature=1.0) for task in "ab" for number in range(4)]
    one, first, second = Engine(), Engine(), Engine()
    for lm, own in ((one, questions), (first, questions[::2]), (second, questions[1::2])):
        with calls.one_reply_each(lm, {"a": TASK}), calls.one_task_a_call(lm):
            lm.generate_until([request for request in own for _ in range(3)])
    drawn = {key: [seed for seed, _ in got] for key, got in one.got.items()}
    assert {**first.got, **second.got}.keys() == one.got.keys()
    assert all([seed for seed, _ in got] == drawn[key] for each in (first, second) for key, got in each.got.items())
    seeds = [seed for (task, _), found in drawn.items() for seed in found if task == "a"]
    assert len(set(seeds)) == 12 and all(0 <= seed < 2**31 for seed in seeds)
    # The runner's own top_p would be 0.95. Greedy tasks, and the harness's own requests, stay as they are.
    assert all(settings["top_p"] == 1.0 for _, settings in one.got["a", 0])
    assert drawn["b", 0] == [None] * 3 and "top_p" not in one.got["b", 0][0][1]
    assert questions[0].arguments[2] == {"temperature": 1.0}


def test_a_trial_that_is_named_has_its_seed_whatever_was_asked_before():
    """Of a run that was cut off only the trials are asked that are missing."""
    question = chat_request(0, task="a", temperature=1.0)
    whole, rest = Engine(), Engine()
    missing = copy.copy(question)
    missing.metadata = {**question.metadata, calls.TRIAL: 2}
    for lm, asked in ((whole, [question] * 3), (rest, [missing])):
        with calls.one_reply_each(lm, {"a": TASK}):
            lm.generate_until(asked)
    assert rest.got["a", 0][0][0] == whole.got["a", 0][2][0]


def test_half_a_character_becomes_a_whole_one():
    assert calls._replace_half_characters(["A\ud83d", "\U0001f600 ok", None]) == ["A\ufffd", "\U0001f600 ok", None]
