"""Agreement of two raters, and Krippendorff's alpha, against references and by hand."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.agreement import ALPHA_LEVELS, COEFFICIENTS, measure_agreement, measure_alpha

SCALE = [1, 2, 3, 4, 5]
# Twelve answers, a judge and a person.
JUDGE = [5, 4, 4, 3, 2, 5, 1, 3, 4, 2, 5, 3]
PERSON = [5, 5, 4, 2, 2, 4, 1, 3, 3, 3, 5, 4]
PAIRS = st.lists(st.tuples(st.sampled_from(SCALE), st.sampled_from(SCALE)), min_size=2, max_size=25)


def coefficient(name, first, second):
    return measure_agreement(first, second, list(map(str, range(len(first)))), names=[name])[name].value


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
    found = measure_agreement(one, other, [str(place) for place in range(len(one))])
    assert {name for name, each in found.items() if each.value is None} == undefined
    assert {each.reason for each in found.values() if each.value is None} == {reason}
    assert all(each.reason == "" and each.value is not None for name, each in found.items() if name not in undefined)


def test_ratings_that_are_missing_are_left_out_and_counted():
    found = measure_agreement([*JUDGE, 1, np.nan], [*PERSON, np.nan, 5], [str(place) for place in range(14)])
    assert {each.interval.n for each in found.values()} == {12}
    assert found["spearman"].value == pytest.approx(scipy.stats.spearmanr(JUDGE, PERSON).statistic)


def test_means_that_differ_in_the_last_bit_are_tied():
    one = [0.1 + 0.2, 0.3, 0.5]
    assert coefficient("kendall", one, [1, 1, 2]) == 1
    assert coefficient("exact", one, [0.3, 0.3, 0.5]) == 1


def test_the_interval_is_that_of_resampled_clusters():
    """Against a loop that draws clusters and asks the libraries: same quantiles, within the noise of 2000 draws."""
    rng = seeded_generator("test agreement")
    clusters = [str(place // 3) for place in range(90)]
    one = rng.integers(1, 6, 90)
    other = np.clip(one + rng.integers(-1, 2, 90), 1, 5)
    found = measure_agreement(one, other, clusters)
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
        measure_agreement([1, 2], [1], ["a", "b"])


_ = np.nan
# Krippendorff 2011, section C/D: four observers, twelve units, missing data.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, _, _, _],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, _, 3],
    [_, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, _],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, _],
]
RATINGS = st.integers(2, 4).flatmap(
    lambda raters: st.lists(
        st.lists(st.sampled_from([1, 2, 3, 4, 5, None]), min_size=raters, max_size=raters), min_size=2, max_size=12
    )
)


def krippendorff_alpha(ratings, level):
    return measure_alpha(ratings, list(map(str, range(len(ratings[0])))), level).value


def matrix(items):
    return np.array([[np.nan if each is None else float(each) for each in item] for item in items]).T


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, alpha):
    assert round(krippendorff_alpha(PUBLISHED, level), 3) == alpha


def test_the_published_example_counts_pairable_units():
    # Unit 12 has one value only: 11 units, 40 pairable values.
    ids = [str(unit) for unit in range(12)]
    assert measure_alpha(PUBLISHED, ids, "nominal").interval.n == 11


def test_alpha_by_hand():
    # Units (0,0), (0,0), (1,1), (0,1). Coincidences: o00 = 4, o11 = 2, o01 = o10 = 1; n0 = 5, n1 = 3, n = 8.
    # alpha = 1 - (n - 1) * (o01 + o10) / (2 n0 n1) = 1 - 7 * 2 / 30. Two values: every level says the same.
    for level in ALPHA_LEVELS:
        assert krippendorff_alpha([[0, 0, 1, 0], [0, 0, 1, 1]], level) == pytest.approx(1 - 14 / 30)
    # Interval, units (1,1), (2,2), (3,3), (1,3): n1 = 3, n2 = 2, n3 = 3, n = 8; observed 2 * (1-3)^2 = 8; expected
    # 2 * (3*2*1 + 3*3*4 + 2*3*1) = 96: 1 - 7 * 8 / 96.
    assert krippendorff_alpha([[1, 2, 3, 1], [1, 2, 3, 3]], "interval") == pytest.approx(1 - 56 / 96)
    # Ordinal, the same: the distance from 1 to 3 is 3/2 + 2 + 3/2 = 5, from 1 to 2 and 2 to 3 it is 3/2 + 2/2 = 5/2:
    # observed 2 * 25 = 50, expected 2 * (6 * 25/4 + 9 * 25 + 6 * 25/4) = 600: 1 - 7 * 50 / 600.
    assert krippendorff_alpha([[1, 2, 3, 1], [1, 2, 3, 3]], "ordinal") == pytest.approx(1 - 350 / 600)


@settings(max_examples=80, deadline=None)
@given(RATINGS)
@pytest.mark.parametrize("level", ALPHA_LEVELS)
def test_equal_to_the_library(level, items):
    library = pytest.importorskip("krippendorff")
    ratings = matrix(items)
    pairable = ratings[:, (~np.isnan(ratings)).sum(0) >= 2]
    assume(len(set(pairable[~np.isnan(pairable)])) > 1)
    # The library keeps lone ratings' values in its domain: they change nothing.
    expected = library.alpha(reliability_data=pairable, level_of_measurement=level)
    assert krippendorff_alpha(ratings, level) == pytest.approx(expected, abs=1e-10)


@settings(max_examples=60, deadline=None)
@given(RATINGS, st.randoms())
@pytest.mark.parametrize("level", ALPHA_LEVELS)
def test_order_of_raters_and_of_items_does_not_matter(level, items, shuffle):
    found = krippendorff_alpha(matrix(items), level)
    mixed = [shuffle.sample(item, len(item)) for item in items]  # alpha does not know who rated
    shuffle.shuffle(mixed)
    again = krippendorff_alpha(matrix(mixed), level)
    assert again == (None if found is None else pytest.approx(found, abs=1e-10))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([1, 2, 3]), min_size=2, max_size=10), st.integers(2, 4))
def test_perfect_agreement(ratings, raters):
    for level in ALPHA_LEVELS:
        found = krippendorff_alpha([ratings] * raters, level)
        assert found == (1 if len(set(ratings)) > 1 else None)


@pytest.mark.parametrize(
    ("ratings", "reason"),
    [
        (np.empty((3, 0)), "no item has two ratings"),
        ([[1, _], [_, 2]], "no item has two ratings"),
        ([[1, 2, 3]], "no item has two ratings"),
        ([[2, 2], [2, 2]], "all ratings are the same"),
        ([[2, 5], [2, _]], "all ratings are the same"),
    ],
)
def test_alpha_without_a_value_has_a_reason(ratings, reason):
    ids = [str(item) for item in range(np.shape(ratings)[1])]
    found = measure_alpha(ratings, ids, "ordinal")
    assert (found.value, found.interval.low, found.reason) == (None, None, reason)


def test_the_interval_is_that_of_resampled_items():
    rng = seeded_generator("test alpha")
    ratings = np.tile(rng.integers(1, 6, 60), (3, 1)) + rng.integers(0, 2, (3, 60))
    ratings = np.where(rng.random(ratings.shape) < 0.1, np.nan, ratings)
    found = measure_alpha(ratings, [str(item) for item in range(60)], "interval").interval
    values = [krippendorff_alpha(ratings[:, rng.integers(0, 60, 60)], "interval") for _ in range(300)]
    assert found.low == pytest.approx(np.quantile(values, 0.025), abs=np.std(values) / 2)
    assert found.high == pytest.approx(np.quantile(values, 0.975), abs=np.std(values) / 2)
    assert found.clusters == found.n == ((~np.isnan(ratings)).sum(0) >= 2).sum() < 60


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(raters, 2 items\)"):
        measure_alpha([[1, 2, 3]], ["a", "b"], "nominal")
