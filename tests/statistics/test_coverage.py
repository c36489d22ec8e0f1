"""Means over judged answers, with coverage and bounds."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.statistics import coverage

# Four answers on a scale of 1 to 5: one judged 4, one of two trials judged 2, one missing, one whose request failed.
VALUES = [
    {"status": "judged", "judged": 1, "wanted": 1, "score": 4.0, "low": 4.0, "high": 4.0, "image_id": "a"},
    {"status": "partial", "judged": 1, "wanted": 2, "score": 2.0, "low": 1.5, "high": 3.5, "image_id": "a"},
    {"status": "missing", "judged": 0, "wanted": 1, "low": 1.0, "high": 5.0, "image_id": "b"},
    {"status": "failed", "judged": 0, "wanted": 0, "image_id": "b"},
]


def test_worked_by_hand():
    assert coverage.judged_mean(VALUES) == 3.0  # (4 + 2) / 2
    assert coverage.coverage(VALUES) == 0.5  # 2 of 4 judgements
    assert coverage.missing_judgements(VALUES) == 2
    assert coverage.bound_worst(VALUES) == pytest.approx(6.5 / 3)  # (4 + 1.5 + 1) / 3
    assert coverage.bound_best(VALUES) == pytest.approx(12.5 / 3)  # (4 + 3.5 + 5) / 3
    assert coverage.is_complete(VALUES) is False
    assert coverage.is_complete(VALUES, threshold=0.5) is True
    assert coverage.complete(VALUES) == 0.0
    assert coverage.complete(VALUES[:1]) == 1.0


@pytest.mark.parametrize("values", [[], VALUES[3:]])
def test_nothing_to_count(values):
    assert coverage.judged_mean(values) is None
    assert coverage.coverage(values) is None
    assert coverage.missing_judgements(values) == 0
    assert coverage.bound_worst(values) is None
    assert coverage.bound_best(values) is None
    assert coverage.complete(values) is None


def test_all_missing_is_no_zero():
    assert coverage.judged_mean(VALUES[2:]) is None
    assert coverage.coverage(VALUES[2:]) == 0.0
    assert (coverage.bound_worst(VALUES[2:]), coverage.bound_best(VALUES[2:])) == (1.0, 5.0)
    assert coverage.complete(VALUES[2:]) == 0.0


def test_what_a_rule_settles_is_no_mean_where_no_judge_judged_the_rest():
    settled, missing = {"status": "exact", "score": 1.0}, {"status": "missing"}
    assert coverage.judged_mean([settled]) == 1.0
    assert coverage.judged_mean([settled, missing]) is None
    assert coverage.judged_mean([settled, {"status": "judged", "score": 0.5}, {}, missing]) == 0.75


def answer(number):
    if number is None:
        return {"status": "missing", "judged": 0, "wanted": 1, "low": 1.0, "high": 5.0}
    return {
        "status": "judged",
        "judged": 1,
        "wanted": 1,
        "score": float(number),
        "low": float(number),
        "high": float(number),
    }


@given(st.lists(st.one_of(st.none(), st.integers(1, 5)), min_size=1, max_size=30), st.randoms())
def test_bounds_hold_what_the_missing_may_be(numbers, random):
    values = [answer(number) for number in numbers]
    low, high = coverage.bound_worst(values), coverage.bound_best(values)
    filled = [number or random.randint(1, 5) for number in numbers]
    assert low - 1e-9 <= math.fsum(filled) / len(filled) <= high + 1e-9
    if None not in numbers:
        assert low == high == coverage.judged_mean(values)
    random.shuffle(values)
    assert coverage.bound_worst(values) == low and coverage.bound_best(values) == high


def test_the_harness_computes_standard_errors_of_the_judged():
    """Items without a score are left out by the harness's own code, with their cluster."""
    from types import SimpleNamespace

    from lmms_eval.evaluator_utils import TaskOutput

    task = SimpleNamespace(aggregation=lambda: {"m": coverage.judged_mean}, args=None)
    output = TaskOutput(task=task, task_name="t", task_config={"cluster_key": "image_id"})
    output.sample_metrics[("m", "trials")] = [*VALUES, {**VALUES[0], "score": 3.0, "image_id": "c"}]
    output.calculate_aggregate_metric(bootstrap_iters=10)
    output.calculate_clt_aggregate_metric()
    assert output.agg_metrics["m,trials"] == 3.0
    assert output.agg_metrics["m_stderr_clt,trials"] == pytest.approx(1 / math.sqrt(3))  # 4, 2, 3: s = 1, n = 3
    # Clustered: 1/3 + (2 * (4 - 3) * (2 - 3)) / 9, for the pair on image a
    assert output.agg_metrics["m_stderr_clustered,trials"] == pytest.approx(math.sqrt(1 / 3 - 2 / 9))


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
def test_group_mean(metrics, sizes, weighted, mean):
    assert coverage.group_mean(metrics, sizes, weighted) == mean
