"""What is read from a reply to a MedObvious question, and the values of the metrics in the harness's table.

The record of a question stands once in the sample log, under ``accuracy``. The metrics over a part of the questions
get a value with the score and the item (for standard errors clustered by item), or an empty one where a question is not
in that part; those that need all of an item's answers share the record in memory (:class:`Shared`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.grids.layout import parse_size
from lmms_medtasks.parsing.answers import Answer
from lmms_medtasks.parsing.positions import read_option_position, read_position
from lmms_medtasks.parsing.yes_no import read_yes_no
from lmms_medtasks.statistics import triage
from lmms_medtasks.statistics.shared import Shared

Record = Mapping[str, Any]

TIERS = (1, 2, 3, 4, 5)
ACROSS_FORMATS = (
    "paper_average", "format_gap_detection", "format_gap_referring",
    "consistency", "consistency_positive", "consistency_negative",
)  # fmt: skip
FINGERPRINT_ALSO = (
    "lmms_medtasks.grids.layout", "lmms_medtasks.statistics.triage", "lmms_medtasks.parsing.answers",
    "lmms_medtasks.parsing.claims", "lmms_medtasks.parsing.mentions", "lmms_medtasks.parsing.positions",
    "lmms_medtasks.parsing.yes_no",
)  # fmt: skip

# The question's text stands in the log's input, the picture nowhere; the rest is not needed to score.
_NOT_IN_RECORDS = {"question", "options", "image", "images", "explanation", "answer_keywords"}


def read(doc: Mapping[str, Any], reply: str | None) -> Answer:
    """What a reply to the question says: a position or "none", or "yes" or "no" for a highlighted panel."""
    if doc["task_type"] == "visual_referring":
        return read_yes_no(reply)
    size = parse_size(doc["grid"])
    return read_option_position(reply, doc["options"], size) if doc["options"] else read_position(reply, size)


def expected(doc: Mapping[str, Any]) -> str:
    """The right answer in the terms of :func:`read`."""
    return doc["answer"] if doc["task_type"] == "visual_referring" else doc["answer_position"]


def process_results(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """Score the replies to a question for ``medobvious``: the record, and the values of all metrics.

    A reply that could not be read is incorrect, and counted; a failed request has no score.
    """
    values = process_results_tier(doc, results)
    part = _part(values["accuracy"])
    return {**values, **{f"accuracy_t{tier}": part if doc["tier"] == tier else {} for tier in TIERS}}


def process_results_tier(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """As :func:`process_results`, for the tasks of one tier."""
    values = process_results_format(doc, results)
    record = values["accuracy"]
    part = _part(record)
    by_format = {f"accuracy_{name}": part if doc["task_type"] == name else {} for name in triage.FORMATS}
    return {**values, **by_format, **dict.fromkeys(ACROSS_FORMATS, Shared(record, "accuracy"))}


def process_results_format(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    """As :func:`process_results`, for the tasks of one format."""
    record = _record(doc, results)
    trials = record["trials"]
    replies = [trial for trial in trials if trial != triage.FAILED]
    part = _part(record)
    return {
        "accuracy": record,
        "accuracy_positive": {} if record["negative"] else part,
        "accuracy_negative": part if record["negative"] else {},
        "false_alarm_rate": _value(record, triage.false_alarm(record)),
        "abstention_rate": _value(record, triage.abstention(record)),
        "parse_rate": {"parsed": sum(each not in triage.UNREAD for each in replies), "replies": len(replies)},
        "failed_requests": {"failed": len(trials) - len(replies), "trials": len(trials)},
    }


def _record(doc: Mapping[str, Any], results: Sequence[str]) -> dict[str, Any]:
    readings = [read(doc, reply) for reply in results]
    correct = [each.value == expected(doc) for each in readings if each.status != triage.FAILED]
    record = {
        **{key: value for key, value in doc.items() if key not in _NOT_IN_RECORDS},
        "option_count": len(doc["options"]),
        "trials": [each.value or each.status for each in readings],
    }
    return {**record, "score": sum(correct) / len(correct)} if correct else record


def _value(record: Record, score: float | None) -> dict[str, Any]:
    return {} if score is None else {"score": score, "item": record["item"]}


def _part(record: Record) -> dict[str, Any]:
    return _value(record, record.get("score"))


def _shared(values: Sequence[Shared], metric: Callable[..., float | None], **settings: Any) -> float | None:
    # By their ids: several processes hand them over in another order than one.
    return metric(sorted((value.record for value in values), key=lambda record: record["id"]), **settings)


paper_average = functools.partial(_shared, metric=triage.paper_average)
format_gap_detection = functools.partial(_shared, metric=triage.format_gap, family="detection")
format_gap_referring = functools.partial(_shared, metric=triage.format_gap, family="referring")
consistency = functools.partial(_shared, metric=triage.consistency)
consistency_positive = functools.partial(_shared, metric=triage.consistency, negative=0)
consistency_negative = functools.partial(_shared, metric=triage.consistency, negative=1)
