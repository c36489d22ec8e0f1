"""A hub for tests: a server on loopback that has one dataset repository, and fails as a script says."""

from __future__ import annotations

import hashlib
import json
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMIT = "c0ffee" + "0" * 34


@dataclass
class StubHub:
    """The files of ``owner/name``, and what goes wrong.

    Attributes:
        cuts: bytes after which the connection of each GET of a file is cut, the first one first; none: whole answers.
        hangs: as ``cuts``, and for every GET after the last too: the server says nothing more and keeps the connection.
        reset: a cut is a reset (RST) instead of an early end.
        silent: connections are taken and never answered.
        head_status, get_status: statuses of HEAD and GET, first one first; then 200.
        ranges: whether Range headers are obeyed.
        gets: (Range header or "", status) of each GET of a file.
    """

    files: dict[str, bytes]
    cuts: list[int] = field(default_factory=list)
    hangs: list[int] = field(default_factory=list)
    reset: bool = False
    silent: bool = False
    head_status: list[int] = field(default_factory=list)
    get_status: list[int] = field(default_factory=list)
    ranges: bool = True
    gets: list[tuple[str, int]] = field(default_factory=list)
    heads: int = 0
    address: str = ""
    released: threading.Event = field(default_factory=threading.Event)


@contextmanager
def serving(hub: StubHub) -> Iterator[StubHub]:
    """``hub`` on a port of loopback, its address in ``address``."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            hub.heads += 1
            self._answer(body=False)

        def do_GET(self) -> None:
            if self.path.startswith("/api/"):
                self._list()
            else:
                self._answer(body=True)

        def _list(self) -> None:
            if hub.silent:
                hub.released.wait()
                return
            status = hub.get_status.pop(0) if hub.get_status else 200
            found = {"id": "a/b", "sha": COMMIT, "siblings": [{"rfilename": name} for name in hub.files]}
            self._send(status, json.dumps(found).encode())

        def _send(self, status: int, content: bytes, *, body: bool = True, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if body:
                self.wfile.write(content)

        def _answer(self, *, body: bool) -> None:
            if hub.silent:
                hub.released.wait()
                return
            statuses = hub.get_status if body else hub.head_status
            content = hub.files.get(self.path.rpartition("/")[2])
            status = statuses.pop(0) if statuses else 200 if content is not None else 404
            asked = self.headers.get("Range", "")
            if body:
                hub.gets.append((asked, status))
            if status != 200 or content is None:
                self._send(status, b"told by the server", body=body)
                return
            tag = f'"{hashlib.sha1(content).hexdigest()}"'
            start = int(asked.removeprefix("bytes=").partition("-")[0]) if asked and hub.ranges else 0
            size = len(content)
            self.send_response(206 if start else 200)
            self.send_header("ETag", tag)
            self.send_header("X-Repo-Commit", COMMIT)
            if start:
                self.send_header("Content-Range", f"bytes {start}-{size - 1}/{size}")
            self.send_header("Content-Length", str(size - start))
            self.end_headers()
            if not body:
                return
            if hub.cuts:
                self._begin(content[start : start + hub.cuts.pop(0)])
                self._cut()
            elif hub.hangs:
                self._begin(content[start : start + (hub.hangs.pop(0) if len(hub.hangs) > 1 else hub.hangs[0])])
                hub.released.wait()
                self.close_connection = True
            else:
                self.wfile.write(content[start:])

        def _begin(self, content: bytes) -> None:
            self.wfile.write(content)
            self.wfile.flush()

        def _cut(self) -> None:
            if hub.reset:
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()
                self.wfile.close()
                self.connection.close()
            self.close_connection = True

        def finish(self) -> None:
            if not self.wfile.closed:
                super().finish()

        def handle(self) -> None:
            try:
                super().handle()
            except OSError:  # the client went away, or this side closed the connection
                pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    threading.Thread(target=server.serve_forever, daemon=True).start()
    hub.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield hub
    finally:
        hub.released.set()
        server.shutdown()
        server.server_close()
