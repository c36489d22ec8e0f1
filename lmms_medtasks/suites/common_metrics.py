"""Outcomes of replies, and the metrics of them that every benchmark has; identical trials."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pyarrow.compute as pc

from lmms_medtasks.record import CUT, EMPTY, FAILED, NO_ANSWER
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.suite import Measure, Metric

ANSWERED = "answered"
READINGS: Mapping[str, tuple[str, ...]] = {
    "unreadable": ("unreadable", "ambiguous"),
    "cut": (CUT,),
    "empty": (EMPTY,),
    "refused": ("refused",),
    "failed": (FAILED,),
}
"""Outcome -> the readings (:attr:`lmms_medtasks.record.QuestionRecord.trials`) that are it; every other reading
answers."""

OUTCOMES = (ANSWERED, *READINGS)
_OF_READING = {reading: outcome for outcome, readings in READINGS.items() for reading in readings}
_SAID = {"cut": "cut off", "failed": "failed requests"}

WRONG = "A reply without an answer (unreadable, cut off, empty, refused) is wrong; a failed request counts for nothing."
"""What a measure says where answers are read."""
LOWEST = (
    "A reply without an answer's text (cut off, empty, unreadable) is at worst; a failed request counts for nothing."
)
"""What a measure says where a judge scores answers."""


def outcome_of(reading: str) -> str:
    """The outcome of a trial that was read as ``reading``."""
    return _OF_READING.get(reading, ANSWERED)


def count_outcomes(rows: QuestionTable) -> dict[str, int]:
    """Count the trials by outcome, in the order of :data:`OUTCOMES`. A judged reply with a text is "answered"."""
    counts = dict.fromkeys(OUTCOMES, 0)
    for row in pc.value_counts(rows.texts("trials")[1]) if len(rows) else ():
        counts[outcome_of(str(row["values"]))] += row["counts"].as_py()
    return counts


def describe_outcomes(counts: Mapping[str, int], names: Iterable[str] = OUTCOMES) -> str:
    """Describe counts above 0: ``7 answered, 4 cut off, 1 empty``; "" if there are none."""
    return ", ".join(f"{counts[name]:,} {_SAID.get(name, name)}" for name in names if counts[name])


# --- Metrics ----------------------------------------------------------------------------------------------------------

MANY_EMPTY = 0.2
"""Share of empty replies above which a run is suspicious. Our choice."""

_SUSPICIOUS_SHARE, _SUSPICIOUS_COUNT = 0.95, 20


def parse_rate(rows: QuestionTable) -> float | None:
    """Share of the replies (failed requests not counted) in which an answer could be read; None without replies."""
    replies = [trial for trials in rows.column("trials") for trial in trials if trial != FAILED]
    return sum(trial not in NO_ANSWER for trial in replies) / len(replies) if replies else None


def outcome_count(outcome: str) -> Count:
    """The number of replies with an outcome."""
    return Count(function=lambda rows: count_outcomes(rows)[outcome])


def _empty_notice(rows: QuestionTable, empty: float | int | None) -> str:
    replies = sum(trial != FAILED for trials in rows.column("trials") for trial in trials)
    if not empty or empty <= MANY_EMPTY * replies:
        return ""
    return (
        f"{empty} of {replies} replies are empty: they are no failed requests and count as replies without an answer. "
        "Some runners turn an error into an empty reply, and some models use up max_new_tokens in their thoughts: look "
        "into the run's log."
    )


def _failed_notice(rows: QuestionTable, failed: float | int | None) -> str:
    if not failed:
        return ""
    total = sum(map(len, rows.column("trials")))
    return (
        f"{failed} of {total} requests failed: they are no wrong answers, accuracy is over the other {total - failed}. "
        "What came instead of a reply stands in the sample log. Don't reuse a response cache of this run: the harness "
        "may have stored the failures as replies."
    )


def _identical_notice(rows: QuestionTable, share: float | int | None) -> str:
    repeated = len(rows.scored("identical"))
    if share is None or share < _SUSPICIOUS_SHARE or repeated < _SUSPICIOUS_COUNT:
        return ""
    return (
        f"All trials gave the same reply on {share:.0%} of {repeated} questions. Either the model has no doubt, or its "
        "trials are no independent draws: the runner ignores the task's temperature, top_p and top_k, or the "
        "checkpoint's generation_config.json (top_k, top_p, repetition_penalty) stands above them."
    )


def _count_metric(
    name: str,
    outcome: str,
    about: str,
    notice: Callable[[QuestionTable, float | int | None], str] = lambda rows, value: "",
) -> Metric:
    return Metric(
        name, outcome_count(outcome), higher_is_better=False, about=f"Number of {about}", notice=notice, unit="count"
    )


PARSE_RATE = Metric(
    "parse_rate", Count(function=parse_rate), about="Share of the replies in which an answer could be read."
)
UNREADABLE_REPLIES = _count_metric(
    "unreadable_replies", "unreadable", "replies with words and without one answer: none, or several (ambiguous)."
)
CUT_REPLIES = _count_metric(
    "cut_replies", "cut", "replies that the limit of new tokens, or thoughts without an end, cut off before an answer."
)
EMPTY_REPLIES = _count_metric(
    "empty_replies", "empty", "replies that say nothing: no text, white space, or no text after the thoughts.",
    _empty_notice,
)  # fmt: skip
REFUSED_REPLIES = _count_metric("refused_replies", "refused", "replies that decline to answer.")
FAILED_REQUESTS = _count_metric(
    "failed_requests", "failed", "requests that got no reply. They are no wrong answers.", _failed_notice
)
READ = (PARSE_RATE, UNREADABLE_REPLIES, CUT_REPLIES, EMPTY_REPLIES, REFUSED_REPLIES, FAILED_REQUESTS)
"""What stands beside the means of a task whose answers are read."""
JUDGED = (UNREADABLE_REPLIES, CUT_REPLIES, EMPTY_REPLIES, FAILED_REQUESTS)
"""What stands beside those of a judged one: what a refusal is worth the judge says."""
READ_NAMES, JUDGED_NAMES = (tuple(each.name for each in own) for own in (READ, JUDGED))
IDENTICAL = Measure("identical", "1 where all replies of a question are the same to the letter, else 0.")
IDENTICAL_TRIALS = Metric(
    "identical_trials",
    Mean(measure="identical"),
    higher_is_better=False,
    about="Share of the questions with several replies whose replies are the same to the letter.",
    standard_error=False,
    notice=_identical_notice,
)
