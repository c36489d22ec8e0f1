"""C, the agreement of trials, and shift: worked by hand, and against exact expectations."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import calibration as under_test
from lmms_medtasks.statistics.intervals import estimate_intervals
from lmms_medtasks.statistics.votes import count_votes

TRIALS = st.text(alphabet="ABC?!", min_size=1, max_size=10)


def naive_confidence(trials, option_count):
    """Equation 3 to the letter, over the replies, with "?" one more outcome."""
    replies = trials.replace("!", "").replace("~", "?")
    if not replies or option_count < 2:
        return None
    shares = [count / len(replies) for count in Counter(replies).values()]
    return max(0.0, 1 + sum(share * math.log(share) for share in shares) / math.log(option_count))


@pytest.mark.parametrize(
    ("trials", "option_count", "expected"),
    [
        ("AAAA", 4, 1.0),
        ("AABB", 4, 0.5),  # H = 1 bit of log K = 2 bits
        ("ABCD", 4, 0.0),  # H = 2 bits
        # H = 2 - 3/4 log2 3 = 0.811278 bits; 1 - 0.811278/2. With two options: 1 - 0.811278.
        ("BBBA", 4, 0.594361),
        ("BBBA", 2, 0.188722),
        ("AA?~", 4, 0.5),  # unreadable and cut are one outcome: H = 1 bit
        ("AB?", 2, 0.0),  # H = log 3 > log 2: clipped
        ("????", 4, 1.0),  # unanimous, if in nothing
        ("AA!!", 4, 1.0),  # two votes, both A
        ("AABB!", 4, 0.5),
        ("A", 4, 1.0),  # T = 1
        ("!!", 4, None),
        ("AAA", 1, None),
    ],
)
def test_confidence_by_hand(question, trials, option_count, expected):
    (found,) = under_test.entropy_confidences(count_votes([question(trials, option_count=option_count)]))
    assert (None if np.isnan(found) else found) == (None if expected is None else pytest.approx(expected, abs=1e-6))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TRIALS, st.integers(3, 26)), max_size=8))
def test_confidences_are_the_naive_ones(question, cases):
    table = count_votes([question(trials, option_count=count) for trials, count in cases])
    expected = [naive_confidence(trials, count) for trials, count in cases]
    found = under_test.entropy_confidences(table)
    assert [None if np.isnan(value) else pytest.approx(value, abs=1e-11) for value in found] == expected
    assert all(0 <= value <= 1 for value in found if not np.isnan(value))


@settings(max_examples=100, deadline=None)
@given(TRIALS, st.permutations("ABC"), st.integers(4, 9))
def test_options_can_change_places_to_the_last_bit(question, trials, order, others):
    # Also next to a question with more options, whose columns the table then has.
    renamed = trials.translate(str.maketrans("ABC", "".join(order)))
    wide = question("A", option_count=others)
    first = under_test.entropy_confidences(count_votes([question(trials, option_count=3)]))
    second = under_test.entropy_confidences(count_votes([question(renamed, order[0], option_count=3), wide]))
    assert np.array_equal(first, second[:1], equal_nan=True)


def test_shift_by_hand(question):
    trials = ["AAAA", "AABB", "ABCD", "BBBA"]
    table = count_votes([question(each, id=str(number)) for number, each in enumerate(trials)])
    found = under_test.measure_calibration(table)
    # C: 1, 0.5, 0, 0.594361; mean 0.523590. Right: 1, 0.5, 0.25, 0.25; mean 0.5. Shift 0.023590.
    assert found.confidence == pytest.approx(0.523590, abs=1e-6)
    assert found.accuracy == 0.5
    assert found.shift == pytest.approx(0.023590, abs=1e-6)


def test_questions_without_a_confidence_are_left_out(question):
    table = count_votes(
        [
            question("AABB", id="a"),
            question("!!!!", id="b"),  # no reply
            question("AAAA", id="c", option_count=1),  # C has no value
            question("B!!!", id="d"),  # one vote: C = 1
            question("A??B", id="e"),  # C = 1 - 1.5/2 = 0.25; "no answer" leads
            question("A?AB", id="f"),  # it does not; C = 0.25
            question("A??A", id="g"),  # nor in a tie; C = 0.5
        ]
    )
    found = under_test.measure_calibration(table)
    assert found.n == 5
    # C: 0.5, 1, 0.25, 0.25, 0.5; right: 0.5, 0, 0.25, 0.5, 0.5.
    assert found.confidence == pytest.approx(2.5 / 5)
    assert found.accuracy == pytest.approx(1.75 / 5)


def test_nothing_is_none_not_zero(question):
    for records in ([], [question("!!")]):
        found = under_test.measure_calibration(count_votes(records))
        assert (found.n, found.accuracy, found.confidence, found.shift) == (0, None, None, None)
        interval = estimate_intervals(*under_test.calibration_draw(count_votes(records)))["shift"]
        assert (interval.n, interval.estimate, interval.low, interval.high) == (0, None, None, None)


def expected_confidence(option_count, trials):
    """E[C] of a guesser: C of every possible count of votes, weighed by its multinomial probability."""
    total = 0.0
    # A composition of T into K counts is a choice of K - 1 bars among T + K - 1 places.
    for bars in itertools.combinations(range(trials + option_count - 1), option_count - 1):
        ends = (-1, *bars, trials + option_count - 1)
        counts = [after - before - 1 for before, after in itertools.pairwise(ends)]
        ways = math.factorial(trials) / math.prod(math.factorial(count) for count in counts)
        shares = [count / trials for count in counts if count]
        confidence = 1 + sum(share * math.log(share) for share in shares) / math.log(option_count)
        total += ways / option_count**trials * confidence
    return total


@pytest.mark.parametrize("trials", [1, 3, 10])
@pytest.mark.parametrize("option_count", [2, 3, 4, 5])
def test_chance_confidence_is_the_exact_expectation(option_count, trials):
    expected = expected_confidence(option_count, trials)
    assert under_test.chance_confidence(option_count, trials) == pytest.approx(expected, abs=1e-12)


def test_chance_confidence_by_hand():
    # K = 2, T = 2: both alike with probability 1/2 (C = 1), else C = 0.
    assert under_test.chance_confidence(2, 2) == pytest.approx(0.5)
    assert under_test.chance_confidence(4, 1) == 1
    for refused in ((1, 10), (4, 0)):
        with pytest.raises(ValueError):
            under_test.chance_confidence(*refused)


@pytest.mark.parametrize("trials", [1029, 1030, 2000])
def test_chance_confidence_of_many_trials_is_what_they_tend_to(trials):
    # 1 - E[H] / log K tends to (K - 1) / (2 T log K): Miller's bias. No binomial coefficient has to be a float.
    assert under_test.chance_confidence(4, trials) == pytest.approx(3 / (2 * trials * math.log(4)), rel=2e-3)


@pytest.mark.parametrize("option_count", [2, 4, 5])
def test_a_guesser_has_the_theoretical_shift(question, option_count):
    rng = seeded_generator("test", "guesser", option_count)
    drawn = rng.integers(0, option_count, (3000, 10))
    records = [question("".join("ABCDE"[place] for place in row), option_count=option_count) for row in drawn]
    table = count_votes(records)
    shifts = under_test.entropy_confidences(table) - table.scores
    error = shifts.std() / 3000**0.5
    expected = expected_confidence(option_count, 10) - 1 / option_count
    assert abs(shifts.mean() - expected) < 4 * error < 0.03


@pytest.mark.parametrize(
    ("trials", "option_count", "expected"),
    [
        ("AAAA", 4, 1.0),
        ("AABB", 4, 1 / 3),  # 2 of the 6 pairs
        ("ABCD", 4, 0.0),
        ("BBBA", 4, 0.5),  # 3 of 6
        ("BBBA", 2, 0.5),  # whatever the number of options
        ("AAB", 4, 1 / 3),
        ("AA?~", 4, 1 / 6),  # the pair of A; replies without an answer agree with nothing
        ("????", 4, 0.0),
        ("AA!!", 4, 1.0),  # failed requests are no replies
        ("A", 4, None),
        ("A!!!", 4, None),
        ("!!", 4, None),
        ("AAA", 1, None),
    ],
)
def test_agreement_by_hand(question, trials, option_count, expected):
    (found,) = under_test.trial_agreements(count_votes([question(trials, option_count=option_count)]))
    assert (None if np.isnan(found) else found) == (None if expected is None else pytest.approx(expected))


def expectations(chances, trials, right=0):
    """Expected agreement, C and accuracy of replies with these chances: every count, by its multinomial probability."""
    found = np.zeros(3)
    for replies in itertools.product(range(len(chances)), repeat=trials):
        counts = Counter(replies)
        probability = math.prod(chances[option] for option in replies)
        agreeing = sum(count * (count - 1) for count in counts.values()) / (trials * (trials - 1))
        shares = [count / trials for count in counts.values()]
        certain = 1 + sum(share * math.log(share) for share in shares) / math.log(len(chances))
        found += probability * np.array([agreeing, certain, counts[right] / trials])
    return found


@pytest.mark.parametrize("chances", [(0.25, 0.25, 0.25, 0.25), (0.7, 0.1, 0.1, 0.1), (0.9, 0.1, 0.0, 0.0)])
def test_expected_agreement_does_not_depend_on_t(chances):
    squares = sum(chance**2 for chance in chances)
    agreeing, certain = zip(*(expectations(chances, trials)[:2] for trials in (2, 3, 6)), strict=True)
    assert agreeing == pytest.approx((squares,) * 3)
    assert certain[0] > certain[1] + 0.01 > certain[2] + 0.02  # C does


def test_calibrated_replies_agree_as_often_as_they_are_right():
    # An option of chance p is right in a share p of the cases: the right answer is option k with probability p_k.
    chances = (0.7, 0.2, 0.1)
    right = [expectations(chances, 3, option)[2] for option in range(3)]
    accuracy = sum(chance * share for chance, share in zip(chances, right, strict=True))
    assert accuracy == pytest.approx(expectations(chances, 3)[0]) == pytest.approx(0.54)  # 0.49 + 0.04 + 0.01


def test_a_model_that_is_right_in_seven_of_ten_trials_is_no_calibrated_one(question):
    # The example, 7/1/1/1 of ten replies on every question, right with its most common answer:
    # C = 1 - (0.7 log 1/0.7 + 0.3 log 10) / log 4 = 0.321610, shift -0.378390. Agreement: 7 * 6 / 90 = 0.466667,
    # 0.233333 below its accuracy. Calibrated replies with these votes have shift 0.321610 - 0.466667 = -0.145057.
    table = count_votes([question("AAAAAAABCD")])
    paper, agreeing = under_test.measure_calibration(table), under_test.measure_calibration(table, "agreement")
    assert (paper.confidence, paper.shift) == pytest.approx((0.321610, -0.378390), abs=1e-6)
    assert (agreeing.confidence, agreeing.accuracy, agreeing.shift) == pytest.approx((7 / 15, 0.7, -0.7 / 3))
    assert under_test.calibrated_shift(table) == pytest.approx(-0.145057, abs=1e-6)
    assert paper.shift - under_test.calibrated_shift(table) == pytest.approx(agreeing.shift)


@pytest.mark.parametrize("trials", [3, 10])
def test_a_guesser_has_no_shift_of_agreement_whatever_t(question, trials):
    rng = seeded_generator("test", "agreeing guesser", trials)
    drawn = rng.integers(0, 4, (3000, trials))
    table = count_votes([question("".join("ABCD"[place] for place in row)) for row in drawn])
    shifts = under_test.trial_agreements(table) - table.scores
    error = shifts.std() / 3000**0.5
    assert abs(shifts.mean()) < 4 * error < 0.04
    # Of the paper's shift its reference is the guesser's own, not 0.
    expected = under_test.chance_confidence(4, trials) - 0.25
    assert abs(expected) > 0.12
    assert under_test.calibrated_shift(table) == pytest.approx(expected, abs=0.02)


def test_one_trial_has_no_pair(question):
    table = count_votes([question("A", id="a"), question("B", id="b")])
    found = under_test.measure_calibration(table, "agreement")
    assert (found.n, found.confidence, found.shift) == (0, None, None)
    assert under_test.calibrated_shift(table) is None


def level(question, severity, trials):
    """A record a question "0", "1", ... at one level."""
    return count_votes(
        [
            question(each, id=f"{number}/L{severity}", question_id=str(number), image_id=f"image {number}")
            for number, each in enumerate(trials)
        ]
    )


def test_changes_are_paired_over_images(question):
    rng = seeded_generator("test", "levels")
    trials = ["".join("AB"[int(place)] for place in row) for row in rng.random((40, 10)) > rng.random((40, 1))]
    worse = ["B" + each[1:] for each in trials]
    tables = {"L0": level(question, 0, trials), "L2": level(question, 2, worse), "same": level(question, 0, trials)}
    alone = {
        name: estimate_intervals(*under_test.calibration_draw(table))["accuracy"] for name, table in tables.items()
    }
    change = estimate_intervals(*under_test.changes_draw(tables, "L0"))
    kinds = ("accuracy", "confidence", "shift")
    assert list(change) == [f"{name}/{kind}" for name in ("L2", "same") for kind in kinds]
    found = change["L2/accuracy"]
    assert found.estimate == pytest.approx(alone["L2"].estimate - alone["L0"].estimate)
    assert found.high - found.low < 0.7 * (alone["L0"].high - alone["L0"].low)
    for kind in kinds:
        interval = change[f"same/{kind}"]
        assert interval.estimate == 0 and interval.low <= 0 <= interval.high
    with pytest.raises(UserError, match="'L1'"):
        under_test.changes_draw(tables, "L1")
