"""Metrics that every benchmark has: replies that could be read, empty ones, failed requests, identical trials."""

from __future__ import annotations

from lmms_medtasks.record import EMPTY, FAILED, NO_ANSWER
from lmms_medtasks.samples.table import Samples
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.suite import Measure, Metric

MANY_EMPTY = 0.2
"""Share of empty replies above which a run is suspicious. Our choice."""

_SUSPICIOUS_SHARE, _SUSPICIOUS_COUNT = 0.95, 20


def parse_rate(rows: Samples) -> float | None:
    """Share of the replies (failed requests not counted) in which an answer could be read; None without replies."""
    replies = [trial for trials in rows.column("trials") for trial in trials if trial != FAILED]
    return sum(trial not in NO_ANSWER for trial in replies) / len(replies) if replies else None


def failed_requests(rows: Samples) -> int:
    """Number of trials that got no reply because the request failed."""
    return sum(trials.count(FAILED) for trials in rows.column("trials"))


def outcome_count(*outcomes: str) -> Count:
    """How many replies were read as one of ``outcomes``."""
    return Count(function=lambda rows: sum(trial in outcomes for trials in rows.column("trials") for trial in trials))


def _empty_notice(rows: Samples, empty: float | int | None) -> str:
    replies = sum(trial != FAILED for trials in rows.column("trials") for trial in trials)
    if not empty or empty <= MANY_EMPTY * replies:
        return ""
    return (
        f"{empty} of {replies} replies are empty: they are no failed requests and count as replies without an answer. "
        "Some runners turn an error into an empty reply, and some models use up max_new_tokens in their thoughts: look "
        "into the run's log."
    )


def _failed_notice(rows: Samples, failed: float | int | None) -> str:
    if not failed:
        return ""
    total = sum(map(len, rows.column("trials")))
    return (
        f"{failed} of {total} requests failed: they are no wrong answers, accuracy is over the other {total - failed}. "
        "What came instead of a reply stands in the sample log. Don't reuse a response cache of this run: the harness "
        "may have stored the failures as replies."
    )


def _identical_notice(rows: Samples, share: float | int | None) -> str:
    repeated = len(rows.scored("identical"))
    if share is None or share < _SUSPICIOUS_SHARE or repeated < _SUSPICIOUS_COUNT:
        return ""
    return (
        f"All trials gave the same reply on {share:.0%} of {repeated} questions. Either the model has no doubt, or its "
        "trials are no independent draws: the runner ignores the task's temperature, top_p and top_k, or the "
        "checkpoint's generation_config.json (top_k, top_p, repetition_penalty) stands above them."
    )


PARSE_RATE = Metric(
    "parse_rate", Count(function=parse_rate), about="Share of the replies in which an answer could be read."
)
EMPTY_REPLIES = Metric(
    "empty_replies",
    outcome_count(EMPTY),
    higher_is_better=False,
    about="Number of replies that say nothing: no text, white space, or no text after the reasoning.",
    notice=_empty_notice,
    unit="count",
)
FAILED_REQUESTS = Metric(
    "failed_requests",
    Count(function=failed_requests),
    higher_is_better=False,
    about="Number of requests that got no reply. They are no wrong answers.",
    notice=_failed_notice,
    unit="count",
)
IDENTICAL = Measure("identical", "1 where all replies of a question are the same to the letter, else 0.")
IDENTICAL_TRIALS = Metric(
    "identical_trials",
    Mean(measure="identical"),
    higher_is_better=False,
    about="Share of the questions with several replies whose replies are the same to the letter.",
    standard_error=False,
    notice=_identical_notice,
)
