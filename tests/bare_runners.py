"""The harness's own runners without weights, keys or servers: their methods on an object with what these need."""

from __future__ import annotations

import contextlib
import json
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
from lmms_eval.api.instance import Instance


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
    """A chat server that keeps its connections open, as servers do; its address and what it was asked.

    With ``owner`` it has a list of models, of one that is served by it.
    """
    message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "B"}}
    reply = {"id": "x", "object": "chat.completion", "created": 0, "model": "stub", "choices": [message]}
    reply["usage"] = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    data, asked = json.dumps(reply).encode(), []

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):  # noqa: N802 (the base class's name)
            asked.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.answer(200, data)

        def do_GET(self):  # noqa: N802 (the base class's name)
            listed = {"object": "list", "data": [{"id": "stub", "object": "model", "created": 0, "owned_by": owner}]}
            self.answer(200 if owner else 404, json.dumps(listed).encode())

        def answer(self, status, body):
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.handle_error = lambda *given: None  # connections that the client never closes
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield SimpleNamespace(url=f"http://127.0.0.1:{server.server_address[1]}/v1", asked=asked)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
