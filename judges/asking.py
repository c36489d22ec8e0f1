"""One judgement: the prompt, the request and its repetitions, the verdict, and a second request if it can't be read.

A probe before a protocol's first question tells whether the server replies by schema. Without it half of the verdicts
might be by schema and half without, as if of two judges. It also finds a server that is down or refuses every request.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.budget import JudgeBudget, estimated_tokens
from lmms_medtasks.judges.identity import answer_phrase, mode_of, one_model_advice
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict
from lmms_medtasks.judges.settings import JUDGE, JudgeSettings, default_settings
from lmms_medtasks.judges.transport import (
    ChatTransport,
    JudgeReply,
    Message,
    RequestFailure,
    RequestPause,
    attempts_spent,
    backoff_seconds,
    wait_line,
)

_SHOWN = 3  # kinds of what came back
_WORDS = 200  # characters of the last reply
_TOLD = (
    "request failed", "ceiling", "no judge", "no cache", "no schema", "stopped", "another model", "not kept",
)  # fmt: skip


_SHOWN_AGAIN = 2000  # characters of an unreadable reply that are shown to the judge again
_FORBIDDEN = 403
_LOOK_AGAIN = 0.2  # seconds: who waits for a turn looks whether all was stopped

INTERRUPTED = "stopped: the run was interrupted"


def failure_kind(reason: str, protocol: JudgeProtocol) -> str:
    """The part of a reason to count by: an endpoint's words count, a judge's don't; under terms neither does."""
    if protocol.terms or not reason.startswith(_TOLD):
        return reason.partition(":")[0]
    return reason


class FailureStreak:
    """Judgements in a row without a valid verdict, with their reasons. Not thread-safe: the owner holds the lock.

    They end the judging at ``hopeless_after`` (defaults.yml). If no request brought a reply after all its attempts,
    they end it earlier: at as many judgements as are in flight, and as many attempts together.
    """

    def __init__(self, settings: JudgeSettings) -> None:
        self._settings = settings
        self._kinds: Counter[str] = Counter()
        self._lost = 0
        self._last_reply = ""
        self.ended = False

    def clear_failures(self) -> None:
        self._kinds.clear()
        self._lost, self._last_reply = 0, ""

    def count_failure(self, verdict: JudgeVerdict, protocol: JudgeProtocol, *, lost: bool, in_flight: int) -> str:
        """Count a failed judgement; the reason to end the judging, or "". ``lost``: no attempt brought a reply."""
        self._kinds[failure_kind(verdict.reason, protocol)] += 1
        self._lost = self._lost + 1 if lost else 0
        self._last_reply = "" if protocol.terms else verdict.reply or self._last_reply
        count, limit = self._kinds.total(), default_settings()["hopeless_after"]
        attempts = self._settings.retries + 1
        enough = min(limit, max(math.ceil(limit / attempts), default_settings()["at_once_at_first"], in_flight))
        if self._settings.keep_going or (count < limit and self._lost < enough):
            return ""
        self.ended = True
        description = (
            f"{count} judgements in a row without a valid verdict"
            if count >= limit
            else f"{self._lost} judgements in a row without any reply, all attempts made"
        )
        return f"stopped: {description}"

    def __str__(self) -> str:
        parts = [f"{count} × {reason}" for reason, count in self._kinds.most_common(_SHOWN)]
        if more := self._kinds.total() - sum(count for _, count in self._kinds.most_common(_SHOWN)):
            parts.append(f"{more} × other")
        words = " ".join(self._last_reply.split())
        last_words = f". The last reply: {words[:_WORDS]!r}{'…' if len(words) > _WORDS else ''}" if words else ""
        return "; ".join(parts) + last_words


class NoReply(Exception):
    """Raised when a reply will never arrive; the message is the reason."""


class NotAsked(NoReply):
    """Raised when no request is sent: the judge was given up, a ceiling is reached, or the run was stopped."""


class AllAttemptsFailed(NoReply):
    """Raised when all attempts of a request failed."""


class RequestSender:
    """Sends requests to a judge, within a budget and at the pace that its server asks for. Thread-safe."""

    def __init__(
        self, settings: JudgeSettings, transport: ChatTransport, budget: JudgeBudget, brake: RequestPause
    ) -> None:
        self.settings, self.transport, self.budget, self.brake = settings, transport, budget, brake

    def send_until_reply(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        key: str,
        check_failure: Callable[[RequestFailure, int, float], None],
        check_open: Callable[[], None] = lambda: None,
    ) -> JudgeReply:
        """Send until a reply comes. Raises :class:`NotAsked` at a ceiling and after a stop.

        ``key`` seeds the jitter. ``check_failure`` gets a failure, the number of attempts and what they count; it
        raises to end them. ``check_open`` is called around each wait; it raises to send nothing more.
        """
        tokens = sum(estimated_tokens(message["content"]) for message in messages)
        spent, delay, attempt = 0.0, 0.0, 0
        while True:
            self._wait_to_send(delay, tokens, check_open)
            try:
                reply = self._send_once(messages, schema, tokens)
            except RequestFailure as failure:
                attempt, spent = attempt + 1, spent + attempts_spent(failure.wait)
                check_failure(failure, attempt, spent)
                delay = backoff_seconds(attempt - 1, key)
                continue
            self.brake.note_reply()
            return reply

    def hold_requests(self, failure: RequestFailure) -> str:
        """Let all requests wait as long as the server asks; a clause with the reason if that is too long, else ""."""
        if failure.wait is None:
            return ""
        total = self.brake.hold_requests(failure.wait, longest := default_settings()["longest_wait"])
        return f"it asks to wait {failure.wait:.0f} s, {total:.0f} s since its last reply" if total > longest else ""

    def _wait_to_send(self, delay: float, tokens: int, check_open: Callable[[], None]) -> None:
        check_open()
        waited = self.brake.wait_until_free(delay)
        check_open()
        if not waited:
            raise NotAsked(INTERRUPTED)
        if ceiling := self.budget.reserve_request(tokens):
            raise NotAsked(ceiling)

    def _send_once(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, tokens: int) -> JudgeReply:
        used = (0, 0, 0)
        try:
            reply = self.transport.send(messages, schema)
            given, got = reply.input_tokens, reply.output_tokens
            got = estimated_tokens(reply.text) if got is None else got
            used = (tokens if given is None else given, got, reply.cached_tokens or 0)
            return reply
        except RequestFailure as failure:
            used = (tokens if failure.billed else 0, 0, 0)
            raise
        finally:
            self.budget.settle_request(tokens, *used)


class JudgeClient:
    """Asks one judge. Threads share what they learn of it.

    Nothing more is asked once the judge has refused our key or has no such model, once it is hopeless
    (:class:`FailureStreak`), or once another model answers. Until the first response one answer is judged at a time,
    until the first valid verdict a few.

    ``stop_reason``: why the judge is asked no more, or "". ``model``: the one that answers, "" if its server names
    none, None before any answer. ``other_model``: the one that answered instead, which ended the asking.
    """

    def __init__(self, sender: RequestSender) -> None:
        self.sender, self._settings, self._brake = sender, sender.settings, sender.brake
        self._changed = threading.Condition()
        self.streak = FailureStreak(sender.settings)
        self._in_progress = 0
        self._has_responded = False
        self._any_valid = False
        self.stop_reason = ""
        self.model: str | None = None
        self.other_model: str | None = None

    def expect_model(self, model: str) -> None:
        """Accept verdicts of this model only, unless another one has answered already."""
        with self._changed:
            self.model = model if self.model is None else self.model

    def give_up(self, reason: str) -> None:
        """Send nothing more. The first reason counts; all threads that wait to send are released."""
        with self._changed:
            self.stop_reason = self.stop_reason or reason
            self._changed.notify_all()
        self._brake.stop_waiting()

    def request_verdict(self, protocol: JudgeProtocol, item: JudgedItem, key: str) -> JudgeVerdict:
        """The judge's verdict on ``item``, or a missing one with the reason. ``key`` seeds the jitter."""
        lost = False
        with self._wait_for_turn():
            try:
                verdict = self._request_verdict(protocol, item, key)
            except NotAsked as error:
                return JudgeVerdict("missing", reason=str(error))
            except NoReply as error:
                verdict, lost = JudgeVerdict("missing", reason=str(error)), isinstance(error, AllAttemptsFailed)
            self._count_judgement(verdict, protocol, lost=lost)
        return verdict

    def _request_verdict(self, protocol: JudgeProtocol, item: JudgedItem, key: str) -> JudgeVerdict:
        mode = mode_of(self._settings, protocol)
        messages: list[Message] = [{"role": "user", "content": prompts.render_prompt(protocol, item, mode).text}]
        reply = self._request_reply(messages, protocol, key)
        first = self._read_verdict(protocol, item, reply)
        if first.status == "judged":
            return first
        previous = [{"role": "assistant", "content": reply.text[-_SHOWN_AGAIN:]}] if reply.text.strip() else []
        messages += [
            *previous,
            {"role": "user", "content": prompts.render_repeated_prompt(protocol, first.reason, mode)},
        ]
        if not previous:  # servers want turns to alternate
            messages = [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]
        try:
            return self._read_verdict(protocol, item, self._request_reply(messages, protocol, f"{key}/again"))
        except NoReply as error:
            return JudgeVerdict("missing", reason=f"{first.reason}; asked again: {error}", reply=first.reply)

    def _count_judgement(self, verdict: JudgeVerdict, protocol: JudgeProtocol, *, lost: bool) -> None:
        with self._changed:
            self._has_responded = True
            if verdict.status == "judged":
                self._any_valid = True
                self.streak.clear_failures()
            elif not self.stop_reason and (
                reason := self.streak.count_failure(verdict, protocol, lost=lost, in_flight=self._at_once)
            ):
                self.stop_reason = reason
                self._brake.stop_waiting()
            self._changed.notify_all()

    def _read_verdict(self, protocol: JudgeProtocol, item: JudgedItem, reply: JudgeReply) -> JudgeVerdict:
        """Parse the verdict. Its text is kept without our key, which an endpoint may repeat."""
        clean = self._settings.secrets.redacted_reply
        verdict, redacted = (
            verdicts.parse_verdict(
                protocol,
                text,
                mode=mode_of(self._settings, protocol),
                item=item,
                finish=reply.finish,
                refusal=refusal,
            )
            for text, refusal in ((reply.text, reply.refusal), (clean(reply.text), clean(reply.refusal)))
        )
        kept = redacted if verdict.status == "missing" else dataclasses.replace(verdict, reply=redacted.reply)
        return dataclasses.replace(kept, model=reply.model, system_fingerprint=reply.system_fingerprint)

    def _request_reply(self, messages: Sequence[Message], protocol: JudgeProtocol, key: str) -> JudgeReply:
        schema = verdicts.make_verdict_schema(protocol) if mode_of(self._settings, protocol) == "schema" else None
        reply = self.sender.send_until_reply(messages, schema, key, self._check_failure, self._check_open)
        self._note_response()
        self._check_model(reply.model)
        return reply

    @property
    def _at_once(self) -> int:
        if self._any_valid:
            return self._settings.concurrency
        return min(self._settings.concurrency, default_settings()["at_once_at_first"] if self._has_responded else 1)

    def _note_response(self) -> None:
        with self._changed:
            self._has_responded = True
            self._changed.notify_all()

    @contextlib.contextmanager
    def _wait_for_turn(self) -> Iterator[None]:
        with self._changed:
            while not self.stop_reason and not self._brake.is_stopped and self._in_progress >= self._at_once:
                self._changed.wait(_LOOK_AGAIN)
            self._in_progress += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_progress -= 1
                self._changed.notify_all()

    def _check_failure(self, failure: RequestFailure, attempt: int, spent: float) -> None:
        if failure.fatal and not (failure.status == _FORBIDDEN and self._any_valid):  # a gateway may forbid one text
            self._end_asking(f"{failure} (the judge was asked no more)")
        if not failure.repeat:
            raise NoReply(str(failure)) from failure
        if self._brake.is_stopped:
            raise NotAsked(self.stop_reason or INTERRUPTED) from failure
        if too_long := self.sender.hold_requests(failure):
            self._end_asking(f"{failure} ({too_long}; the judge was asked no more)")
        if spent > self._settings.retries:
            raise AllAttemptsFailed(f"{failure} ({attempt} attempts)") from failure
        self._note_response()

    def _check_open(self) -> None:
        if self.stop_reason:
            raise NotAsked(self.stop_reason)

    def _end_asking(self, reason: str) -> None:
        self.give_up(reason)
        raise NotAsked(reason)

    def _check_model(self, model: str) -> None:
        with self._changed:
            self.model = model if self.model is None else self.model
            if model == self.model:
                return
            self.other_model, before = model, self.model
        self._end_asking(
            f"another model: {self._settings.name} is {answer_phrase(model)}, the verdicts before are "
            f"{answer_phrase(before)}; the judge was asked no more. {one_model_advice(self._settings, model)}"
        )


class SchemaProbe:
    """Asks for a verdict on nothing, once a protocol, and keeps the answer."""

    def __init__(self, sender: RequestSender) -> None:
        self._sender, self._settings = sender, sender.settings
        self._problems: dict[str, str] = {}
        self._gone = ""

    def find_problem(self, protocol: JudgeProtocol, warn: Callable[[str], None]) -> str:
        """Why the judge can't be asked; "" if it can, or if a ceiling is reached. ``warn``: told of long waits."""
        if mode_of(self._settings, protocol) == "free":
            return ""
        if protocol.name not in self._problems:
            self._problems[protocol.name] = self._gone or self._probe_schema(protocol, warn)
        return self._problems[protocol.name]

    def _probe_schema(self, protocol: JudgeProtocol, warn: Callable[[str], None]) -> str:
        schema = verdicts.make_verdict_schema(protocol)
        answer = self._send_probe(protocol, schema, warn)
        if isinstance(answer, RequestFailure) and answer.unsupported:
            without = self._send_probe(protocol, None, warn)
            # Once more: one spurious error is not the server's word.
            answer = self._send_probe(protocol, schema, warn) if isinstance(without, JudgeReply) else without
        if isinstance(answer, JudgeReply):
            read = verdicts.parse_verdict(
                protocol, answer.text, mode="schema", finish=answer.finish, refusal=answer.refusal
            )
            if read.status == "judged" or read.reason.startswith(("cut off", "refused")):
                return ""
            return self._describe_missing_schema(f"its reply is not of the schema: {read.reason}")
        if answer is None:
            return ""
        if answer.unsupported:
            return self._describe_missing_schema(answer.reason)
        self._gone = f"{answer} (the judge was asked no more)"
        return self._gone

    def _describe_missing_schema(self, reason: str) -> str:
        shown = self._settings.secrets.redacted(reason)
        return (
            f"no schema: {self._settings.name} does not reply by JSON schema ({shown}). Set {JUDGE}_REPLY=free: then "
            "it is asked without, which stands in the results."
        )

    def _send_probe(
        self, protocol: JudgeProtocol, schema: Mapping[str, Any] | None, warn: Callable[[str], None]
    ) -> JudgeReply | RequestFailure | None:
        """The reply, or the last failure; None if nothing may be sent."""

        def check_failure(failure: RequestFailure, attempt: int, spent: float) -> None:
            if failure.unsupported or not failure.repeat or spent > self._settings.retries:
                raise failure
            if too_long := self._sender.hold_requests(failure):
                raise RequestFailure(f"{failure.reason} ({too_long})")
            if failure.wait is not None and failure.wait > default_settings()["told_wait"]:
                warn(wait_line(failure.wait))

        messages = [{"role": "user", "content": prompts.render_probe(protocol)}]
        try:
            return self._sender.send_until_reply(messages, schema, f"probe/{protocol.name}", check_failure)
        except RequestFailure as failure:
            return failure
        except NotAsked:
            return None
