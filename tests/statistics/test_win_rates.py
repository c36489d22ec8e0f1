"""Win rates by people and by a judge: by hand, and their properties."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.statistics.win_rates import ModelContest, compute_win_rates, score_wins

RATING = st.integers(1, 5)
FOURS = st.lists(st.tuples(RATING, RATING, RATING, RATING), min_size=1, max_size=15)


def of(rows, first="A", second="B"):
    """A contest from rows (first by people, second by people, first by the judge, second by the judge)."""
    one, other, judged, judged_other = zip(*rows, strict=True)
    clusters = [str(row) for row in range(len(rows))]
    return ModelContest(first, second, clusters, score_wins(one, other), score_wins(judged, judged_other))


def test_by_hand():
    # People: A wins 5:3 and 4:2, ties 3:3, loses 1:2 -> (1 + 1 + .5 + 0) / 4. Judge: wins, ties, loses, loses -> 1.5/4.
    found = compute_win_rates([of([(5, 3, 4, 2), (4, 2, 3, 3), (3, 3, 2, 3), (1, 2, 1, 5)])])
    assert found.models["A"].people.estimate == 0.625
    assert found.models["A"].judge.estimate == 0.375
    assert found.models["A"].difference.estimate == 0.25
    assert found.models["B"].difference.estimate == -0.25
    assert found.largest.estimate == 0.25
    assert (found.largest.n, found.models["A"].people.n) == (4, 4)


def test_three_models():
    # A-B: people 1, judge 1. A-C: people 1, judge 0. B-C: people 1/2, judge 0.
    contests = [
        of([(2, 1, 2, 1)]),
        of([(2, 1, 1, 2)], "A", "C"),
        of([(1, 1, 1, 2)], "B", "C"),
    ]
    found = compute_win_rates(contests)
    rates = {name: (each.people.estimate, each.judge.estimate) for name, each in found.models.items()}
    # B: lost to A by both (0), drew with C (1/2) or lost (0). C: (0 + 1/2) / 2 and (1 + 1) / 2.
    assert rates == {"A": (1, 0.5), "B": (0.25, 0), "C": (0.25, 1)}
    assert found.largest.estimate == 0.75
    assert found.largest.n == 3


def test_without_a_pair_there_is_no_rate():
    empty = compute_win_rates([ModelContest("A", "B", [], score_wins([], []), score_wins([], []))])
    assert (empty.largest.estimate, empty.models["A"].people.estimate, empty.largest.n) == (None, None, 0)
    assert compute_win_rates([]).largest.estimate is None


@settings(max_examples=50, deadline=None)
@given(FOURS)
def test_rates_of_two_models_mirror(rows):
    found = compute_win_rates([of(rows)])
    for side in ("people", "judge"):
        rates = [getattr(found.models[name], side).estimate for name in "AB"]
        assert sum(rates) == pytest.approx(1)
        assert all(0 <= rate <= 1 for rate in rates)
    assert found.largest.estimate == pytest.approx(abs(found.models["A"].difference.estimate))
    swapped = compute_win_rates([of([(two, one, four, three) for one, two, three, four in rows])])
    assert swapped.models["A"].difference.estimate == pytest.approx(-found.models["A"].difference.estimate)


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(RATING, RATING), min_size=2, max_size=15))
def test_a_judge_who_says_what_people_say_differs_by_nothing(rows):
    found = compute_win_rates([of([(one, other, one, other) for one, other in rows])])
    assert (found.largest.estimate, found.largest.low, found.largest.high) == (0, None, None)
    assert found.models["A"].difference.estimate == 0


def test_interval_of_the_difference_is_paired():
    # People and judge disagree in none of the pairs but one: the difference is far surer than either rate.
    rows = [(5, 3, 5, 3), (3, 5, 3, 5)] * 20 + [(5, 3, 3, 5)]
    found = compute_win_rates([of(rows)]).models["A"]
    width = {name: getattr(found, name).high - getattr(found, name).low for name in ("people", "judge", "difference")}
    assert width["difference"] < 0.6 * width["people"]
