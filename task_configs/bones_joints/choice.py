"""Tasks I to III, multiple choice: reading, scoring, and the metrics of the harness's table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks import choices
from lmms_medtasks.data.bones_joints_forms import sites
from lmms_medtasks.statistics.shares import share

Document = Mapping[str, Any]
Value = Mapping[str, Any]

_LONG = {"report"}


def process_results(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """Score the reply to a question. An unreadable, ambiguous or refusing reply is incorrect; a failed request has no
    score."""
    record = choices.record_of(doc, results, _LONG)
    # Not called a score: the harness would print the standard error of a mean beside a bound of it.
    bare = {"image_id": record["image_id"], **({"right": record["score"]} if "score" in record else {})}
    return {
        "accuracy": record,
        "accuracy_low": bare,
        "accuracy_high": bare,
        **by_site(record, scored(record)),
        **choices.outcomes(record),
    }


def scored(record: Value) -> dict[str, Any]:
    """A record's id, image and score alone; {} if it has none."""
    return {key: record[key] for key in ("id", "image_id", "score")} if "score" in record else {}


def by_site(record: Value, value: Value) -> dict[str, Value]:
    """``accuracy_knee`` and so on: the value under the record's own site, an empty one under the others."""
    return {f"accuracy_{site}": value if record["site"] == site else {} for site in sites()}


def accuracy_low(values: Sequence[Value]) -> float | None:
    """Aggregation: the lower end of the accuracy's 95 % interval."""
    return share(_renamed(values)).low


def accuracy_high(values: Sequence[Value]) -> float | None:
    """Aggregation: the upper end of the accuracy's 95 % interval."""
    return share(_renamed(values)).high


def _renamed(values: Sequence[Value]) -> list[dict[str, Any]]:
    return [{**value, "score": value["right"]} if "right" in value else dict(value) for value in values]
