"""What replies about a grid claim: an outlier somewhere, or none. For every task that asks for outliers in grids.

A trial here is the parsed answer of one reply: a position or :data:`NONE`, "yes" or "no" for a highlighted panel, or
why nothing could be read (:mod:`lmms_medtasks.record`).
"""

from __future__ import annotations

from collections.abc import Sequence

from lmms_medtasks.record import EMPTY, FAILED, NO_ANSWER

NONE = "none"

FALSE_ALARM = (
    "Share of the answers to a negative question that claim an outlier. A reply without an answer (unreadable, cut "
    "off, empty, refused) is left out: it is wrong, and neither an alarm nor none."
)
ABSTENTION = "Share of the replies to a positive question that name no outlier, those without an answer among them."
"""What the two measures say of themselves."""

_SILENT = (NONE, "no", EMPTY, "refused", "unreadable", "cut")


def claims_outlier(trial: str) -> bool:
    """Whether an answer says that there is an outlier: a position, or "yes" for a highlighted panel."""
    return trial not in (NONE, "no", FAILED, *NO_ANSWER)


def triage_scores(trials: Sequence[str], negative: bool) -> dict[str, float | None]:
    """What a question says of triage: ``false_alarm`` of a negative one, ``abstention`` of a positive one."""
    return {"false_alarm": false_alarm_share(trials)} if negative else {"abstention": abstention_share(trials)}


def false_alarm_share(trials: Sequence[str]) -> float | None:
    """Share of the answers to a negative question that claim an outlier; None without an answer.

    A reply without an answer is left out: were it called no alarm, a model that nobody can read would have none.
    """
    answers = [trial for trial in trials if trial not in (FAILED, *NO_ANSWER)]
    return sum(map(claims_outlier, answers)) / len(answers) if answers else None


def abstention_share(trials: Sequence[str]) -> float | None:
    """Share of the replies to a positive question that name no outlier; None without a reply.

    That is: "none", "no" for the highlighted panel, a refusal, and a reply without an answer (also one whose reasoning
    was cut off). A reply with several candidates (ambiguous) and a wrong position are errors of another kind.
    """
    replies = [trial for trial in trials if trial != FAILED]
    return sum(trial in _SILENT for trial in replies) / len(replies) if replies else None
