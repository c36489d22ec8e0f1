"""Tasks IV to VIII: the metrics of judged records.

An answer's accuracy is the mean over its three judgements of 1 for Correct (of Task VIII: for having named the
contradiction) and 0 otherwise. Judgements that could not be had are in no mean: see ``coverage`` and the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from lmms_medtasks.judges import bones_joints as protocols
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import Protocol
from lmms_medtasks.statistics import coverage
from lmms_medtasks.statistics.shares import share
from lmms_medtasks.task_configs.bones_joints.choice import by_site, scored

Document = Mapping[str, Any]
Record = Mapping[str, Any]
MEASURE = protocols.VERDICT.name
SHARES: Mapping[str, str] = {
    "went_on": protocols.WENT_ON,
    "missed": protocols.MISSED,
    "objected_otherwise": protocols.OTHERWISE,
}
"""Task VIII: metric -> the label whose share it is."""


def metrics_of(record: dict[str, Any]) -> dict[str, Any]:
    """The metrics' values of a record of Tasks IV and VI; the record itself stands under ``accuracy``."""
    found = records.scored(record, MEASURE)
    counted = records.tally(record, MEASURE)
    bare = {"image_id": record["image_id"], "status": found["status"]}
    bare |= {"right": found["score"]} if "score" in found else {}
    return {
        "accuracy": found,
        "accuracy_low": bare,
        "accuracy_high": bare,
        **by_site(record, {**scored(found), "status": found["status"]}),
        "unclear_rate": label_share(record, protocols.UNCLEAR),
        "unanimous": unanimous(record),
        **dict.fromkeys(("coverage", "bound_worst", "bound_best", "complete"), counted),
        "failed_requests": {"failed": record["trials"].count("failed"), "trials": len(record["trials"])},
    }


def metrics_of_chain(record: dict[str, Any]) -> dict[str, Any]:
    """The same for Tasks V and VII, and the share of the experts' steps that the judge found in the answer."""
    return {**metrics_of(record), "steps_found": steps_found(record)}


def metrics_of_contradiction(record: dict[str, Any]) -> dict[str, Any]:
    """The same for Task VIII, and what became of the answers that are no plain success."""
    return {**metrics_of(record), **{name: label_share(record, label) for name, label in SHARES.items()}}


@records.scored_by(metrics_of)
def process_results(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """The metrics of a document's replies, by the verdicts that the judging stage has got."""
    return metrics_of(_record(doc, results, protocols.ANSWER))


@records.scored_by(metrics_of_chain)
def process_results_chain(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """The same for a chain of reasoning."""
    return metrics_of_chain(_record(doc, results, protocols.REASONING))


@records.scored_by(metrics_of_contradiction)
def process_results_contradiction(doc: Document, results: Sequence[str | None]) -> dict[str, Any]:
    """The same for Task VIII."""
    return metrics_of_contradiction(_record(doc, results, protocols.INCONSISTENCY))


def _record(doc: Document, results: Sequence[str | None], protocol: Protocol) -> dict[str, Any]:
    # The report is long and stands in the log's input where it was shown.
    return records.judged_record({key: value for key, value in doc.items() if key != "report"}, results, protocol)


# --- values of a record -----------------------------------------------------------------------------------------------
def labels_of(record: Record) -> list[str]:
    """The labels of the judgements that were had, in order."""
    return [
        verdict["labels"][MEASURE]
        for verdicts in record["verdicts"]
        for verdict in verdicts
        if verdict["status"] != "missing"
    ]


def label_share(record: Record, label: str) -> dict[str, Any]:
    """Which share of the judgements that were had says ``label``."""
    had = labels_of(record)
    return _value(record, had.count(label) / len(had) if had else None)


def unanimous(record: Record) -> dict[str, Any]:
    """Whether all judgements of an answer agree; no value unless two or more were had."""
    had = labels_of(record)
    return _value(record, float(len(set(had)) == 1) if len(had) > 1 else None)


def steps_found(record: Record) -> dict[str, Any]:
    """The share of the experts' steps that were found, mean over the judgements that were had."""
    shares = [
        protocols.STEPS.share(verdict["labels"], item)
        for item, verdicts in zip(record["items"], record["verdicts"], strict=True)
        for verdict in verdicts
        if item and verdict["status"] != "missing"
    ]
    had = [each for each in shares if each is not None]
    return _value(record, math.fsum(had) / len(had) if had else None)


def _value(record: Record, score: float | None) -> dict[str, Any]:
    found = {"id": record["id"], "image_id": record["image_id"], "status": records.value(record, MEASURE)["status"]}
    return found if score is None else {**found, "score": score}


# --- aggregations -----------------------------------------------------------------------------------------------------
def judged_mean(values: Sequence[Record]) -> float | None:
    """Mean over the answers that have a score; None if none has, or no judge had a say: see ``coverage.only_rules``."""
    return coverage.judged_mean(_of_a_judge(values))


def accuracy_low(values: Sequence[Record]) -> float | None:
    """The lower end of the accuracy's 95 % interval."""
    return share(_of_a_judge(values)).low


def accuracy_high(values: Sequence[Record]) -> float | None:
    """The upper end of the accuracy's 95 % interval."""
    return share(_of_a_judge(values)).high


def _of_a_judge(values: Sequence[Record]) -> list[dict[str, Any]]:
    there = [{**each, "score": each["right"]} if "right" in each else dict(each) for each in values if each]
    return [] if coverage.only_rules(there) else there
