"""Hand-worked values."""

from hypothesis import given
from hypothesis import strategies as st

from lmms_medtasks.statistics import accuracy


def test_mean_over_scored_questions():
    # (1 + 1/3 + 0) / 3 = 4/9; the fourth had no reply at all and is left out.
    records = [{"score": 1.0}, {"score": 1 / 3}, {"score": 0.0}, {"id": "failed"}]
    assert abs(accuracy.accuracy(records) - 4 / 9) < 1e-12


def test_empty_is_none_not_zero():
    assert accuracy.accuracy([]) is None
    assert accuracy.accuracy([{"id": "failed"}]) is None
    assert accuracy.parse_rate([]) is None
    assert accuracy.parse_rate([{"parsed": 0, "replies": 0}]) is None
    assert accuracy.identical_trials([{"identical": None}]) is None
    assert accuracy.failed_requests([]) == 0


def test_parse_rate_is_over_replies():
    # 3 of 3 and 1 of 2 (its third request failed): 4 / 5.
    assert accuracy.parse_rate([{"parsed": 3, "replies": 3}, {"parsed": 1, "replies": 2}]) == 0.8


def test_failed_requests_are_counted():
    assert accuracy.failed_requests([{"failed": 1, "trials": 3}, {"failed": 0, "trials": 3}]) == 1


def test_identical_trials():
    # Two of three questions with more than one reply: 2/3.
    records = [{"identical": True}, {"identical": False}, {"identical": True}, {"identical": None}]
    assert abs(accuracy.identical_trials(records) - 2 / 3) < 1e-12


@given(st.permutations([{"score": score} for score in (0, 1 / 3, 2 / 3, 1, 1 / 3, 0.1, 0.7, 1 / 3, 2 / 3)]))
def test_order_does_not_matter_to_the_last_bit(records):
    assert accuracy.accuracy(records) == accuracy.accuracy(sorted(records, key=lambda record: record["score"]))
