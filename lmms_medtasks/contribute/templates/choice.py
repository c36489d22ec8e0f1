"""Scoring of answers that are read: multiple choice, yes or no, positions in a grid.

The record of a question stands once in the sample log, under ``accuracy`` or, in tasks without it, ``parse_rate``;
the other metrics get a short value, or share the record in memory (:class:`lmms_medtasks.statistics.shared.Shared`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.contribute.templates import get
from lmms_medtasks.contribute.templates.pooled import part
from lmms_medtasks.contribute.templates.reading import get as parser_of
from lmms_medtasks.grids import triage
from lmms_medtasks.harness import hooks
from lmms_medtasks.statistics.shared import Shared

KIND = "choice"
TAKES_SETTINGS = True
Record = Mapping[str, Any]

# The question's text stands in the log's input, the picture nowhere.
_NOT_TAGS = {"question", "options", "image", "images"}


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values of the task's metrics for the replies to a question.

    A reply from which no answer could be read is wrong, and counted; a failed request has no score.
    """
    settings = settings or get("multiple_choice").settings
    names = settings.get("metrics") or get("multiple_choice").metrics
    record = record_of(doc, results, str(settings.get("parser", "option")))
    values = {name: VALUES[name](record) for name in names}
    return _with_record(values, record)


def record_of(doc: Mapping[str, Any], results: Sequence[str], parser_name: str) -> dict[str, Any]:
    """The record of a question: its ids and tags, what was read from each reply (``trials``), and the score."""
    parser = parser_of(parser_name)
    readings = [parser.read(doc, reply) for reply in results]
    expected, answers = parser.expected(doc), parser.answers(doc)
    correct = [each.value == expected for each in readings if each.status != triage.FAILED]
    replies = [reply for reply, each in zip(results, readings, strict=True) if each.status != triage.FAILED]
    record = {
        **{key: value for key, value in doc.items() if key not in _NOT_TAGS},
        "answer": expected,
        "option_count": len(doc["options"]) or len(answers),
        "trials": [each.value or each.status for each in readings],
        "parsed": sum(each.status == "ok" for each in readings),
        "identical": len(set(replies)) == 1 if len(replies) > 1 else None,
        "degradation_parameters": hooks.RENDERED.get(str(doc["id"])),
    }
    if parser_name == "position":
        record["negative"] = int(expected == triage.NONE)
    return {**record, "score": sum(correct) / len(correct)} if correct else record


def _with_record(values: dict[str, Any], record: dict[str, Any]) -> dict[str, Any]:
    """``values`` with the record in one of them: without its score where that is not the metric's."""
    name = "accuracy" if "accuracy" in values else "parse_rate"
    kept = record if name == "accuracy" else {key: each for key, each in record.items() if key != "score"}
    return {**values, name: {**kept, **values[name]}}


def _side(record: Record, side: str) -> dict[str, Any]:
    return part(record) if record.get("set") == side else {}


def _rate(record: Record, function: Callable[[Record], float | None]) -> dict[str, Any]:
    score = function(record)
    return {} if score is None else {"score": score, "image_id": record["image_id"]}


def _failed(record: Record) -> int:
    return sum(trial == triage.FAILED for trial in record["trials"])


VALUES: Mapping[str, Callable[[Record], Any]] = {
    "accuracy": part,
    "accuracy_iid": lambda record: _side(record, "iid"),
    "accuracy_ood": lambda record: _side(record, "ood"),
    "relative_robustness": Shared,
    "shared_images": Shared,
    "false_alarm_rate": lambda record: _rate(record, triage.false_alarm),
    "abstention_rate": lambda record: _rate(record, triage.abstention),
    "confidence": Shared,
    "calibration_shift": Shared,
    "ece": Shared,
    "brier": Shared,
    "aurc": Shared,
    "chance": lambda record: {"chance": 1 / record["option_count"]},
    "identical_trials": lambda record: {"identical": record["identical"]},
    "parse_rate": lambda record: {
        "parsed": record["parsed"],
        "replies": len(record["trials"]) - _failed(record),
    },
    "failed_requests": lambda record: {"failed": _failed(record), "trials": len(record["trials"])},
}
"""Metric -> the value that its aggregation gets of each record."""
