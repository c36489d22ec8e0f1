"""Declarations: what is declared twice, or not at all, is refused by name."""

from dataclasses import replace

import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.record import QuestionJudgement, QuestionRecord
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Contrast, Count, Estimate, Macro, MacroContrast, Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, count_read_replies


def suite(**changed):
    given = {
        "name": "s", "title": "S", "cluster": "image", "measures": (Measure("accuracy"),),
        "metrics": (Metric("accuracy", Mean()),), "tasks": {"all": ("accuracy",)},
    }  # fmt: skip
    return Suite(**{**given, **changed})


def test_a_declaration_is_found_by_its_names():
    found = suite()
    assert (found.metric("accuracy").estimate, found.measure("accuracy").low) == (Mean(), 0)


def test_a_mean_of_a_measure_has_its_range():
    stars = Metric("stars", Mean(measure="stars"))
    found = suite(measures=(Measure("accuracy"), Measure("stars", low=1, high=5)), metrics=(*suite().metrics, stars))
    assert found.metric("stars").estimate == found.estimates["stars"] == Mean(measure="stars", bounds=(1, 5))
    assert found.metric("accuracy").estimate == Mean()


@pytest.mark.parametrize("name", registry.names())
def test_the_means_of_a_benchmark_have_the_ranges_of_their_measures(name):
    found = registry.get(name)
    ranges = {measure.name: measure.range for measure in found.measures}
    for metric in found.metrics:
        if isinstance(metric.estimate, Mean):
            assert (metric.estimate.bounds or (0, 1)) == ranges[metric.estimate.measure]


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"measures": (Measure("accuracy"), Measure("accuracy"))}, "measure 'accuracy' stands twice"),
        ({"metrics": (Metric("accuracy", Mean()),) * 2}, "metric 'accuracy' stands twice"),
        ({"tags": ("tier", "tier")}, "tag 'tier' stands twice"),
        ({"tasks": {"all": ("accuracy", "accuracy")}}, "stands twice in the declaration of s, all"),
        ({"tasks": {"all": ("acuracy",)}}, "Did you mean 'accuracy'"),
        ({"metrics": (Metric("accuracy", Mean(measure="acuracy")),)}, "Unknown measure 'acuracy'"),
    ],
)
def test_a_declaration_that_does_not_hold_together_is_refused(changed, said):
    with pytest.raises(UserError) as error:
        suite(**changed)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("estimate", "changed", "said"),
    [
        (Count(), {}, "a number that is counted has no interval"),
        (Mean(exact=True), {}, "exact, a number that is known"),
        (Mean(), {"higher_is_better": None}, "no direction to rank by"),
        (Mean({"parts": "both"}), {}, "by parts, which the reply has a say in"),
        (Mean({"accuracy.score": 1.0}), {}, "by accuracy.score"),
        (Macro(by="judgement"), {}, "by judgement"),
        (Macro(groups=({"site": "a"}, {"trials": ("A",)})), {}, "by trials"),
        (MacroContrast(first=({"accuracy.judged": 1},), second=({"site": "a"},)), {}, "by accuracy.judged"),
        (Contrast(first={"parts": "both"}, second={"site": "a"}), {}, "by parts"),
        (Contrast(first={"site": "a"}, second={"accuracy.asked": True}), {}, "by accuracy.asked"),
        (Contrast(pair=("id", "parts")), {}, "by parts"),
        (Estimate({"limits_reached": None}), {}, "by limits_reached"),
    ],
)
def test_what_can_not_be_a_main_metric_is_refused_with_file_and_line(estimate, changed, said):
    given = {"tags": ("site", "parts"), "reply_tags": ("parts",), "tasks": {}}
    metric = Metric("own", estimate, **changed)
    assert suite(metrics=(metric,), **given).main_metrics == ()
    with pytest.raises(UserError, match=rf"test_suite.py, line \d+: The metric 'own' of s can't be a main.*{said}"):
        suite(metrics=(replace(metric, main=True),), **given)


def test_a_suite_that_is_made_of_another_is_refused_with_the_place_that_makes_it():
    with pytest.raises(UserError, match=r"^\S*test_suite.py, line \d+: Unknown measure 'acuracy'"):
        replace(suite(), metrics=(Metric("own", Mean(measure="acuracy")),), tasks={})


def test_a_main_metric_chooses_by_what_a_question_has():
    contrast = Contrast(first={"site": "a"}, second={"site": "b"}, pair=("cluster", "pair", "expected"))
    metrics = tuple(Metric(str(number), each, main=True) for number, each in enumerate((contrast, Macro(by="task"))))
    assert suite(metrics=metrics, tags=("site",), tasks={}).main_metrics == metrics


def test_unknown_names_are_refused():
    for find in (suite().metric, suite().measure):
        with pytest.raises(UserError, match="acuracy"):
            find("acuracy")


@pytest.mark.parametrize(
    ("trials", "judged", "expected"),
    [
        ([("A", "unreadable"), ("failed",)], [False, False], (1, 2)),
        # Of a judged reply nothing is read but that it says anything.
        ([("ok", "empty"), ("failed",)], [True, True], (1, 2)),
        ([("A", "unreadable"), ("ok",)], [False, True], (1, 2)),
        ([("A", "empty", "failed")], [False], (1, 2)),
    ],
)
def test_which_replies_count_as_read(trials, judged, expected):
    judgement = QuestionJudgement({"name": "j", "protocol": "p"}, ({},), ())
    rows = QuestionTable.of_records(
        QuestionRecord(str(row), "i", each, None, {}, judgement=judgement if is_judged else None)
        for row, (each, is_judged) in enumerate(zip(trials, judged, strict=True))
    )
    assert count_read_replies(rows) == expected


@pytest.mark.parametrize("name", registry.names())
def test_a_number_of_something_is_shown_as_a_count_and_no_percentage(name):
    declared = registry.get(name)
    numbers = {each.name for each in declared.metrics if each.about.startswith("Number")}
    assert {each.name for each in declared.metrics if declared.unit(each) == "count"} >= numbers >= {"questions"}
