"""Calibration error, Brier score and risk against coverage: by hand, against scikit-learn, against naive loops."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import reliability as under_test
from lmms_medtasks.statistics.intervals import estimate_intervals
from lmms_medtasks.statistics.reliability import BINS, reliability_bins, reliability_draw
from lmms_medtasks.statistics.votes import count_votes

TRIALS = st.lists(st.text(alphabet="ABCD?!", min_size=1, max_size=6), max_size=12)


def table_of(question, trials, **others):
    return count_votes([question(each, id=f"{number:03d}", **others) for number, each in enumerate(trials)])


def reliability(table):
    return SimpleNamespace(bins=reliability_bins(table), **estimate_intervals(*reliability_draw(table)))


def random_trials(count, seed, length=9):
    """Votes that lean to A by different amounts; nine of them, so that two options never tie."""
    rng = seeded_generator("test", seed)
    lean = rng.random((count, 1))
    return ["".join("AB"[int(other)] for other in row) for row in rng.random((count, length)) > lean]


def test_by_hand(question):
    # Votes, answer A, K = 4:      AAAA   AABB   ABCD   BBBA
    # majority share                1      0.5    0.25   0.75
    # majority right                1      0.5    0.25   0         (a draw of 2, and of 4)
    table = table_of(question, ["AAAA", "AABB", "ABCD", "BBBA"])
    share = reliability(table)
    # All in bins of their own: (0 + 0 + 0 + 0.75) / 4.
    assert share.ece.estimate == pytest.approx(0.1875)
    # 0; 0.5 (0.5 - 1)^2 + 0.5 (0.5)^2 = 0.25; 0.25 (0.75)^2 + 0.75 (0.25)^2 = 0.1875; 0.75^2 = 0.5625: 1 / 4.
    assert share.brier.estimate == pytest.approx(0.25)
    # Most confident first, errors 0, 1, 0.5, 0.75: risks 0, 1/2, 1.5/3, 2.25/4; mean 0.390625.
    assert share.aurc.estimate == pytest.approx(0.390625)
    assert share.correctness.estimate == pytest.approx(0.4375)
    assert share.confidence.estimate == pytest.approx(0.625)


def test_no_answer_is_an_outcome_that_is_never_right(question):
    table = table_of(question, ["??A", "?A", "???", "??AA"])
    # 2 of 3 for "no answer": wrong. One each: half. Unanimous: wrong.
    assert under_test.majority_correct(table).tolist() == [0, 0.5, 0, 0.5]
    assert under_test.majority_share(table).tolist() == [2 / 3, 0.5, 1, 0.5]


def test_questions_without_a_reply_are_left_out(question):
    table = count_votes(
        [
            question("AAB", id="a"),
            question("!!!", id="b"),
            question("AAA", id="c", option_count=1),
            question("B!!", id="d"),
        ]
    )
    found = reliability(table)
    assert found.correctness.n == sum(each.n for each in found.bins) == 3


@pytest.mark.parametrize("trials", [[], ["!!!"]])
def test_nothing_is_none_not_zero(question, trials):
    found = reliability(table_of(question, trials))
    for interval in (found.ece, found.brier, found.aurc, found.correctness, found.confidence):
        assert (interval.estimate, interval.low, interval.high, interval.n) == (None, None, None, 0)
    assert all((each.n, each.confidence, each.correctness) == (0, None, None) for each in found.bins)


def naive_ece(confidence, correct, bins):
    total = 0.0
    for number in range(bins):
        inside = [
            row
            for row, value in enumerate(confidence)
            if number / bins < value <= (number + 1) / bins or (number == 0 and value == 0)
        ]
        if inside:
            gap = np.mean([confidence[row] for row in inside]) - np.mean([correct[row] for row in inside])
            total += len(inside) / len(confidence) * abs(gap)
    return total


@settings(max_examples=60, deadline=None)
@given(TRIALS)
def test_ece_is_the_naive_one(question, trials):
    table = table_of(question, trials)
    certain = under_test.majority_share(table)
    used = ~np.isnan(certain)
    found = reliability(table)
    if not used.any():
        assert found.ece.estimate is None
        return
    expected = naive_ece(certain[used], under_test.majority_correct(table)[used], BINS)
    assert found.ece.estimate == pytest.approx(expected, abs=1e-12)
    assert 0 <= found.ece.estimate <= 1


def test_three_of_ten_votes_are_in_the_bin_that_ends_at_three_tenths(question):
    table = table_of(question, ["AAABBBCCCD", "AAAABBBCCD"])
    found = reliability(table)
    assert [(each.high, each.n) for each in found.bins if each.n] == [(0.3, 1), (0.4, 1)]


def test_bins_are_those_of_scikit_learn(question):
    table = table_of(question, random_trials(200, "bins"))
    right = under_test.majority_correct(table)
    certain = under_test.majority_share(table)
    found = reliability(table)
    frequency, predicted = calibration_curve(right, certain, n_bins=BINS)
    filled = [each for each in found.bins if each.n]
    assert [each.correctness for each in filled] == pytest.approx(frequency)
    assert [each.confidence for each in filled] == pytest.approx(predicted)
    assert sum(each.n for each in found.bins) == 200


def test_brier_score_is_that_of_scikit_learn(question):
    trials = [*random_trials(60, "brier"), "AB", "ABCD", "A?", "???", "CCDB"]
    table = table_of(question, trials)
    certain, right = under_test.majority_share(table), under_test.majority_correct(table)
    # A vote that is right with probability r is a right one of weight r and a wrong one of weight 1 - r.
    binary = brier_score_loss(
        np.repeat([1, 0], len(trials)),
        np.tile(certain, 2),
        sample_weight=np.concatenate([right, 1 - right]),
        pos_label=1,
    )
    found = reliability(table)
    assert found.brier.estimate == pytest.approx(binary, abs=1e-12)


def naive_aurc(confidence, error):
    """The mean over all orders that sort by confidence, of the mean risk at each coverage."""
    areas = []
    for order in itertools.permutations(range(len(error))):
        if all(confidence[first] >= confidence[second] for first, second in itertools.pairwise(order)):
            sorted_errors = [error[row] for row in order]
            areas.append(np.mean([np.mean(sorted_errors[: count + 1]) for count in range(len(error))]))
    return np.mean(areas)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["AAAA", "BBBB", "AABB", "AAAB", "BBBA", "ABCD", "???A"]), min_size=1, max_size=6))
def test_aurc_is_the_mean_over_the_orders_of_ties(question, trials):
    table = table_of(question, trials)
    error = 1 - under_test.majority_correct(table)
    found = reliability(table)
    assert found.aurc.estimate == pytest.approx(naive_aurc(under_test.majority_share(table), error), abs=1e-12)


def test_aurc_of_confidence_that_says_nothing_is_the_error(question):
    found = reliability(table_of(question, ["AAA", "BBB", "CCC", "AAA"]))
    assert found.aurc.estimate == pytest.approx(0.5)
    assert found.aurc.estimate == pytest.approx(1 - found.correctness.estimate)


def test_aurc_rewards_doubt_where_it_is_wrong(question):
    good = reliability(table_of(question, ["AAAA", "AAAA", "BBBC", "BBBC"]))
    bad = reliability(table_of(question, ["AAAB", "AAAB", "BBBB", "BBBB"]))
    # Errors 0 0 1 1, the last two tied: risks 0, 0, 1/3, 1/2. Errors 1 1 0 0: 1, 1, 2/3, 1/2.
    assert good.aurc.estimate == pytest.approx((1 / 3 + 1 / 2) / 4)
    assert bad.aurc.estimate == pytest.approx((2 + 2 / 3 + 1 / 2) / 4)


@settings(max_examples=30, deadline=None)
@given(TRIALS, st.randoms())
def test_the_order_of_records_does_not_matter(question, trials, random):
    records = [question(each, id=f"{number}", image_id=f"{number // 2}") for number, each in enumerate(trials)]
    expected = reliability(count_votes(records))
    random.shuffle(records)
    found = reliability(count_votes(records))
    for name in ("ece", "brier", "aurc", "correctness", "confidence"):
        assert getattr(found, name) == getattr(expected, name)
    assert [(each.low, each.high, each.n) for each in found.bins] == [
        (each.low, each.high, each.n) for each in expected.bins
    ]


@settings(max_examples=30, deadline=None)
@given(TRIALS, st.permutations("ABCD"))
def test_options_can_change_places(question, trials, order):
    renamed = [each.translate(str.maketrans("ABCD", "".join(order))) for each in trials]
    first = reliability(table_of(question, trials))
    second = reliability(table_of(question, renamed, answer=order[0]))
    for name in ("ece", "brier", "aurc"):
        one, other = getattr(first, name).estimate, getattr(second, name).estimate
        assert one == other or one == pytest.approx(other, abs=1e-12)


def test_intervals_hold_their_estimates_and_are_over_images(question):
    records = [
        question(each, id=f"{number}", image_id=f"{number % 25}")
        for number, each in enumerate(random_trials(100, "intervals"))
    ]
    found = reliability(count_votes(records))
    for interval in (found.brier, found.aurc, found.correctness, found.confidence):
        assert interval.low < interval.estimate < interval.high
        assert (interval.n, interval.clusters) == (100, 25)
