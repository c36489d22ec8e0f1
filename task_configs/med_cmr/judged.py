"""Med-CMR's open questions: the metrics of a judged record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.data.med_cmr_dimensions import dimensions
from lmms_medtasks.judges import records
from lmms_medtasks.judges.med_cmr import PROTOCOL, WEIGHTS, total
from lmms_medtasks.parsing.reasoned import read_reasoned
from lmms_medtasks.statistics.text import exact_match

FORMATS: Mapping[str, tuple[str, ...]] = {
    "without_reasoning": ("no_reasoning",),
    "without_answer": ("no_answer",),
    "without_labels": ("neither",),
    "empty_replies": ("empty", "truncated"),
}
"""Metric -> the outcomes of :func:`lmms_medtasks.parsing.reasoned.read_reasoned` that it counts."""


def metrics_of(record: dict[str, Any]) -> dict[str, Any]:
    """The metrics' values of a record: the record itself under ``total``."""
    of_total = records.value(record, total)
    # Without a score: the harness would print the total's standard error beside a share or a bound.
    counted = {key: value for key, value in of_total.items() if key != "score"}
    parts = Counter(record["parts"])
    replies = len(record["parts"]) - parts["failed"]
    return {
        "total": records.scored(record, total),
        **{name: records.value(record, name) for name in WEIGHTS},
        **{
            f"total_{each.short.lower()}": of_total if each.short == record["dimension"] else {}
            for each in dimensions()
        },
        **dict.fromkeys(("coverage", "bound_worst", "bound_best", "complete"), counted),
        "exact_match": _exact(record),
        "both_parts": {"parsed": parts["both"], "replies": replies},
        **{name: {"count": sum(parts[outcome] for outcome in of)} for name, of in FORMATS.items()},
        "failed_requests": {"failed": parts["failed"], "trials": len(record["parts"])},
    }


def _exact(record: Mapping[str, Any]) -> dict[str, Any]:
    """Share of the replies whose final answer has the reference's words, in any case, articles and full stops apart."""
    exact = [exact_match(item["answer"], record["answer"]) for item in record["items"] if item]
    found = {"id": record["id"], "image_id": record["image_id"]}
    return {**found, "score": sum(exact) / len(exact)} if exact else found


@records.scored_by(metrics_of)
def process_results(doc: Mapping[str, Any], results: Sequence[str | None]) -> dict[str, Any]:
    """The metrics of a document's replies, by the verdicts that the judging stage has got."""
    record = records.judged_record(doc, results, PROTOCOL)
    return metrics_of({**record, "parts": [read_reasoned(reply).status for reply in results]})
