"""Open answers: the metrics of a judged record, with verdicts given by hand."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE, make_judged_items
from lmms_medtasks.record import record_from_json
from lmms_medtasks.task_configs.med_cmr import measures
from lmms_medtasks.task_configs.med_cmr.judging import PROTOCOL, WEIGHTS, weighted_total

GOOD = "Reasoning: a dark round area.\nAnswer: A cyst."


def document(number=1, dimension="SOD"):
    return {
        "id": f"open-{number}", "image_id": f"i{number}", "question": f"Which, {number}?", "options": [],
        "answer": "a cyst", "data": "mini", "dimension": dimension, "visual_description": "A dark round area.",
    }  # fmt: skip


@pytest.fixture
def scored():
    """Call as scored([(document, reply, verdict)]): the values of the metrics, row by row.

    A verdict is four labels, "rule" for the worst by a rule, or None.
    """
    TABLE.clear()

    def call(rows):
        for doc, reply, labels in rows:
            (item,) = make_judged_items(doc, [reply], PROTOCOL)
            if item and labels:
                verdict = JudgeVerdict("exact", dict.fromkeys(WEIGHTS, "0"), "empty")
                if labels != "rule":
                    verdict = JudgeVerdict("judged", dict(zip(WEIGHTS, labels, strict=True)), reply="{}")
                TABLE.put({judgement_key(PROTOCOL, item, 0): verdict})
        return [measures.process_results_open(doc, [reply]) for doc, reply, _ in rows]

    yield call
    TABLE.clear()


def metric(rows, name):
    """A metric's number over scored questions, as the harness gets it."""
    return aggregate([row[name] for row in rows])


def test_totals_by_hand(scored):
    # 100 (5 + 3 + 4 * 2 + 4 * 4) / 50 = 64; 100 (0 + 5 + 0 + 4 * 5) / 50 = 50.
    rows = scored([(document(1), GOOD, "5324"), (document(2, "LTG"), GOOD, "0505")])
    assert metric(rows, "total") == 57
    assert metric(rows, "total_sod") == 64
    assert metric(rows, "total_ltg") == 50
    assert metric(rows, "total_cr") is None
    assert metric(rows, "visual_accuracy") == 1
    assert metric(rows, "coverage") == 1 == metric(rows, "complete")
    assert metric(rows, "bound_worst") == 57 == metric(rows, "bound_best")


def test_a_missing_judgement_is_no_zero(scored):
    rows = scored([(document(1), GOOD, "5324"), (document(2), GOOD, None)])
    assert metric(rows, "total") == 64
    assert metric(rows, "coverage") == 0.5
    # (64 + 0) / 2 and (64 + 100) / 2.
    assert metric(rows, "bound_worst") == 32
    assert metric(rows, "bound_best") == 82


def test_where_no_judge_had_a_say_there_is_no_mean(scored):
    # The empty reply is settled by a rule; the other waits for a judge.
    rows = scored([(document(1), "", "rule"), (document(2), GOOD, None)])
    for name in ("total", "consistency", "total_sod"):
        assert metric(rows, name) is None, name
    assert (metric(rows, "bound_worst"), metric(rows, "bound_best")) == (0, 50)
    # What needs no judge has its mean.
    assert metric(rows, "exact_match") == 0.5 and "status" not in rows[0]["exact_match"]


def test_only_the_means_have_scores_that_the_harness_takes_for_an_error(scored):
    (row,) = scored([(document(1), GOOD, "5324")])
    with_score = {name for name, value in row.items() if "score" in value}
    assert with_score == {"total", *WEIGHTS, "total_sod", "exact_match"}


def test_parts_are_counted(scored):
    replies = {
        "both": GOOD, "without_reasoning": "Answer: a cyst", "without_answer": "Reasoning: dark",
        "without_labels": "a cyst", "empty_replies": "", "cut_replies": "<think>a cyst",
    }  # fmt: skip
    rows = scored([(document(n), reply, None) for n, reply in enumerate([*replies.values(), "Reasoning:\nAnswer:"])])
    assert metric(rows, "both_parts") == pytest.approx(1 / 7)
    counted = {name: metric(rows, name) for name in (*measures.PARTS, "cut_replies", "empty_replies")}
    # A reply of labels alone says nothing either.
    assert counted == {
        "without_reasoning": 1, "without_answer": 1, "without_labels": 1, "cut_replies": 1, "empty_replies": 2,
    }  # fmt: skip
    assert [row["exact_match"]["score"] for row in rows] == [1, 1, 0, 1, 0, 0, 0]
    tags = [row["questions"]["tags"]["parts"] for row in rows]
    assert tags == ["both", "no_reasoning", "no_answer", "neither", "empty", "cut", "empty"]
    trials = [row["questions"]["trials"] for row in rows]
    assert trials == [["ok"], ["ok"], ["ok"], ["ok"], ["empty"], ["cut"], ["empty"]]


def test_a_failed_request_is_in_no_mean(scored):
    failed, good = scored([(document(1), "[LMMS_EVAL_REQUEST_FAILED", None), (document(2), GOOD, "5555")])
    assert failed["total"]["status"] == "failed" and "score" not in failed["exact_match"]
    assert metric([failed], "both_parts") is None is metric([failed], "coverage")
    assert metric([failed, good], "failed_requests") == 1
    assert metric([failed, good], "total") == 100
    assert metric([failed, good], "coverage") == 1


def test_a_record_can_be_scored_again_from_the_log_alone(scored):
    (row,) = scored([(document(1), GOOD, "5324")])
    logged = record_from_json(json.loads(json.dumps(row["questions"])), "here")
    again = measures.process_results_open.metrics_of(logged)
    assert again == row and aggregate([again["total"]]) == 64
    missing = {"status": "missing", "labels": {}, "reason": "x", "reply": ""}
    unjudged = replace(logged, judgement=replace(logged.judgement, verdicts=((missing,),)))
    lost = measures.process_results_open.metrics_of(unjudged)
    assert "score" not in lost["total"] and lost["exact_match"] == row["exact_match"]


def test_the_weights_are_the_papers():
    assert dict(WEIGHTS) == {"consistency": 1, "coherence": 1, "visual_accuracy": 4, "ground_truth_correctness": 4}
    assert weighted_total(dict.fromkeys(WEIGHTS, 5)) == 100 and weighted_total(dict.fromkeys(WEIGHTS, 0)) == 0
    # Fluent and self-consistent, nothing right: 2 of 10 weights.
    assert weighted_total({**dict.fromkeys(WEIGHTS, 0), "consistency": 5, "coherence": 5}) == 20
