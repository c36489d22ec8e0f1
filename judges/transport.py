"""One request to a chat-completions endpoint: a reply, or a failure that says what to do about it.

It uses httpx, not the openai package, which follows redirects and repeats requests by itself: a judge's endpoint must
get each text once, and no other endpoint ever.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from importlib import metadata
from typing import Any

from lmms_medtasks.chat_replies import content_text, parse_finish_reason, server_error_text
from lmms_medtasks.judges.settings import JudgeSettings, default_settings
from lmms_medtasks.parsing.texts import LONGEST_BODY
from lmms_medtasks.seeding import seeded_generator

_ASKED_TO_WAIT = 1 / 3


def attempts_spent(wait: float | None) -> float:
    """What a failed attempt counts: less if the endpoint asked to wait, since it is busy, not broken."""
    return 1.0 if wait is None else _ASKED_TO_WAIT


def backoff_seconds(attempt: int, key: str) -> float:
    """Seconds to wait after failed attempt ``attempt`` (from 0): exponential, between half of it and all of it.

    The jitter depends on ``key`` and ``attempt`` alone: a run is reproducible, and requests are spread.
    """
    longest = min(default_settings()["longest_backoff"], default_settings()["first_wait"] * 2.0**attempt)
    return float(longest * seeded_generator("backoff", key, attempt).uniform(0.5, 1.0))


def parse_retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Seconds of ``retry-after-ms``, or of ``retry-after`` as a number or date; None if unreadable."""
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


def wait_line(seconds: float) -> str:
    until = (datetime.now() + timedelta(seconds=seconds)).strftime("%H:%M:%S")
    return (
        f"The judge's server asks to wait {seconds:.0f} s: nothing is sent until {until}. Ctrl-C ends the judging and "
        "keeps what is judged."
    )


class RequestPause:
    """A wait that an endpoint asks of one request holds for all. Waiting ends at once on a stop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._begun = self._until = 0.0  # of the hold
        self._since: float | None = None
        self._stopped = threading.Event()

    def hold_requests(self, seconds: float, longest: float = math.inf) -> float:
        """Let nothing pass for ``seconds`` from now, or longer if that was requested before.

        Returns for how long nothing will have passed then, since the first hold after :meth:`note_reply`. If that is
        more than ``longest``, nothing is held. A request that is told to wait during a hold was sent before it: its
        wait begins with the hold.
        """
        with self._lock:
            now = self._clock()
            self._since = now if self._since is None else self._since
            begun = self._begun if now < self._until else now
            until = max(self._until, begun + seconds)
            if until - self._since <= longest:
                self._begun, self._until = begun, until
            return until - self._since

    def note_reply(self) -> None:
        with self._lock:
            self._since = None

    @property
    def seconds_left(self) -> float:
        with self._lock:
            return max(0.0, self._until - self._clock())

    def stop_waiting(self) -> None:
        """End all waiting, now and from now on."""
        self._stopped.set()

    @property
    def is_stopped(self) -> bool:
        return self._stopped.is_set()

    def wait_until_free(self, seconds: float = 0.0) -> bool:
        """Wait ``seconds``, and for as long as nothing may pass; False if everything was stopped."""
        until = self._clock() + seconds
        while not self._stopped.is_set():
            with self._lock:
                left = max(until, self._until) - self._clock()
            if left <= 0:
                return True
            self._stopped.wait(left)
        return False


Message = Mapping[str, str]

_REPEAT = {408, 409, 425, 429}
_ONE_TEXT = {400, 413, 422, 424}  # what may be about one text; every other status of 4xx is about all of them
_NO_SCHEMA = {400, 422, 500, 501}
_LONGEST_NAME = 200  # characters


@dataclass(frozen=True, kw_only=True)
class JudgeReply:
    """A judge's words, and why they ended ("stop", "length", ...). Tokens are as reported, None if they were not.

    ``cached_tokens``: input in the server's prefix cache. ``model``: the model that answered, as the server names it,
    or "". ``system_fingerprint``: the server's name for how it serves it, or "".
    """

    text: str
    finish: str = ""
    refusal: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    model: str = ""
    cached_tokens: int | None = None
    system_fingerprint: str = ""


@dataclass(eq=False, kw_only=True)
class RequestFailure(Exception):
    """A request that brought no reply.

    Attributes:
        repeat: it may be sent again. wait: how long the endpoint asks to wait, in seconds.
        fatal: no other request will fare better (a wrong key, an unknown model).
        status: of the HTTP reply, None if there was none.
        unsupported: replies by schema may be unsupported. Only a probe tells.
        billed: it may have cost its input, though nothing readable came.
    """

    reason: str = field(kw_only=False)
    repeat: bool = False
    wait: float | None = None
    fatal: bool = False
    status: int | None = None
    unsupported: bool = False
    billed: bool = False

    def __str__(self) -> str:
        return f"request failed: {self.reason}"


class ChatTransport:
    """An OpenAI-compatible endpoint. ``private``: no third party, so no proxy either, may see the texts."""

    def __init__(self, settings: JudgeSettings, *, private: bool = False) -> None:
        import httpx

        self._settings = settings
        self._url = f"{settings.address.url}/chat/completions"
        headers = {"User-Agent": f"lmms-medtasks/{metadata.version('lmms-medtasks')}"}
        auth = None
        if settings.address.user:
            auth = httpx.BasicAuth(settings.address.user, settings.address.password)
        elif settings.key:
            headers["Authorization"] = f"Bearer {settings.key}"
        for name, variable in (("OpenAI-Organization", "OPENAI_ORG_ID"), ("OpenAI-Project", "OPENAI_PROJECT_ID")):
            if settings.provider == "openai" and os.environ.get(variable):
                headers[name] = os.environ[variable]
        self._lock = threading.Lock()
        self._streams: weakref.WeakSet[Any] = weakref.WeakSet()
        many = settings.concurrency
        self._client = httpx.Client(
            headers=headers,
            auth=auth,
            timeout=httpx.Timeout(settings.timeout, pool=None),
            limits=httpx.Limits(max_connections=many, max_keepalive_connections=many),
            follow_redirects=False,
            trust_env=not private,
        )

    def send(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> JudgeReply:
        """Ask once; raises :class:`RequestFailure`."""
        import httpx

        body = self._request_body(messages, schema)
        try:
            with self._client.stream("POST", self._url, json=body, extensions={"trace": self._note_stream}) as response:
                content = self._read_content(response)
        except httpx.TimeoutException as error:
            raise RequestFailure(f"no reply in {self._settings.timeout:g} s", repeat=True, billed=True) from error
        except (httpx.TransportError, httpx.StreamError) as error:
            # Refused is for certain not billed; cut off in the middle may be.
            cut = not isinstance(error, httpx.ConnectError)
            words = self._shorten_message(str(error) or type(error).__name__)
            raise RequestFailure(words, repeat=True, billed=cut) from error
        except (httpx.InvalidURL, httpx.HTTPError, RuntimeError) as error:
            raise RequestFailure(self._shorten_message(str(error))) from error
        if response.status_code != 200:
            raise self._status_failure(response.status_code, response.headers, content, schema is not None)
        return self._parse_reply(content)

    def close(self) -> None:
        """End what is in flight at once: closing a client alone would leave its threads waiting for replies."""
        with self._lock:
            streams = list(self._streams)
        for stream in streams:
            with contextlib.suppress(OSError):  # ended already
                # Not its own method, which in TLS is more than that and not for two threads.
                socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)
        self._client.close()

    def _note_stream(self, event: str, info: Mapping[str, Any]) -> None:
        """Called by the client at each step of a request: keeps its connections, for :meth:`close`."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            with self._lock:
                self._streams.add(info["return_value"])

    def _request_body(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> dict[str, Any]:
        settings = self._settings
        body: dict[str, Any] = {"model": settings.model, "messages": [dict(message) for message in messages]}
        if settings.temperature is None:  # a reasoning model
            body["max_completion_tokens"] = settings.max_tokens
        else:
            body |= {"max_tokens": settings.max_tokens, "temperature": settings.temperature}
        if schema is not None:
            form = {"name": "verdict", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body

    def _read_content(self, response: Any) -> bytes:
        """The body, as far as it comes in time: a server that drips counts as one that hangs."""
        deadline, content = time.monotonic() + self._settings.timeout, bytearray()
        for chunk in response.iter_bytes():
            content += chunk
            if len(content) > LONGEST_BODY:
                # The next one would be as long.
                raise RequestFailure(
                    f"the reply is larger than {LONGEST_BODY / 1e6:g} MB, so it was cut off", billed=True
                )
            if time.monotonic() > deadline:
                message = f"the reply had not ended after {self._settings.timeout:g} s"
                raise RequestFailure(message, repeat=True, billed=True)
        return bytes(content)

    def _status_failure(
        self, status: int, headers: Mapping[str, str], content: bytes, with_schema: bool
    ) -> RequestFailure:
        message = self._shorten_message(content.decode("utf-8", "replace"))
        out_of_money = status == 429 and "insufficient_quota" in message
        if 300 <= status < 400:
            message = "it answers with a redirect, and none is followed"
        return RequestFailure(
            f"status {status}, {message}",
            repeat=(status in _REPEAT or status >= 500) and not out_of_money,
            wait=parse_retry_after({name.lower(): value for name, value in headers.items()}),
            fatal=(300 <= status < 500 and status not in _REPEAT | _ONE_TEXT) or out_of_money,
            status=status,
            unsupported=with_schema and status in _NO_SCHEMA,
        )

    def _shorten_message(self, text: str) -> str:
        line = " ".join(self._settings.secrets.redacted(text).split())
        return line if len(line) <= 300 else f"{line[:297]}..."

    def _parse_reply(self, content: bytes) -> JudgeReply:
        try:
            body = json.loads(content)
            rest = {name: each for name, each in body.items() if name != "choices"}
            if not body.get("choices") and (error_text := server_error_text(rest.get("error") or rest)):
                words = self._shorten_message(error_text)
                raise RequestFailure(f"an error with status 200, {words}", repeat=True)
            choice = body["choices"][0]
            message = choice["message"]
            content_parts, refusal = message.get("content"), message.get("refusal")
            usage = body.get("usage") or {}
            input_tokens = _token_count(usage.get("prompt_tokens"))
            output_tokens = _token_count(usage.get("completion_tokens"))
            cached = _token_count((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
            if cached is None:  # as DeepSeek says it
                cached = _token_count(usage.get("prompt_cache_hit_tokens"))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            words = self._shorten_message(content.decode("utf-8", "replace"))
            raise RequestFailure(f"malformed body, {words}", repeat=True, billed=True) from error
        finish = choice.get("finish_reason")
        if parse_finish_reason(finish) == "error":
            error_text = server_error_text(choice.get("error"))
            words = self._shorten_message(
                f"the reply broke off, finish_reason {finish}{f': {error_text}' if error_text else ''}"
            )
            raise RequestFailure(words, repeat=True, billed=True)
        text = content_text(content_parts)
        if text is None or not isinstance(refusal, str | None):
            # The next reply would have this form too.
            raise RequestFailure("malformed body, the message is no text", billed=True)
        return JudgeReply(
            text=_encodable_text(text),
            finish=finish if isinstance(finish, str) else "",
            refusal=_encodable_text(refusal),
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            model=self._clean_name(body.get("model")),
            cached_tokens=cached,
            system_fingerprint=self._clean_name(body.get("system_fingerprint")),
        )

    def _clean_name(self, name: Any) -> str:
        """A name as the server gave it: short, on one line, without our key; "" if it gave none."""
        line = " ".join(self._settings.secrets.redacted(_encodable_text(name)).split()) if isinstance(name, str) else ""
        return "".join(each for each in line if each.isprintable())[:_LONGEST_NAME]


def _encodable_text(text: str | None) -> str:
    """A text without the half characters that JSON may hold and no encoding takes."""
    return (text or "").encode("utf-8", "replace").decode("utf-8")


def _token_count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
