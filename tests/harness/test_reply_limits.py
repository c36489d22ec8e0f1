"""How long a reply may be: by question, and within the tokens that a model takes in all."""

import contextlib
from types import SimpleNamespace

import pytest
from loguru import logger

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, reply_limits
from tests.stub_server import Server, Stub

WANTED = {"column": "kind", "limits": {"mcq": 32, "open": 96}}


class Task:
    """A task as the harness has it, with a request for each of ``kinds``."""

    def __init__(self, kinds, wanted=WANTED):
        settings = {"default": {"new_tokens": wanted} if wanted else {}}
        self.config = SimpleNamespace(task="t", lmms_eval_specific_kwargs=settings)
        self.eval_docs_no_media = {"kind": list(kinds)}

    def build_all_requests(self):
        self.instances = [
            SimpleNamespace(task_name="t", doc_id=number, arguments=(f"q{number}", {"max_new_tokens": 512}, number))
            for number, _ in enumerate(self.eval_docs_no_media["kind"])
        ]


def test_each_request_has_its_questions_limit_and_a_call_one():
    task, asked = Task(["mcq", "open", "mcq"]), []

    def generate_until(requests):
        asked.append([each.arguments[1]["max_new_tokens"] for each in requests])
        return [each.arguments[0] for each in requests]

    lm = SimpleNamespace(generate_until=generate_until)
    with reply_limits.limit_replies_by_question(lm, [task, task]), calls.one_task_a_call(lm):
        task.build_all_requests()
        assert lm.generate_until(task.instances) == ["q0", "q1", "q2"]
    assert asked == [[32, 32], [96]]
    task.build_all_requests()
    assert {each.arguments[1]["max_new_tokens"] for each in task.instances} == {512}


def test_a_task_without_the_setting_stays_as_it_is():
    task = Task(["mcq"], None)
    with reply_limits.limit_replies_by_question(SimpleNamespace(), [task]):
        task.build_all_requests()
    assert task.instances[0].arguments[1] == {"max_new_tokens": 512}


def test_a_value_without_a_limit_is_named():
    task = Task(["mcq", "essay"])
    with (
        reply_limits.limit_replies_by_question(SimpleNamespace(), [task]),
        pytest.raises(UserError, match=r"'essay', only for mcq"),
    ):
        task.build_all_requests()


def test_a_runner_that_takes_one_call_a_run_is_refused(monkeypatch):
    monkeypatch.setattr(calls, "needs_one_call", lambda lm: True)
    with (
        pytest.raises(UserError, match="takes one limit a run"),
        reply_limits.limit_replies_by_question(object(), [Task(["mcq"])]),
    ):
        pass


def task(name="t", limit=4096, settings="thinking", used=None):
    told = {"settings": {"name": settings, "changes": {"max_new_tokens": limit}}} if settings else {}
    generation = {"max_new_tokens": used or limit, "temperature": 0}
    return SimpleNamespace(config=SimpleNamespace(task=name, metadata=told, generation_kwargs=generation))


def of_transformers(**config):
    return SimpleNamespace(model=SimpleNamespace(config=SimpleNamespace(**config)))


def engine(room):
    held = SimpleNamespace(model_config=SimpleNamespace(max_model_len=room))
    return SimpleNamespace(client=SimpleNamespace(llm_engine=held))


def lowered(tasks, lm):
    """What was said, and the tasks' limits after it."""
    said = []
    handle = logger.add(said.append, level="WARNING", format="{message}")
    try:
        reply_limits.lower_limits_to_room(tasks, lm)
    finally:
        logger.remove(handle)
    return said, [each.config.generation_kwargs["max_new_tokens"] for each in tasks]


@pytest.mark.parametrize(
    ("lm", "room"),
    [
        (SimpleNamespace(serves={"max_model_len": 5000}), 5000),
        (SimpleNamespace(serves={"max_model_len": None}), None),
        (SimpleNamespace(serves={}), None),
        (engine(5000), 5000),
        (of_transformers(max_position_embeddings=5000), 5000),
        (of_transformers(get_text_config=lambda: SimpleNamespace(max_position_embeddings=5000)), 5000),
        (of_transformers(max_position_embeddings=10**30), None),  # as tokenizers say that they know none
        (SimpleNamespace(), None),
    ],
)
def test_who_says_how_much_room_there_is(lm, room):
    found = reply_limits.find_model_room(lm)
    assert (found[0] if found else None) == room


@pytest.mark.parametrize("runner", ["openai", "async_openai"])
def test_the_harness_s_runners_are_told_by_their_server(runner):
    from lmms_eval.models.chat.async_openai import AsyncOpenAIChat
    from lmms_eval.models.chat.openai import OpenAICompatible

    served = Server(Stub(room=6000))
    with contextlib.closing(SimpleNamespace(close=served.end)):
        made = OpenAICompatible if runner == "openai" else AsyncOpenAIChat
        for model, room in (("tiny", 6000), ("another", None)):
            found = reply_limits.find_model_room(made(model=model, base_url=served.stub.url, api_key="x"))
            assert (found[0] if found else None) == room


@pytest.mark.parametrize(("room", "limit"), [(5000, 2952), (3000, 1500), (6144, 4096), (100_000, 4096)])
def test_a_limit_is_lowered_to_what_is_left_of_the_room(room, limit):
    one, other = task(), task("u")
    said, limits = lowered([one, other], of_transformers(max_position_embeddings=room))
    assert limits == [limit] * 2
    assert one.config.metadata["settings"] == {"name": "thinking", "changes": {"max_new_tokens": limit}}
    assert len(said) == (limit < 4096)
    assert not said or f"max_position_embeddings is {room:,}" in said[0] and "(t, u)" in said[0]


def test_limits_that_the_settings_did_not_give_stay():
    tasks = [task(settings=""), task(settings="paper"), task(used=100)]
    assert lowered(tasks, of_transformers(max_position_embeddings=1000)) == ([], [4096, 4096, 100])
