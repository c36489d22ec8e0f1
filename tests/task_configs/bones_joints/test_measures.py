"""Records and metrics: multiple choice, and judged answers from verdicts written by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
from scipy.stats import beta

from lmms_medtasks.judges.judging import settle_by_rule
from lmms_medtasks.judges.protocol import JudgeVerdict, judgement_key
from lmms_medtasks.judges.records import TABLE
from lmms_medtasks.record import record_from_json
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.task_configs.bones_joints import judging, measures
from lmms_medtasks.task_configs.bones_joints.measures import SUITE, choice_record, judged_record
from lmms_medtasks.task_configs.bones_joints.source_forms import site_names

DOC = {"id": "t3-1", "image_id": "i", "task": "t3", "case_id": "c", "image_case": "c", "site": "knee",
       "image_site": "knee", "disease": "gout", "disease_listed": "unlisted", "modality": "", "report": "long",
       "image_count": 1, "figures": 0, "data": "mini", "question": "?",
       "options": list("vwxyz"), "answer": "B"}  # fmt: skip
OPEN = {**DOC, "id": "t4-1", "task": "t4", "options": [], "answer": "gout"}
FAILED = "[LMMS_EVAL_REQUEST_FAILED after 5 retries]"


@pytest.fixture(autouse=True)
def judge():
    """A judge that is asked several times: at temperature 0 it would be asked once."""
    for protocol in judging.PROTOCOLS:
        TABLE.set_judge(protocol, {"name": "j", "protocol": protocol.name, "settings": {"temperature": 1.0}})
    yield
    TABLE.clear()


def metric(name, *records):
    """The number that the harness prints of these records."""
    named = [replace(record, id=str(number)) for number, record in enumerate(records)]
    return SUITE.metric(name).estimate.value(QuestionTable.of_records(named))


def scores(record):
    return {name: value.score for name, value in record.measures.items()}


def test_choice():
    right, *_ = every = [choice_record(DOC, [reply]) for reply in ("B", "C", "hm", " ", FAILED)]
    assert [each.measures["accuracy"].score for each in every] == [1, 0, 0, 0, None]
    assert [each.trials for each in every] == [("B",), ("C",), ("unreadable",), ("empty",), ("failed",)]
    assert "report" not in right.tags and "question" not in right.tags
    assert (right.tags["case_id"], right.tags["paper_task"], right.expected) == ("c", "t3", "B")
    values = measures.process_results_choice(DOC, ["B"])
    assert values["accuracy_knee"]["score"] == 1 and dict(values["accuracy_hip"]) == {}
    assert "score" not in measures.process_results_choice(DOC, [FAILED])["accuracy_knee"]
    assert metric("accuracy", *every) == 1 / 4 == metric("accuracy_knee", *every)
    assert metric("accuracy_hip", *every) is None
    assert (metric("parse_rate", *every), metric("empty_replies", *every), metric("failed_requests", *every)) == (
        2 / 4, 1, 1,
    )  # fmt: skip
    assert (metric("refused_replies", *every), metric("cut_replies", *every)) == (0, 0)


def test_ends_of_the_interval():
    every = [choice_record(DOC, [reply]) for reply in ("B", "C", "hm", FAILED)]
    # All of one image.
    assert metric("accuracy_low", *every) is None
    every = [choice_record(DOC, [reply]) for reply in ("B", "C", "hm", "C", "D", FAILED)]
    spread = [replace(record, cluster=str(number)) for number, record in enumerate(every)]
    # 1 of 5: quantiles of Beta(4/3, 14/3) and Beta(5/3, 13/3).
    assert metric("accuracy_low", *spread) == pytest.approx(beta(4 / 3, 14 / 3).ppf(0.025))
    assert metric("accuracy_high", *spread) == pytest.approx(beta(5 / 3, 13 / 3).ppf(0.975))
    assert metric("accuracy_low", every[-1]) is None and metric("accuracy_high", every[-1]) is None
    # The harness prints no standard error of a bound.
    assert dict(measures.process_results_choice(DOC, ["B"])["accuracy_low"]) == {}


def verdicts(protocol, doc, reply, labels, steps=()):
    item = protocol.item(doc, reply)
    found = {}
    for trial, label in enumerate(labels):
        said = {"verdict": label, **({"steps_found": steps[trial]} if steps else {})}
        verdict = JudgeVerdict("judged", said) if label else JudgeVerdict("missing", reason="no verdict")
        found[judgement_key(protocol, item, trial)] = verdict
    TABLE.put(found)


def settle(protocol, doc):
    """What the stage has for an answer without a word."""
    item = protocol.item(doc, "")
    TABLE.put({judgement_key(protocol, item, trial): settle_by_rule(protocol, item) for trial in range(3)})


def test_the_mean_of_three_with_unclear_as_none():
    verdicts(judging.ANSWER, OPEN, "gout", ["Correct", "Unclear", "Incorrect"])
    record = judged_record(OPEN, ["gout"], judging.ANSWER)
    found = scores(record)
    assert found == {"accuracy": pytest.approx(1 / 3), "unclear_rate": pytest.approx(1 / 3), "unanimous": 0}
    assert record.measures["accuracy"].judged == 3 and "report" not in record.tags
    values = measures.process_results_open(OPEN, ["gout"])
    assert values["accuracy_knee"]["score"] == found["accuracy"] and dict(values["accuracy_hip"]) == {}
    assert {f"accuracy_{site}" for site in site_names()} <= set(values)


def test_at_temperature_0_there_is_one_judgement():
    """Unanimity says nothing then."""
    for protocol in judging.PROTOCOLS:
        TABLE.set_judge(protocol, {"name": "j", "protocol": protocol.name, "settings": {"temperature": 0.0}})
    verdicts(judging.ANSWER, OPEN, "gout", ["Correct"])
    record = judged_record(OPEN, ["gout"], judging.ANSWER)
    assert scores(record) == {"accuracy": 1, "unclear_rate": 0, "unanimous": None}
    assert record.measures["accuracy"].judged == 1


def test_a_missing_judgement_is_no_zero():
    verdicts(judging.ANSWER, OPEN, "gout", ["Correct", "Correct", None])
    record = judged_record(OPEN, ["gout"], judging.ANSWER)
    assert record.measures["accuracy"].score == 1 and record.judgement.status == "partial"
    assert metric("bound_worst", record) == pytest.approx(2 / 3) and metric("bound_best", record) == 1
    assert metric("coverage", record) == pytest.approx(2 / 3) and metric("complete", record) == 0


def test_steps_of_a_chain():
    doc = {**OPEN, "id": "t5-1", "task": "t5", "answer": "a fall\na gap\npain\na fracture"}
    verdicts(judging.REASONING, doc, "x", ["Correct", "Correct", "Incorrect"], ["1, 2", "1", ""])
    record = judged_record(doc, ["x"], judging.REASONING)
    # (2/4 + 1/4 + 0) / 3
    assert record.measures["steps_found"].score == pytest.approx(0.25)
    assert record.judgement.verdicts[0][0]["labels"]["steps_found"] == "1, 2"
    assert measures.process_results_chain(doc, ["x"])["steps_found"]["score"] == pytest.approx(0.25)


def test_contradictions():
    doc = {**OPEN, "id": "t8-1", "task": "t8", "image_site": "hip", "image_case": "d", "answer": "hip, knee"}
    verdicts(judging.INCONSISTENCY, doc, "x", [judging.NAMED, judging.WENT_ON, judging.OTHERWISE])
    record = judged_record(doc, ["x"], judging.INCONSISTENCY)
    found = scores(record)
    assert found["accuracy"] == pytest.approx(2 / 3)
    shares = [found[name] for name in ("went_on", "missed", "objected_otherwise")]
    assert shares == pytest.approx([1 / 3, 0, 1 / 3])
    # The pairing stands in the record.
    names = ("case_id", "image_case", "site", "image_site")
    assert [record.tags[name] for name in names] == ["c", "d", "knee", "hip"]


def test_an_empty_answer_is_wrong_and_a_failed_request_is_nothing():
    settle(judging.ANSWER, OPEN)
    empty, failed = (judged_record(OPEN, [reply], judging.ANSWER) for reply in ("", FAILED))
    assert scores(empty) == {"accuracy": 0, "unclear_rate": 0, "unanimous": 1} and empty.judgement.status == "exact"
    assert set(scores(failed).values()) == {None} and failed.judgement.status == "failed"
    assert metric("failed_requests", empty, failed) == 1
    assert metric("accuracy", empty, failed) == 0  # a rule's answer is one where nothing is missing


def test_without_a_judge_there_is_no_accuracy():
    settle(judging.ANSWER, OPEN)
    empty, answered = (judged_record(OPEN, [reply], judging.ANSWER) for reply in ("", "gout"))
    for name in ("accuracy", "unclear_rate", "unanimous", "accuracy_knee", "accuracy_low", "accuracy_high"):
        assert metric(name, empty, answered) is None, name
    assert metric("accuracy", empty) == 0


@pytest.mark.parametrize(
    ("hook", "doc"),
    [(measures.process_results_open, OPEN), (measures.process_results_chain, {**OPEN, "task": "t5"}),
     (measures.process_results_contradiction, {**OPEN, "task": "t8"})],
)  # fmt: skip
def test_a_record_can_be_scored_again(hook, doc):
    found = hook(doc, ["gout"])
    assert hook.metrics_of(record_from_json(dict(found["questions"]), "here")) == found


def test_verdicts_of_another_judge_give_other_measures():
    made = measures.process_results_chain({**OPEN, "task": "t5"}, ["gout"])["questions"]
    logged = record_from_json(dict(made), "here")
    given = {"status": "judged", "labels": {"verdict": "Correct", "steps_found": "1"}, "reason": "", "reply": ""}
    again = measures.process_results_chain.metrics_of(
        replace(logged, judgement=replace(logged.judgement, verdicts=((given, given, given),)))
    )
    assert again["accuracy"]["score"] == 1 == again["steps_found"]["score"] == again["unanimous"]["score"]


@pytest.mark.parametrize(
    ("task", "settings", "condition"),
    [("bones_joints_t4_diagnosis", {}, ""), ("bones_joints_t4_diagnosis_report", {"report": True, "no_image": True},
     "reports"), ("bones_joints_t3_image_noimage", {"no_image": True}, "no image"),
     ("bones_joints_t3_image_swapped", {}, "swapped"), ("bones_joints_t8_released", {}, "released")],
)  # fmt: skip
def test_how_a_task_asks(task, settings, condition):
    assert SUITE.condition(task, settings) == condition


def test_scale_and_direction_of_every_measure():
    better = {metric.name: metric.higher_is_better for metric in SUITE.metrics}
    replies = {"unreadable_replies", "cut_replies", "refused_replies", "empty_replies", "failed_requests"}
    own = {"unclear_rate", "went_on", "missed", "objected_otherwise", "position_bias", "incomplete_questions"}
    assert {name for name, higher in better.items() if higher is False} == own | replies
    assert [metric.name for metric in SUITE.main_metrics] == ["accuracy"]
    assert {(each.low, each.high, each.unit, each.digits) for each in SUITE.measures} == {(0, 1, "%", 1)}
    means = [metric.estimate for metric in SUITE.metrics if isinstance(metric.estimate, Mean)]
    assert len(means) == 1 + len(site_names()) + 6
