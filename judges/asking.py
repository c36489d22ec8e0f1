"""One judgement: the prompt, the request and its repetitions, the verdict, and one more try where it can't be read."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.budget import Budget, estimated_tokens
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.hopeless import Streak
from lmms_medtasks.judges.identity import answer_phrase, mode_of, one_model_advice
from lmms_medtasks.judges.protocol import Item, Protocol, Verdict
from lmms_medtasks.judges.retrying import Brake, attempts_spent, backoff
from lmms_medtasks.judges.settings import Settings
from lmms_medtasks.judges.transport import Failure, Message, Reply, Transport

_SHOWN_AGAIN = 2000  # characters of an unreadable reply that are shown to the judge again
_FORBIDDEN = 403
_LOOK_AGAIN = 0.2  # seconds: who waits for a turn looks whether all was stopped

INTERRUPTED = "stopped: the run was interrupted"


class NoReply(Exception):
    """There is none, and there will be none: the reason."""


class NotAsked(NoReply):
    """No request was made: the judge is asked no more, a ceiling is reached, or all was stopped."""


class Lost(NoReply):
    """All attempts failed that a request has."""


class Asker:
    """Asks one judge; safe in many threads, which share what they learn of it.

    Nothing more is asked once the judge has refused our key or has no such model, once it is hopeless
    (:class:`~lmms_medtasks.judges.hopeless.Streak`), or another model answers. Until something came back one answer
    is judged at a time, until a verdict was valid a few: a judge that can't be asked is found out with little.
    """

    def __init__(self, settings: Settings, transport: Transport, budget: Budget, brake: Brake) -> None:
        self._settings, self._transport, self._budget, self._brake = settings, transport, budget, brake
        self._changed = threading.Condition()
        self._streak = Streak(settings)
        self._in_progress = 0
        self._came_back = False
        self._any_valid = False
        self._gone = ""
        self._model: str | None = None
        self._other: str | None = None

    @property
    def gone(self) -> str:
        """Why the judge is asked no more; "" while it is."""
        with self._changed:
            return self._gone

    @property
    def came_back(self) -> str:
        """What came back of the last judgements in a row without a valid verdict; "" where there are none."""
        with self._changed:
            return str(self._streak)

    @property
    def hopeless(self) -> bool:
        """Whether too many judgements in a row without a valid verdict ended the asking."""
        with self._changed:
            return self._streak.ended

    @property
    def model(self) -> str | None:
        """The model that answers, as its server names it, "" if it names none; None while none has answered."""
        with self._changed:
            return self._model

    @property
    def other_model(self) -> str | None:
        """The model that answered instead of :attr:`model`, which ended the asking; None if none did."""
        with self._changed:
            return self._other

    def expect(self, model: str) -> None:
        """Take verdicts of this model only, unless another has answered already: some are had of it."""
        with self._changed:
            self._model = model if self._model is None else self._model

    def give_up(self, reason: str) -> None:
        """Ask no more; the first reason counts. Nobody waits on for a request that will not be sent."""
        with self._changed:
            self._gone = self._gone or reason
            self._changed.notify_all()
        self._brake.stop()

    def ask(self, protocol: Protocol, item: Item, key: str) -> Verdict:
        """The judge's verdict on ``item``, or a missing one with the reason; ``key`` is what jitter depends on."""
        lost = False
        with self._turn():
            try:
                verdict = self._judgement(protocol, item, key)
            except NotAsked as error:
                return Verdict("missing", reason=str(error))
            except NoReply as error:
                verdict, lost = Verdict("missing", reason=str(error)), isinstance(error, Lost)
            self._count(verdict, protocol, lost=lost)
        return verdict

    def _judgement(self, protocol: Protocol, item: Item, key: str) -> Verdict:
        mode = mode_of(self._settings, protocol)
        messages: list[Message] = [{"role": "user", "content": prompts.render(protocol, item, mode).text}]
        reply = self._reply(messages, protocol, key)
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

    def _count(self, verdict: Verdict, protocol: Protocol, *, lost: bool) -> None:
        """Count a judgement that was asked for; end the asking where too many in a row were in vain."""
        with self._changed:
            self._came_back = True
            if verdict.status == "judged":
                self._any_valid = True
                self._streak.reset()
            elif not self._gone and (reason := self._streak.add(verdict, protocol, lost, self._window)):
                self._gone = reason
                self._brake.stop()
            self._changed.notify_all()

    def _read(self, protocol: Protocol, item: Item, reply: Reply) -> Verdict:
        """The verdict as it came; its words are kept without our key, which an endpoint may repeat in what it says."""
        clean = self._settings.secrets.redacted_reply
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
                attempt, spent = attempt + 1, spent + attempts_spent(failure.wait)
                delay = self._delay(failure, attempt, spent, key)
                self._open()
                continue
            self._brake.passed()
            self._open()
            self._check_model(reply.model)
            return reply

    @property
    def _window(self) -> int:
        """How many answers may be judged at once now."""
        if self._any_valid:
            return self._settings.concurrency
        return min(self._settings.concurrency, defaults()["at_once_at_first"] if self._came_back else 1)

    def _open(self) -> None:
        """Something came back that is no reason to end."""
        with self._changed:
            self._came_back = True
            self._changed.notify_all()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until one more answer may be judged, or none will be."""
        with self._changed:
            while not self._gone and not self._brake.stopped and self._in_progress >= self._window:
                self._changed.wait(_LOOK_AGAIN)
            self._in_progress += 1
        try:
            yield
        finally:
            with self._changed:
                self._in_progress -= 1
                self._changed.notify_all()

    def _pass(self, delay: float, tokens: int) -> None:
        """Wait until a request may be sent, and set it aside in the budget; raises :class:`NotAsked`."""
        if self.gone:
            raise NotAsked(self.gone)
        waited = self._brake.wait(delay)
        if self.gone or not waited:
            raise NotAsked(self.gone or INTERRUPTED)
        if ceiling := self._budget.reserve(tokens):
            raise NotAsked(ceiling)

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
        if failure.fatal and not (failure.status == _FORBIDDEN and self._any_valid):  # a gateway may forbid one text
            self._end(f"{failure} (the judge was asked no more)")
        if not failure.repeat:
            raise NoReply(str(failure)) from failure
        if self._brake.stopped:
            raise NotAsked(self.gone or INTERRUPTED) from failure
        if failure.wait is not None:
            asked = self._brake.hold(failure.wait, longest := defaults()["longest_wait"])
            if asked > longest:
                self._end(
                    f"{failure} (it asks to wait {failure.wait:.0f} s, {asked:.0f} s since its last reply; the judge "
                    "was asked no more)"
                )
        if spent > self._settings.retries:
            raise Lost(f"{failure} ({attempt} attempts)") from failure
        return backoff(attempt - 1, key)

    def _end(self, reason: str) -> None:
        self.give_up(reason)
        raise NotAsked(reason)

    def _check_model(self, model: str) -> None:
        """End the asking where another model answers than before; raises :class:`NoReply`."""
        with self._changed:
            self._model = model if self._model is None else self._model
            if model == self._model:
                return
            self._other, before = model, self._model
        self._end(
            f"another model: {self._settings.name} is {answer_phrase(model)}, the verdicts before are "
            f"{answer_phrase(before)}; the judge was asked no more. {one_model_advice(self._settings, model)}"
        )
