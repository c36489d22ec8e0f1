"""What the templates' hooks make of replies."""

import math

import pytest

from lmms_medtasks.harness.scoring import aggregate
from lmms_medtasks.harness.template_hooks import choice_scoring, judged_scoring
from lmms_medtasks.record import VERSION, record_from_json
from lmms_medtasks.suites.common_metrics import READ_NAMES
from lmms_medtasks.suites.templates import measures
from lmms_medtasks.suites.templates.parsers import PARSERS

DOC = {"id": "7", "image_id": "i", "data": "full", "question": "?", "options": ["left", "right"], "answer": "B"}
GRID = {**DOC, "options": [], "answer": "top-left", "grid": "2x2"}


def scored(doc, replies, **settings):
    return choice_scoring.process_results(doc, replies, {"parser": "option", "metrics": ["accuracy"], **settings})


def number(metric, values):
    """A metric over what a scoring hook gave for each of several questions."""
    return aggregate([value[metric] for value in values])


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


def test_failed_empty_and_unreadable_replies():
    failed = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"
    names = ["accuracy", "parse_rate", "empty_replies", "failed_requests"]
    found = scored(DOC, ["B", "?", " ", "<think>B</think>", failed], metrics=names)
    assert found["questions"]["trials"] == ["B", "unreadable", "empty", "empty", "failed"]
    assert found["accuracy"]["score"] == 0.25  # of the four that came
    assert number("parse_rate", [found]) == 0.25
    assert (number("empty_replies", [found]), number("failed_requests", [found])) == (2, 1)
    nothing = scored(DOC, [failed], metrics=names)
    assert nothing["accuracy"] == {} and nothing["questions"]["measures"]["accuracy"] == {}
    assert number("accuracy", [nothing]) is None and number("parse_rate", [nothing]) is None


def test_only_the_record_and_means_of_a_side_stand_in_the_log():
    found = scored({**DOC, "set": "iid"}, ["B"], metrics=["questions", "accuracy_iid", "accuracy_ood", "parse_rate"])
    assert found["accuracy_iid"] == {"score": 1.0, "cluster": "i"}
    assert found["accuracy_ood"] == {} and found["parse_rate"] == {}
    assert found["questions"]["trials"] == ["B"] and found["questions"]["version"] == VERSION


def test_a_column_that_the_table_of_questions_has_itself_is_no_tag():
    record = choice_scoring.make_choice_record(
        {**DOC, "site": "north", "run": "x", "f1.score": "high", "boxes": [1]}, ["B"], "letter"
    )
    assert record.tags == {"data": "full", "site": "north", "option_count": 2}
    assert record.details == {"run": "x", "f1.score": "high", "boxes": [1]}


def test_relative_robustness_of_accuracies():
    # i.i.d.: 2 of 2 right, out of distribution: 1 of 2; 0.5 / 1.0
    names = ["relative_robustness", "shared_images", "accuracy_iid"]
    rows = [("iid", "B"), ("iid", "B"), ("ood", "B"), ("ood", "A")]
    values = [scored({**DOC, "id": str(i), "set": side}, [reply], metrics=names)
              for i, (side, reply) in enumerate(rows)]  # fmt: skip
    assert number("relative_robustness", values) == 0.5
    assert number("shared_images", values) == 1
    assert number("relative_robustness", values[2:]) is None


def test_chance_is_the_mean_of_one_over_the_options():
    values = [scored({**DOC, "id": str(count), "options": list("abcd")[:count]}, ["B"], metrics=["chance"])
              for count in (2, 4)]  # fmt: skip
    assert number("chance", values) == pytest.approx(3 / 8)
    assert values[0]["chance"] == {}  # known, and no standard error


def test_calibration_of_a_model_that_is_sure_and_half_right():
    names = ["confidence", "calibration_shift", "ece", "brier", "aurc", "identical_trials"]
    values = [scored({**DOC, "id": str(i), "answer": answer}, ["B"] * 10, parser="letter", metrics=names)
              for i, answer in enumerate("BA")]  # fmt: skip
    # All ten votes alike: confidence 1, right on one of two: shift 0.5, ECE 0.5, Brier (0 + 1) / 2
    assert number("confidence", values) == pytest.approx(1.0)
    for name in ("calibration_shift", "ece", "brier"):
        assert number(name, values) == pytest.approx(0.5)
    assert number("identical_trials", values) == 1


def test_every_aggregation_copes_with_nothing():
    failed = scored(DOC, ["[LMMS_EVAL_REQUEST_FAILED after 5 retries] boom"], metrics=measures.metric_names("choice"))
    for name in measures.metric_names("choice"):
        counted = ("questions", *READ_NAMES[1:], "chance", "shared_images", "incomplete_questions")
        assert name in counted or number(name, [failed]) is None
    assert aggregate([]) is None
    assert set(measures.template_metrics()) == set(measures.metric_names("choice")) | set(measures.metric_names("open"))


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
    found = judged_scoring.process_results(doc, ["something"])
    assert "score" not in found["score"] and (found["score"]["low"], found["score"]["high"]) == (0.0, 1.0)
    assert number("bound_best", [found]) == 1 and number("complete", [found]) == 0 and number("score", [found]) is None
    assert found["exact_match"]["score"] == 0.0
    assert math.isclose(
        judged_scoring.process_results(doc, ["round"])["token_f1"]["score"], 2 / 3
    )  # "a" does not count
    again = judged_scoring.metrics_of(record_from_json(found["questions"], "here"))
    assert again == found


def test_a_failed_request_is_not_judged():
    found = judged_scoring.process_results({**DOC, "options": [], "answer": "x"}, [None])
    assert number("failed_requests", [found]) == 1 and number("judged", [found]) is None
    assert found["exact_match"] == {}
