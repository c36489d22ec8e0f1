"""What the templates' hooks make of replies."""

import math

import pytest

from lmms_medtasks.contribute.templates import choice, judged, pooled
from lmms_medtasks.contribute.templates.reading import PARSERS
from lmms_medtasks.statistics import accuracy
from lmms_medtasks.statistics.shared import Shared

DOC = {"id": "7", "image_id": "i", "data": "full", "question": "?", "options": ["left", "right"], "answer": "B"}
GRID = {**DOC, "options": [], "answer": "top-left", "grid": "2x2"}


def scored(doc, replies, **settings):
    return choice.process_results(doc, replies, {"parser": "option", "metrics": list(choice.VALUES)[:1], **settings})


@pytest.mark.parametrize(
    ("parser", "doc", "reply", "score"),
    [
        ("option", DOC, "The answer is right.", 1.0),
        ("option", DOC, "A or B", 0.0),
        ("letter", DOC, "B", 1.0),
        ("yes_no", {**DOC, "options": [], "answer": "Yes"}, "Yes, it does.", 1.0),
        ("position", GRID, "top-left", 1.0),
        ("position", {**GRID, "answer": "None, all are alike"}, "none", 1.0),
        ("position", {**DOC, "options": ["top-left", "None, all are consistent"], "grid": "2x2"}, "B", 1.0),
        ("position", GRID, "bottom-right", 0.0),
    ],
)
def test_scores(parser, doc, reply, score):
    assert scored(doc, [reply], parser=parser)["accuracy"]["score"] == score


def test_failed_and_unreadable_replies():
    failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"
    names = ["accuracy", "parse_rate", "failed_requests"]
    found = scored(DOC, ["B", "?", failed], metrics=names)
    assert found["accuracy"]["score"] == 0.5  # of the two that came
    assert accuracy.parse_rate([found["parse_rate"]]) == 0.5
    assert accuracy.failed_requests([found["failed_requests"]]) == 1
    nothing = scored(DOC, [failed], metrics=names)
    assert "score" not in nothing["accuracy"]
    assert accuracy.accuracy([nothing["accuracy"]]) is None


def test_without_accuracy_the_record_has_no_score_for_standard_errors():
    found = scored({**DOC, "set": "iid"}, ["B"], metrics=["accuracy_iid", "accuracy_ood", "parse_rate"])
    assert found["accuracy_iid"] == {"score": 1.0, "image_id": "i"}
    assert found["accuracy_ood"] == {}
    assert "score" not in found["parse_rate"] and found["parse_rate"]["trials"] == ["B"]


def test_relative_robustness_of_accuracies():
    # i.i.d.: 2 of 2 right, out of distribution: 1 of 2; 0.5 / 1.0
    rows = [("iid", "B"), ("iid", "B"), ("ood", "B"), ("ood", "A")]
    values = [Shared(choice.record_of({**DOC, "id": str(i), "set": side}, [reply], "letter"))
              for i, (side, reply) in enumerate(rows)]  # fmt: skip
    assert pooled.relative_robustness(values) == 0.5
    assert pooled.shared_images(values) == 1
    assert pooled.relative_robustness(values[2:]) is None


def test_chance_is_the_mean_of_one_over_the_options():
    assert pooled.chance([{"chance": 1 / 2}, {"chance": 1 / 4}]) == pytest.approx(3 / 8)
    assert pooled.chance([]) is None


def test_calibration_of_a_model_that_is_sure_and_half_right():
    values = [Shared(choice.record_of({**DOC, "id": str(i), "answer": answer}, ["B"] * 10, "letter"))
              for i, answer in enumerate("BA")]  # fmt: skip
    # All ten votes alike: confidence 1, right on one of two: shift 0.5, ECE 0.5, Brier (0 + 1) / 2
    assert pooled.confidence(values) == pytest.approx(1.0)
    assert pooled.calibration_shift(values) == pytest.approx(0.5)
    assert pooled.ece(values) == pytest.approx(0.5)
    assert pooled.brier(values) == pytest.approx(0.5)
    assert all(metric([]) is None for metric in (pooled.confidence, pooled.ece, pooled.aurc))


def test_every_aggregation_copes_with_nothing():
    from lmms_medtasks.contribute.templates import metrics
    from lmms_medtasks.contribute.templates.binding import _metric

    for name in metrics():
        got = _metric(name)["aggregation"]([])
        assert got is None or got == 0, name


def test_a_grid_knows_false_alarms_and_abstentions():
    names = ["false_alarm_rate", "abstention_rate"]
    negative = scored({**GRID, "answer": "none"}, ["top-right"], parser="position", metrics=["accuracy", *names])
    positive = scored(GRID, ["none"], parser="position", metrics=["accuracy", *names])
    assert negative["false_alarm_rate"]["score"] == 1.0 and negative["abstention_rate"] == {}
    assert positive["abstention_rate"]["score"] == 1.0 and positive["false_alarm_rate"] == {}


def test_every_parser_says_what_it_does():
    assert all(parser.about for parser in PARSERS.values())


def test_an_open_answer_without_a_judge_has_no_score_and_bounds():
    doc = {**DOC, "options": [], "answer": "a round spot"}
    found = judged.process_results(doc, ["something"])
    assert "score" not in found["score"] and (found["score"]["low"], found["score"]["high"]) == (0.0, 1.0)
    assert found["exact_match"]["score"] == 0.0
    assert math.isclose(judged.process_results(doc, ["round"])["token_f1"]["score"], 2 / 3)  # "a" does not count
    again = judged.metrics_of(found["score"])
    assert again["judged"] == found["judged"]


def test_a_failed_request_is_not_judged():
    found = judged.process_results({**DOC, "options": [], "answer": "x"}, [None])
    assert found["failed_requests"] == {"failed": 1, "trials": 1}
    assert found["exact_match"] == {}
