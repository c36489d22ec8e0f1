"""Metrics that every benchmark has: hand-worked values, and what a user is told of them."""

import pytest

from lmms_medtasks.record import EMPTY, FAILED, UNREAD, QuestionRecord, ScoreValue
from lmms_medtasks.samples.table import QuestionTable
from lmms_medtasks.suites.common_metrics import EMPTY_REPLIES, FAILED_REQUESTS, IDENTICAL_TRIALS, PARSE_RATE


def table(*trials, identical=()):
    """A question for each tuple of trials, or for each value of ``identical``."""
    trials = trials or (("A", "A"),) * len(identical)
    measures = [{"identical": ScoreValue(each)} for each in identical] or [{}] * len(trials)
    return QuestionTable.of_records(
        QuestionRecord(f"q{place}", f"i{place}", each, "A", measure)
        for place, (each, measure) in enumerate(zip(trials, measures, strict=True))
    )


def told(metric, rows):
    return metric.notice(rows, metric.estimate.value(rows))


def test_parse_rate_is_over_replies():
    # 3 of 3 and 1 of 2 (its third request failed): 4 / 5.
    assert PARSE_RATE.estimate.value(table(("A", "B", "A"), ("A", "unreadable", FAILED))) == 0.8


def test_an_empty_reply_is_counted_apart_and_read_no_more_than_an_unreadable_one():
    # 2 of 5 replies have an answer; of the others 2 say nothing.
    rows = table(("A", EMPTY, EMPTY), ("A", "unreadable", FAILED))
    assert PARSE_RATE.estimate.value(rows) == 0.4
    assert EMPTY_REPLIES.estimate.value(rows) == 2
    assert FAILED_REQUESTS.estimate.value(rows) == 1
    assert EMPTY not in UNREAD


@pytest.mark.parametrize(("empty", "said"), [(2, ""), (3, "3 of 10 replies are empty")])
def test_many_empty_replies_are_told(empty, said):
    # Two of ten are 20 %, not more.
    found = told(EMPTY_REPLIES, table((EMPTY,) * empty + ("A",) * (10 - empty) + (FAILED,)))
    assert found.startswith(said) and bool(found) == bool(said)


@pytest.mark.parametrize("rows", [table(), table((FAILED,))])
def test_without_replies_there_is_no_share(rows):
    assert PARSE_RATE.estimate.value(rows) is None and IDENTICAL_TRIALS.estimate.value(rows) is None


def test_failed_requests_are_counted_and_told():
    rows = table((FAILED, "A", "B"), ("A", "A", "A"))
    assert FAILED_REQUESTS.estimate.value(rows) == 1
    assert "1 of 6 requests failed" in told(FAILED_REQUESTS, rows)
    assert FAILED_REQUESTS.estimate.value(table()) == 0 and told(FAILED_REQUESTS, table(("A",))) == ""


def test_identical_trials_are_over_questions_with_several_replies():
    # Two of three; the fourth has one reply.
    assert IDENTICAL_TRIALS.estimate.value(table(identical=(1.0, 0.0, 1.0, None))) == pytest.approx(2 / 3)


def test_suspicious_trials_are_told():
    assert "All trials gave the same reply on 100% of 40 questions" in told(IDENTICAL_TRIALS, table(identical=[1] * 40))


@pytest.mark.parametrize("identical", [[1] * 10, [1] * 30 + [0] * 10, [None] * 40])
def test_few_or_varied_trials_are_not(identical):
    assert told(IDENTICAL_TRIALS, table(identical=identical)) == ""
