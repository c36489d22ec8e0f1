"""Metrics of judged answers: hand-worked values, nothing to count, bounds that hold what the missing may be."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.harness.scoring import metric_values
from lmms_medtasks.record import KEY, QuestionJudgement, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.estimates import Mean
from lmms_medtasks.suites.judged_measures import judged_metrics
from lmms_medtasks.suites.suite import Measure, Metric, Suite, number_of_questions

SUITE = Suite(
    name="made_up", title="Made up", cluster="image", measures=(Measure("stars", low=1.0, high=5.0, unit="stars"),),
    metrics=(number_of_questions(), Metric("stars", Mean(measure="stars")), *judged_metrics("stars")),
    tasks={"all": (KEY, "stars")},
)  # fmt: skip
VERDICTS = {
    "judged": ("judged",), "partial": ("judged", "missing"), "missing": ("missing",), "exact": ("exact",),
    "failed": (),
}  # fmt: skip


def record(name, status, image, *numbers):
    """An answer on a scale of 1 to 5; ``numbers``: score, low, high, judged, requested."""
    verdicts = tuple({"status": each} for each in VERDICTS[status])
    judgement = QuestionJudgement({"protocol": "p", "name": "j"}, ({},), (verdicts,))
    return QuestionRecord(name, image, ("ok",), None, {"stars": ScoreValue(*numbers)}, judgement=judgement)


# One judged 4, one with one of two judgements 2, one missing, one whose request failed.
RECORDS = [
    record("a", "judged", "x", 4.0, 4.0, 4.0, 1, 1),
    record("b", "partial", "x", 2.0, 1.5, 3.5, 1, 2),
    record("c", "missing", "y", None, 1.0, 5.0, 0, 1),
    record("d", "failed", "y", None, None, None, 0, 0),
]


def numbers(records):
    rows = QuestionTable.of_records(records)
    return {each.name: each.estimate.value(rows) for each in SUITE.metrics if each.name != KEY}


def test_worked_by_hand():
    assert numbers(RECORDS) == {
        "stars": 3.0,  # (4 + 2) / 2
        "coverage": 0.5,  # 2 of 4 judgements
        "bound_worst": pytest.approx(6.5 / 3),  # (4 + 1.5 + 1) / 3
        "bound_best": pytest.approx(12.5 / 3),  # (4 + 3.5 + 5) / 3
        "complete": 0.0,
    }
    assert numbers(RECORDS[:1])["complete"] == 1.0


@pytest.mark.parametrize("records", [[], RECORDS[3:]])
def test_nothing_to_count_is_none_not_zero(records):
    assert set(numbers(records).values()) == {None}


def test_all_missing_is_no_zero():
    assert numbers(RECORDS[2:]) == {
        "stars": None, "coverage": 0.0, "bound_worst": 1.0, "bound_best": 5.0, "complete": 0.0,
    }  # fmt: skip


def answer(place, number):
    if number is None:
        return record(f"q{place}", "missing", f"i{place}", None, 1.0, 5.0, 0, 1)
    return record(f"q{place}", "judged", f"i{place}", *(float(number),) * 3, 1, 1)


@given(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=30), st.randoms())
def test_bounds_hold_what_the_missing_may_be(given_numbers, random):
    records = [answer(place, number) for place, number in enumerate(given_numbers)]
    found = numbers(records)
    low, high = found["bound_worst"], found["bound_best"]
    filled = [number or random.randint(1, 5) for number in given_numbers]
    assert low - 1e-9 <= math.fsum(filled) / len(filled) <= high + 1e-9
    if None not in given_numbers:
        assert low == high == pytest.approx(found["stars"])
    random.shuffle(records)
    assert numbers(records) == found


def test_the_harness_computes_standard_errors_of_the_judged():
    """Answers without a score are left out by the harness's own code, with their cluster."""
    from types import SimpleNamespace

    from lmms_eval.evaluator_utils import TaskOutput

    def aggregate(values):
        return SUITE.estimates["stars"].value(QuestionTable.of_records([each.record for each in values]))

    task = SimpleNamespace(aggregation=lambda: {"stars": aggregate}, args=None)
    output = TaskOutput(task=task, task_name="t", task_config={"cluster_key": "cluster"})
    judged = [*RECORDS, record("e", "judged", "z", 3.0, 3.0, 3.0, 1, 1)]
    output.sample_metrics[("stars", "trials")] = [metric_values(SUITE, "all", each)["stars"] for each in judged]
    output.calculate_aggregate_metric(bootstrap_iters=10)
    output.calculate_clt_aggregate_metric()
    assert output.agg_metrics["stars,trials"] == 3.0
    assert output.agg_metrics["stars_stderr_clt,trials"] == pytest.approx(1 / math.sqrt(3))  # 4, 2, 3: s = 1, n = 3
    # Clustered: 1/3 + (2 * (4 - 3) * (2 - 3)) / 9, for the pair on image x
    assert output.agg_metrics["stars_stderr_clustered,trials"] == pytest.approx(math.sqrt(1 / 3 - 2 / 9))
