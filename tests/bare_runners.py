"""The harness's own runners without weights, keys or servers: their methods on an object with what these need."""

from __future__ import annotations

import contextlib
import sys
import types
from types import SimpleNamespace

import pytest
import torch
from lmms_eval.api.instance import Instance

from tests.stub_server import Answer, Server, Stub


def runner(module: str, name: str, **attributes):
    """An object of the runner class ``name`` in ``lmms_eval.models.{module}``, not initialized, with ``attributes``."""
    if "decord" not in sys.modules:  # reads videos; several runners import it
        sys.modules["decord"] = types.ModuleType("decord")
        sys.modules["decord"].VideoReader = sys.modules["decord"].cpu = None
    found = getattr(pytest.importorskip(f"lmms_eval.models.{module}", exc_type=ImportError), name)
    # As attributes of a class they stand in place of the runner's properties.
    common = {"rank": 0, "batch_size": 1, "batch_size_per_gpu": 1, "device": "cpu", "tokenizer": None}
    hook = SimpleNamespace(add_partial=lambda *given: None)
    derived = type(name, (found,), {**common, "cache_hook": hook, **attributes, "__abstractmethods__": frozenset()})
    made = object.__new__(derived)
    made.task_dict = {task: {"test": list(range(9))} for task in ("t", "u")}
    return made


class Inputs(dict):
    """What a processor of transformers makes of a prompt."""

    input_ids = torch.zeros(1, 1, dtype=torch.long)

    def to(self, *given):
        return self


def request(text, number=0, *, hook=lambda doc: [], task="t", **settings):
    """A request of the harness for document ``number``, whose text is ``text``."""
    arguments = (text, settings, hook, number, task, "test")
    return Instance("generate_until", arguments, 0, metadata={"task": task, "doc_id": number, "repeats": 1})


def chat_request(number=0, *, content=(), task="t", **settings):
    """The same as chat runners get it: ``content`` are the parts of its one message."""
    messages = [{"role": "user", "content": [*content, {"type": "text", "text": f"question {number}"}]}]
    arguments = (f"question {number}", lambda doc: messages, settings, number, task, "test")
    return Instance("generate_until", arguments, 0, metadata={"task": task, "doc_id": number, "repeats": 1})


@contextlib.contextmanager
def chat_server(owner=""):
    """A server of the model ``stub`` that answers B; with ``owner`` it has a list of models, of that one."""
    served = Server(Stub(owner=owner, models=("stub",) if owner else None, rule=lambda body: Answer()))
    try:
        yield served.stub
    finally:
        served.end()
