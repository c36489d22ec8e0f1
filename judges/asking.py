"""One judgement: the prompt, the request and its repetitions, the verdict, and one more try where it can't be read."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.budget import Budget, estimated_tokens
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.identity import answer_phrase, mode_of, one_model_advice
from lmms_medtasks.judges.protocol import Item, Protocol, Verdict
from lmms_medtasks.judges.retrying import Brake, backoff
from lmms_medtasks.judges.settings import Settings
from lmms_medtasks.judges.transport import Failure, Message, Reply, Transport

_ASKED_TO_WAIT = 1 / 3
"""What an attempt counts that ended with the endpoint asking to wait: it is busy, not broken."""
_SHOWN_AGAIN = 2000  # characters of an unreadable reply that are shown to the judge again


class NoReply(Exception):
    """There is none, and there will be none: the reason."""


class Asker:
    """Asks one judge; safe in many threads, which share what they learn of it.

    Once the judge has refused our key or has no such model, or as many requests in a row as are in flight have failed
    for good, nothing more is asked.
    """

    def __init__(self, settings: Settings, transport: Transport, budget: Budget, brake: Brake) -> None:
        self._settings, self._transport, self._budget, self._brake = settings, transport, budget, brake
        self._lock = threading.Lock()
        self._lost_in_a_row = 0
        self._gone = ""
        self._model: str | None = None
        self._other: str | None = None

    @property
    def gone(self) -> str:
        """Why the judge is asked no more; "" while it is."""
        with self._lock:
            return self._gone

    @property
    def model(self) -> str | None:
        """The model that answers, as its server names it, "" if it names none; None while none has answered."""
        with self._lock:
            return self._model

    @property
    def other_model(self) -> str | None:
        """The model that answered instead of :attr:`model`, which ended the asking; None if none did."""
        with self._lock:
            return self._other

    def expect(self, model: str) -> None:
        """Take verdicts of this model only, unless another has answered already: some are had of it."""
        with self._lock:
            self._model = model if self._model is None else self._model

    def ask(self, protocol: Protocol, item: Item, key: str) -> Verdict:
        """The judge's verdict on ``item``, or a missing one with the reason; ``key`` is what jitter depends on."""
        mode = mode_of(self._settings, protocol)
        messages: list[Message] = [{"role": "user", "content": prompts.render(protocol, item, mode).text}]
        try:
            reply = self._reply(messages, protocol, key)
        except NoReply as error:
            return Verdict("missing", reason=str(error))
        first = self._read(protocol, item, reply)
        if first.status == "judged":
            return first
        said = [{"role": "assistant", "content": reply.text[-_SHOWN_AGAIN:]}] if reply.text.strip() else []
        messages += [*said, {"role": "user", "content": prompts.again(protocol, first.reason, mode)}]
        if not said:  # servers want turns to alternate
            messages = [{"role": "user", "content": "\n\n".join(message["content"] for message in messages)}]
        try:
            return self._read(protocol, item, self._reply(messages, protocol, f"{key}/again"))
        except NoReply as error:
            return Verdict("missing", reason=f"{first.reason}; asked again: {error}", reply=first.reply)

    def _read(self, protocol: Protocol, item: Item, reply: Reply) -> Verdict:
        """The verdict as it came; its words are kept without our key, which an endpoint may repeat in what it says."""
        clean = self._settings.scrubbed
        found, shown = (
            verdicts.read(
                protocol,
                text,
                mode=mode_of(self._settings, protocol),
                item=item,
                finish=reply.finish,
                refusal=refusal,
            )
            for text, refusal in ((reply.text, reply.refusal), (clean(reply.text), clean(reply.refusal)))
        )
        read = shown if found.status == "missing" else dataclasses.replace(found, reply=shown.reply)
        return dataclasses.replace(read, model=reply.model, system_fingerprint=reply.system_fingerprint)

    def _reply(self, messages: Sequence[Message], protocol: Protocol, key: str) -> Reply:
        """Send until there is a reply; raises :class:`NoReply`."""
        tokens = sum(estimated_tokens(message["content"]) for message in messages)
        spent, delay, attempt = 0.0, 0.0, 0
        schema = verdicts.schema(protocol) if mode_of(self._settings, protocol) == "schema" else None
        while True:
            self._pass(delay, tokens)
            try:
                reply = self._send(messages, schema, tokens)
            except Failure as failure:
                attempt, spent = attempt + 1, spent + (1.0 if failure.wait is None else _ASKED_TO_WAIT)
                delay = self._delay(failure, attempt, spent, key)
                continue
            self._check_model(reply.model)
            with self._lock:
                self._lost_in_a_row = 0
            return reply

    def _pass(self, delay: float, tokens: int) -> None:
        """Wait until a request may be sent, and set it aside in the budget."""
        if self.gone:
            raise NoReply(self.gone)
        if not self._brake.wait(delay):
            raise NoReply("stopped: the run was interrupted")
        if self.gone:
            raise NoReply(self.gone)
        if ceiling := self._budget.reserve(tokens):
            raise NoReply(ceiling)

    def _send(self, messages: Sequence[Message], schema: Mapping[str, Any] | None, tokens: int) -> Reply:
        used = (0, 0, 0)
        try:
            reply = self._transport.send(messages, schema)
            given, got = reply.input_tokens, reply.output_tokens
            got = estimated_tokens(reply.text) if got is None else got
            used = (tokens if given is None else given, got, reply.cached_tokens or 0)
            return reply
        except Failure as failure:
            used = (tokens if failure.billed else 0, 0, 0)
            raise
        finally:
            self._budget.settle(tokens, *used)

    def _delay(self, failure: Failure, attempt: int, spent: float, key: str) -> float:
        """How long to wait before the next attempt; raises :class:`NoReply` if there is to be none."""
        if failure.fatal:
            self._give_up(f"{failure} (the judge was asked no more)")
        if not failure.repeat:
            raise NoReply(str(failure)) from failure
        if failure.wait is not None and failure.wait > defaults()["longest_wait"]:
            self._give_up(f"{failure} (it asks to wait {failure.wait:.0f} s; the judge was asked no more)")
        if self._brake.stopped:
            raise NoReply("stopped: the run was interrupted") from failure
        if spent > self._settings.retries:
            self._lost(failure)
            raise NoReply(f"{failure} ({attempt} attempts)") from failure
        if failure.wait is not None:
            self._brake.hold(failure.wait)
        return backoff(attempt - 1, key)

    def _give_up(self, reason: str) -> None:
        with self._lock:
            self._gone = self._gone or reason
        raise NoReply(reason)

    def _check_model(self, model: str) -> None:
        """End the asking where another model answers than before; raises :class:`NoReply`."""
        with self._lock:
            self._model = model if self._model is None else self._model
            if model == self._model:
                return
            self._other, before = model, self._model
        self._give_up(
            f"another model: {self._settings.name} is {answer_phrase(model)}, the verdicts before are "
            f"{answer_phrase(before)}; the judge was asked no more. {one_model_advice(self._settings, model)}"
        )

    def _lost(self, failure: Failure) -> None:
        with self._lock:
            self._lost_in_a_row += 1
            if self._lost_in_a_row >= self._settings.concurrency and not self._gone:
                self._gone = f"{failure} ({self._lost_in_a_row} in a row; the judge was asked no more)"
