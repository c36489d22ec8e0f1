"""Equation 5 by hand, and its figures where nothing changes: exchanges written out, and their error rate."""

import itertools

import numpy as np
import pytest

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.statistics.intra_model import intra_model_dke, pairs
from lmms_medtasks.statistics.votes import votes


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
    found = intra_model_dke(clean, degraded)
    # L0: C 1, 0.594361, mean 0.797180; right 1, 0.75, mean 0.875; shift -0.077820.
    # L2: C 0.5, 0.594361, mean 0.547180; right 0.5, 0.25, mean 0.375; shift 0.172180.
    # 0.875 > 0.375 and -0.077820 <= 0.172180: it holds.
    assert found.whole.holds and found.paired.holds
    assert found.whole.accuracy.estimate == pytest.approx(-0.5)
    assert found.whole.shift.estimate == pytest.approx(0.172180 + 0.077820, abs=1e-6)
    assert found.pairs == 2


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
    found = intra_model_dke(level(question, 0, [clean] * 3), level(question, 2, [degraded] * 3))
    assert found.whole.holds is holds
    assert found.paired.holds is holds


def test_pairing_is_not_fooled_by_the_mix_of_questions(question):
    # Nothing changes in any question, but the one that is always wrong has three degraded forms. Whole sets: accuracy
    # 1/2 to 1/4, shift 1/2 to 3/4: "holds". Question by question there is no change at all.
    clean = level(question, 0, ["AAAA", "BBBB"])
    degraded = level(question, 2, ["AAAA", ("BBBB", "BBBB", "BBBB")])
    found = intra_model_dke(clean, degraded)
    assert found.whole.holds is True
    assert found.paired.holds is False and found.no_change.p == 1
    change = found.paired.shift
    assert (change.estimate, change.reason) == (0, FEW)


def exchanged(clean, degraded):
    """Accuracy and shift changes under every exchange: for each question which of its forms is the clean one."""
    numbers = [np.array([first, *others], dtype=float) for first, others in zip(clean, degraded, strict=True)]
    found = []
    for chosen in itertools.product(*(range(len(forms)) for forms in numbers)):
        sums = np.array(
            [forms.sum(axis=0) - len(forms) * forms[place] for forms, place in zip(numbers, chosen, strict=True)]
        )
        weights = np.array([len(forms) - 1 for forms in numbers])
        change = sums.sum(axis=0) / weights.sum()
        away = sums - change * weights[:, None]
        error = np.sqrt((away**2).sum(axis=0) * len(numbers) / (len(numbers) - 1)) / weights.sum()
        found.append((change, change / error))
    return found


def test_exchanges_are_those_written_out(question):
    # Accuracy and shift (C less accuracy) of each form. AAAA 1, 0; AAAB .75, -.155639; AABB .5, 0; BBBA .25, .344361;
    # BBBB 0, 1; ABCD .25, -.25.
    known = {"AAAA": (1, 0), "AAAB": (0.75, -0.155639), "AABB": (0.5, 0), "BBBA": (0.25, 0.344361), "BBBB": (0, 1),
             "ABCD": (0.25, -0.25)}  # fmt: skip
    clean = ["AAAA", "AAAB", "AABB", "AAAA"]
    degraded = [("AABB", "BBBB"), ("BBBA", "AAAA"), ("ABCD", "AAAB"), ("BBBB", "BBBA")]
    found = intra_model_dke(level(question, 0, clean), level(question, 2, degraded), exchanges=20_000).no_change
    every = exchanged([known[each] for each in clean], [[known[each] for each in forms] for forms in degraded])
    ((change, own), *_) = every
    assert change[0] < 0 < change[1]
    ratios = np.array([ratio for _, ratio in every])
    smaller = np.minimum(-ratios[:, 0], ratios[:, 1])
    expected = {
        "p": (smaller >= min(-own[0], own[1]) - 1e-9).mean(),
        "accuracy_p": (-ratios[:, 0] >= -own[0] - 1e-9).mean(),
        "shift_p": (ratios[:, 1] >= own[1] - 1e-9).mean(),
        "holds": np.mean([accuracy < -1e-9 and shift >= -1e-9 for (accuracy, shift), _ in every]),
    }
    assert len(every) == 3**4
    for name, value in expected.items():
        assert getattr(found, name) == pytest.approx(value, abs=0.015), name


def test_all_questions_on_an_image_are_exchanged_together(question):
    # Two images with two questions each; one form each. Exchanged by image there are 4 ways, by question 16. Only the
    # data as they are have both images fall: p = 1 of 4.
    clean = votes([question("AAAA", id=str(number), image_id=str(number // 2)) for number in range(4)])
    trials = ["BBBB", "AABB", "BBBB", "AAAB"]
    degraded = votes([question(each, id=str(number), image_id=str(number // 2)) for number, each in enumerate(trials)])
    found = intra_model_dke(clean, degraded, exchanges=4000)
    assert (found.images, found.pairs) == (2, 4)
    assert found.no_change.p == found.no_change.accuracy_p == pytest.approx(0.25, abs=0.03)


def test_p_is_calibrated_where_nothing_changes(question):
    # 200 data sets of a guesser who is asked the same twice: equation 5 says yes in about a third, p is at most .1 in a
    # tenth (20; binomial standard deviation 4.2).
    rng = generator("test", "no effect")
    holds, shown, small = 0, [], 0
    for _ in range(200):
        sets = [["".join("ABCD"[place] for place in row) for row in rng.integers(0, 4, (20, 6))] for _ in "12"]
        tables = [level(question, severity, trials) for severity, trials in zip((0, 2), sets, strict=True)]
        found = intra_model_dke(*tables, exchanges=199)
        holds += found.paired.holds
        shown.append(found.no_change.holds)
        small += found.no_change.p <= 0.1
    assert holds / 200 == pytest.approx(np.mean(shown), abs=0.1)
    assert 0.2 < np.mean(shown) < 0.45
    assert 8 <= small <= 34


def test_a_model_that_falls_and_does_not_notice_is_found(question):
    clean = level(question, 0, ["AAAA", "AAAB"] * 10)
    degraded = level(question, 2, ["BBBB", "BBBA"] * 10)
    found = intra_model_dke(clean, degraded)
    assert found.paired.holds
    assert max(found.no_change.p, found.no_change.accuracy_p, found.no_change.shift_p) == 1 / 2000


def test_a_model_that_falls_and_becomes_less_sure_is_not(question):
    # Accuracy 1 to 0.25, C 1 to 0: shift falls by 0.25 on every image.
    found = intra_model_dke(level(question, 0, ["AAAA"] * 20), level(question, 2, ["ABCD"] * 20))
    assert found.paired.holds is False
    assert found.no_change.accuracy_p < 0.01 < 0.9 < found.no_change.shift_p
    assert found.no_change.p > 0.9


def test_agreement_of_trials_in_place_of_c(question):
    # Accuracy 1 to .5, C 1 to .5: shift stays. Agreement 1 to 1/3: less accuracy 0 to -1/6.
    tables = level(question, 0, ["AAAA"] * 6), level(question, 2, ["AABB"] * 6)
    assert intra_model_dke(*tables).paired.holds is True
    found = intra_model_dke(*tables, kind="agreement")
    assert found.paired.holds is False
    assert found.paired.shift.estimate == pytest.approx(-1 / 6)


def test_all_answers_equal_is_no_evidence(question):
    found = intra_model_dke(level(question, 0, ["AAAA"] * 8), level(question, 2, ["AAAA"] * 8))
    assert found.paired.holds is False
    assert (found.no_change.p, found.no_change.accuracy_p, found.no_change.shift_p) == (1, 1, 1)
    assert found.no_change.holds == 0


def test_one_image_has_no_p_and_says_why(question):
    found = intra_model_dke(level(question, 0, ["AAAA"]), level(question, 2, ["BBBB"]))
    assert found.paired.holds is True
    assert found.no_change is None and "one image" in found.untested


def test_one_trial_is_no_confidence(question):
    found = intra_model_dke(level(question, 0, ["A", "A", "B"]), level(question, 2, ["B", "B", "B"]))
    assert (found.whole.holds, found.paired.holds, found.no_change) == (None, None, None)
    assert "T = 1" in found.untested


def test_levels_with_different_t_are_refused(question):
    with pytest.raises(UserError, match="T = 4 .* T = 2"):
        intra_model_dke(level(question, 0, ["AAAA"]), level(question, 2, ["BB"]))


def test_the_order_of_the_records_does_not_matter(question):
    clean, degraded = level(question, 0, ["AAAA", "AAAB", "AABB"]), level(question, 2, [("AABB", "BBBB")] * 3)
    turned = degraded.take([5, 0, 3, 1, 4, 2])
    assert intra_model_dke(clean, turned).no_change == intra_model_dke(clean, degraded).no_change


def test_questions_without_partner_or_reply_are_in_no_pair(question):
    clean = level(question, 0, ["AAAA", "AAAA", "!!!!", "AAAA"])
    degraded = level(question, 2, ["BBBB", "!!!!", "BBBB"])
    found = intra_model_dke(clean, degraded)
    assert found.pairs == 1
    assert found.paired.holds is True
    assert found.no_change is None  # one image is no sample of images
    assert found.whole.accuracy.n == 3 + 2


def test_pairs_are_drawn_by_their_clean_image(question):
    # A release's degraded images have ids of their own; what they were made from is the clean question's image.
    clean = votes([question("AAAA", id=str(number), image_id=str(number // 2)) for number in range(12)])
    degraded = votes([question("AAAB", id=str(number), image_id=f"own {number}") for number in range(12)])
    found = intra_model_dke(clean, degraded)
    assert found.paired.accuracy.clusters == 6
    assert found.whole.accuracy.clusters == 18


def test_no_pairs_is_none(question):
    found = intra_model_dke(level(question, 0, ["AAAA"]), votes([]))
    for evidence in (found.whole, found.paired):
        assert (evidence.holds, evidence.accuracy.estimate) == (None, None)
    assert found.no_change is None and "clean form" in found.untested
    assert found.pairs == 0


def test_a_clean_question_is_in_a_pair_for_each_of_its_degraded_forms():
    found = pairs(["a", "b", "c"], ["c", "a", "x", "a"])
    assert (found.clean.tolist(), found.degraded.tolist()) == ([2, 0, 0], [0, 1, 3])
    assert len(pairs(["a"], ["b"]).clean) == len(pairs([], []).degraded) == 0
    with pytest.raises(UserError, match="'b'"):
        pairs(["a", "b", "b"], ["a"])
