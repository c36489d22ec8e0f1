"""A protocol of the tests' own, got from the registry as ``judge_sample:PROTOCOL``, and a task's hooks on it."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lmms_medtasks.harness.scoring import ScoringHook
from lmms_medtasks.judges import records
from lmms_medtasks.judges.protocol import JudgedItem, JudgeProtocol, ScoreDimension
from lmms_medtasks.record import QuestionRecord
from lmms_medtasks.suites import judged_measures
from lmms_medtasks.suites.estimates import Count, Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions

SCALE = {str(number): float(number) for number in range(1, 6)}


def documents(count):
    """So many different questions."""
    return [{"id": f"q{n}", "question": f"What is seen in {n}?", "answer": "effusion"} for n in range(count)]


def item(doc, reply):
    return JudgedItem(doc["id"], {"question": doc["question"], "reference": doc["answer"], "answer": reply})


def asked(count):
    """So many items for a judge, each with the number of its trial."""
    return [(item(each, "an effusion"), 0) for each in documents(count)]


def settle(item):
    if item.fields["answer"].strip().lower() == item.fields["reference"].lower():
        return {"correctness": "5"}, "exact match"
    return ({"correctness": "1"}, "empty answer") if not item.fields["answer"].strip() else None


PROTOCOL = JudgeProtocol(
    name="judge_sample:PROTOCOL",
    prompt=str(Path(__file__).with_name("judge_sample.txt")),
    version=1,
    dimensions=(ScoreDimension("correctness", SCALE),),
    fields=("question", "reference", "answer"),
    paper_judge="DeepSeek-V3.2-Exp",
    item=item,
    settle=settle,
    reply="free",
)

BY_SCHEMA = dataclasses.replace(PROTOCOL, name="judge_sample:BY_SCHEMA", reply="schema")

PRIVATE = dataclasses.replace(
    PROTOCOL, name="judge_sample:PRIVATE", terms="PhysioNet Credentialed Health Data License.", open_tags=("modality",)
)


def doc_to_text(doc, settings=None):
    return doc["question"]


def doc_to_visual(doc, settings=None):
    return []


def doc_to_target(doc):
    return doc["answer"]


MEASURE = Measure("correctness", low=1.0, high=5.0, unit="stars")


def missing_judgements(rows):
    obtained, requested = judged_measures.judgement_counts(rows, MEASURE.name)
    return requested - obtained


SUITE = Suite(
    name="judge_sample",
    title="The tests' own",
    cluster="image",
    measures=(MEASURE,),
    metrics=(
        number_of_questions(),
        Metric("correctness", Mean(measure="correctness")),
        *judged_measures.judged_metrics("correctness"),
        Metric("missing_judgements", Count(function=missing_judgements), higher_is_better=False),
    ),
    tasks={"all": ("questions", "correctness", "coverage", "bound_worst", "bound_best", "complete",
                   "missing_judgements")},
)  # fmt: skip


def remeasured(record):
    value = judged_measures.measure_value(record.judgement, "correctness")
    return judged_measures.with_measures(record, {"correctness": value})


def record_of(doc, results, protocol):
    trials, judgement = records.make_judgement(doc, results, protocol)
    return remeasured(QuestionRecord(doc["id"], doc["image_id"], trials, None, {}, judgement=judgement))


process_results = ScoringHook(SUITE, "all", lambda doc, results: record_of(doc, results, PROTOCOL), remeasured)
process_results_private = ScoringHook(SUITE, "all", lambda doc, results: record_of(doc, results, PRIVATE), remeasured)
