"""Krippendorff's alpha: the published worked example, an independent library, by hand, and its properties."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.agreement import ALPHA_LEVELS, alpha_of

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
    return alpha_of(ratings, list(map(str, range(len(ratings[0])))), level).value


def matrix(items):
    return np.array([[np.nan if each is None else float(each) for each in item] for item in items]).T


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_the_published_example(level, alpha):
    assert round(krippendorff_alpha(PUBLISHED, level), 3) == alpha


def test_the_published_example_counts_pairable_units():
    # Unit 12 has one value only: 11 units, 40 pairable values.
    ids = [str(unit) for unit in range(12)]
    assert alpha_of(PUBLISHED, ids, "nominal").interval.n == 11


def test_by_hand():
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
def test_no_value_has_a_reason(ratings, reason):
    ids = [str(item) for item in range(np.shape(ratings)[1])]
    found = alpha_of(ratings, ids, "ordinal")
    assert (found.value, found.interval.low, found.reason) == (None, None, reason)


def test_the_interval_is_that_of_resampled_items():
    rng = generator("test alpha")
    ratings = np.tile(rng.integers(1, 6, 60), (3, 1)) + rng.integers(0, 2, (3, 60))
    ratings = np.where(rng.random(ratings.shape) < 0.1, np.nan, ratings)
    found = alpha_of(ratings, [str(item) for item in range(60)], "interval").interval
    values = [krippendorff_alpha(ratings[:, rng.integers(0, 60, 60)], "interval") for _ in range(300)]
    assert found.low == pytest.approx(np.quantile(values, 0.025), abs=np.std(values) / 2)
    assert found.high == pytest.approx(np.quantile(values, 0.975), abs=np.std(values) / 2)
    assert found.clusters == found.n == ((~np.isnan(ratings)).sum(0) >= 2).sum() < 60


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"\(raters, 2 items\)"):
        alpha_of([[1, 2, 3]], ["a", "b"], "nominal")
