"""How far the judging is, in a line every 30 s where no bar is shown, and what it waits for."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta

from lmms_medtasks.judges.budget import Budget
from lmms_medtasks.judges.defaults import defaults
from lmms_medtasks.judges.retrying import Brake

_SHORTEST = 0.05  # seconds between two looks


def wait_line(seconds: float) -> str:
    """What is told of a wait that the server asks for."""
    until = (datetime.now() + timedelta(seconds=seconds)).strftime("%H:%M:%S")
    return (
        f"The judge's server asks to wait {seconds:.0f} s: nothing is sent until {until}. Ctrl-C ends the judging and "
        "keeps what is judged."
    )


class ProgressLines:
    """Says how far ``total`` judgements are; ``warn`` gets how long the server asks to wait. ``say`` None: no lines."""

    def __init__(
        self,
        name: str,
        total: int,
        budget: Budget,
        brake: Brake,
        say: Callable[[str], None] | None,
        warn: Callable[[str], None],
    ) -> None:
        self._name, self._total, self._budget, self._brake, self._say = name, total, budget, brake, say
        self._warn = warn
        self._begun = self._last = time.monotonic()
        self._spent = budget.spent
        self._told_until = 0.0

    def look(self, done: int, missing: int, held: int) -> float:
        """Say what there is to say; seconds until the next look is due."""
        now, every = time.monotonic(), defaults()["progress_seconds"]
        left = self._brake.left
        if left > defaults()["told_wait"] and now + left > self._told_until + 1 and not self._brake.stopped:
            self._told_until = now + left
            self._warn(wait_line(left))
        if now - self._last >= every:
            self._last = now
            if self._say:
                self._say(self.line(done, missing, held))
        return max(_SHORTEST, min(1.0, self._last + every - now))

    def line(self, done: int, missing: int, held: int) -> str:
        """``Judging p: 120 of 500 done, 3 missing, 4.0 a second; 132 requests, ...; about 95 s left``."""
        seconds = time.monotonic() - self._begun
        rate = done / seconds if seconds > 0 else 0.0
        parts = [f"Judging {self._name}: {done} of {self._total} done, {missing} missing, {rate:.2g} a second"]
        parts.append(str(self._budget.spent.since(self._spent)))
        if held:
            parts.append(f"{held} asked by another command now")
        if rate:
            parts.append(f"about {(self._total - done) / rate:.0f} s left")
        return "; ".join(parts)
