"""A model that the limit of new tokens cuts is named early, while few questions are asked, and once.

The limit itself stays: one that changed in the middle of a run would make numbers depend on the order of the questions.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from typing import Any

from lmms_medtasks.harness import chosen_settings
from lmms_medtasks.parsing.reply import Reply, SentReply, Tags
from lmms_medtasks.progress import say
from lmms_medtasks.suites import paper

FIRST = 20
"""Replies of a task after which it is told whether more than half were cut."""


class CutReplies:
    """Counts the first replies of each task that were cut; speaks in the first process, once a run.

    ``tasks``: task -> its configuration as the harness runs it; ``tags``: task -> the user's own marks of thoughts.
    """

    def __init__(self, tasks: Mapping[str, Mapping[str, Any]], tags: Mapping[str, Tags]) -> None:
        self._tasks, self._tags = tasks, tags
        self._seen: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._limits: dict[str, int | None] = {}
        self._told = os.environ.get("RANK", "0") != "0"

    def look(self, task: str, reply: SentReply) -> None:
        """Count a reply; the last one of the first may be one too many that was cut."""
        if self._told or self._seen[task] >= FIRST:
            return
        self._seen[task] += 1
        self._limits[task] = reply.limit or self._limits.get(task)
        self._cut[task] += is_cut(SentReply(reply, reply.ended, reply.limit, self._tags.get(task, ())))
        if self._seen[task] == FIRST:
            self._tell(task)

    def ended(self) -> None:
        """The run has asked all: tell of a task with fewer replies too."""
        for task in self._seen:
            self._tell(task)

    def _tell(self, task: str) -> None:
        seen, cut, limit = self._seen[task], self._cut[task], self._limits[task]
        if self._told or 2 * cut <= seen:
            return
        self._told = True
        thinking = f"--settings {paper.THINKING} (up to {paper.THINKING_TOKENS:,} new tokens) or "
        helps = chosen_settings.gives_room(self._tasks[task], limit)
        say(
            f"lmms-medtasks: {task}: {cut} of the first {seen} replies were cut"
            f"{f' at {limit:,} new tokens' if limit else ''} before an answer. Such a model is measured by its limit. "
            f"The way out is another run with {thinking if helps else ''}--gen_kwargs max_new_tokens=N. "
            "This run goes on with the limit that it has."
        )


def is_cut(reply: SentReply) -> bool:
    """Whether the limit ended a reply before an answer: within thoughts, or without thoughts that it had closed."""
    found = Reply.of(reply)
    return found.outcome == "cut" or (found.ended == "length" and not found.thoughts)
