"""A protocol of the tests' own, got from the registry as ``judge_sample:PROTOCOL``, and a task's hooks on it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import Dimension, Item, Protocol
from lmms_medtasks.record import Record
from lmms_medtasks.statistics import coverage
from lmms_medtasks.suites.judged import measure_value, with_measures

SCALE = {str(number): float(number) for number in range(1, 6)}


def item(doc, reply):
    return Item(doc["id"], {"question": doc["question"], "reference": doc["answer"], "answer": reply})


def settle(item):
    if item.fields["answer"].strip().lower() == item.fields["reference"].lower():
        return {"correctness": "5"}, "exact match"
    return ({"correctness": "1"}, "empty answer") if not item.fields["answer"].strip() else None


PROTOCOL = Protocol(
    name="judge_sample:PROTOCOL",
    prompt=str(Path(__file__).with_name("judge_sample.txt")),
    version=1,
    dimensions=(Dimension("correctness", SCALE),),
    fields=("question", "reference", "answer"),
    paper_judge="DeepSeek-V3.2-Exp",
    item=item,
    settle=settle,
)

PRIVATE = dataclasses.replace(
    PROTOCOL, name="judge_sample:PRIVATE", terms="PhysioNet Credentialed Health Data License.", open_tags=("modality",)
)


def doc_to_text(doc, settings=None):
    return doc["question"]


def doc_to_visual(doc, settings=None):
    return []


def doc_to_target(doc):
    return doc["answer"]


def value_of(record):
    """The record's correctness in the terms of :mod:`lmms_medtasks.statistics.coverage`."""
    value = measure_value(record.judgement, "correctness")
    numbers = {name: getattr(value, name) for name in ("score", "low", "high", "judged")}
    known = {name: number for name, number in numbers.items() if number is not None}
    return {**known, "wanted": value.requested, "status": record.judgement.status, "image_id": record.cluster}


def metrics_of(record):
    measured = with_measures(record, {"correctness": measure_value(record.judgement, "correctness")})
    value = value_of(record)
    counts = {name: each for name, each in value.items() if name != "score"}
    names = ("coverage", "bound_worst", "bound_best", "complete", "missing_judgements")
    return {"questions": measured.to_json(), "correctness": value, **dict.fromkeys(names, counts)}


def record_of(doc, results, protocol):
    trials, judgement = records.judgement_of(doc, results, protocol)
    return Record(doc["id"], doc["image_id"], trials, None, {}, judgement=judgement)


@records.scored_by(metrics_of)
def process_results(doc, results):
    return metrics_of(record_of(doc, results, PROTOCOL))


@records.scored_by(metrics_of)
def process_results_private(doc, results):
    return metrics_of(record_of(doc, results, PRIVATE))


judged_mean, complete = coverage.judged_mean, coverage.complete
number_of = len
