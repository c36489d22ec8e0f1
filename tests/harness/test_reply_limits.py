"""Limits of a reply's length by question: each request gets its own, and a call of the runner has those of one."""

from types import SimpleNamespace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.harness import calls, reply_limits

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
    with reply_limits.by_question(lm, [task, task]), calls.one_task_a_call(lm):
        task.build_all_requests()
        assert lm.generate_until(task.instances) == ["q0", "q1", "q2"]
    assert asked == [[32, 32], [96]]
    task.build_all_requests()
    assert {each.arguments[1]["max_new_tokens"] for each in task.instances} == {512}


def test_a_task_without_the_setting_stays_as_it_is():
    task = Task(["mcq"], None)
    with reply_limits.by_question(SimpleNamespace(), [task]):
        task.build_all_requests()
    assert task.instances[0].arguments[1] == {"max_new_tokens": 512}


def test_a_value_without_a_limit_is_named():
    task = Task(["mcq", "essay"])
    with reply_limits.by_question(SimpleNamespace(), [task]), pytest.raises(UserError, match=r"'essay', only for mcq"):
        task.build_all_requests()


def test_a_runner_that_takes_one_call_a_run_is_refused(monkeypatch):
    monkeypatch.setattr(calls, "in_one_call", lambda lm: True)
    with pytest.raises(UserError, match="takes one limit a run"), reply_limits.by_question(object(), [Task(["mcq"])]):
        pass
