"""The interval rule: hand-worked values, scipy and published examples, and what clusters and pairing promise."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics import intervals as under_test
from lmms_medtasks.statistics.intervals import (
    ALIKE,
    FEW,
    FEW_IN_GROUP,
    MISSING,
    ZERO,
    IntervalEstimate,
    estimate_intervals,
    estimate_mean,
)
from lmms_medtasks.statistics.sums import (
    DifferenceOf,
    RatioOf,
    SumStatistic,
    make_scored_group,
    mean,
    mean_of_column,
    mean_of_means,
    mean_statistic,
)

UNIT, SIGNED = (0.0, 1.0), (-1.0, 1.0)


def labels(count, start=0):
    return [f"{number:04d}" for number in range(start, start + count)]


def ends(found):
    return found.low, found.high


def of_shares(*shares, statistic=DifferenceOf, width=40):
    """The statistic of two shares of right answers, one answer an image, on images of their own."""
    groups = {
        str(place): make_scored_group(labels(width, 1000 * place), [1] * right + [0] * (width - right))
        for place, right in enumerate(shares)
    }
    return estimate_intervals(groups, {"": statistic(*(mean_statistic(name, UNIT) for name in groups))})[""]


# --- Shares -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("right", "n"), [(0, 5), (1, 5), (8, 10), (10, 10), (50, 52), (20, 200)])
def test_a_share_of_independent_answers_is_worth_their_number(right, n):
    """Beta(x + 1/3, n - x + 2/3) and Beta(x + 2/3, n - x + 1/3), between Clopper and Pearson's and Jeffreys' ends."""
    found = estimate_mean(labels(n), [1] * right + [0] * (n - right))
    low = scipy.stats.beta(right + 1 / 3, n - right + 2 / 3).ppf(0.025) if right else 0
    high = scipy.stats.beta(right + 2 / 3, n - right + 1 / 3).ppf(0.975) if right < n else 1
    assert ends(found) == pytest.approx((low, high))
    widest = scipy.stats.binomtest(right, n).proportion_ci(method="exact")
    assert widest.low <= found.low <= right / n <= found.high <= widest.high


def test_nothing_is_certain_where_all_answers_are_right():
    assert ends(estimate_mean(labels(10), [1] * 10)) == pytest.approx((0.749, 1), abs=0.001)
    assert ends(estimate_mean(labels(10), [0] * 10)) == pytest.approx((0, 0.251), abs=0.001)


def test_the_answers_of_an_image_that_are_all_alike_are_worth_one():
    once = estimate_mean(labels(12), [1, 0, 0] * 4)
    six = estimate_mean(np.repeat(labels(12), 6).tolist(), np.repeat([1, 0, 0] * 4, 6))
    assert ends(six) == pytest.approx(ends(once))
    assert (six.n, six.clusters) == (72, 12)
    assert ends(estimate_mean(np.repeat(labels(10), 6).tolist(), [1] * 60)) == pytest.approx((0.749, 1), abs=0.001)


@pytest.mark.parametrize("deviating", [1, 3])
def test_few_deviating_images_tell_little_of_the_variance(deviating):
    """By hand: 20 images of two answers, one of which is wrong on 1 (or 3): worth 20 answers (or 38), not 40."""
    values = [1.0] * (40 - deviating) + [0.0] * deviating
    clusters = [n // 2 if n < 40 - 2 * deviating else 20 - deviating + n % deviating for n in range(40)]
    found = estimate_mean([str(each) for each in clusters], values)
    p = 1 - deviating / 40
    d = np.array([1 / 20] * deviating + [0] * (20 - deviating)) / 2
    variance, single = ((d - d.mean()) ** 2).sum() / 19 * 20 / 19, p * (1 - p) / 19
    variance = 20 / 19 * ((d - d.mean()) ** 2).sum()
    assert variance < single
    n = 1 + p * (1 - p) / (((deviating - 1) * variance + 0.2 * single) / (deviating - 1 + 0.2))
    assert n == pytest.approx({1: 20, 3: 38.36}[deviating], abs=0.05)
    low = scipy.stats.beta(p * n + 1 / 3, n - p * n + 2 / 3).ppf(0.025)
    high = scipy.stats.beta(p * n + 2 / 3, n - p * n + 1 / 3).ppf(0.975)
    assert ends(found) == pytest.approx((low, high))


def test_a_scale_of_its_own_moves_the_interval_with_it():
    rng = seeded_generator("test", "scale")
    shares, clusters = rng.integers(0, 5, 60) / 4, [f"{n // 3}" for n in range(60)]
    unit = estimate_mean(clusters, shares)
    stars = estimate_mean(clusters, 1 + 4 * shares, bounds=(1.0, 5.0))
    assert ends(stars) == pytest.approx(tuple(1 + 4 * end for end in ends(unit)))
    # All at the worst of one to five stars is not "all right".
    assert ends(estimate_mean(labels(10), [1.0] * 10, bounds=(1.0, 5.0))) == pytest.approx((1, 2.004), abs=0.001)


def test_a_mean_without_bounds_is_students_t():
    values = seeded_generator("test", "t").exponential(size=12) * 10
    expected = scipy.stats.t.interval(0.95, 11, values.mean(), scipy.stats.sem(values))
    assert ends(estimate_mean(labels(12), values)) == pytest.approx(expected)
    same = estimate_mean(labels(6), [7.0] * 6)
    assert (same.estimate, same.low, same.high, same.reason) == (7, None, None, ALIKE)


@pytest.mark.parametrize("clusters", [1, 2, 3, 4])
def test_fewer_than_five_images_have_no_interval_and_say_so(clusters):
    found = estimate_mean(np.repeat(labels(clusters), 50).tolist(), [0, 1] * 25 * clusters)
    assert found == IntervalEstimate(0.5, None, None, 50 * clusters, clusters, reason=FEW)


def test_no_rows_is_no_value_not_zero():
    found = estimate_mean([], [])
    assert found == IntervalEstimate(None, None, None, 0, 0)
    assert estimate_mean(["a"], [np.nan]) == found


def test_macro_mean_weighs_its_groups_alike():
    """Two groups of the same images: the macro mean's interval is that of the images' own means."""
    scores = seeded_generator("test", "macro").integers(0, 2, (30, 2)).astype(float)
    cells = np.tile([0, 1], 30)
    rows = make_scored_group(np.repeat(labels(30), 2).tolist(), scores.ravel(), cells=cells, cell_count=2)
    found = estimate_intervals({"": rows}, {"": mean_statistic("", UNIT, mean_of_means)})[""]
    assert ends(found) == pytest.approx(ends(estimate_mean(labels(30), scores.mean(1))))


@pytest.mark.parametrize(("bounds", "few"), [(UNIT, 4), (SIGNED, 1), (UNIT, 5)])
def test_a_macro_mean_has_an_interval_with_five_images_in_each_group(bounds, few):
    rows = make_scored_group(labels(12), [0, 1] * 6, cells=np.array([0] * (12 - few) + [1] * few), cell_count=2)
    found = estimate_intervals({"": rows}, {"": mean_statistic("", bounds, mean_of_means)})[""]
    assert (found.low is None, found.reason) == ((True, FEW_IN_GROUP) if few < 5 else (False, ""))
    assert found.estimate is not None


def test_a_coefficient_that_hangs_on_one_image_has_no_interval():
    def over_the_rest(sums):
        return np.where(sums[..., 1].sum(-1) > 0, mean(sums), np.nan)

    rows = make_scored_group(labels(6), [1, 0, 0, 0, 0, 0])
    found = estimate_intervals({"": rows}, {"": SumStatistic(over_the_rest, ("",), UNIT, mean=False)})[""]
    assert (found.estimate, found.low, found.reason) == (pytest.approx(1 / 6), None, MISSING)


# --- Changes ----------------------------------------------------------------------------------------------------------


def test_a_difference_of_independent_shares_is_near_newcombes():
    """Newcombe 1998 (Statistics in Medicine 17:873), example (a), 56/70 less 48/80: 0.0524 to 0.3339 by method 10."""
    groups = {
        "one": make_scored_group(labels(70), [1] * 56 + [0] * 14),
        "other": make_scored_group(labels(80, 1000), [1] * 48 + [0] * 32),
    }
    found = estimate_intervals(groups, {"": DifferenceOf(mean_statistic("one", UNIT), mean_statistic("other", UNIT))})[
        ""
    ]
    assert found.estimate == pytest.approx(0.2)
    assert ends(found) == pytest.approx((0.0524, 0.3339), abs=0.006)


def test_answers_that_all_stayed_are_no_proof_of_no_change():
    found = estimate_mean(labels(20), [0.0] * 20, bounds=SIGNED)
    alone = estimate_mean(labels(20), [0.0] * 20)
    assert ends(found) == pytest.approx((-alone.high, alone.high))


def test_a_change_is_the_mean_gain_less_the_mean_loss():
    changes = np.array([1.0] * 6 + [-1.0] * 2 + [0.0] * 32)
    found = estimate_mean(labels(40), changes)
    gain, loss = estimate_mean(labels(40), changes > 0), estimate_mean(labels(40), changes < 0)
    assert found.estimate == pytest.approx(0.1)
    r = np.corrcoef(changes > 0, changes < 0)[0, 1]
    assert r < 0

    def half(one, other):
        return np.sqrt(one**2 + other**2 - 2 * r * one * other)

    low = 0.1 - half(gain.estimate - gain.low, loss.high - loss.estimate)
    high = 0.1 + half(gain.high - gain.estimate, loss.estimate - loss.low)
    assert ends(found) == pytest.approx((low, high))


def test_what_both_sides_share_narrows_a_difference():
    rng = seeded_generator("test", "shared")
    shared = rng.random(60)
    one, other = ((shared + 0.1 * rng.random(60)) / 1.1 for _ in range(2))
    statistics = {"": DifferenceOf(mean_statistic("x", UNIT), mean_statistic("y", UNIT))}
    same = estimate_intervals(
        {"x": make_scored_group(labels(60), one), "y": make_scored_group(labels(60), other)}, statistics
    )[""]
    apart = estimate_intervals(
        {"x": make_scored_group(labels(60), one), "y": make_scored_group(labels(60, 1000), other)}, statistics
    )[""]
    assert same.high - same.low < 0.4 * (apart.high - apart.low)


# --- Ratios -----------------------------------------------------------------------------------------------------------


def test_the_ends_of_a_ratio_are_where_the_difference_ends_at_zero():
    """Donner and Zou 2012: at an end R, a - R b has an interval that ends at 0."""
    above, below = (estimate_mean(labels(40), [1] * right + [0] * (40 - right)) for right in (20, 30))
    found = of_shares(20, 30, statistic=RatioOf)
    assert found.estimate == pytest.approx(2 / 3)
    a, b, low, high = above.estimate, below.estimate, found.low, found.high
    assert a - low * b == pytest.approx(np.hypot(a - above.low, low * (below.high - b)))
    assert high * b - a == pytest.approx(np.hypot(above.high - a, high * (b - below.low)))


def test_a_ratio_of_nothing_starts_at_zero_and_over_nearly_nothing_has_no_interval():
    none = of_shares(0, 30, statistic=RatioOf)
    assert none.low == 0 and 0 < none.high < 0.3
    assert of_shares(20, 0, statistic=RatioOf).estimate is None
    # Stars without known bounds: Student's interval of -1, 1, 1 … reaches below 0.
    groups = {
        "x": make_scored_group(labels(5), [1] * 4 + [0]),
        "y": make_scored_group(labels(5), [-1.0, 2.0, 0.0, 2.0, 0.0]),
    }
    found = estimate_intervals(groups, {"": RatioOf(mean_statistic("x", UNIT), SumStatistic(mean, ("y",)))})[""]
    assert (found.estimate, found.low, found.reason) == (pytest.approx(4 / 3), None, ZERO)
    ratio = RatioOf(mean_statistic("x", UNIT), SumStatistic(mean, ("y",)))
    less = estimate_intervals(groups, {"": DifferenceOf(ratio, mean_statistic("x", UNIT))})[""]
    assert (less.low, less.reason) == (None, ZERO)


# --- Promises ---------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 8).map(lambda n: n / 8), min_size=7, max_size=40), st.randoms(use_true_random=False))
def test_neither_order_nor_chunks_matter_to_the_last_bit(values, random):
    clusters = [f"{number % 7}" for number in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    expected = estimate_mean(clusters, values)
    assert estimate_mean([clusters[row] for row in order], [values[row] for row in order]) == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "_CHUNK", 5)
        assert estimate_mean(clusters, values) == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=5, max_size=40))
def test_right_and_wrong_mirror_each_other(values):
    right = estimate_mean(labels(len(values)), values)
    wrong = estimate_mean(labels(len(values)), [1 - value for value in values])
    assert ends(right) == pytest.approx((1 - wrong.high, 1 - wrong.low), abs=1e-9)
    assert right.low <= right.estimate + 1e-12 and right.high >= right.estimate - 1e-12


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 4).map(lambda n: n / 4), min_size=5, max_size=40), st.integers(5, 9))
def test_the_clustered_error_is_the_harness_and_one_row_a_cluster_the_jackknifes(values, clusters):
    from lmms_eval.api.metrics import clustered_stderr

    names = [f"{number % clusters}" for number in range(len(values))]
    found = estimate_mean(names, values)
    assert found.clustered_error == pytest.approx(clustered_stderr(values, names), abs=1e-12)
    alone = estimate_mean(labels(len(values)), values)
    assert alone.clustered_error == pytest.approx(alone.standard_error, abs=1e-12)
    gains = estimate_intervals({"": make_scored_group(names, values)}, {"": mean_of_column(1)})[""]
    assert gains.clustered_error == found.clustered_error


def test_columns_of_a_group_are_means_of_their_own():
    rows = make_scored_group(labels(6), [-1, 1, 0, 0, 1, 1])
    found = estimate_intervals({"": rows}, {"gain": mean_of_column(1), "loss": mean_of_column(2)})
    assert (found["gain"].estimate, found["loss"].estimate) == (0.5, pytest.approx(1 / 6))


@pytest.mark.parametrize(("images", "questions", "p"), [(5, 1, 0.9), (10, 1, 0.9), (8, 4, 0.5), (20, 4, 0.95)])
def test_intervals_hold_where_the_percentile_bootstrap_did_not(images, questions, p):
    """400 data sets; images differ with an intra-image correlation of 0.3. benchmarks/simulations has the whole."""
    rng = seeded_generator("test", "coverage", images, questions, p)
    clusters = np.repeat(labels(images), questions).tolist()
    held = 0
    for _ in range(400):
        image = rng.beta(p * 7 / 3, (1 - p) * 7 / 3, images) if questions > 1 else np.full(images, p)
        found = estimate_mean(clusters, rng.random(images * questions) < np.repeat(image, questions))
        held += found.low <= p <= found.high
    assert 0.9 <= held / 400


@pytest.mark.parametrize("value", [-0.4, -0.05, 0.05, 0.4])
@pytest.mark.parametrize("below_low", [0.1, 0.0])
def test_a_ratio_with_its_sign_turned_has_the_mirrored_interval(value, below_low):
    rng = seeded_generator("test", "turned ratio")
    drawn = rng.normal(size=(2, 30)) / 100
    above = under_test.StatisticLimits(np.array(value), np.array(value - 0.1), np.array(value + 0.15), drawn[0])
    turned = under_test.StatisticLimits(-above.value, -above.high, -above.low, -drawn[0])
    below = under_test.StatisticLimits(np.array(0.5), np.array(below_low), np.array(0.8), drawn[1])
    one, other = (under_test.ratio_limits(each, below) for each in (above, turned))
    assert [-float(other.high), -float(other.low)] == pytest.approx([float(one.low), float(one.high)])
    assert one.low < value / 0.5 < one.high
    # An end is infinite where what is below may be 0 and the end lies away from 0.
    assert np.isfinite([one.low, one.high]).tolist() == [below_low > 0 or value > 0.1, below_low > 0 or value < -0.15]
