"""A protocol of the tests' own, got from the registry as ``judge_sample:PROTOCOL``, and a task's hooks on it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import Dimension, Item, Protocol
from lmms_medtasks.statistics import coverage

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


def metrics_of(record):
    value = records.tally(record, "correctness")
    names = ("coverage", "bound_worst", "bound_best", "complete", "missing_judgements")
    return {"correctness": records.scored(record, "correctness"), **dict.fromkeys(names, value)}


@records.scored_by(metrics_of)
def process_results(doc, results):
    return metrics_of(records.judged_record(doc, results, PROTOCOL))


@records.scored_by(metrics_of)
def process_results_private(doc, results):
    return metrics_of(records.judged_record(doc, results, PRIVATE))


judged_mean, complete = coverage.judged_mean, coverage.complete
