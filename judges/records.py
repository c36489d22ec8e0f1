"""The record of an open question: what was read from each reply, who judged it, and what came of it.

A record is all that the sample log keeps of a question, so that it can be judged and scored again from there::

    def metrics_of(record):
        correctness = records.scored(record, "correctness")  # the record once, under one metric
        return {"correctness": correctness, "coverage": records.tally(record, "correctness")}

    @records.scored_by(metrics_of)
    def process_results(doc, results):
        return metrics_of(records.judged_record(doc, results, PROTOCOL))

Where a protocol has terms, a record holds no text of the data: ``items`` is "withheld", the judge's words are left out,
and the replies are kept on this machine (:mod:`lmms_medtasks.judges.withheld`), found again by their digests.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from lmms_medtasks import parsing
from lmms_medtasks.judges import registry, withheld
from lmms_medtasks.judges.protocol import Item, Protocol, Verdict
from lmms_medtasks.judges.table import TABLE
from lmms_medtasks.parsing.replies import after_reasoning

Record = Mapping[str, Any]
Numbers = Mapping[str, float]
Measure = str | Callable[[Numbers], float]
"""What is measured of one judgement: a dimension's number, or a function of all dimensions' numbers. The function must
not fall where a dimension gets better: the bounds are its values where all dimensions are at their worst, or best."""
Hook = TypeVar("Hook", bound=Callable[..., Any])

WITHHELD = "withheld"
NOT_JUDGED = "not judged"
_NOT_TAGS = {"question", "options", "image", "images"}
_VALUE_KEYS = {"status", "score", "low", "high", "judged", "wanted"}
_IDS = ("id", "image_id", "data")


def items_of(doc: Mapping[str, Any], results: Sequence[str | None], protocol: Protocol) -> list[Item | None]:
    """For each reply the item that is judged; None for a failed request, or where the protocol has nothing to judge."""
    return [None if parsing.is_failed_request(each) else protocol.item(doc, str(each).strip()) for each in results]


def judged_record(doc: Mapping[str, Any], results: Sequence[str | None], protocol: Protocol) -> dict[str, Any]:
    """The record of a document's replies, with the verdicts that the stage before has got (no request is made here).

    Keys: the document's ``id``, ``image_id``, ``data`` and tags (not its question, options and pictures); ``trials``,
    per reply "ok", "empty", "truncated" (reasoning that was never closed) or "failed"; ``judge``, who judged, by which
    prompt and settings; ``items``, per reply the fields that the judge is shown, or None; ``verdicts``, per reply a
    list of ``protocol.trials`` mappings ``status``, ``labels``, ``reason``, ``reply``, ``model``, the one that answered
    ("" where the server named none, None where none was asked) ([] where the item is None).
    """
    items = items_of(doc, results, protocol)
    tags = _tags(doc, protocol)
    record = {
        **tags,
        "trials": [_trial(reply) for reply in results],
        "judge": dict(TABLE.judge(protocol) or {"name": "none", "protocol": protocol.name}),
        "items": [item and dict(item.fields) for item in items],
        "verdicts": [_looked_up(protocol, item) for item in items],
    }
    if protocol.terms:
        record["items"] = WITHHELD
        record["replies"] = [withheld.keep((reply or "").strip(), str(doc["id"])) for reply in results]
    return record


def _tags(doc: Mapping[str, Any], protocol: Protocol) -> dict[str, Any]:
    if not protocol.terms:
        return {key: value for key, value in doc.items() if key not in _NOT_TAGS}
    return {key: doc[key] for key in (*_IDS, *protocol.open_tags) if key in doc}


def _trial(reply: str | None) -> str:
    if parsing.is_failed_request(reply):
        return "failed"
    if after_reasoning(str(reply)) is None:
        return "truncated"
    return "ok" if str(reply).strip() else "empty"


def _looked_up(protocol: Protocol, item: Item | None) -> list[dict[str, Any]]:
    if item is None:
        return []
    found = [TABLE.get(protocol, item, trial) for trial in range(protocol.trials)]
    return [to_json(verdict or Verdict("missing", reason=NOT_JUDGED), protocol) for verdict in found]


def to_json(verdict: Verdict, protocol: Protocol) -> dict[str, Any]:
    """A verdict as it stands in a record; with terms without the judge's words, which may repeat the data's."""
    if protocol.terms:
        reason, reply = verdict.reason.partition(":")[0], ""
    else:
        reason, reply = verdict.reason, verdict.reply
    labels = dict(verdict.labels)
    return {"status": verdict.status, "labels": labels, "reason": reason, "reply": reply, "model": verdict.model}


def scored_by(metrics_of: Callable[[dict[str, Any]], dict[str, Any]]) -> Callable[[Hook], Hook]:
    """Tell of a scoring hook which pure function makes its metrics of a record (it stands in ``hook.metrics_of``)."""

    def mark(hook: Hook) -> Hook:
        hook.metrics_of = metrics_of  # type: ignore[attr-defined]
        return hook

    return mark


def protocol_of(record: Record) -> Protocol:
    """The protocol that a record was judged by."""
    return registry.get(record["judge"]["protocol"])


def scores(record: Record, measure: Measure) -> list[float | None]:
    """Per judgement (replies in order, for each its trials of judging) the number, None where it is missing."""
    protocol = protocol_of(record)
    return [_number(verdict, measure, protocol) for verdicts in record["verdicts"] for verdict in verdicts]


def value(record: Record, measure: Measure) -> dict[str, Any]:
    """A metric's value, for the aggregations of :mod:`lmms_medtasks.statistics.coverage`.

    ``score`` is the mean over the judgements that were had, and is not there if there is none: so the harness's
    standard errors leave the answer out. ``low`` and ``high`` take the missing as worst and as best, ``judged`` of
    ``wanted`` were had, ``status`` is "exact", "judged", "partial", "missing", or "failed" if no reply came that could
    be judged. With ``id`` and ``image_id``.
    """
    protocol, got = protocol_of(record), scores(record, measure)
    had = [number for number in got if number is not None]
    found: dict[str, Any] = {
        "id": record["id"],
        "image_id": record["image_id"],
        "status": _status(record, got),
        "judged": len(had),
        "wanted": len(got),
    }
    if had:
        found["score"] = math.fsum(had) / len(had)
    if got:
        worst, best = bounds(protocol, measure)
        found["low"] = math.fsum(worst if number is None else number for number in got) / len(got)
        found["high"] = math.fsum(best if number is None else number for number in got) / len(got)
    return found


def bounds(protocol: Protocol, measure: Measure) -> tuple[float, float]:
    """The lowest and the highest that ``measure`` can be."""
    if isinstance(measure, str):
        dimension = protocol.dimension(measure)
        return dimension.worst, dimension.best
    return (
        measure({dimension.name: dimension.worst for dimension in protocol.dimensions}),
        measure({dimension.name: dimension.best for dimension in protocol.dimensions}),
    )


def tally(record: Record, measure: Measure) -> dict[str, Any]:
    """:func:`value` without ``score``: for coverage and bounds, which the harness should give no standard error."""
    return {key: each for key, each in value(record, measure).items() if key in _VALUE_KEYS - {"score"}}


def scored(record: Record, measure: Measure) -> dict[str, Any]:
    """The record itself as the value of a metric: :func:`value` joined to it. What it had of another is taken off."""
    return {**{key: each for key, each in record.items() if key not in _VALUE_KEYS}, **value(record, measure)}


def _number(verdict: Mapping[str, Any], measure: Measure, protocol: Protocol) -> float | None:
    if verdict["status"] == "missing":
        return None
    labels = verdict["labels"]
    if isinstance(measure, str):
        return protocol.dimension(measure).labels[labels[measure]]
    return measure({each.name: each.labels[labels[each.name]] for each in protocol.dimensions})


def _status(record: Record, got: Sequence[float | None]) -> str:
    missing = sum(number is None for number in got)
    if not got:
        return "failed"
    if missing:
        return "missing" if missing == len(got) else "partial"
    statuses = {verdict["status"] for verdicts in record["verdicts"] for verdict in verdicts}
    return "exact" if statuses == {"exact"} else "judged"
