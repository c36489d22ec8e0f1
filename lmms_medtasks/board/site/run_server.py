"""Serve the question page of a run to browsers of this machine: every file is made on request, none is written."""

from __future__ import annotations

import secrets
import select
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from lmms_medtasks.board.collect import collect_entries
from lmms_medtasks.board.degraded_entries import degraded_entries
from lmms_medtasks.board.entries import LeaderboardEntry
from lmms_medtasks.board.site import file_names, questions, suite_words
from lmms_medtasks.board.site.folder import SiteFolder
from lmms_medtasks.board.site.pages import PageWriter
from lmms_medtasks.board.site.question_data import QuestionData
from lmms_medtasks.board.site.suite_words import AllowedData
from lmms_medtasks.errors import UserError
from lmms_medtasks.short_texts import first_listed

HOST = "127.0.0.1"
_KINDS = {
    ".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
    ".csv": "text/csv; charset=utf-8", ".webp": "image/webp",
}  # fmt: skip
_TERMS = "The terms of this data limit to whom it may be shown: it is shown on this machine only. Pass none of it on."


def read_run_to_view(run: Path, tasks: Sequence[str] = ()) -> tuple[list[LeaderboardEntry], list[str]]:
    """The latest log of each model and task below ``run``, and why others can't be shown. ``tasks``: only these.

    Links out of the folder are not followed. Raises UserError if nothing can be shown.
    """
    board = collect_entries([run], tasks=tasks)
    degraded, reasons = degraded_entries(run, tasks)
    entries = [*(each for each in board.entries if each.source.samples), *degraded]
    logged = sorted(entries, key=lambda each: each.source.date)
    latest = {(entry.model.key, entry.task): entry for entry in logged}
    # Boards refuse degraded tasks, which are shown here.
    shown = {str(each.source.results) for each in degraded}
    refusals = (
        problem.reason
        for problem in board.refused
        if problem.code != "unknown_task" or problem.task or problem.source not in shown
    )
    reasons = list(dict.fromkeys([*reasons, *refusals]))
    if not latest:
        asked = f" of {first_listed(list(tasks))}" if tasks else ""
        none = f"No sample log{asked} in {run}. Give the result folder of a run that was made with --log_samples."
        raise UserError(" ".join(reasons) or none)
    return list(latest.values()), reasons


class _PageMemory(SiteFolder):
    """A site that is kept in memory."""

    def __init__(self) -> None:
        super().__init__(Path())
        self.contents: dict[str, bytes] = {}

    def write_bytes(self, path: str, content: bytes) -> None:
        self.contents[path] = content


class RunFiles:
    """The files of a run's question pages, by path; ``start``: the path of the first page."""

    def __init__(self, entries: Sequence[LeaderboardEntry]) -> None:
        models = {entry.model.key: entry.model for entry in entries}
        titles, slugs = file_names.model_titles(models.values()), file_names.model_slugs(models.values())
        names = suite_words.sort_suites({entry.suite for entry in entries})
        self._memory, self._lock = _PageMemory(), threading.Lock()
        data = QuestionData(self._memory, AllowedData(local=True))
        titled = [(name, suite_words.suite_texts(name).title) for name in names]
        pages = PageWriter(self._memory, ", ".join(titles.values()), titled, questions=True)
        pages.assets()
        self._makers: dict[str, Callable[[], Iterable[str]]] = {}
        for name in names:
            own = [entry for entry in entries if entry.suite == name]
            shown = {key: (title, slugs[key]) for key, title in titles.items()}
            terms = "" if all(map(data.may_be_published, own)) else _TERMS
            self._makers |= questions.write_question_pages(pages, name, own, data, shown, single=True, terms=terms)
        self.start = f"questions/{names[0]}.html?was=lost"

    def content(self, path: str) -> bytes | None:
        """A file; None for an unknown path."""
        with self._lock:
            if path in self._makers:
                return "".join(self._makers[path]()).encode("utf-8", "replace")
            return self._memory.contents.get(path)


class _TerminalClosed(Exception):
    pass


class RunServer(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """Answers browsers of this machine that know ``address``: it has a random part. ``port`` 0: any free one.

    Raises UserError if the port is taken.
    """

    allow_reuse_address = True
    daemon_threads = True

    def __init__(self, files: RunFiles, port: int = 0) -> None:
        self.files = files
        self.token = secrets.token_urlsafe(16)
        try:
            super().__init__((HOST, port), _Handler)
        except OSError as error:
            said = f"--port {port}: {error.strerror}. Name another one, or leave it out for any that is free."
            raise UserError(said) from error
        self.port = int(self.server_address[1])
        self.address = f"http://{HOST}:{self.port}/{self.token}/"
        self._input = select.poll()
        if sys.stdin is not None:
            with suppress(OSError, ValueError):  # a notebook's has no file
                self._input.register(sys.stdin.fileno(), 0)

    def serve(self) -> None:
        """Answer until Ctrl-C, or until the terminal or the pipe of the standard input is closed."""
        with self, suppress(KeyboardInterrupt, _TerminalClosed):
            self.serve_forever()

    def service_actions(self) -> None:
        """Stop if the standard input is closed; called twice a second."""
        # Nothing is read, because a background process that reads from its terminal is stopped.
        if self._input.poll(0):
            raise _TerminalClosed

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore browsers that went away."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: RunServer
    server_version, sys_version = "lmms-medtasks", ""
    timeout = 30
    """Seconds that a browser has for a request."""

    def do_GET(self) -> None:
        # Another site may direct a browser here under its own name, which is then in Host.
        if self.headers.get_all("Host") not in [[f"{name}:{self.server.port}"] for name in (HOST, "localhost")]:
            return self.send_error(HTTPStatus.FORBIDDEN, "This page is for this machine alone")
        try:
            _, token, *path = unquote(urlsplit(self.path).path).split("/", 2)
        except ValueError:  # no path, such as "*" or "http://["
            return self.send_error(HTTPStatus.BAD_REQUEST)
        if not (path and secrets.compare_digest(token.encode(), self.server.token.encode())):
            return self.send_error(HTTPStatus.NOT_FOUND)
        if path == [""]:
            return self._answer(HTTPStatus.FOUND, {"Location": quote(self.server.files.start, safe="/?=")})
        try:
            content = self.server.files.content(path[0])
        except (UserError, OSError) as error:
            return self.send_error(HTTPStatus.INTERNAL_SERVER_ERROR, explain=str(error))
        if content is None:
            return self.send_error(HTTPStatus.NOT_FOUND)
        return self._answer(HTTPStatus.OK, {"Content-Type": _KINDS[PurePosixPath(path[0]).suffix]}, content)

    def _answer(self, status: HTTPStatus, headers: dict[str, str], content: bytes = b"") -> None:
        self.send_response(status)
        always = {"Content-Length": len(content), "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
                  "Cross-Origin-Resource-Policy": "same-origin", "Referrer-Policy": "no-referrer"}  # fmt: skip
        for name, value in {**headers, **always}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Log no requests."""
