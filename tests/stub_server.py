"""A model's server for tests: chat completions on loopback, by a script, and a count of what was asked.

Runs by itself too: ``python tests/stub_server.py`` prints its address, answers at once, and keeps nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import orjson

LETTERS = "ABCD"


@dataclass(frozen=True)
class Answer:
    """What comes back. ``text``: the content of each choice, or the message of an error. ``body``: as it is.

    ``more``: further fields of each message.
    """

    status: int = 200
    text: Any = "B"
    finish: str = "stop"
    refusal: str | None = None
    body: bytes | None = None
    sleep: float = 0.0
    more: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stub:
    """The script and what was seen.

    Attributes:
        owner: what it says it is. models: what it lists, None for no list; room: their max_model_len. key: the one that
            it takes, None for any.
        most_n: n above it is refused with HTTP 400. ignores_n: it draws one reply whatever n is.
        rule: request -> :class:`Answer`, or None for the ordinary one: a letter by prompt, pictures and seed + i.
        pause: seconds that an ordinary answer takes.
        keep: whether requests are kept. requests: their bodies, without those of probes (:attr:`probes`).
    """

    owner: str = "vllm"
    models: tuple[str, ...] | None = ("tiny",)
    room: int | None = None
    key: str | None = None
    most_n: int = 100
    ignores_n: bool = False
    rule: Callable[[dict[str, Any]], Answer | None] | None = None
    pause: float = 0.0
    keep: bool = True
    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    probes: list[dict[str, Any]] = field(default_factory=list)
    in_flight: int = 0
    most: int = 0

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes, float]:
        """Status, body and seconds to wait for a request."""
        count = request.get("n") or 1
        if self.keep:
            is_probe = isinstance(request["messages"][0]["content"], str)
            (self.probes if is_probe else self.requests).append(request)
        scripted = self.rule(request) if self.rule else None
        if scripted is None and self.models is not None and request["model"] not in self.models:
            scripted = Answer(404, f"The model {request['model']} does not exist.")
        if scripted is None and count > self.most_n:
            scripted = Answer(400, f"n must be at most {self.most_n}")
        if scripted is not None and scripted.body is not None:
            return scripted.status, scripted.body, scripted.sleep
        if scripted is not None and scripted.status != 200:
            body = {"error": {"message": scripted.text, "type": "stub", "code": scripted.status}}
            return scripted.status, orjson.dumps(body), scripted.sleep
        texts = letters(request, 1 if self.ignores_n else count) if scripted is None else [scripted.text] * count
        finish, refusal = (scripted.finish, scripted.refusal) if scripted else ("stop", None)
        more = scripted.more if scripted else {}
        choices = [
            {
                "index": number,
                "message": {"role": "assistant", "content": text, "refusal": refusal, **more},
                "finish_reason": finish,
            }
            for number, text in enumerate(texts)
        ]
        used = {"prompt_tokens": 100, "completion_tokens": len(texts), "total_tokens": 100 + len(texts)}
        found = {"id": "1", "object": "chat.completion", "created": 1, "model": request["model"], "usage": used}
        return 200, orjson.dumps({**found, "choices": choices}), scripted.sleep if scripted else self.pause

    def listed(self) -> tuple[int, bytes]:
        """The list of models."""
        if self.models is None:
            return 404, b'{"error": {"message": "no such path"}}'
        each = [{"id": name, "object": "model", "created": 1, "owned_by": self.owner} for name in self.models]
        for model in each if self.room else ():
            model["max_model_len"] = self.room
        return 200, orjson.dumps({"object": "list", "data": each})


def letters(request: dict[str, Any], count: int) -> list[str]:
    """A letter for each of ``count`` replies, as vLLM seeds them: reply i with the request's seed + i."""
    asked = hashlib.sha256(orjson.dumps(request["messages"])).hexdigest() if count else ""
    first = request.get("seed") or 0
    drawn = (hashlib.sha256(f"{asked}/{first + number}".encode()).digest()[0] for number in range(count))
    return [LETTERS[each % 4] for each in drawn]


class Server:
    """``stub`` behind a socket, in a thread of its own until :meth:`end`."""

    def __init__(self, stub: Stub, port: int = 0) -> None:
        self.stub = stub
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        start = asyncio.start_server(self._client, "127.0.0.1", port, limit=2**27, backlog=512)
        self._server = asyncio.run_coroutine_threadsafe(start, self._loop).result()
        stub.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    def end(self) -> None:
        async def close() -> None:
            self._server.close()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

        asyncio.run_coroutine_threadsafe(close(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                fields = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                body = await reader.readexactly(int(fields.get("content-length", 0)))
                status, data = await self._answered(head.split(" ", 2)[1], fields, body)
                size = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n"
                writer.write(f"HTTP/1.1 {status} X\r\n{size}\r\n".encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answered(self, path: str, fields: dict[str, str], body: bytes) -> tuple[int, bytes]:
        stub = self.stub
        if stub.key is not None and fields.get("authorization") != f"bearer {stub.key}".lower():
            return 401, b'{"error": {"message": "Incorrect API key"}}'
        if path.endswith("/version"):
            return 200, b'{"version": "0.0.stub"}'
        if path.endswith("/models"):
            return stub.listed()
        if not path.endswith("/chat/completions"):
            return 404, b'{"error": {"message": "no such path"}}'
        stub.in_flight += 1
        stub.most = max(stub.most, stub.in_flight)
        try:
            status, data, seconds = stub.answer(orjson.loads(body))
            await asyncio.sleep(seconds)
        finally:
            stub.in_flight -= 1
        return status, data


if __name__ == "__main__":
    instant = Stub(keep=False)
    server = Server(instant)
    print(instant.url, flush=True)
    threading.Event().wait()
