"""What replies about a grid claim: an outlier somewhere, or none. For every task that asks for outliers in grids.

A trial here is what was read from a reply: a position or :data:`NONE`, "yes" or "no" for a highlighted panel, or why
nothing could be read (:mod:`lmms_medtasks.record`).
"""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.record import EMPTY, FAILED, NO_ANSWER

NONE = "none"

_SILENT = (NONE, "no", EMPTY, "refused", "unreadable", "cut")


def claims_outlier(trial: str) -> bool:
    """Whether an answer says that there is an outlier: a position, or "yes" for a highlighted panel."""
    return trial not in (NONE, "no", FAILED, *NO_ANSWER)


def false_alarm(trials: Sequence[str], negative: bool) -> float | None:
    """Share of a negative question's replies that claim an outlier; None for a positive one, or without a reply.

    A reply that could not be read is wrong, but no alarm.
    """
    replies = [trial for trial in trials if trial != FAILED]
    return sum(map(claims_outlier, replies)) / len(replies) if negative and replies else None


def abstention(trials: Sequence[str], negative: bool) -> float | None:
    """Share of a positive question's replies that name no outlier; None for a negative one, or without a reply.

    That is: "none", "no" for the highlighted panel, a refusal, and a reply without an answer (also one whose reasoning
    was cut off). A reply with several candidates (ambiguous) and a wrong position are errors of another kind.
    """
    replies = [trial for trial in trials if trial != FAILED]
    return None if negative or not replies else sum(trial in _SILENT for trial in replies) / len(replies)
