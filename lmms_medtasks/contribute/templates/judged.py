"""Scoring of open answers that a judge compared with a reference, see :mod:`lmms_medtasks.judges.records`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lmms_medtasks.contribute.templates import get
from lmms_medtasks.judges import records, registry
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.parsing.replies import after_reasoning
from lmms_medtasks.statistics.shared import Shared
from lmms_medtasks.statistics.text import exact_match, token_scores

KIND = "open"
TAKES_SETTINGS = True
Record = Mapping[str, Any]


def metrics_of(record: dict[str, Any], settings: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The metrics' values of a record: a function of it, so that a log can be judged and scored again."""
    names = (settings or {}).get("metrics") or get("open").metrics
    measure = _measure(records.protocol_of(record))
    values = {name: VALUES[name](record, measure) for name in names}
    if "score" in values:
        return {**values, "score": records.scored(record, measure)}
    # Without a score: the harness would print the mean's standard error beside the share that was judged.
    whole = records.scored(record, measure)
    return {**values, "judged": {key: each for key, each in whole.items() if key != "score"}}


def process_results(
    doc: Mapping[str, Any], results: Sequence[str], settings: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The values of the task's metrics for the replies to a question, by the verdicts that the judging stage got."""
    settings = settings or get("open").settings
    protocol = registry.get(settings["judge"])
    record = records.judged_record(doc, results, protocol)
    if not protocol.terms:
        record["traditional"] = [_traditional(reply, doc) if trial != "failed" else None
                                 for reply, trial in zip(results, record["trials"], strict=True)]  # fmt: skip
    return metrics_of(record, settings)


process_results.metrics_of = metrics_of  # type: ignore[attr-defined]  # as records.scored_by does


def _measure(protocol: Protocol) -> records.Measure:
    """What is scored: the protocol's one number, or its only dimension."""
    return protocol.total or protocol.dimensions[0].name


def _traditional(reply: str, doc: Mapping[str, Any]) -> dict[str, float]:
    said = (after_reasoning(reply) or "").strip()
    reference = str(doc["answer"])
    return {"exact_match": float(exact_match(said, reference)), "token_f1": token_scores(said, reference).f1}


def _side(record: Record, measure: records.Measure, side: str) -> dict[str, Any]:
    return records.value(record, measure) if record.get("set") == side else {}


def _mean(record: Record, name: str) -> dict[str, Any]:
    scores = [each[name] for each in record.get("traditional", ()) if each]
    return {"score": math.fsum(scores) / len(scores), "image_id": record["image_id"]} if scores else {}


def _counted(record: Record, measure: records.Measure) -> dict[str, Any]:
    # Without a score: the harness would print the mean's standard error beside a share or a bound.
    return records.tally(record, measure)


VALUES: Mapping[str, Callable[[Record, records.Measure], Any]] = {
    "score": records.value,
    "score_iid": lambda record, measure: _side(record, measure, "iid"),
    "score_ood": lambda record, measure: _side(record, measure, "ood"),
    "score_relative_robustness": lambda record, measure: Shared({**record, **records.value(record, measure)}),
    "judged": _counted,
    "bound_worst": _counted,
    "bound_best": _counted,
    "complete": _counted,
    "exact_match": lambda record, _: _mean(record, "exact_match"),
    "token_f1": lambda record, _: _mean(record, "token_f1"),
    "shared_images": lambda record, _: Shared(record),
    "failed_requests": lambda record, _: {"failed": record["trials"].count("failed"), "trials": len(record["trials"])},
}
"""Metric -> the value that its aggregation gets of each record."""
