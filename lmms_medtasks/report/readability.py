"""Whether the replies behind a number could be read, why not, and how to fix it: for the first screen of a report.

The least share that must be read is that of leaderboards and of the gate (``board/thresholds.yml``). A task below it
says nothing about a model: the report then says so in place of a finding.
"""

from __future__ import annotations

import functools
import importlib.resources
import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import yaml

from lmms_medtasks.report.findings import SuiteFinding
from lmms_medtasks.report.views import ModelResults
from lmms_medtasks.samples.runs import make_printable
from lmms_medtasks.short_texts import join_with_and, listed_or_counted
from lmms_medtasks.suites import common_metrics, registry
from lmms_medtasks.suites.suite import Suite

THINKING_TOKENS = 4096
"""New tokens that let most models think to an end, as ``--settings thinking`` gives them."""
_UNREAD = ("cut", "unreadable", "empty", "refused")
_NAMED = 2
_CLOSED = {"<|": ("<|", "<|/"), "<": ("<", "</"), "[": ("[", "[/"), "◁": ("◁", "◁/")}


@functools.cache
def least_read() -> float:
    """The least share of the replies that must be read, by a board's and the gate's own rules."""
    text = importlib.resources.files("lmms_medtasks.board").joinpath("thresholds.yml").read_text("utf-8")
    return float(yaml.safe_load(text)["thresholds"]["parse_rate"])


@dataclass(frozen=True, kw_only=True)
class Readability:
    """How many replies of tasks could be read.

    Attributes:
        tasks: their names. ours: whether they are of a benchmark of ours. read: of ``replies``, which came.
        counts: replies by :data:`lmms_medtasks.suites.common_metrics.OUTCOMES`.
        at_limit: replies that the limit of new tokens ended, also ones that were read. limits: those limits, or the
            tasks' own.
        marks: unknown marks at the beginning of replies, most frequent first.
    """

    tasks: tuple[str, ...]
    ours: bool
    read: int
    replies: int
    counts: Counter[str]
    at_limit: int
    limits: frozenset[int]
    marks: Counter[str]

    @property
    def is_low(self) -> bool:
        """Whether too few could be read, or too many ended at the limit, for a number to say anything of the model."""
        return _too_many(self.replies - self.read, self.replies) or _too_many(self.at_limit, self.replies)

    @property
    def doubt(self) -> str:
        """What keeps a number from saying anything of the model, with ``{}`` for the tasks; "" where nothing does."""
        failed = self.counts["failed"]
        if _too_many(self.replies - self.read, self.replies):
            whole = " in all parts" if self._lacking else ""
            return f"{100 - self.percent} % of the replies{{}} could not be read{whole} ({self.why})"
        if _too_many(self.at_limit, self.replies):
            return f"{self.at_limit:,} of {self.replies:,} replies{{}} ended at the limit of new tokens"
        if _too_many(failed, self.replies + failed):
            return f"{failed:,} of {self.replies + failed:,} requests{{}} failed"
        return ""

    @property
    def _lacking(self) -> int:
        """Replies with an answer but not all parts that were asked for; a judge scores what is there."""
        return self.replies - self.read - sum(self.counts[name] for name in _UNREAD)

    @property
    def percent(self) -> int:
        """Of the replies that could be read; never rounded up to all, nor to the least share that is enough."""
        share = 100 * self.read / self.replies if self.replies else 0.0
        too_much = self.read < self.replies and round(share) in (100, round(100 * least_read()))
        return math.floor(share) if too_much else round(share)

    @property
    def why(self) -> str:
        """``12 of 12 cut off at 512 tokens, 1 refused``; "" where all could be read."""
        ends = " to ".join(f"{each:,}" for each in sorted({min(self.limits), max(self.limits)})) if self.limits else ""
        said: list[str] = []
        for name in _UNREAD:
            if number := self.counts[name]:
                of = f" of {self.replies:,}" if not said else ""
                cut = f"cut off at {ends} tokens" if ends else "cut off"
                said.append(f"{number:,}{of} {cut if name == 'cut' else name}")
        if self._lacking:
            said.append(f"{self._lacking:,} without all parts that were asked for")
        if marks := [mark for mark, _ in self.marks.most_common()]:
            said.append(f"{self.marks.total():,} begin with {' or '.join(marks)}, which may open thoughts")
        return ", ".join(said)

    @property
    def mends(self) -> Iterator[str]:
        """What would let more of them be read."""
        if self.counts["cut"] or (self.at_limit and self.is_low):
            most = max(self.limits, default=0)
            enough = most < THINKING_TOKENS
            more = f"--gen_kwargs max_new_tokens={THINKING_TOKENS if enough else 2 * most}"
            yield f"--settings thinking or {more}" if enough and self.ours else more
        if self.marks:
            pairs = [[mark, _closing_mark(mark)] for mark, _ in self.marks.most_common()]
            yield f"--reasoning_tags '{json.dumps(pairs, ensure_ascii=False, separators=(',', ':'))}'"
        elif self.counts["unreadable"] > self.at_limit and self.is_low:
            yield "look at replies in the sample log: docs/how_replies_are_read.md"


def _too_many(number: int, of: int) -> bool:
    return number > (1 - least_read()) * of + 1e-9


def of_source(suite: Suite, source: ModelResults) -> list[Readability]:
    readabilities = []
    for run, tasks in source.asked:
        for task in tasks:
            rows = source.rows.where({"task": task})
            read, replies = suite.read_replies(rows) if len(rows) else (0, 0)
            reached = [limit for each in rows.column("limits_reached") if each is not None for limit in each]
            config = run.content["configs"].get(task) or {}
            told = (config.get("generation_kwargs") or {}).get("max_new_tokens")
            readability = Readability(
                tasks=(make_printable(task),),
                ours=suite.name in registry.names(),
                read=read,
                replies=replies,
                counts=Counter(common_metrics.count_outcomes(rows)),
                at_limit=len(reached),
                limits=frozenset(filter(None, reached)) or frozenset([told] if isinstance(told, int) else []),
                marks=Counter(mark for marks in rows.column("unknown_marks") if marks is not None for mark in marks),
            )
            readabilities.append(readability)
    return readabilities


def join_readabilities(found: Sequence[Readability]) -> Readability:
    return Readability(
        tasks=tuple(dict.fromkeys(task for each in found for task in each.tasks)),
        ours=any(each.ours for each in found),
        read=sum(each.read for each in found),
        replies=sum(each.replies for each in found),
        counts=sum((each.counts for each in found), Counter()),
        at_limit=sum(each.at_limit for each in found),
        limits=frozenset(limit for each in found if each.counts["cut"] or each.at_limit for limit in each.limits),
        marks=sum((each.marks for each in found), Counter()),
    )


def replace_unreadable_finding(finding: SuiteFinding | None, found: Sequence[Readability]) -> SuiteFinding | None:
    """The finding; if a task's replies could not be read, a finding that says so and makes no claim."""
    low = [readability for readability in found if readability.doubt]
    if finding is None or not low:
        return finding
    shown = join_readabilities(low)
    doubt = shown.doubt or low[0].doubt  # of several together no share of one kind need be too large
    unread = doubt.format("" if len(low) == len(found) else f" to {named_tasks(shown.tasks, [finding.suite])}")
    return replace(finding, changes=(), sketch=None, unread=unread)


def named_tasks(tasks: Sequence[str], suites: Iterable[str]) -> str:
    """The tasks by name; of many their number, and the benchmarks that they are of."""
    return listed_or_counted(tasks, _NAMED, f"tasks of {join_with_and(list(dict.fromkeys(suites)))}")


def _closing_mark(mark: str) -> str:
    """The mark that most likely closes what ``mark`` opens: ``</ponder>`` of ``<ponder>``."""
    plain = mark.split()[0].rstrip(">") + ">" if mark.startswith("<") and " " in mark and "|" not in mark else mark
    opened, closed = next((pair for start, pair in _CLOSED.items() if mark.startswith(start)), ("", ""))
    return plain.replace(opened, closed, 1)
