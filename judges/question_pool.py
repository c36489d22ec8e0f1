"""Many questions asked at once, each by one command at a time."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from lmms_medtasks.errors import UserError
from lmms_medtasks.judges.asking import INTERRUPTED, JudgeClient, RequestSender, SchemaProbe
from lmms_medtasks.judges.cache import VerdictCache
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, JudgeVerdict, Key
from lmms_medtasks.judges.settings import default_settings
from lmms_medtasks.judges.transport import wait_line
from lmms_medtasks.progress import format_rate
from lmms_medtasks.short_texts import format_duration

_SHORTEST = 0.05  # seconds between two looks


class ProgressLines:
    """Says how far ``total`` judgements are; ``warn`` is told of long waits. ``say`` None: no lines."""

    def __init__(
        self,
        name: str,
        total: int,
        sender: RequestSender,
        say: Callable[[str], None] | None,
        warn: Callable[[str], None],
    ) -> None:
        self._name, self._total, self._say, self._warn = name, total, say, warn
        self._budget, self._brake = sender.budget, sender.brake
        self._begun = self._last = time.monotonic()
        self._spent = sender.budget.spent
        self._told_until = 0.0

    def report_progress(self, done: int, missing: int, held: int) -> float:
        """Print a line if one is due. Returns the seconds until the next look."""
        now, every = time.monotonic(), default_settings()["progress_seconds"]
        left = self._brake.seconds_left
        if left > default_settings()["told_wait"] and now + left > self._told_until + 1 and not self._brake.is_stopped:
            self._told_until = now + left
            self._warn(wait_line(left))
        if now - self._last >= every:
            self._last = now
            if self._say:
                self._say(self.progress_line(done, missing, held))
        return max(_SHORTEST, min(1.0, self._last + every - now))

    def progress_line(self, done: int, missing: int, held: int) -> str:
        """``Judging p: 120 of 500 done, 3 missing, 4.0 a second; 132 requests, ...; about 95 s left``."""
        seconds = time.monotonic() - self._begun
        rate = done / seconds if seconds > 0 else 0.0
        parts = [f"Judging {self._name}: {done} of {self._total} done, {missing} missing, {format_rate(rate)}"]
        parts.append(str(self._budget.spent.since(self._spent)))
        if held:
            parts.append(f"{held} asked by another command now")
        if rate:
            parts.append(f"about {format_duration((self._total - done) / rate)} left")
        return "; ".join(parts)


_HELD_SECONDS = 1.0  # between two looks at what another command asks


@dataclass(frozen=True)
class PooledVerdict:
    """``verdict``: None if another command asks now. ``known``: it was stored. ``unkept``: it can't be stored."""

    verdict: JudgeVerdict | None
    known: bool = False
    unkept: bool = False


@dataclass
class PooledVerdicts:
    """The outcomes of many questions; the counts are of ``verdicts``."""

    verdicts: dict[Key, JudgeVerdict] = field(default_factory=dict)
    known: int = 0
    unkept: int = 0


class QuestionPool:
    """Asks questions of one judge in threads. ``interrupted``: it was stopped by Ctrl-C and asks nothing more."""

    def __init__(self, sender: RequestSender, cache: VerdictCache) -> None:
        self.asker, self.probe, self.cache = JudgeClient(sender), SchemaProbe(sender), cache
        self._settings, self._brake, self._transport = sender.settings, sender.brake, sender.transport
        self.interrupted = False

    def close(self) -> None:
        """End what is in flight and close the cache."""
        self._transport.close()
        self.cache.close()

    def ask_all(
        self,
        protocol: JudgeProtocol,
        items: Mapping[Key, JudgedItem],
        names: Mapping[Key, str],
        lines: ProgressLines,
        warn: Callable[[str], None],
        shown: Callable[[], None],
    ) -> PooledVerdicts:
        """Ask all. ``names``: the cache's key of each. ``shown``: called after each.

        On Ctrl-C nothing more is sent, requests in flight are waited for, verdicts obtained until then are returned,
        and all else is missing. A second one is raised.
        """
        pooled, held = PooledVerdicts(), set[Key]()
        finished: SimpleQueue[Future[PooledVerdict]] = SimpleQueue()
        futures: dict[Future[PooledVerdict], Key] = {}
        pool = ThreadPoolExecutor(self._settings.concurrency, thread_name_prefix="medtasks-judge")

        def submit_question(key: Key) -> None:
            future = pool.submit(self._judge_one, protocol, items[key], names[key])
            futures[future] = key
            future.add_done_callback(finished.put)

        def take_outcome(future: Future[PooledVerdict]) -> None:
            key, outcome = futures[future], future.result()
            if outcome.verdict is None:
                held.add(key)
            else:
                pooled.verdicts[key] = outcome.verdict
                pooled.known += outcome.known
                pooled.unkept += outcome.unkept
                statuses[outcome.verdict.status] += 1
                shown()
            del futures[future]

        statuses: Counter[str] = Counter()
        try:
            for key in items:
                submit_question(key)
            looked = time.monotonic()
            while futures or held:
                wait = lines.report_progress(len(pooled.verdicts), statuses["missing"], len(held))
                with contextlib.suppress(Empty):
                    take_outcome(finished.get(timeout=wait))
                if held and time.monotonic() - looked >= _HELD_SECONDS:
                    looked = time.monotonic()
                    for key in self._find_released(held, names):
                        held.discard(key)
                        submit_question(key)
        except KeyboardInterrupt:
            self.interrupted = True
            self._stop_requests(futures, warn)
            for future in [each for each in futures if each.done() and not each.cancelled()]:
                take_outcome(future)
            for key in items.keys() - pooled.verdicts.keys():
                pooled.verdicts[key] = JudgeVerdict("missing", reason=INTERRUPTED)
        except BaseException:
            self._brake.stop_waiting()
            self._transport.close()
            raise
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        return pooled

    def _stop_requests(self, futures: Mapping[Future[PooledVerdict], Key], warn: Callable[[str], None]) -> None:
        """Send nothing more. Wait for the requests in flight, which are paid for, then cut them off."""
        self._brake.stop_waiting()
        running = [future for future in futures if not future.cancel() and not future.done()]
        seconds = default_settings()["stop_seconds"]
        try:
            if running:
                warn(
                    f"Stopped. {len(running)} requests in flight are waited for, {seconds:.0f} s at most; Ctrl-C again "
                    "ends at once."
                )
            late = wait_for(running, timeout=seconds).not_done
        finally:
            self._transport.close()
        wait_for(late, timeout=1.0)

    def _find_released(self, held: set[Key], names: Mapping[Key, str]) -> list[Key]:
        if self.asker.stop_reason or self._brake.is_stopped:
            return list(held)
        taken = self.cache.claimed(names[key] for key in held)
        return [key for key in held if names[key] not in taken]

    def _judge_one(self, protocol: JudgeProtocol, item: JudgedItem, name: str) -> PooledVerdict:
        """Judge one item and store a valid verdict. If a verdict can't be stored, the judging ends."""
        if reason := self.asker.stop_reason or (INTERRUPTED if self._brake.is_stopped else ""):
            return PooledVerdict(JudgeVerdict("missing", reason=reason))
        verdict, is_kept = None, False
        try:
            if not self.cache.claim(name):
                return PooledVerdict(None)
            try:
                if known := self._find_new_verdict(name):
                    return PooledVerdict(known, known=True)
                verdict = self.asker.request_verdict(protocol, item, name)
                if verdict.status == "judged":
                    self.cache.keep(name, self._settings, protocol, verdict)
                    is_kept = True  # also where its claim can't be ended
            finally:
                self.cache.release(name)
        except UserError as error:  # a full disk must not cost the verdicts that are had already
            self.asker.give_up(f"not kept: {error} (the judge was asked no more)")
            if verdict is None:
                return PooledVerdict(JudgeVerdict("missing", reason=f"no cache: {error}"))
            return PooledVerdict(verdict, unkept=verdict.status == "judged" and not is_kept)
        except Exception as error:  # ours, then; but hours of a model's replies must not be lost for it
            message = self._settings.secrets.redacted(f"{type(error).__name__}: {error}")
            return PooledVerdict(JudgeVerdict("missing", reason=f"unforeseen: {message[:300]}"))
        return PooledVerdict(verdict)

    def _find_new_verdict(self, name: str) -> JudgeVerdict | None:
        """A verdict that another command stored since the last look-up, of the model that answers, or None."""
        by_model = self.cache.find_verdicts([name]).get(name, {})
        if by_model and self.asker.model is None:
            self.asker.expect_model(max(by_model))
        return by_model.get(self.asker.model or "")
