"""Ask a server many questions at once: render them ahead in threads, within bounds, and classify failures.

A question is asked in one request with ``n`` for its trials, or in one request a trial. The client of the ``openai``
package repeats temporary failures (connections, 408, 409, 429, 5xx) and waits longer each time.
"""

from __future__ import annotations

import asyncio
import functools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import openai

from lmms_medtasks import redacting
from lmms_medtasks.chat_replies import MissingReply, parse_choice
from lmms_medtasks.errors import UserError
from lmms_medtasks.harness.chat_servers import completion_choices, limit_bodies
from lmms_medtasks.harness.failed_requests import MARK as FAILED
from lmms_medtasks.parsing.reply import SentReply
from lmms_medtasks.parsing.texts import replace_half_characters

IN_A_ROW = 20
"""Number of questions in a row without a reply that ends the run."""

HELD_BYTES = 256_000_000
"""Size of the questions in flight from which no further question is rendered."""

_ONLY_THIS_ONE = (openai.BadRequestError, openai.UnprocessableEntityError, openai.ConflictError)
_TOO_LARGE = 413
_MOST_NAMES, _LONGEST_NAME = 20, 200
_LONGEST_WAIT = 8.0  # seconds, as the openai package waits at most

Item = TypeVar("Item")
Body = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class ServerConnection:
    """A server's address and key. ``timeout``: seconds. ``retries``: how often a failed request is repeated."""

    base_url: str
    api_key: str
    timeout: float
    retries: int
    model: str

    @functools.cached_property
    def secrets(self) -> redacting.Secrets:
        """Texts that must not be in any message, reply or file."""
        arguments = {"api_key": self.api_key, "base_url": self.base_url, "model": self.model}
        return redacting.secrets_of_arguments(arguments) | redacting.secrets_of_environment()

    @property
    def shown_url(self) -> str:
        """The address as it may be shown."""
        return redacting.redact_address(self.base_url, [self.model])

    def client_options(self) -> dict[str, Any]:
        return {
            "base_url": self.base_url, "api_key": self.api_key, "timeout": self.timeout, "max_retries": self.retries,
        }  # fmt: skip

    def describe_error(self, error: BaseException) -> str:
        """A short text of an error, without the secrets, which some servers repeat."""
        text = replace_half_characters(" ".join(str(error).split()))
        return self.secrets.redacted(text)[:400] or type(error).__name__


@dataclass(frozen=True, kw_only=True)
class PreparedQuestion:
    """A question in the form of a request.

    Attributes:
        body: arguments of ``chat.completions.create`` without ``n`` and ``seed``.
        trials: the numbers of the trials.
        seed: that of trial 0, or None for no seed; trial t has seed + t.
        size: bytes.
    """

    body: dict[str, Any]
    trials: tuple[int, ...]
    seed: int | None
    size: int


@dataclass(frozen=True)
class ServerReply:
    """The reply to one trial; a text that begins with :data:`FAILED` marks a failed request.

    ``broke_off``: it ended by a fault, and the same request may bring a reply.
    """

    text: SentReply
    input_tokens: int | None = None
    output_tokens: int | None = None
    broke_off: bool = False

    @property
    def is_failed(self) -> bool:
        return self.text.startswith(FAILED)


def _failed_reply(why: object, broke_off: bool = False) -> ServerReply:
    return ServerReply(SentReply(f"{FAILED} {why}", "error"), broke_off=broke_off)


@dataclass
class ServerUsage:
    """Counts of the responses so far.

    Attributes:
        requests, together: requests that were answered or failed, and those with n > 1 among them.
        models, fingerprints: names of the model and of ``system_fingerprint`` in replies.
    """

    requests: int = 0
    together: int = 0
    models: set[str] = field(default_factory=set)
    fingerprints: set[str] = field(default_factory=set)


OnReplies = Callable[[dict[int, ServerReply]], object]


class ServerClient(Generic[Item]):
    """Asks a server questions. It can be used several times, each time with an event loop of its own.

    ``concurrency``: requests in flight at most. ``threads``: those that prepare questions. ``most_together``: the
    largest n in a request, 1 for one request a trial; it falls when the server refuses or ignores n. ``counts_first``:
    whether the server counts the tokens of the first of n replies only; those of others are unknown.
    """

    def __init__(self, connection: ServerConnection, concurrency: int, threads: int) -> None:
        self.connection = connection
        self.most_together = math.inf
        self.counts_first = False
        self._concurrency, self._threads = concurrency, threads
        self._in_a_row = 0
        self._any_reply = False
        self._most_asked = 1  # replies in one body

    def ask_all(
        self,
        items: Sequence[Item],
        prepare: Callable[[Item], PreparedQuestion],
        finished: Callable[[Item, dict[int, ServerReply]], None],
        seen: ServerUsage,
    ) -> None:
        """Ask all questions. ``prepare`` is called in threads, ``finished`` once for each trial's reply as it comes.

        ``seen`` is added to.

        Raises UserError if further requests are useless: the key is refused, the model is not known, or
        :data:`IN_A_ROW` questions in a row got no reply. Errors of ``prepare`` and ``finished`` pass through.
        """

        async def ask_in_workers() -> None:
            async with openai.AsyncOpenAI(**self.connection.client_options()) as client:
                with ThreadPoolExecutor(self._threads) as pool, limit_bodies(client, lambda: self._most_asked):
                    call = _Call(self, client, pool, seen, prepare=prepare, finished=finished)
                    # The workers beyond the requests in flight prepare the next questions.
                    count = min(len(items), self._concurrency + 2 * self._threads)
                    todo = iter(items)
                    tasks = [asyncio.create_task(call.take_questions(todo)) for _ in range(count)]
                    try:
                        await asyncio.gather(*tasks)
                    finally:
                        for task in tasks:
                            task.cancel()
                        await asyncio.gather(*tasks, return_exceptions=True)

        asyncio.run(ask_in_workers())

    def count_in_a_row(self, replies: Iterable[ServerReply]) -> None:
        """Count a question; raise UserError at :data:`IN_A_ROW` questions in a row without a reply."""
        failures = list(replies)
        if not all(reply.is_failed for reply in failures):
            self._in_a_row, self._any_reply = 0, True
            return
        self._in_a_row += 1
        if self._in_a_row >= IN_A_ROW:
            last = failures[-1].text.removeprefix(FAILED).strip().rstrip(".")
            raise UserError(
                f"{self._in_a_row} questions in a row got no reply from {self.connection.shown_url}. The last failure: "
                f"{last}. Fix that (the server's own log says more), and give the same command again."
            )

    def stop_if_fatal(self, error: Exception) -> None:
        """Raise UserError for an error that every further request would get too (a wrong key, an unknown model)."""
        words = f"{self.connection.shown_url} says: {self.connection.describe_error(error).rstrip('. ')}."
        if isinstance(error, openai.AuthenticationError) or (
            isinstance(error, openai.PermissionDeniedError) and not self._any_reply
        ):
            raise UserError(
                f"The server refuses the key. {words} Give the right one as OPENAI_API_KEY or api_key=…, and give "
                "the same command again."
            ) from error
        if isinstance(error, openai.NotFoundError):
            raise UserError(
                f"The server does not know the model or the address. {words} Compare model=… and base_url=… (it ends "
                "in /v1 as a rule) with what it serves, and give the same command again."
            ) from error


class _Call(Generic[Item]):
    """One call of :meth:`ServerClient.ask_all`, within its event loop."""

    def __init__(
        self,
        asker: ServerClient[Item],
        client: openai.AsyncOpenAI,
        pool: ThreadPoolExecutor,
        seen: ServerUsage,
        *,
        prepare: Callable[[Item], PreparedQuestion],
        finished: Callable[[Item, dict[int, ServerReply]], None],
    ) -> None:
        self._asker, self._client, self._pool, self._seen = asker, client, pool, seen
        self._prepare, self._finished = prepare, finished
        self._in_flight = asyncio.Semaphore(asker._concurrency)
        self._preparing = asyncio.Semaphore(asker._threads + 1)  # one more, so that no thread waits for the loop
        self._freed = asyncio.Condition()
        self._held = 0

    async def take_questions(self, todo: Iterator[Item]) -> None:
        """Ask questions from ``todo``, which all workers share, until it is empty."""
        loop = asyncio.get_running_loop()
        for item in todo:
            async with self._preparing:
                async with self._freed:
                    await self._freed.wait_for(lambda: self._held < HELD_BYTES)
                question = await loop.run_in_executor(self._pool, self._prepare, item)
                self._held += question.size
            replies = await self._ask_question(question, functools.partial(self._finished, item))
            size = question.size
            del question  # frees its memory before the next one is prepared
            async with self._freed:
                self._held -= size
                self._freed.notify_all()
            self._asker.count_in_a_row(replies.values())

    async def _ask_question(self, question: PreparedQuestion, on_replies: OnReplies) -> dict[int, ServerReply]:
        """The reply to each of the question's trials; ``on_replies`` is called with all of them."""
        first, count = question.trials[0], len(question.trials)
        in_order = question.trials == tuple(range(first, first + count))  # as n counts its seeds
        replies: dict[int, ServerReply] = {}
        refused = False
        if in_order and 1 < count <= self._asker.most_together:
            try:
                replies = await self._send_request(question, question.trials)
                if len(replies) < count:
                    self._asker.most_together = 1  # the server ignores n
                replies = {trial: reply for trial, reply in replies.items() if not reply.broke_off}
            except _Refused:
                refused = True  # because of n, or of the question itself
        if not replies:
            try:
                replies = await self._send_request(question, question.trials[:1])
            except _Refused as error:
                replies = dict.fromkeys(question.trials, _failed_reply(error))
            if refused and not replies[first].is_failed:
                self._asker.most_together = min(self._asker.most_together, count - 1)
        on_replies(replies)  # before the next request, so that a kill loses only replies in flight
        missing = [trial for trial in question.trials if trial not in replies]
        for single in await asyncio.gather(*(self._ask_trial(question, trial, on_replies) for trial in missing)):
            replies.update(single)
        return replies

    async def _ask_trial(self, question: PreparedQuestion, trial: int, on_replies: OnReplies) -> dict[int, ServerReply]:
        try:
            replies = await self._send_request(question, (trial,))
        except _Refused as error:
            replies = {trial: _failed_reply(error)}
        on_replies(replies)
        return replies

    async def _send_request(self, question: PreparedQuestion, trials: tuple[int, ...]) -> dict[int, ServerReply]:
        """One request; the replies to ``trials``, or to the first ones. Raises _Refused for an impossible request."""
        body = dict(question.body)
        self._asker._most_asked = max(self._asker._most_asked, len(trials))
        if len(trials) > 1:
            body["n"] = len(trials)
        if question.seed is not None:
            body["seed"] = question.seed + trials[0]
        try:
            async with self._in_flight:
                self._seen.requests += 1
                self._seen.together += len(trials) > 1
                completion, replies = await self._request_completion(body)
        except (openai.OpenAIError, ValueError) as error:
            self._asker.stop_if_fatal(error)
            description = self._asker.connection.describe_error(error)
            if isinstance(error, _ONLY_THIS_ONE) or getattr(error, "status_code", None) == _TOO_LARGE:
                raise _Refused(description) from error
            return dict.fromkeys(trials, _failed_reply(f"{type(error).__name__}: {description}"))
        self._note_name(self._seen.models, completion.model)
        self._note_name(self._seen.fingerprints, completion.system_fingerprint)
        return dict(zip(trials, replies, strict=False))

    def _note_name(self, names: set[str], name: object) -> None:
        """Keep a name that the server gives itself, up to a number of names."""
        if isinstance(name, str) and name and len(names) < _MOST_NAMES:
            names.add(self._asker.connection.secrets.redacted(replace_half_characters(name))[:_LONGEST_NAME])

    async def _request_completion(self, body: Body) -> tuple[Any, list[ServerReply]]:
        """The server's completion, and the replies in it.

        The request is repeated if the body is not a completion, or all its replies broke off.
        """
        limit = body.get("max_tokens", body.get("max_completion_tokens"))
        for attempt in range(self._asker.connection.retries + 1):
            problem, completion, replies = "The server sent a completion without choices.", None, []
            try:
                completion = await self._client.chat.completions.create(**body)
                replies = list(_replies_of(completion, self._asker.counts_first, limit))
                if not all(reply.broke_off for reply in replies):
                    break
            except ValueError as error:  # no JSON, or JSON of another form
                problem = f"The server sent no completion ({error})."
            if attempt < self._asker.connection.retries:
                await asyncio.sleep(min(_LONGEST_WAIT, 0.5 * 2**attempt))
        if not replies:
            raise ValueError(problem)
        return completion, replies


class _Refused(Exception):
    """The server can't answer this request, for example because it is too long or n is too large."""


def _replies_of(completion: Any, counts_first: bool, limit: int | None) -> Iterator[ServerReply]:
    choices = completion_choices(completion)
    read, written = (_token_count(completion.usage, name) for name in ("prompt_tokens", "completion_tokens"))
    for choice in choices:
        if counts_first:
            choice_tokens = written if choice is choices[0] else None
        else:
            choice_tokens = None if written is None else written // len(choices)
        try:
            yield ServerReply(parse_choice(choice, limit), read, choice_tokens)
        except MissingReply as error:
            yield _failed_reply(error, error.again)


def _token_count(usage: Any, name: str) -> int | None:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) else None
