"""When a judge is hopeless: too many judgements in a row without a valid verdict."""

from __future__ import annotations

import math
from collections import Counter

from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.protocol import Protocol, Verdict
from lmms_medtasks.judges.settings import Settings

_SHOWN = 3  # kinds of what came back
_WORDS = 200  # characters of the last reply
_TOLD = (
    "request failed", "ceiling", "no judge", "no cache", "no schema", "stopped", "another model", "not kept",
)  # fmt: skip


def kind(reason: str, protocol: Protocol) -> str:
    """A reason to count by: what endpoints said is kept, what judges said is not (nor any of it with terms)."""
    if protocol.terms or not reason.startswith(_TOLD):
        return reason.partition(":")[0]
    return reason


class Streak:
    """Judgements in a row without a valid verdict, and what came back of them.

    They are too many at ``hopeless_after`` (defaults.yml), with replies or without; and earlier where none of their
    requests brought any reply, all attempts taken: as many as are in flight, and so many attempts together.
    Not for one thread more than another: the owner has the lock.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._kinds: Counter[str] = Counter()
        self._lost = 0
        self._reply = ""
        self.ended = False

    def reset(self) -> None:
        """A verdict was valid."""
        self._kinds.clear()
        self._lost, self._reply = 0, ""

    def add(self, verdict: Verdict, protocol: Protocol, lost: bool, in_flight: int) -> str:
        """Count a judgement without a valid verdict; why to end, "" if not.

        ``lost``: no attempt brought a reply. ``in_flight``: the requests that may be at once.
        """
        self._kinds[kind(verdict.reason, protocol)] += 1
        self._lost = self._lost + 1 if lost else 0
        self._reply = "" if protocol.terms else verdict.reply or self._reply
        count, most = self._kinds.total(), defaults()["hopeless_after"]
        attempts = self._settings.retries + 1
        enough = min(most, max(math.ceil(most / attempts), defaults()["at_once_at_first"], in_flight))
        if self._settings.keep_going or (count < most and self._lost < enough):
            return ""
        self.ended = True
        what = (
            f"{count} judgements in a row without a valid verdict"
            if count >= most
            else f"{self._lost} judgements in a row without any reply, all attempts made"
        )
        return f"stopped: {what}"

    def __str__(self) -> str:
        parts = [f"{count} × {reason}" for reason, count in self._kinds.most_common(_SHOWN)]
        if more := self._kinds.total() - sum(count for _, count in self._kinds.most_common(_SHOWN)):
            parts.append(f"{more} × other")
        words = " ".join(self._reply.split())
        said = f". The last reply: {words[:_WORDS]!r}{'…' if len(words) > _WORDS else ''}" if words else ""
        return "; ".join(parts) + said
