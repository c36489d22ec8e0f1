"""C, shift and the intra-model effect: worked by hand, against exact expectations, and against written-out draws."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import calibration as under_test
from lmms_medtasks.statistics.intervals import FEW, intervals
from lmms_medtasks.statistics.votes import votes

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
        ("AA?~", 4, 0.5),  # unreadable and truncated are one outcome: H = 1 bit
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
    (found,) = under_test.confidences(votes([question(trials, option_count=option_count)]))
    assert (None if np.isnan(found) else found) == (None if expected is None else pytest.approx(expected, abs=1e-6))


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(TRIALS, st.integers(3, 26)), max_size=8))
def test_confidences_are_the_naive_ones(question, cases):
    table = votes([question(trials, option_count=count) for trials, count in cases])
    expected = [naive_confidence(trials, count) for trials, count in cases]
    found = under_test.confidences(table)
    assert [None if np.isnan(value) else pytest.approx(value, abs=1e-11) for value in found] == expected
    assert all(0 <= value <= 1 for value in found if not np.isnan(value))


@settings(max_examples=100, deadline=None)
@given(TRIALS, st.permutations("ABC"), st.integers(4, 9))
def test_options_can_change_places_to_the_last_bit(question, trials, order, others):
    # Also next to a question with more options, whose columns the table then has.
    renamed = trials.translate(str.maketrans("ABC", "".join(order)))
    wide = question("A", option_count=others)
    first = under_test.confidences(votes([question(trials, option_count=3)]))
    second = under_test.confidences(votes([question(renamed, order[0], option_count=3), wide]))
    assert np.array_equal(first, second[:1], equal_nan=True)


def test_shift_by_hand(question):
    trials = ["AAAA", "AABB", "ABCD", "BBBA"]
    table = votes([question(each, id=str(number)) for number, each in enumerate(trials)])
    found = under_test.calibration(table)
    # C: 1, 0.5, 0, 0.594361; mean 0.523590. Right: 1, 0.5, 0.25, 0.25; mean 0.5. Shift 0.023590.
    assert found.confidence == pytest.approx(0.523590, abs=1e-6)
    assert found.accuracy == 0.5
    assert found.shift == pytest.approx(0.023590, abs=1e-6)
    assert under_test.shifts(table).mean() == pytest.approx(found.shift)


def test_what_is_left_out_is_counted(question):
    table = votes(
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
    found = under_test.calibration(table)
    assert found.n == 5
    assert (found.no_reply, found.single_option) == (1, 1)
    assert (found.single_reply, found.partly_failed, found.no_answer) == (1, 1, 1)
    # C: 0.5, 1, 0.25, 0.25, 0.5; right: 0.5, 0, 0.25, 0.5, 0.5.
    assert found.confidence == pytest.approx(2.5 / 5)
    assert found.accuracy == pytest.approx(1.75 / 5)


def test_nothing_is_none_not_zero(question):
    for records in ([], [question("!!")]):
        found = under_test.calibration(votes(records))
        assert (found.n, found.accuracy, found.confidence, found.shift) == (0, None, None, None)
        interval = intervals(*under_test.calibration_draw(votes(records)))["shift"]
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


@pytest.mark.parametrize("option_count", [2, 4, 5])
def test_a_guesser_has_the_theoretical_shift(question, option_count):
    rng = generator("test", "guesser", option_count)
    drawn = rng.integers(0, option_count, (3000, 10))
    records = [question("".join("ABCDE"[place] for place in row), option_count=option_count) for row in drawn]
    shifts = under_test.shifts(votes(records))
    error = shifts.std() / 3000**0.5
    expected = expected_confidence(option_count, 10) - 1 / option_count
    assert abs(shifts.mean() - expected) < 4 * error < 0.03


def level(question, severity, trials, answers=None):
    """A record a question "0", "1", ... at one level; a tuple of trials is several degraded forms of it."""
    found = []
    for number, forms in enumerate(trials):
        for form, each in enumerate([forms] if isinstance(forms, str) else forms):
            name = f"{number}/{form}/L{severity}" if severity else str(number)
            found.append(question(each, id=name, question_id=str(number), image_id=f"image {number}"))
    return votes(found)


def test_intra_model_dke_by_hand(question):
    clean = level(question, 0, ["AAAA", "AAAB"])
    degraded = level(question, 2, ["AABB", "BBBA"])
    found = under_test.intra_model_dke(clean, degraded, resamples=2000)
    # L0: C 1, 0.594361, mean 0.797180; right 1, 0.75, mean 0.875; shift -0.077820.
    # L2: C 0.5, 0.594361, mean 0.547180; right 0.5, 0.25, mean 0.375; shift 0.172180.
    # 0.875 > 0.375 and -0.077820 <= 0.172180: it holds.
    assert found.whole.holds and found.paired.holds
    assert found.whole.accuracy.estimate == pytest.approx(-0.5)
    assert found.whole.shift.estimate == pytest.approx(0.172180 + 0.077820, abs=1e-6)
    # Question 0 alone: accuracy -0.5, C -0.5, shift 0, which is "<=". Question 1 alone: -0.5, C 0, shift 0.5.
    assert found.whole.probability == found.paired.probability == 1
    assert (found.pairs, found.clean_alone, found.degraded_alone) == (2, 0, 0)


@pytest.mark.parametrize(
    ("clean", "degraded", "holds"),
    [
        ("AAAA", "BBBB", True),  # accuracy 1 to 0, C stays: shift 0 to 1
        ("AAAA", "AABB", True),  # accuracy -0.5, C -0.5: shift stays, which counts
        ("AAAA", "ABCD", False),  # accuracy -0.75, C -1: shift falls
        ("AAAA", "AAAA", False),  # accuracy stays
        ("AABB", "AAAA", False),  # accuracy rises
    ],
)
def test_both_conditions_of_equation_5(question, clean, degraded, holds):
    found = under_test.intra_model_dke(level(question, 0, [clean] * 3), level(question, 2, [degraded] * 3))
    assert found.whole.holds is holds
    assert found.paired.holds is holds
    assert found.paired.probability == holds


def test_pairing_is_not_fooled_by_the_mix_of_questions(question):
    # Nothing changes in any question, but the one that is always wrong has three degraded forms. Whole sets: accuracy
    # 1/2 to 1/4, shift 1/2 to 3/4: "holds". Question by question there is no change at all.
    clean = level(question, 0, ["AAAA", "BBBB"])
    degraded = level(question, 2, ["AAAA", ("BBBB", "BBBB", "BBBB")])
    found = under_test.intra_model_dke(clean, degraded)
    assert found.whole.holds is True
    assert found.paired.holds is False and found.paired.probability == 0
    change = found.paired.shift
    assert (change.estimate, change.reason) == (0, FEW)


def test_probability_is_the_share_of_draws(question):
    # Image 0 loses (shift rises), image 1 gains as much twice over. Of the draws 00, 01, 10, 11 only 00 has the effect.
    clean = level(question, 0, ["AAAA", "BBBB"])
    degraded = level(question, 2, ["AABB", "AAAA"])
    found = under_test.intra_model_dke(clean, degraded, resamples=4000).paired
    assert found.holds is False
    assert found.probability == pytest.approx(0.25, abs=0.03)  # 4 standard errors


def test_without_any_effect_the_probability_is_near_a_half(question):
    # What the docstring says of it: a guesser on the same questions twice, averaged over 20 of them.
    rng = generator("test", "no effect")
    found = []
    for _ in range(20):
        sets = [["".join("ABCD"[place] for place in row) for row in rng.integers(0, 4, (60, 10))] for _ in "12"]
        tables = [level(question, severity, trials) for severity, trials in zip((0, 2), sets, strict=True)]
        found.append(under_test.intra_model_dke(*tables, resamples=100).paired.probability)
    assert 0.25 < np.mean(found) < 0.7


def test_questions_without_partner_or_reply_are_counted(question):
    clean = level(question, 0, ["AAAA", "AAAA", "!!!!", "AAAA"])
    degraded = level(question, 2, ["BBBB", "!!!!", "BBBB"])
    found = under_test.intra_model_dke(clean, degraded)
    assert (found.pairs, found.clean_alone, found.degraded_alone) == (1, 2, 1)
    assert found.paired.holds is True
    assert found.paired.probability is None  # one image is no sample of images
    assert found.whole.accuracy.n == 3 + 2


def test_pairs_are_drawn_by_their_clean_image(question):
    # A release's degraded images have ids of their own; what they were made from is the clean question's image.
    clean = votes([question("AAAA", id=str(number), image_id=str(number // 2)) for number in range(12)])
    degraded = votes([question("AAAB", id=str(number), image_id=f"own {number}") for number in range(12)])
    found = under_test.intra_model_dke(clean, degraded)
    assert found.paired.accuracy.clusters == 6
    assert found.whole.accuracy.clusters == 18


def test_no_pairs_is_none(question):
    found = under_test.intra_model_dke(level(question, 0, ["AAAA"]), votes([]))
    for evidence in (found.whole, found.paired):
        assert (evidence.holds, evidence.probability, evidence.accuracy.estimate) == (None, None, None)
    assert (found.pairs, found.clean_alone) == (0, 1)


def test_changes_are_paired_over_images(question):
    rng = generator("test", "levels")
    trials = ["".join("AB"[int(place)] for place in row) for row in rng.random((40, 10)) > rng.random((40, 1))]
    worse = ["B" + each[1:] for each in trials]
    tables = {"L0": level(question, 0, trials), "L2": level(question, 2, worse), "same": level(question, 0, trials)}
    alone = {name: intervals(*under_test.calibration_draw(table))["accuracy"] for name, table in tables.items()}
    change = intervals(*under_test.changes_draw(tables, "L0"))
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
