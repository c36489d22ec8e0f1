"""How long to wait before a request is sent again."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from email.utils import parsedate_to_datetime

from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.seeding import generator

_ASKED_TO_WAIT = 1 / 3


def attempts_spent(wait: float | None) -> float:
    """What a failed attempt counts: less where the endpoint asked to wait, since it is busy, not broken."""
    return 1.0 if wait is None else _ASKED_TO_WAIT


def backoff(attempt: int, key: str) -> float:
    """Seconds to wait after attempt number ``attempt`` (from 0) failed: exponential, between half of it and all of it.

    The jitter depends on ``key`` and the attempt alone, so that requests that failed together do not come back together
    and a run can be repeated.
    """
    longest = min(defaults()["longest_backoff"], defaults()["first_wait"] * 2.0**attempt)
    return float(longest * generator("backoff", key, attempt).uniform(0.5, 1.0))


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds that an endpoint asks to wait: ``Retry-After`` as seconds or as a date; None if it says nothing readable.

    ``retry-after-ms``, which some endpoints send, stands above it. ``headers``: names in lower case.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        text = headers.get(name, "").strip()
        try:
            seconds = float(text) / scale
        except ValueError:
            continue
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        then = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError, IndexError):
        return None
    if then.tzinfo is None:
        then = then.replace(tzinfo=timezone.utc)
    return max(0.0, (then - (now or datetime.now(timezone.utc))).total_seconds())


class Brake:
    """What an endpoint asked of one request holds for all: until then none is sent. Waiting ends at once on a stop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._begun = self._until = 0.0  # of the hold
        self._since: float | None = None
        self._stopped = threading.Event()

    def hold(self, seconds: float, longest: float = math.inf) -> float:
        """Let nothing pass for ``seconds`` from now, or longer if that was asked for before.

        Returns how long nothing will have passed then, from the first hold since :meth:`passed` on. Beyond ``longest``
        nothing is held. Who is told to wait while all wait was sent before: its wait begins with theirs.
        """
        with self._lock:
            now = self._clock()
            self._since = now if self._since is None else self._since
            begun = self._begun if now < self._until else now
            until = max(self._until, begun + seconds)
            if until - self._since <= longest:
                self._begun, self._until = begun, until
            return until - self._since

    def passed(self) -> None:
        """Something came through: the endpoint replies again."""
        with self._lock:
            self._since = None

    @property
    def left(self) -> float:
        """For how many seconds nothing may pass yet."""
        with self._lock:
            return max(0.0, self._until - self._clock())

    def stop(self) -> None:
        """End all waiting, now and from now on."""
        self._stopped.set()

    @property
    def stopped(self) -> bool:
        """Whether :meth:`stop` was called."""
        return self._stopped.is_set()

    def wait(self, seconds: float = 0.0) -> bool:
        """Wait ``seconds``, and for as long as nothing may pass; False if everything was stopped."""
        until = self._clock() + seconds
        while not self._stopped.is_set():
            with self._lock:
                left = max(until, self._until) - self._clock()
            if left <= 0:
                return True
            self._stopped.wait(left)
        return False
