"""What the harness gets of a question, and that its numbers are the declared estimates'."""

import pickle
from types import SimpleNamespace

import pytest
from loguru import logger

from lmms_medtasks.harness.scoring import aggregate, group_mean, metric_values, name_tasks_in_notices
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.suites import registry
from lmms_medtasks.suites.estimates import Contrast, Mean
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions

CHANGE = Contrast(first={"modality": "CT"}, second={"modality": "MRI"})
SUITE = Suite(
    name="made_up", title="Made up", cluster="image", measures=(Measure("accuracy"), Measure("identical")),
    metrics=(
        number_of_questions(),
        Metric("accuracy", Mean()),
        Metric("accuracy_ct", Mean({"modality": ("CT", "MRI")})),
        Metric("identical", Mean(measure="identical"), standard_error=False),
        Metric("change", CHANGE, notice=lambda rows, value: "!"),
    ),
    tasks={"all": (KEY, "accuracy", "accuracy_ct", "identical", "change")},
)  # fmt: skip


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setattr(registry, "get", {"made_up": SUITE}.__getitem__)


def record(name, score, modality, identical=1.0):
    measures = {"accuracy": ScoreValue(score), "identical": ScoreValue(identical)}
    return QuestionRecord(name, f"i {name}", ("A",), "A", measures, {"modality": modality})


def test_values_have_what_the_harness_needs_for_standard_errors():
    values = metric_values(SUITE, "all", record("a", 1.0, "XR"))
    assert list(values) == list(SUITE.tasks["all"])
    assert values["accuracy"] == {"score": 1.0, "cluster": "i a"}
    assert values["accuracy_ct"] == values["identical"] == values["change"] == {}
    assert values[KEY] == values[KEY].record.to_json()
    assert "score" not in values[KEY]
    assert metric_values(SUITE, "all", record("a", 1.0, "MRI"))["accuracy_ct"] == {"score": 1.0, "cluster": "i a"}


def test_a_question_without_a_score_has_none_there():
    assert metric_values(SUITE, "all", record("a", None, "CT"))["accuracy"] == {}


def test_a_judged_value_has_its_bounds_and_counts():
    judgement = QuestionJudgement({"protocol": "p", "name": "j"}, ({},), (({"status": "missing"},),))
    value = ScoreValue(None, 0.0, 1.0, 0, 1)
    found = QuestionRecord("a", "i", ("ok",), None, {"accuracy": value}, judgement=judgement)
    shown = metric_values(SUITE, "all", found)["accuracy"]
    assert shown == {"low": 0.0, "high": 1.0, "judged": 0, "requested": 1, "status": "missing", "cluster": "i"}


def test_numbers_are_the_estimates_whatever_the_order_and_after_a_way_through_another_process():
    records = [record("a", 1.0, "CT"), record("b", 0.0, "MRI", 0.0), record("c", None, "CT"), record("d", 1.0, "XR")]
    values = [metric_values(SUITE, "all", each) for each in records]
    sent = pickle.loads(pickle.dumps(values[::-1]))
    for made in (values, sent):
        found = {name: aggregate([each[name] for each in made]) for name in SUITE.tasks["all"]}
        # Accuracy 2 of 3, 1 of 2 on CT and MRI; change 0 - 1; identical 3 of 4.
        assert found == {KEY: 4, "accuracy": pytest.approx(2 / 3), "accuracy_ct": 0.5, "identical": 0.75, "change": -1}


def test_a_notice_names_its_task_and_other_aggregations_stay():
    lines = []
    sink = logger.add(lines.append, format="{message}")
    tasks = [SimpleNamespace(config=SimpleNamespace(task=name), aggregation=lambda: {"change": aggregate, "max": max})
             for name in ("one", "two")]  # fmt: skip
    name_tasks_in_notices(tasks)
    values = [metric_values(SUITE, "all", record("a", 1.0, "CT"))["change"]]
    assert [task.aggregation()["change"](values) for task in tasks] == [aggregate(values)] * 2
    assert {task.aggregation()["max"] for task in tasks} == {max}
    logger.remove(sink)
    assert [line.strip() for line in lines] == ["one: !", "two: !", "!"]


def test_two_runs_in_one_process_do_not_share_a_table():
    for score in (1.0, 0.0):
        assert aggregate([metric_values(SUITE, "all", record("a", score, "CT"))["accuracy"]]) == score


@pytest.mark.parametrize(
    ("metrics", "sizes", "weighted", "mean"),
    [
        ([1.0, 4.0], [3, 1], True, 1.75),
        ([1.0, 4.0], [3, 1], False, 2.5),
        ([None, 4.0], [3, 1], True, 4.0),
        ([None, None], [3, 1], True, None),
        ([], [], True, None),
    ],
)
def test_a_groups_mean_leaves_out_tasks_without_a_value(metrics, sizes, weighted, mean):
    assert group_mean(metrics, sizes, weighted) == mean
