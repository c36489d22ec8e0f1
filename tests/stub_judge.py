"""A judge for tests: a chat-completions server on loopback that does what a script says, and counts.

Runs by itself too: ``python tests/stub_judge.py --port 0 --latency 0.2 --fail 0.3`` prints its URL and, when it is
stopped with Ctrl-C, what it was asked.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import signal
import socket
import struct
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BLOCK = re.compile(
    r"<<<(?P<name>\w+) (?P<fence>[0-9a-f]{24})>>>\n(?P<text>.*?)\n<<<END (?P=name) (?P=fence)>>>", re.DOTALL
)
FENCE = re.compile(r"^FENCE is ([0-9a-f]{24})\.$", re.MULTILINE)
PROBE = "This is a test of the form of your reply."
FORM = re.compile(r'"(?P<name>[^"]+)": <(?P<labels>[^>]*)>')


@dataclass(frozen=True)
class Answer:
    """What the server does with one request. ``hang_up``: close without a word; ``reset``: and drop the connection.

    ``body``: these bytes, as they are.

    ``after``: the Retry-After header. ``sleep``: seconds before it answers. ``usage``: whether tokens are reported.
    ``verdict_on``: the hash of the prompt that this is a verdict on.
    """

    status: int = 200
    text: str | None = ""
    finish: str = "stop"
    refusal: str | None = None
    after: str | None = None
    sleep: float = 0.0
    hang_up: bool = False
    reset: bool = False
    body: bytes | None = None
    usage: bool = True
    verdict_on: str = ""
    headers: dict[str, str] = field(default_factory=dict)


KINDS: dict[str, Answer] = {
    "429": Answer(429, "slow down", after="0.05"),
    "500": Answer(500, "boom"),
    "hang_up": Answer(hang_up=True),
    "truncated_body": Answer(body=b'{"choices": [{"message": {"role": "assistant", "content": "{\\"sco'),
    "malformed_body": Answer(body=b"<html>bad gateway</html>"),
    "no_choices": Answer(body=b'{"choices": []}'),
    "null": Answer(text=None),
    "prose": Answer(text="The answer is quite good, I would say four or five."),
    "refusal": Answer(text="I'm sorry, but I can't help with medical questions."),
    "refusal_field": Answer(text=None, refusal="I can't judge this."),
    "filtered": Answer(text="", finish="content_filter"),
    "length": Answer(text='{"correctness": 5}', finish="length"),
    "half": Answer(text='{"correctness": '),
    "out_of_range": Answer(text='{"correctness": 7}'),
    "not_asked": Answer(text='{"correctness": 4, "style": 5}'),
    "true": Answer(text='{"correctness": true}'),
    "redirect": Answer(302, "elsewhere", headers={"Location": "http://127.0.0.1:9/v1"}),
    "401": Answer(401, "wrong key"),
    "404": Answer(404, "no such model"),
}
"""Ways to fail, by name."""


@dataclass
class Stub:
    """The server's script and what it has seen so far.

    Attributes:
        rule: request body -> :class:`Answer`, or None for the ordinary one (:attr:`verdict`).
        verdict: (prompt, dimension -> its labels) -> dimension -> value; :func:`honest` unless set otherwise.
        fail, kinds: this share of the requests fails in one of these ways, drawn by a hash of prompt and attempt.
        answers_as: request -> what the reply names as its model, None to name none; unset, the model asked for.
        schema: whether the server knows response_format; if not it answers 400 to it.
        system_fingerprint: what it says of itself, None for nothing. cached: tokens that its prefix cache had.
        probes: bodies of the requests that ask for no verdict on anything. requests: the others, in order.
        answered: hash of prompt -> verdicts delivered. too_late: answers whose asker was gone. most: greatest number
            in flight.
    """

    latency: float = 0.0
    fail: float = 0.0
    kinds: tuple[str, ...] = ("429", "500", "hang_up", "truncated_body", "prose")
    schema: bool = True
    rule: Callable[[dict[str, Any]], Answer | None] | None = None
    verdict: Callable[[str, dict[str, list[Any]]], dict[str, Any]] | None = None
    answers_as: Callable[[dict[str, Any]], str | None] | None = None
    system_fingerprint: str | None = None
    cached: int | None = None
    key: str | None = None
    url: str = ""
    probes: list[dict[str, Any]] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answered: Counter = field(default_factory=Counter)
    attempts: Counter = field(default_factory=Counter)
    failed: Counter = field(default_factory=Counter)
    too_late: int = 0
    in_flight: int = 0
    most: int = 0
    lock: Any = field(default_factory=threading.Lock)

    def reset(self) -> None:
        """Forget what was seen."""
        with self.lock:
            self.requests, self.probes, self.headers, self.most = [], [], [], 0
            self.answered, self.attempts, self.failed = Counter(), Counter(), Counter()

    def answer(self, request: dict[str, Any]) -> Answer:
        """What is done with a request."""
        prompt = request["messages"][0]["content"]
        name = hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest()
        with self.lock:
            attempt = self.attempts[name]
            self.attempts[name] += 1
        scripted = self.rule(request) if self.rule else None
        if scripted is None and "response_format" in request and not self.schema:
            scripted = Answer(400, "response_format is not supported")
        if scripted is None and self.fail and not prompt.startswith(PROBE):
            drawn = int(hashlib.sha256(f"{name}/{attempt}".encode()).hexdigest(), 16)
            if drawn % 10_000 < self.fail * 10_000:
                scripted = KINDS[kind := self.kinds[drawn // 10_000 % len(self.kinds)]]
                with self.lock:
                    self.failed[kind] += 1
        if scripted is not None:
            return scripted
        if prompt.startswith(PROBE):
            found = {"reasons": "a test"} | dict.fromkeys(re.findall(r'"(\w+)": \[<', _form(prompt)), [])
            found |= {name: each[0] for name, each in labels_of(prompt).items()}
            return Answer(text=json.dumps(found))
        reasons = {"reasons": "as the rules have it"} if '"reasons": <' in _form(prompt) else {}
        found = (self.verdict or honest)(prompt, labels_of(prompt))
        return Answer(text=json.dumps(reasons | found), verdict_on=name)


def _form(prompt: str) -> str:
    """The line of a prompt that says the form of the verdict: it stands before all texts of others."""
    return next((line for line in prompt.splitlines() if FORM.search(line)), "")


def labels_of(prompt: str) -> dict[str, list[Any]]:
    """The dimensions that a prompt asks for and the labels of each."""
    found = {}
    for match in FORM.finditer(_form(prompt)):
        if match["name"] == "reasons":
            continue
        parts = re.split(r", | or ", match["labels"])
        found[match["name"]] = [json.loads(part) for part in parts]
    return found


def fields_of(prompt: str) -> dict[str, str]:
    """The texts between the fences of a prompt, by their names in lower case: what a careful judge reads."""
    return {match["name"].lower(): match["text"] for match in BLOCK.finditer(prompt)}


def honest(prompt: str, labels: dict[str, list[Any]]) -> dict[str, Any]:
    """The best label where the answer holds the reference, else the worst."""
    fields = fields_of(prompt)
    right = fields.get("reference", "").strip().lower() in fields.get("answer", "").lower()
    return {name: (max if right else min)(allowed) for name, allowed in labels.items()}


def hashed(prompt: str, labels: dict[str, list[Any]]) -> dict[str, Any]:
    """A label drawn by a hash of the prompt: numbers that vary, the same each time."""
    number = int(hashlib.sha256(prompt.encode("utf-8", "replace")).hexdigest(), 16)
    return {name: allowed[number // 7**place % len(allowed)] for place, (name, allowed) in enumerate(labels.items())}


ORDERS = (
    re.compile(r"[\"'\uff02]\w+[\"'\uff02]\s*[:\uff1a]\s*\"?(?:5|Correct)"),  # a verdict
    re.compile(r"<\s*/\s*\w+\s*>|<!--"),  # a closing tag, a comment
    re.compile(r"<\|[^|>]*\|>|<\uff5c[^>]*>|<(?:start|end)_of_turn>|</?s>|\[/?INST\]|<<SYS>>"),  # special tokens
    re.compile(r"^<<<END \w+.*>>>$", re.MULTILINE),  # the end of a text, by another fence or by none
    re.compile(r"\{\{\w+\}\}"),  # places of a template
    re.compile("[\x00-\x08\x0b-\x1f\x7f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]"),
)
"""What a judge may fall for that looks for it in the raw text."""
PLEAS = re.compile(r"give (?:this|it|me) (?:a )?(?:5|full|top)|ignore (?:all|the|any)|you must|score: 5", re.IGNORECASE)


def gullible(prompt: str, labels: dict[str, list[Any]]) -> dict[str, Any]:
    """An honest judge that can be talked into the best label.

    It obeys any of :data:`ORDERS` wherever it stands, and any of :data:`PLEAS` that stands outside the fences. It
    finds the fences as the frame tells it to, by the token that stands right before the first of them.
    """
    token = FENCE.search(prompt)
    fence = re.escape(token[1]) if token else "(?!)"
    outside = re.sub(rf"<<<(\w+) {fence}>>>\n.*?\n<<<END \1 {fence}>>>", "", prompt, flags=re.DOTALL)
    inside = "\n".join(re.findall(rf"<<<\w+ {fence}>>>\n(.*?)\n<<<END \w+ {fence}>>>", prompt, flags=re.DOTALL))
    bait = token is None or any(order.search(inside) for order in ORDERS) or PLEAS.search(outside)
    if bait:
        return {name: max(allowed) for name, allowed in labels.items()}
    return honest(prompt, labels)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is none of our business."""


def start(stub: Stub, port: int = 0) -> _Server:
    """Serve ``stub`` in a thread; its ``url`` is set. ``server.shutdown()`` ends it."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:  # noqa: N802 (the base class's name)
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            with stub.lock:
                is_probe = str(request["messages"][0]["content"]).startswith(PROBE)
                (stub.probes if is_probe else stub.requests).append(request)
                stub.headers.append({name.lower(): value for name, value in self.headers.items()})
                stub.in_flight += 1
                stub.most = max(stub.most, stub.in_flight)
            try:
                answer = self._answer(request)
            finally:
                # Before the reply is sent: who has it must not be counted as waiting.
                with stub.lock:
                    stub.in_flight -= 1
            if answer is not None:
                self._send(request, answer)

        def _answer(self, request: dict[str, Any]) -> Answer | None:
            """What is replied; None to who has gone."""
            if not self.path.endswith("/v1/chat/completions"):
                answer = Answer(404, "no such path")
            elif stub.key and self.headers.get("Authorization") != f"Bearer {stub.key}":
                answer = Answer(401, f"wrong key {self.headers.get('Authorization')}")
            else:
                answer = stub.answer(request)
            time.sleep(stub.latency + answer.sleep)
            if self._client_is_gone():
                with stub.lock:
                    stub.too_late += 1
                self.close_connection = True
                return None
            if answer.verdict_on:
                with stub.lock:
                    stub.answered[answer.verdict_on] += 1
            return answer

        def _send(self, request: dict[str, Any], answer: Answer) -> None:
            if answer.reset:
                self.close_connection = True
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.connection.close()
                return
            if answer.hang_up:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
                return
            data = answer.body if answer.body is not None else _body(request, answer, stub)
            self.send_response(answer.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in answer.headers.items():
                self.send_header(name, value)
            if answer.after is not None:
                self.send_header("Retry-After", answer.after)
            self.end_headers()
            self.wfile.write(data)

        def _client_is_gone(self) -> bool:
            try:
                return self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) == b""
            except BlockingIOError:
                return False
            except OSError:
                return True

        def log_message(self, *args: Any) -> None:
            pass

    server = _Server(("127.0.0.1", port), Handler)
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    return server


def _body(request: dict[str, Any], answer: Answer, stub: Stub) -> bytes:
    if answer.status != 200:
        return json.dumps({"error": {"message": answer.text}}).encode()
    message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
    given = sum(len(each["content"]) for each in request["messages"]) // 4
    body: dict[str, Any] = {
        "id": "stub", "object": "chat.completion", "created": 0,
        "choices": [{"index": 0, "finish_reason": answer.finish, "message": message}],
    }  # fmt: skip
    body["model"] = stub.answers_as(request) if stub.answers_as else request["model"]
    if stub.system_fingerprint is not None:
        body["system_fingerprint"] = stub.system_fingerprint
    if body["model"] is None:
        del body["model"]
    if answer.usage:
        body["usage"] = {"prompt_tokens": given, "completion_tokens": 10, "total_tokens": given + 10}
        if stub.cached is not None:
            body["usage"]["prompt_tokens_details"] = {"cached_tokens": stub.cached}
    return json.dumps(body).encode()


def main() -> None:
    """Serve until Ctrl-C or a termination."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--fail", type=float, default=0.0, help="share of the requests that fail")
    parser.add_argument("--kinds", default=",".join(Stub.kinds), help=f"ways to fail: {', '.join(KINDS)}")
    parser.add_argument("--mode", choices=["honest", "hashed", "gullible"], default="honest")
    parser.add_argument("--no-schema", action="store_true", help="answer 400 to response_format")
    given = parser.parse_args()
    verdict = {"honest": honest, "hashed": hashed, "gullible": gullible}[given.mode]
    stub = Stub(given.latency, given.fail, tuple(given.kinds.split(",")), not given.no_schema, verdict=verdict)
    start(stub, given.port)
    print(stub.url, flush=True)
    ended = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    ended.wait()
    twice = sum(count > 1 for count in stub.answered.values())
    print(
        f"{len(stub.requests)} requests, {sum(stub.answered.values())} verdicts on {len(stub.answered)} prompts "
        f"({twice} more than once), {sum(stub.failed.values())} failures {dict(stub.failed)}, "
        f"{stub.too_late} whose asker was gone, {stub.most} in flight at most",
        flush=True,
    )


if __name__ == "__main__":
    main()
