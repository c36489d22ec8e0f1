"""Whether a judge's server replies by schema: asked once a protocol, before its first question.

What is not known then must not be found out in the middle: half of the verdicts by schema and half without would be of
two judges. A server that is not there, or takes no request of ours, is found out by it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from lmms_medtasks.judges import prompts, verdicts
from lmms_medtasks.judges.budget import Budget, estimated_tokens
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.identity import mode_of
from lmms_medtasks.judges.progress_lines import wait_line
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.judges.retrying import Brake, attempts_spent, backoff
from lmms_medtasks.judges.settings import JUDGE, Settings
from lmms_medtasks.judges.transport import Failure, Reply, Transport


class Probe:
    """Asks for a verdict on nothing; keeps the answer, a protocol each."""

    def __init__(self, settings: Settings, transport: Transport, budget: Budget, brake: Brake) -> None:
        self._settings, self._transport, self._budget, self._brake = settings, transport, budget, brake
        self._found: dict[str, str] = {}
        self._gone = ""

    def problem(self, protocol: Protocol, warn: Callable[[str], None]) -> str:
        """Why the judge can't be asked as it is to be; "" where it can, or where a ceiling is reached.

        ``warn`` is told of a long wait that the server asks for.
        """
        if mode_of(self._settings, protocol) == "free":
            return ""
        if protocol.name not in self._found:
            self._found[protocol.name] = self._gone or self._asked(protocol, warn)
        return self._found[protocol.name]

    def _asked(self, protocol: Protocol, warn: Callable[[str], None]) -> str:
        schema = verdicts.schema(protocol)
        found = self._sent(protocol, schema, warn)
        if isinstance(found, Failure) and found.unsupported:
            without = self._sent(protocol, None, warn)
            # Once more: one spurious error is not the server's word.
            found = self._sent(protocol, schema, warn) if isinstance(without, Reply) else without
        if isinstance(found, Reply):
            read = verdicts.read(protocol, found.text, mode="schema", finish=found.finish, refusal=found.refusal)
            if read.status == "judged" or read.reason.startswith(("cut off", "refused")):
                return ""
            return self._no_schema(f"its reply is not of the schema: {read.reason}")
        if found is None:
            return ""
        if found.unsupported:
            return self._no_schema(str(found).removeprefix("request failed: "))
        self._gone = f"{found} (the judge was asked no more)"
        return self._gone

    def _no_schema(self, said: str) -> str:
        told = self._settings.secrets.redacted(said)
        return (
            f"no schema: {self._settings.name} does not reply by JSON schema ({told}). Set "
            f"{JUDGE}_REPLY=free: then it is asked without, which stands in the results."
        )

    def _sent(
        self, protocol: Protocol, schema: Mapping[str, Any] | None, warn: Callable[[str], None]
    ) -> Reply | Failure | None:
        """The reply, or the last failure; None where nothing may be sent."""
        text = prompts.probe(protocol)
        tokens, spent, delay, attempt = estimated_tokens(text), 0.0, 0.0, 0
        while True:
            if not self._brake.wait(delay) or self._budget.reserve(tokens):
                return None
            used = (0, 0, 0)
            try:
                reply = self._transport.send([{"role": "user", "content": text}], schema)
                self._brake.passed()
                used = (reply.input_tokens or tokens, reply.output_tokens or 0, reply.cached_tokens or 0)
                return reply
            except Failure as error:
                failure = error
            finally:
                self._budget.settle(tokens, *used)
            attempt, spent = attempt + 1, spent + attempts_spent(failure.wait)
            if failure.unsupported or not failure.repeat or spent > self._settings.retries:
                return failure
            if failure.wait is not None and (too_long := self._held(failure.wait, failure, warn)):
                return too_long
            delay = backoff(attempt - 1, f"probe/{protocol.name}")

    def _held(self, seconds: float, failure: Failure, warn: Callable[[str], None]) -> Failure | None:
        """Keep to a wait that the server asks for; why not, where that is too long."""
        asked = self._brake.hold(seconds, longest := defaults()["longest_wait"])
        if asked > longest:
            return Failure(f"{failure} (it asks to wait {seconds:.0f} s, {asked:.0f} s since its last reply)")
        if seconds > defaults()["told_wait"]:
            warn(wait_line(seconds))
        return None
