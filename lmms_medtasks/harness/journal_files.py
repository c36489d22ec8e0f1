"""The files of a journal of replies: ``MEDTASKS_HOME/journal/<command>/``, one file a process and start of the command.

Only the user can read them: a reply may repeat data whose terms keep it on this machine. A line is a JSON object with
the reply's key, its task's name and the reply (:func:`pack_reply`), without prompt and images. Lines that a kill cut
off are skipped.

The folder belongs to one start of the command at a time, whose first process locks it. That process names the journal
when the command is first started (``token``). All others, also those on machines with another folder, use files of that
name only, and remove the rest of journals that were finished or discarded.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import socket
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_medtasks.parsing import is_failed_request
from lmms_medtasks.parsing.reply import SentReply

_TOKEN, _LOCK = "token", "lock"
_FORGOTTEN = 30 * 24 * 3600.0
"""Seconds without writing after which a journal is removed."""

Line = Mapping[str, Any]


class JournalBusyError(Exception):
    """Another process holds the folder: the same command is running. Its text names the process."""


class JournalFolder:
    """The folder of one command's journal. Methods raise OSError if it can't be read or written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None
        self._own: int | None = None
        self._session = ""

    def begin_session(self, fresh: bool) -> tuple[str, str]:
        """Lock the folder in the first process, and return the names of the journal and of this start.

        ``fresh`` starts a new journal. Raises :class:`JournalBusyError` while the same command is running.
        """
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        _forget_old(self.path.parent)
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock = os.open(self.path / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            # Not flock, whose lock a child process would keep after this process was killed.
            fcntl.lockf(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError):
            holder = (self.path / _LOCK).read_text("utf-8")
            os.close(self._lock)
            self._lock = None
            raise JournalBusyError(holder) from None
        os.ftruncate(self._lock, 0)
        os.write(self._lock, f"process {os.getpid()} on {socket.gethostname()}".encode())
        token_path = self.path / _TOKEN
        token = "" if fresh or not token_path.is_file() else token_path.read_text("ascii").strip()
        if not token:
            token = secrets.token_hex(8)
            token_path.touch(0o600)
            token_path.write_text(token, "ascii")
        return token, secrets.token_hex(8)

    def join_session(self, token: str, session: str, rank: int) -> list[Line]:
        """Open this process's file, and return the lines that all processes wrote in earlier starts."""
        self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._session = f"{token}.{session}"
        lines: list[Line] = []
        for file in sorted(self.path.glob("*.jsonl")):
            if file.name.startswith(f"{self._session}."):
                continue  # of a process that started with this one
            if file.name.startswith(f"{token}."):
                lines += _read_lines(file)
            else:
                file.unlink(missing_ok=True)
        name = self.path / f"{self._session}.{rank}.jsonl"
        self._own = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
        return lines

    def append_lines(self, lines: Iterable[Line], sync: bool = True) -> None:
        """Add lines to this process's file; they survive a kill -9, and with ``sync`` a power cut."""
        text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines).encode("ascii")
        if self._own is None:
            return
        while text:
            text = text[os.write(self._own, text) :]
        if sync:
            os.fsync(self._own)

    def asked_now(self) -> Iterator[Line]:
        """The lines that the processes of this start have written to this folder."""
        for file in sorted(self.path.glob(f"{self._session}.*.jsonl")):
            yield from _read_lines(file)

    def is_left(self) -> bool:
        """Whether the first process uses another folder, on another machine."""
        return not (self.path / _TOKEN).exists()

    def close_files(self, remove: bool) -> None:
        if remove:
            shutil.rmtree(self.path, ignore_errors=True)
        for handle in (self._own, self._lock):
            if handle is not None:
                with contextlib.suppress(OSError):
                    os.close(handle)
        self._own = self._lock = None


def _read_lines(file: Path) -> Iterator[Line]:
    with contextlib.suppress(FileNotFoundError), file.open("rb") as content:
        for line in content:
            with contextlib.suppress(ValueError):
                parsed = json.loads(line)
                if isinstance(parsed, dict) and isinstance(parsed.get("key"), str):
                    yield parsed


def _forget_old(journals: Path) -> None:
    """Remove journals without writing for 30 days, unless a process holds them."""
    for folder in journals.iterdir():
        newest = max((path.stat().st_mtime for path in folder.glob("*")), default=None) if folder.is_dir() else None
        if newest is None or time.time() - newest < _FORGOTTEN:
            continue
        handle = os.open(folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            with contextlib.suppress(BlockingIOError, PermissionError):
                fcntl.lockf(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(handle)


def pack_reply(reply: Any) -> dict[str, Any]:
    """A reply as JSON under "reply", with its ending and limit, if known; {"failed": True} for a failed request."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    text, made = reply, reply
    if isinstance(reply, GenerationResult):
        counts = reply.token_counts
        text, made = reply.text, {"text": reply.text, "tokens": None if counts is None else counts.to_dict()}
    elif isinstance(reply, tuple) and len(reply) == 2 and isinstance(reply[0], str):
        text, more = reply
        made = {"text": text, "more": more.to_dict() if isinstance(more, TokenCounts) else more}
    if not isinstance(text, str) or is_failed_request(text):
        return {"failed": True}
    sent = {name: value for name in ("ended", "limit") if (value := getattr(text, name, None))}
    return {"failed": True} if sent.get("ended") == "error" else {"reply": made, **sent}


def unpack_reply(line: Mapping[str, Any]) -> Any:
    """The inverse of :func:`pack_reply`."""
    from lmms_eval.api.instance import GenerationResult, TokenCounts

    made = line["reply"]

    def make_sent(text: str) -> SentReply:
        return SentReply(text, line.get("ended", ""), line.get("limit"))

    if isinstance(made, str):
        return make_sent(made)
    if "more" in made:
        return make_sent(made["text"]), made["more"]
    tokens = made["tokens"]
    return GenerationResult(make_sent(made["text"]), None if tokens is None else TokenCounts(**tokens))
