"""Wins, ties and losses of two runs by hand."""

import pytest

from lmms_medtasks.statistics.intervals import FEW, mean_interval
from lmms_medtasks.statistics.versus import Answer, versus


def answers(scores):
    return {question: Answer(f"image {question[0]}", score) for question, score in scores.items()}


FIRST = {"a1": 5.0, "a2": 3.0, "b1": 1.0, "b2": 2.0, "c1": None, "d1": 4.0}
SECOND = {"a1": 4.0, "a2": 3.0, "b1": 1.5, "b2": 1.0, "c1": 2.0, "e1": 1.0, "e2": 1.0}


def test_worked_by_hand():
    # Four questions with both scores: a1 win, a2 tie, b1 loss, b2 win. c1 has no first score.
    found = versus(answers(FIRST), answers(SECOND))
    assert (found.win.estimate, found.tie.estimate, found.loss.estimate, found.net.estimate) == (0.5, 0.25, 0.25, 0.25)
    assert (found.n, found.unscored, found.only_first, found.only_second) == (4, 1, 1, 2)
    assert found.win.clusters == 2
    assert (found.win.low, found.win.high, found.win.reason) == (None, None, FEW)


def test_intervals_are_those_of_shares_and_of_gain_less_loss():
    # Of ten images six wins, three ties, one loss.
    one = {f"{n}": Answer(f"image {n}", 1.0 if n < 6 else 0.0) for n in range(10)}
    other = {f"{n}": Answer(f"image {n}", 1.0 if n == 9 else 0.0) for n in range(10)}
    found, names = versus(one, other), [f"image {n}" for n in range(10)]
    assert found.win == mean_interval(names, [1] * 6 + [0] * 4)
    assert found.tie == mean_interval(names, [0] * 6 + [1] * 3 + [0])
    net = mean_interval(names, [1] * 6 + [0] * 3 + [-1])
    assert (found.net.low, found.net.high) == pytest.approx((net.low, net.high))


def test_exchanged_runs_exchange_wins_and_losses():
    there, back = versus(answers(FIRST), answers(SECOND)), versus(answers(SECOND), answers(FIRST))
    assert there.win == back.loss and there.loss == back.win and there.tie == back.tie
    assert there.net.estimate == -back.net.estimate


def test_a_run_against_itself_ties():
    found = versus(answers(FIRST), answers(FIRST))
    assert (found.win.estimate, found.tie.estimate, found.loss.estimate) == (0, 1, 0)
    assert found.unscored == 1


def test_rounding_is_no_win():
    found = versus(answers({"a1": 0.1 + 0.2}), answers({"a1": 0.3}))
    assert found.tie.estimate == 1


@pytest.mark.parametrize(("first", "second"), [({}, {}), (FIRST, {}), ({"a": None}, {"a": 1.0})])
def test_nothing_in_common_has_no_value(first, second):
    found = versus(answers(first), answers(second))
    assert (found.win.estimate, found.tie.estimate, found.loss.estimate, found.n) == (None, None, None, 0)
