"""A release as a dataset repository of the Hugging Face hub; files land in the hub library's own cache.

The library resumes most downloads that were cut. What it gives up is begun again a few times, each time with a message;
a hub that sends nothing new for :func:`hub_patience` seconds is given up.
"""

from __future__ import annotations

import contextlib
import functools
import os
import queue
import socket
import sys
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lmms_medtasks.data.releases import MissingFileError, checked_name
from lmms_medtasks.errors import UserError

Download = Callable[..., str]

TIMEOUT_VARIABLE = "MEDTASKS_HUB_TIMEOUT"
"""Environment variable: seconds without a new byte after which the hub is given up (60 unless set)."""

_DEFAULT_SECONDS = 60.0
_WAITS = (1.0, 2.0, 4.0, 8.0)  # Seconds before each further attempt at a file

_PART_BYTES = 1 << 16

_TRANSIENT = (408, 429)  # HTTP statuses below 500 that another attempt may mend


class HubSilentError(Exception):
    """The hub sent no new byte of a file for as long as is waited."""


class HubRelease:
    """The files of one revision of a hub dataset.

    ``revision`` may be a branch or a tag: the first file settles the ``commit``, and all others come from the same.
    ``download`` replaces ``huggingface_hub.hf_hub_download`` in tests.
    """

    def __init__(self, repository: str, revision: str, download: Download | None = None) -> None:
        self.repository, self.revision, self.commit = repository, revision, ""
        self._download = download
        self._paths: dict[str, Path] = {}

    def describe(self) -> dict[str, Any]:
        description = {"kind": "hub", "repository": self.repository, "revision": self.revision}
        return {**description, "commit": self.commit} if self.commit else description

    def has(self, name: str) -> bool:
        """Always true: only a download tells."""
        return bool(checked_name(name))

    def names(self) -> list[str]:
        """The names of all files of the revision; ``UserError`` if the hub can't be asked."""
        from huggingface_hub import HfApi

        where = f"The files of the hub dataset {self.repository!r} (revision {self.revision!r})"
        if is_hub_unreachable():
            raise UserError(
                f"{where} cannot be listed: no network, or HF_HUB_OFFLINE is set. Prepare where there is a network, or "
                "give a folder that has the files with --source DIR."
            )
        revision = self.commit or self.revision
        caught: tuple[type[Exception], ...] = (OSError, *transport_errors())  # the hub's HTTP errors are OSErrors
        try:
            # The library itself would wait without end.
            info = HfApi().dataset_info(self.repository, revision=revision, timeout=hub_patience())
        except caught as error:
            raise UserError(f"{where} cannot be listed: {what_happened(error)}.") from error
        self.commit = self.commit or (info.sha or "")
        return sorted(sibling.rfilename for sibling in info.siblings or [])

    def file(self, name: str) -> Path:
        """The file, downloaded unless the hub's cache has it; errors as :class:`Release` says."""
        if name not in self._paths:
            path = self._fetch_file(checked_name(name))
            parts = path.parts
            # .../snapshots/<commit>/<name>
            if not self.commit and "snapshots" in parts:
                self.commit = parts[len(parts) - 1 - parts[::-1].index("snapshots") + 1]
            self._paths[name] = path
        return self._paths[name]

    def _fetch_file(self, name: str) -> Path:
        where = f"{name!r} of the hub dataset {self.repository!r} (revision {self.commit or self.revision!r})"
        watch = _Watch(hub_patience())
        # The hub's HTTP errors and those of the disk are all OSErrors.
        caught: tuple[type[Exception], ...] = (OSError, HubSilentError, *transport_errors())
        for number, wait in enumerate((*_WAITS, None), start=1):
            try:
                return self._one_attempt(name, where, watch)
            except caught as error:
                happened = what_happened(error)
                if wait is None or not _may_pass(error):
                    tried = f" {number} attempts were made." if number > 1 else ""
                    raise UserError(
                        f"{where} cannot be downloaded: {happened}.{tried} Run the same command again to go on."
                    ) from error
            print(
                f"{where}: {happened}. The download starts again in {wait:g} s "
                f"(attempt {number + 1} of {len(_WAITS) + 1}).",
                file=sys.stderr,
                flush=True,
            )
            time.sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _one_attempt(self, name: str, where: str, watch: _Watch) -> Path:
        from huggingface_hub import errors, hf_hub_download

        download = self._download or functools.partial(
            hf_hub_download, local_files_only=is_hub_unreachable(), tqdm_class=watch.bar()
        )
        revision = self.commit or self.revision
        try:
            with _fine_chunks():
                return Path(watch.run(lambda: download(self.repository, name, repo_type="dataset", revision=revision)))
        except errors.GatedRepoError as error:
            raise UserError(
                f"{where} is gated. Ask for access at https://huggingface.co/datasets/{self.repository}, "
                "then run: hf auth login"
            ) from error
        except errors.RepositoryNotFoundError as error:
            raise UserError(
                f"{where}: the hub knows no such dataset, or you may not see it. If it is private, run: hf auth login"
            ) from error
        except errors.RevisionNotFoundError as error:
            raise UserError(f"{where}: there is no such revision. Choose one with --revision.") from error
        except errors.LocalEntryNotFoundError as error:
            # The library says so of whatever its first request met, a server's error too.
            if _underlying_error(error) is not error and not isinstance(
                _underlying_error(error), errors.OfflineModeIsEnabled
            ):
                raise
            raise UserError(
                f"{where} cannot be downloaded and is not in the hub's cache: no network, or HF_HUB_OFFLINE is set. "
                "Prepare where there is a network, or give a folder that has the files with --source DIR."
            ) from error
        except errors.EntryNotFoundError as error:
            raise MissingFileError(
                f"{where} is not there: the release has changed. Choose an older revision with --revision."
            ) from error


@contextlib.contextmanager
def _fine_chunks() -> Iterator[None]:
    """Let the hub's library write a file in small parts: with its 10 MB a slow line would seem silent."""
    from huggingface_hub import constants

    before = constants.DOWNLOAD_CHUNK_SIZE
    constants.DOWNLOAD_CHUNK_SIZE = _PART_BYTES
    try:
        yield
    finally:
        constants.DOWNLOAD_CHUNK_SIZE = before


class _Watch:
    """Runs the attempts at one file, and gives them up when no new byte came for ``seconds``.

    A byte is new if it is further than any attempt came before: else a server that sends a file's beginning over and
    over would never be given up.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds, self.furthest, self.last = seconds, 0, time.monotonic()

    def run(self, download: Callable[[], str]) -> str:
        """What ``download`` returns or raises, run in a thread; ``HubSilentError`` if it is given up."""
        ended: queue.SimpleQueue[tuple[str, BaseException | None]] = queue.SimpleQueue()

        def work() -> None:
            try:
                ended.put((download(), None))
            except BaseException as error:  # raised below, in the caller's thread
                ended.put(("", error))

        threading.Thread(target=work, name="lmms-medtasks-hub", daemon=True).start()
        while True:
            try:
                path, error = ended.get(timeout=max(0.01, min(1.0, self.last + self.seconds - time.monotonic())))
            except queue.Empty:
                if time.monotonic() - self.last < self.seconds:
                    continue
                raise HubSilentError(
                    f"the server sent no new byte for {self.seconds:g} s ({self.furthest:,} bytes had come; "
                    f"{TIMEOUT_VARIABLE} sets how many seconds are waited)"
                ) from None
            if error is not None:
                raise error
            return path

    def bar(self) -> type[Any]:
        """The hub's progress bar, which tells this watch how far the file has come."""
        from huggingface_hub.utils import tqdm

        watch = self

        class WatchedBar(tqdm):  # type: ignore[misc, type-arg, unused-ignore]
            def __init__(self, *arguments: Any, **options: Any) -> None:
                self.position = int(options.get("initial") or 0)
                super().__init__(*arguments, **options)

            def update(self, n: float | None = 1) -> bool | None:
                self.position += int(n or 0)
                if self.position > watch.furthest:
                    watch.furthest, watch.last = self.position, time.monotonic()
                return super().update(n)

        return WatchedBar


def hub_patience() -> float:
    """Seconds without a new byte after which the hub is given up. UserError unless the variable is a number above 0."""
    text = os.environ.get(TIMEOUT_VARIABLE, "")
    try:
        seconds = float(text) if text else _DEFAULT_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise UserError(f"{TIMEOUT_VARIABLE} must be a number of seconds above 0, got {text!r}.")
    return seconds


@functools.cache
def transport_errors() -> tuple[type[Exception], ...]:
    """What the hub's library lets through from the HTTP library under it (cut connections, timeouts)."""
    from huggingface_hub import errors

    # That library was exchanged twice; the hub's own error always inherits from its class of all errors.
    ours = ("builtins", "huggingface_hub")
    bases = errors.HfHubHTTPError.__mro__
    return tuple(base for base in bases if base.__module__.partition(".")[0] not in ours)


def what_happened(error: BaseException) -> str:
    """Why the hub could not be asked: the server's status, a timeout, a cut connection, or the error."""
    reason = _underlying_error(error)
    status = _http_status(reason)
    if status is not None and status >= 500:
        return f"the hub's server answered with an error, HTTP {status} ({_first_line(reason)})"
    if status == 429:
        return f"the hub asks for fewer requests, HTTP 429 ({_first_line(reason)})"
    if status is not None:
        return f"the hub answered with HTTP {status} ({_first_line(reason)})"
    if "Timeout" in type(reason).__name__ or isinstance(reason, TimeoutError):
        return f"the server did not answer in time ({type(reason).__name__}: {_first_line(reason)})"
    if "Connect" in type(reason).__name__ and not isinstance(reason, OSError):
        return f"the server takes no connections ({type(reason).__name__}: {_first_line(reason)})"
    if isinstance(reason, transport_errors()):
        return f"the connection was cut ({type(reason).__name__}: {_first_line(reason)})"
    return _first_line(reason)


def _may_pass(error: BaseException) -> bool:
    """Whether another attempt may succeed: after cut connections and errors of the server, not full disks."""
    reason = _underlying_error(error)
    if reason is not error:
        return False
    status = _http_status(reason)
    if status is not None:
        return status >= 500 or status in _TRANSIENT
    return isinstance(reason, (ConnectionError, *transport_errors())) or "Consistency check" in str(reason)


def _underlying_error(error: BaseException) -> BaseException:
    """The error that the hub's library met when it says only that a file is not in its cache."""
    from huggingface_hub import errors

    while isinstance(error, errors.LocalEntryNotFoundError) and error.__cause__ is not None:
        error = error.__cause__
    return error


def _http_status(error: BaseException) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__


def is_hub_unreachable() -> bool:
    """Whether the hub is off limits or takes no connections, without a proxy; its library tries for half a minute."""
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return True
    if set(urllib.request.getproxies()) - {"no"}:
        return False
    parts = urlsplit(constants.ENDPOINT)
    port = parts.port or (80 if parts.scheme == "http" else 443)
    try:
        socket.create_connection((parts.hostname or "", port), timeout=constants.HF_HUB_ETAG_TIMEOUT).close()
    except OSError:
        return True
    return False
