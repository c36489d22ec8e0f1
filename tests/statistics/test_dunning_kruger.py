"""Equations 5 and 6 by hand, and what they show where nothing changes."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.errors import UserError
from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.dunning_kruger import (
    _exchange_models,
    equation_6,
    inter_model_dkes,
    intra_model_dke,
    join_clean_degraded,
)
from lmms_medtasks.statistics.intervals import FEW
from lmms_medtasks.statistics.votes import count_votes


def level(question, severity, trials, answers=None):
    """A record a question "0", "1", ... at one level; a tuple of trials is several degraded forms of it."""
    found = []
    for number, forms in enumerate(trials):
        for form, each in enumerate([forms] if isinstance(forms, str) else forms):
            name = f"{number}/{form}/L{severity}" if severity else str(number)
            found.append(question(each, id=name, question_id=str(number), image_id=f"image {number}"))
    return count_votes(found)


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
    clean = count_votes([question("AAAA", id=str(number), image_id=str(number // 2)) for number in range(4)])
    trials = ["BBBB", "AABB", "BBBB", "AAAB"]
    degraded = count_votes(
        [question(each, id=str(number), image_id=str(number // 2)) for number, each in enumerate(trials)]
    )
    found = intra_model_dke(clean, degraded, exchanges=4000)
    assert (found.images, found.pairs) == (2, 4)
    assert found.no_change.p == found.no_change.accuracy_p == pytest.approx(0.25, abs=0.03)


def test_p_is_calibrated_where_nothing_changes(question):
    # 200 data sets of a guesser who is asked the same twice: equation 5 says yes in about a third, p is at most .1 in a
    # tenth (20; binomial standard deviation 4.2).
    rng = seeded_generator("test", "no effect")
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
    clean = count_votes([question("AAAA", id=str(number), image_id=str(number // 2)) for number in range(12)])
    degraded = count_votes([question("AAAB", id=str(number), image_id=f"own {number}") for number in range(12)])
    found = intra_model_dke(clean, degraded)
    assert found.paired.accuracy.clusters == 6
    assert found.whole.accuracy.clusters == 18


def test_no_pairs_is_none(question):
    found = intra_model_dke(level(question, 0, ["AAAA"]), count_votes([]))
    for evidence in (found.whole, found.paired):
        assert (evidence.holds, evidence.accuracy.estimate) == (None, None)
    assert found.no_change is None and "clean form" in found.untested
    assert found.pairs == 0


def test_a_clean_question_is_in_a_pair_for_each_of_its_degraded_forms():
    found = join_clean_degraded(["a", "b", "c"], ["c", "a", "x", "a"])
    assert (found.clean.tolist(), found.degraded.tolist()) == ([2, 0, 0], [0, 1, 3])
    assert len(join_clean_degraded(["a"], ["b"]).clean) == len(join_clean_degraded([], []).degraded) == 0
    with pytest.raises(UserError, match="'b'"):
        join_clean_degraded(["a", "b", "b"], ["a"])


def test_equation_6_by_hand():
    # Pairs with different accuracy: x-y, x-z, x-w, y-w, z-w (y and z are equal). The worse has the higher shift in
    # x-y (0.3 > 0.2), x-w (0.4 > 0.2), y-w (0.4 > 0.3), z-w (0.4 > 0.2), not in x-z (0.2 is not higher than 0.2).
    accuracy = {"x": 0.7, "y": 0.5, "z": 0.5, "w": 0.3, "only accuracy": 0.9, "no value": None}
    shift = {"x": 0.2, "y": 0.3, "z": 0.2, "w": 0.4, "only shift": 0.1, "no value": 0.5}
    found = equation_6(accuracy, shift)
    assert (found.pairs, found.fulfilled, found.share) == (5, 4, 0.8)
    # Ranks 4, 2.5, 2.5, 1 and 1.5, 3, 1.5, 4: deviations 1.5, 0, 0, -1.5 and -1, 0.5, -1, 1.5:
    # (-1.5 - 2.25) / sqrt(4.5 * 4.5).
    assert found.spearman == pytest.approx(-3.75 / 4.5)
    assert found.models == ("w", "x", "y", "z")


# Few distinct figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


@settings(max_examples=100, deadline=None)
@given(FIGURES)
def test_correlations_are_scipys_and_pairs_the_written_out_ones(rows):
    one, other = np.array(rows).T
    found = equation_6(*({f"m{number}": value / 7 for number, value in enumerate(each)} for each in (one, other)))
    if len(set(one)) > 1 and len(set(other)) > 1:
        assert found.spearman == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    else:
        assert found.spearman is None
    unequal = [sorted(pair) for pair in itertools.combinations(rows, 2) if pair[0][0] != pair[1][0]]
    assert found.pairs == len(unequal)
    assert found.fulfilled == sum(worse[1] > better[1] for worse, better in unequal)


@pytest.mark.parametrize("figures", [{}, {"x": 0.5}, {"x": 0.5, "y": None}, {"x": 0.5, "y": 0.5}])
def test_no_pairs_of_models_is_none(figures):
    found = equation_6(figures, figures)
    assert (found.pairs, found.share, found.spearman) == (0, None, None)


def test_models_of_the_same_confidence_fulfil_it_by_arithmetic():
    accuracy = {"x": 0.1, "y": 0.2, "z": 0.3 + 1e-16}
    found = equation_6(accuracy, {name: 0.8 - value for name, value in accuracy.items()})
    assert (found.share, found.spearman) == (1, pytest.approx(-1))


@pytest.fixture
def models(question):
    """Tables of models whose replies are drawn with the chances that ``chances(number, rng)`` gives: (n, options)."""

    def build(count, chances, *, questions=60, on_image=1, trials=10, seed="models"):
        rng = seeded_generator("test", seed)
        tables = {}
        for number in range(count):
            rows = chances(number, rng)
            records = [
                question("".join(rng.choice(list("ABCD"), trials, p=row)), id=f"{place:03d}",
                         image_id=f"image {place // on_image}")
                for place, row in enumerate(rows)
            ]  # fmt: skip
            tables[f"m{number:02d}"] = count_votes(records[:questions])
        return tables

    return build


def alike(questions):
    own = seeded_generator("test", "questions").dirichlet([0.5] * 4, questions)
    return lambda number, rng: own


def equally_sure(questions, accuracies):
    """Each question one option of chance .85; the right one in a share of the questions that is the model's."""

    def chances(number, rng):
        rows = np.full((questions, 4), 0.05)
        top = np.where(rng.random(questions) < accuracies[number], 0, rng.integers(1, 4, questions))
        rows[np.arange(questions), top] = 0.85
        return rows

    return chances


def inter_model_dke(tables, kind="entropy", **given):
    return inter_model_dkes([(tables, kind)], **given)[0]


def test_the_null_values_of_models_that_are_all_alike(models):
    # The paper's figures look like an effect; what alike models show is beside them.
    found = inter_model_dke(models(12, alike(90), questions=90, on_image=3))
    assert found.paper.share > 0.6 and found.paper.spearman < -0.2
    assert found.alike_share == pytest.approx(0.7, abs=0.08)
    assert found.alike_spearman == pytest.approx(-0.55, abs=0.2)
    assert found.images == 30


def test_models_of_equal_confidence_and_unequal_accuracy_are_found(models):
    found = inter_model_dke(models(8, equally_sure(120, np.linspace(0.2, 0.9, 8)), questions=120))
    assert found.paper.share > 0.95
    assert found.paper.spearman < found.alike_spearman


def test_all_answers_equal(question):
    table = count_votes([question("AAA", id=str(number), image_id=str(number)) for number in range(20)])
    found = inter_model_dke({f"m{number}": table for number in range(6)})
    assert (found.paper.pairs, found.paper.share, found.alike_share, found.alike_spearman) == (0, None, None, None)


def test_one_trial_is_no_confidence_of_models(question):
    tables = {
        f"m{number}": count_votes([question("AB"[row < number], id=str(row), image_id=str(row)) for row in range(20)])
        for number in range(6)
    }
    found = inter_model_dke(tables)
    assert (found.paper.models, found.paper.share, found.alike_share) == ((), None, None)
    assert "T = 1" in found.untested


def test_runs_of_different_t_are_refused(question):
    tables = {"x": count_votes([question("AAA")]), "y": count_votes([question("AAAAAAAAAA")])}
    with pytest.raises(UserError, match="x T = 3, y T = 10"):
        inter_model_dke(tables)


def test_runs_on_different_questions_are_refused(question):
    tables = {
        "x": count_votes([question("AA", id="a"), question("AA", id="b")]),
        "y": count_votes([question("AA", id="a")]),
    }
    with pytest.raises(UserError, match="'b'"):
        inter_model_dke(tables)


def test_a_model_without_replies_is_left_out(models, question):
    tables = models(6, alike(20), questions=20)
    empty = count_votes([question("!" * 10, id=f"{row:03d}", image_id=f"image {row}") for row in range(20)])
    found = inter_model_dke({**tables, "silent": empty})
    assert "silent" not in found.paper.models
    assert len(found.paper.models) == 6 and found.alike_share == inter_model_dke(tables).alike_share


def test_the_order_of_models_and_records_does_not_matter(models):
    tables = models(6, alike(20), questions=20)
    turned = {name: tables[name].take(np.arange(20)[::-1]) for name in reversed(tables)}
    assert inter_model_dke(turned) == inter_model_dke(tables)


def test_exchanged_sums_are_those_of_numpys_own_selection_by_model():
    rng = np.random.default_rng(3)
    every = [rng.random(shape) + 1 for shape in ((5, 7, 3), (4, 6, 3), (5, 7, 3), (1, 7, 3), (0, 0, 3))]
    found = _exchange_models(every, 4)
    for sums, pair in zip(every[:3], found, strict=False):
        models, images, _ = sums.shape
        draws, numbers = seeded_generator("exchanged models", 0), []
        for _ in range(4):
            order = draws.random((images, models)).argsort(axis=1)
            totals = np.take_along_axis(sums.swapaxes(0, 1), order[:, :, None], axis=1).sum(axis=0)
            accuracy, confidence = (totals[:, 1:] / totals[:, :1]).T
            names = [dict(enumerate(each.tolist())) for each in (accuracy, confidence - accuracy)]
            drawn = equation_6(*names)
            numbers.append((drawn.share, drawn.spearman))
        assert pair == pytest.approx(tuple(np.mean(numbers, axis=0)))
    assert found[3:] == [(None, None)] * 2


def test_several_cases_have_together_what_each_has_alone(models, question):
    """Of as many models and images, of fewer images, and without a confidence."""
    whole = models(6, alike(24), questions=24)
    single = {f"m{number}": count_votes([question("A", id="q")]) for number in range(6)}
    fewer = {name: table.take(np.arange(12)) for name, table in whole.items()}
    cases = [(whole, "entropy"), (fewer, "entropy"), (whole, "agreement"), (single, "entropy")]
    found = inter_model_dkes(cases, exchanges=5)
    assert found == [inter_model_dke(each, kind=kind, exchanges=5) for each, kind in cases]
    assert found[0] != found[1] != found[2]
