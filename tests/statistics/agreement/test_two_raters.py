"""Coefficients of two raters: against scipy and scikit-learn, by hand, and their properties."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.agreement import COEFFICIENTS, agreement

SCALE = [1, 2, 3, 4, 5]
# Twelve answers, a judge and a person.
JUDGE = [5, 4, 4, 3, 2, 5, 1, 3, 4, 2, 5, 3]
PERSON = [5, 5, 4, 2, 2, 4, 1, 3, 3, 3, 5, 4]
PAIRS = st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=2, max_size=25)


def coefficient(name, first, second):
    return agreement(first, second, list(map(str, range(len(first)))), names=[name])[name].value


def reference(name, one, other):
    if name == "spearman":
        return scipy.stats.spearmanr(one, other).statistic
    if name == "kendall":
        return scipy.stats.kendalltau(one, other, variant="b").statistic
    if name == "exact":
        return np.mean(np.equal(one, other))
    weights = {"kappa": None, "kappa_linear": "linear", "kappa_quadratic": "quadratic"}[name]
    return cohen_kappa_score(one, other, labels=SCALE, weights=weights)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_equal_to_the_libraries_on_a_fixed_example(name):
    assert coefficient(name, JUDGE, PERSON) == pytest.approx(reference(name, JUDGE, PERSON), abs=1e-12)


def test_by_hand():
    # Ratings by pair: (1,1) twice, (1,2) once, (2,2) once. p_o = 3/4; the first gave 1 three times of four, the second
    # twice: p_e = 3/4 * 1/2 + 1/4 * 1/2 = 1/2; kappa = (3/4 - 1/2) / (1 - 1/2) = 1/2.
    one, other = [1, 1, 1, 2], [1, 1, 2, 2]
    assert coefficient("exact", one, other) == 0.75
    assert coefficient("kappa", one, other) == pytest.approx(0.5)
    # tau-b: concordant (1,1)-(2,2) twice, discordant none; untied pairs 3 in the first, 4 in the second: 2 / sqrt(12).
    assert coefficient("kendall", one, other) == pytest.approx(2 / 12**0.5)
    # Middle ranks 2, 2, 2, 4 and 1.5, 1.5, 3.5, 3.5, less 2.5: products .5 + .5 - .5 + 1.5 = 2; squares 3 and 4.
    assert coefficient("spearman", one, other) == pytest.approx(2 / 12**0.5)


def test_unequally_spaced_labels_weigh_their_distance():
    # Observed: |0 - 10| once of two; expected 1/4 * (0 + 10 + 9 + 1) = 5 for rows 0, 1 and columns 10, 0 ... by hand:
    # first gave 0 and 1, second 10 and 1: pairs |0-10|, |0-1|, |1-10|, |1-1| -> 20 / 4 = 5; observed (10 + 0) / 2 = 5.
    assert coefficient("kappa_linear", [0, 1], [10, 1]) == pytest.approx(0)
    # Squared: 100 / 2 = 50 against (100 + 1 + 81 + 0) / 4 = 45.5.
    assert coefficient("kappa_quadratic", [0, 1], [10, 1]) == pytest.approx(1 - 50 / 45.5)


@settings(max_examples=60, deadline=None)
@given(PAIRS)
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_equal_to_the_libraries(name, rows):
    one, other = zip(*rows, strict=True)
    found = coefficient(name, one, other)
    with np.errstate(all="ignore"):
        if name in ("spearman", "kendall"):
            expected = None if len(set(one)) == 1 or len(set(other)) == 1 else reference(name, one, other)
        else:
            alike = name != "exact" and len({*one, *other}) == 1
            expected = None if alike else reference(name, one, other)
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-10))


@settings(max_examples=50, deadline=None)
@given(PAIRS, st.randoms())
@pytest.mark.parametrize("name", COEFFICIENTS)
def test_order_and_sides_do_not_matter(name, rows, shuffle):
    one, other = zip(*rows, strict=True)
    mixed = list(rows)
    shuffle.shuffle(mixed)
    found = coefficient(name, one, other)
    for again in (coefficient(name, *zip(*mixed, strict=True)), coefficient(name, other, one)):
        assert again == (None if found is None else pytest.approx(found, abs=1e-12))


@given(st.lists(st.sampled_from(SCALE), min_size=2, max_size=20))
@settings(max_examples=40, deadline=None)
def test_a_rater_agrees_with_himself(ratings):
    assume(len(set(ratings)) > 1)
    assert [coefficient(name, ratings, ratings) for name in COEFFICIENTS] == [pytest.approx(1)] * len(COEFFICIENTS)


@given(st.permutations([1, 2, 3, 4, 5, 6]))
@settings(max_examples=30, deadline=None)
def test_the_reverse_order_is_minus_one(ratings):
    for name in ("spearman", "kendall"):
        assert coefficient(name, ratings, [-each for each in ratings]) == pytest.approx(-1)


@pytest.mark.parametrize(
    ("one", "other", "undefined", "reason"),
    [
        ([], [], set(COEFFICIENTS), "no item was rated by both"),
        ([1, np.nan], [np.nan, 1], set(COEFFICIENTS), "no item was rated by both"),
        ([3], [3], set(COEFFICIENTS) - {"exact"}, "one item only was rated by both"),
        ([3, 3], [3, 3], set(COEFFICIENTS) - {"exact"}, "both raters gave one rating only"),
        ([3, 3, 3], [1, 2, 3], {"spearman", "kendall"}, "the first rater gave one rating only"),
        ([1, 2, 3], [3, 3, 3], {"spearman", "kendall"}, "the second rater gave one rating only"),
    ],
)
def test_no_value_has_a_reason(one, other, undefined, reason):
    found = agreement(one, other, [str(place) for place in range(len(one))])
    assert {name for name, each in found.items() if each.value is None} == undefined
    assert {each.reason for each in found.values() if each.value is None} == {reason}
    assert all(each.reason == "" and each.value is not None for name, each in found.items() if name not in undefined)


def test_ratings_that_are_missing_are_left_out_and_counted():
    found = agreement([*JUDGE, 1, np.nan], [*PERSON, np.nan, 5], [str(place) for place in range(14)])
    assert {each.interval.n for each in found.values()} == {12}
    assert found["spearman"].value == pytest.approx(scipy.stats.spearmanr(JUDGE, PERSON).statistic)


def test_means_that_differ_in_the_last_bit_are_tied():
    one = [0.1 + 0.2, 0.3, 0.5]
    assert coefficient("kendall", one, [1, 1, 2]) == 1
    assert coefficient("exact", one, [0.3, 0.3, 0.5]) == 1


def test_the_interval_is_that_of_resampled_clusters():
    """Against a loop that draws clusters and asks the libraries: same quantiles, within the noise of 2000 draws."""
    rng = generator("test agreement")
    clusters = [str(place // 3) for place in range(90)]
    one = rng.integers(1, 6, 90)
    other = np.clip(one + rng.integers(-1, 2, 90), 1, 5)
    found = agreement(one, other, clusters)
    for name in ("spearman", "kappa_quadratic", "exact"):
        values = []
        for _ in range(400):
            rows = (rng.integers(0, 30, 30)[:, None] * 3 + np.arange(3)).ravel()
            values.append(reference(name, one[rows], other[rows]))
        interval = found[name].interval
        spread = np.std(values)
        assert interval.low == pytest.approx(np.quantile(values, 0.025), abs=spread / 2)
        assert interval.high == pytest.approx(np.quantile(values, 0.975), abs=spread / 2)
        assert (interval.n, interval.clusters) == (90, 30)


def test_lengths_that_differ():
    with pytest.raises(ValueError, match="as many ratings as clusters"):
        agreement([1, 2], [1], ["a", "b"])
