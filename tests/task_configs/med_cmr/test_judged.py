"""Open answers: the metrics' values of a judged record, with verdicts given by hand."""

from __future__ import annotations

import json

import pytest

from lmms_medtasks.judges.med_cmr import PROTOCOL, WEIGHTS, total
from lmms_medtasks.judges.protocol import Verdict
from lmms_medtasks.judges.records import items_of
from lmms_medtasks.judges.table import TABLE, key_of
from lmms_medtasks.statistics import coverage
from lmms_medtasks.task_configs.med_cmr import judged

GOOD = "Reasoning: a dark round area.\nAnswer: A cyst."


def document(number=1, dimension="SOD"):
    return {
        "id": f"open-{number}", "image_id": f"i{number}", "question": f"Which, {number}?", "options": [],
        "answer": "a cyst", "data": "mini", "dimension": dimension, "visual_description": "A dark round area.",
    }  # fmt: skip


@pytest.fixture
def scored():
    """Call as scored([(document, reply, four labels or None)]): the values of the metrics, row by row."""
    TABLE.clear()

    def call(rows):
        for doc, reply, labels in rows:
            (item,) = items_of(doc, [reply], PROTOCOL)
            if item and labels:
                verdict = Verdict("judged", dict(zip(WEIGHTS, labels, strict=True)), reply="{}")
                TABLE.put({key_of(PROTOCOL, item, 0): verdict})
        return [judged.process_results(doc, [reply]) for doc, reply, _ in rows]

    yield call
    TABLE.clear()


def values(rows, metric):
    return [row[metric] for row in rows]


def test_totals_by_hand(scored):
    # 100 (5 + 3 + 4 * 2 + 4 * 4) / 50 = 64; 100 (0 + 5 + 0 + 4 * 5) / 50 = 50.
    rows = scored([(document(1), GOOD, "5324"), (document(2, "LTG"), GOOD, "0505")])
    assert coverage.judged_mean(values(rows, "total")) == 57
    assert coverage.judged_mean(values(rows, "total_sod")) == 64
    assert coverage.judged_mean(values(rows, "total_ltg")) == 50
    assert coverage.judged_mean(values(rows, "total_cr")) is None
    assert coverage.judged_mean(values(rows, "visual_accuracy")) == 1
    assert coverage.coverage(values(rows, "coverage")) == 1 == coverage.complete(values(rows, "complete"))
    assert coverage.bound_worst(values(rows, "bound_worst")) == 57 == coverage.bound_best(values(rows, "bound_best"))


def test_a_missing_judgement_is_no_zero(scored):
    rows = scored([(document(1), GOOD, "5324"), (document(2), GOOD, None)])
    assert coverage.judged_mean(values(rows, "total")) == 64
    assert coverage.coverage(values(rows, "coverage")) == 0.5
    # (64 + 0) / 2 and (64 + 100) / 2.
    assert coverage.bound_worst(values(rows, "bound_worst")) == 32
    assert coverage.bound_best(values(rows, "bound_best")) == 82


def test_only_the_means_have_scores_that_the_harness_takes_for_an_error(scored):
    (row,) = scored([(document(1), GOOD, "5324")])
    with_score = {name for name, value in row.items() if "score" in value}
    assert with_score == {"total", *WEIGHTS, "total_sod", "exact_match"}


def test_formats_are_counted(scored):
    replies = {
        "both": GOOD, "without_reasoning": "Answer: a cyst", "without_answer": "Reasoning: dark",
        "without_labels": "a cyst", "empty_replies": "",
    }  # fmt: skip
    rows = scored([(document(n), reply, None) for n, reply in enumerate([*replies.values(), "<think>a cyst"])])
    assert [row["both_parts"]["parsed"] for row in rows] == [1, 0, 0, 0, 0, 0]
    counted = {name: sum(row[name]["count"] for row in rows) for name in judged.FORMATS}
    assert counted == {"without_reasoning": 1, "without_answer": 1, "without_labels": 1, "empty_replies": 2}
    assert [row["exact_match"]["score"] for row in rows] == [1, 1, 0, 1, 0, 0]


def test_a_failed_request_is_in_no_mean(scored):
    failed, good = scored([(document(1), "[LMMS_EVAL_REQUEST_FAILED", None), (document(2), GOOD, "5555")])
    assert failed["total"]["status"] == "failed" and failed["failed_requests"] == {"failed": 1, "trials": 1}
    assert "score" not in failed["exact_match"] and failed["both_parts"] == {"parsed": 0, "replies": 0}
    assert coverage.judged_mean(values([failed, good], "total")) == 100
    assert coverage.coverage(values([failed, good], "coverage")) == 1


def test_a_record_can_be_scored_again_from_the_log_alone(scored):
    (row,) = scored([(document(1), GOOD, "5324")])
    record = json.loads(json.dumps(row["total"]))
    assert {"id", "image_id", "data", "trials", "judge", "items", "verdicts", "dimension", "parts"} <= set(record)
    assert judged.process_results.metrics_of(record) == row
    record["verdicts"] = [[{"status": "missing", "labels": {}, "reason": "x", "reply": ""}]]
    assert "score" not in judged.metrics_of(record)["total"]


def test_the_weights_are_the_papers():
    assert dict(WEIGHTS) == {"consistency": 1, "coherence": 1, "visual_accuracy": 4, "ground_truth_correctness": 4}
    assert total(dict.fromkeys(WEIGHTS, 5)) == 100 and total(dict.fromkeys(WEIGHTS, 0)) == 0
    # Fluent and self-consistent, nothing right: 2 of 10 weights.
    assert total({**dict.fromkeys(WEIGHTS, 0), "consistency": 5, "coherence": 5}) == 20
