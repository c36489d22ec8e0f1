"""How many requests of a run got no reply, and whether they are more than a run may have that is taken for a result."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

FEWEST = 2
"""One failed request of few says nothing of a share: from so many on a command fails."""


@dataclass(frozen=True)
class FailedRequests:
    """The requests of ``task`` (or of what it says) that ``failed``, of so many ``requests``."""

    task: str
    failed: int
    requests: int

    @property
    def share(self) -> float:
        return self.failed / self.requests if self.requests else 0.0

    def are_too_many(self, most: float) -> bool:
        """Whether they are two at least, and more than ``most``, a share in [0, 1]."""
        return self.failed >= FEWEST and self.share > most

    def __str__(self) -> str:
        return f"{self.failed:,} of {self.requests:,} requests of {self.task} failed ({self.share:.1%})"


def of_content(content: Mapping[str, Any]) -> list[FailedRequests]:
    """The requests of each task of a result file's content, of which none failed where a task counts none."""
    found = []
    for task, config in (content.get("configs") or {}).items():
        questions = ((content.get("n-samples") or {}).get(task) or {}).get("effective")
        if isinstance(questions, int):
            requests = questions * int((config or {}).get("repeats") or 1)
            found.append(FailedRequests(str(task), _failed((content.get("results") or {}).get(task)), requests))
    return found


def _failed(result: Any) -> int:
    """The largest number of failed requests that a task's result has, one for each of its filters."""
    counted = [value for name, value in (result or {}).items() if name.partition(",")[0] == "failed_requests"]
    return max((int(value) for value in counted if isinstance(value, int | float) and math.isfinite(value)), default=0)


def too_many(contents: Iterable[Mapping[str, Any]], most: float) -> list[FailedRequests]:
    """The tasks of a run of which too many requests failed; where of none did, all tasks together if theirs are."""
    every = [each for content in contents for each in of_content(content)]
    if found := [each for each in every if each.are_too_many(most)]:
        return found
    total = FailedRequests("all tasks", sum(each.failed for each in every), sum(each.requests for each in every))
    return [total] if total.are_too_many(most) else []
