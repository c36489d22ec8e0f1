"""Against scipy on the same draws, against draws written out, and what clusters and pairing promise."""

import inspect

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import bootstrap as under_test
from lmms_medtasks.statistics.bootstrap import Statistic, bootstrap, group, mean, mean_change, mean_interval

RNG_NAME = "rng" if "rng" in inspect.signature(scipy.stats.bootstrap).parameters else "random_state"
VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=30)


def labels(count):
    return [f"{number:04d}" for number in range(count)]


@pytest.mark.parametrize("method", ["percentile", "bca"])
@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("decimals", [12, 0])
def test_one_question_a_cluster_is_scipys_bootstrap(method, level, decimals):
    # Skewed, so that bias and acceleration matter; whole numbers, so that many resamples tie with the estimate. Labels
    # sort in the order of the values: the same draws.
    values = generator("test", "skewed").exponential(size=40).round(decimals)
    expected = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=999,
        confidence_level=level,
        method={"percentile": "percentile", "bca": "BCa"}[method],
        **{RNG_NAME: generator("bootstrap", 5)},
    ).confidence_interval
    found = mean_interval(labels(40), values, seed=5, resamples=999, level=level, method=method)
    assert found.method == method
    assert found.low == pytest.approx(expected.low, abs=1e-12)
    assert found.high == pytest.approx(expected.high, abs=1e-12)


def test_bca_of_a_ratio_of_unequal_clusters_is_scipys():
    # scipy knows no clusters, but the mean over rows is a ratio of two paired sums over clusters.
    rng = generator("test", "clusters")
    sizes = rng.integers(1, 6, 25)
    clusters = np.repeat(labels(25), sizes)
    values = rng.exponential(size=sizes.sum())
    sums = np.array([values[clusters == label].sum() for label in labels(25)])
    expected = scipy.stats.bootstrap(
        (sums, sizes.astype(float)),
        lambda above, below, axis=-1: above.sum(axis) / below.sum(axis),
        paired=True,
        n_resamples=500,
        method="BCa",
        **{RNG_NAME: generator("bootstrap", 0)},
    ).confidence_interval
    found = mean_interval(list(clusters), values, resamples=500, method="bca")
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=1e-12)
    assert (found.n, found.clusters) == (sizes.sum(), 25)


def test_clusters_stay_together():
    # Two clusters of 3 and 1 rows, all 1 and all 0: draws are 11, 10/01, 00, so means 1, 3/4, 0 with 1/4, 1/2, 1/4.
    rows = group(["a", "a", "a", "b"], [1, 1, 1, 0])
    values = bootstrap({"": rows}, {"": Statistic(mean, ("",))}, resamples=4000)[""].values
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == [0, 0.75, 1]
    assert np.allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)  # 4 standard errors


def test_questions_of_an_image_widen_the_interval():
    # Ten copies of each row carry no more than one: the clustered interval stays, the naive one is sqrt(10) narrower.
    values = generator("test", "copies").random(50)
    once = mean_interval(labels(50), values)
    copied = mean_interval(labels(50) * 10, np.tile(values, 10))
    many = mean_interval(labels(50) * 10, np.tile(values, 10), resamples=5000)
    naive = mean_interval(labels(500), np.tile(values, 10), resamples=5000)
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))
    assert (many.high - many.low) / (naive.high - naive.low) == pytest.approx(10**0.5, rel=0.1)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(0, 3), st.randoms(use_true_random=False))
def test_neither_order_nor_chunks_matter_to_the_last_bit(values, seed, random):
    clusters = [f"{number % 7}" for number in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    expected = mean_interval(clusters, values, seed=seed, resamples=50)
    again = mean_interval([clusters[row] for row in order], [values[row] for row in order], seed=seed, resamples=50)
    assert again == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "_CHUNK", 21)
        assert mean_interval(clusters, values, seed=seed, resamples=50) == expected


def test_the_order_of_rows_does_not_matter_where_rounding_would_show():
    rng = generator("test", "rounding")
    values, clusters, order = rng.random(300), rng.integers(0, 5, 300).astype(str), rng.permutation(300)
    expected = mean_interval(list(clusters), values, resamples=50)
    assert mean_interval(list(clusters[order]), values[order], resamples=50) == expected


@settings(max_examples=40, deadline=None)
@given(VALUES, st.randoms(use_true_random=False))
def test_difference_of_identical_data_is_exactly_zero(values, random):
    clusters = [f"{number % 5}" for number in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    groups = {
        "x": group(clusters, values),
        "y": group([clusters[row] for row in order], [values[row] for row in order]),
    }
    found = bootstrap(groups, {"": Statistic(mean_change, ("x", "y"))}, resamples=60)[""]
    assert found.estimate == 0
    assert (found.values == 0).all()


def test_pairing_removes_what_both_share():
    # The second level is the first less 0.1 throughout: paired, the difference is -0.1 in every draw.
    values = generator("test", "paired").random(80)
    groups = {"x": group(labels(80), values), "y": group(labels(80), values - 0.1)}
    statistics = {"x": Statistic(mean, ("x",)), "change": Statistic(mean_change, ("x", "y"))}
    found = {name: each.interval() for name, each in bootstrap(groups, statistics).items()}
    assert found["x"].high - found["x"].low > 0.1
    assert found["change"].low == pytest.approx(-0.1) and found["change"].high == pytest.approx(-0.1)
    assert found["change"].degenerate and not found["x"].degenerate


def test_cells_keep_sums_apart():
    # Cell 0: 1 and 2, cell 2: 5, cell 1 empty.
    rows = group(["a", "b", "a"], [1, 2, 5], cells=np.array([0, 0, 2]), cell_count=3)
    seen = []

    def statistic(sums):
        seen.append(sums)
        return sums[..., 0].sum(-1)

    bootstrap({"": rows}, {"": Statistic(statistic, ("",))}, resamples=10)
    totals = next(sums for sums in seen if sums.shape[0] == 1)
    assert totals.tolist() == [[[2, 3], [0, 0], [1, 5]]]
    drawn = next(sums for sums in seen if sums.shape[0] == 10)
    # Cluster a was drawn as often as cell 2 has rows; b the other of the two times.
    times = drawn[:, 2, 0]
    assert (drawn[:, 2, 1] == 5 * times).all() and (drawn[:, 0, 1] == times * 1 + (2 - times) * 2).all()


def test_no_rows_is_no_value_not_zero():
    found = mean_interval([], [])
    assert (found.estimate, found.low, found.high, found.n, found.clusters) == (None, None, None, 0, 0)
    assert mean_interval(["a"], [np.nan]) == found


def test_one_cluster_has_an_estimate_and_no_interval():
    found = mean_interval(["a", "a"], [0, 1])
    assert (found.estimate, found.low, found.high, found.n, found.clusters) == (0.5, None, None, 2, 1)


def test_no_resamples_is_an_estimate_alone():
    found = mean_interval(["a", "b"], [0, 1], resamples=0)
    assert (found.estimate, found.low, found.high) == (0.5, None, None)


def test_clusters_that_are_all_alike_say_so():
    found = mean_interval(labels(4), [0, 0, 0, 0], method="bca")
    assert (found.estimate, found.low, found.high) == (0, 0, 0)
    assert found.degenerate
    assert found.method == "percentile"  # BCa has no value here


def test_resamples_without_a_part_are_counted():
    # Group "rare" is in one of 4 clusters: it is not drawn with probability (3/4)**4 = 0.316.
    groups = {"all": group(list("abcd"), [0, 1, 0, 1]), "rare": group(["a"], [1])}
    statistics = {"change": Statistic(mean_change, ("all", "rare")), "all": Statistic(mean, ("all",))}
    found = {name: each.interval() for name, each in bootstrap(groups, statistics, resamples=2000, seed=1).items()}
    assert found["change"].undefined / 2000 == pytest.approx(0.316, abs=0.045)
    assert found["change"].estimate == 0.5
    assert found["all"].undefined == 0


def test_seed_decides():
    values = generator("test", "seed").random(30)
    assert mean_interval(labels(30), values, seed=1) == mean_interval(labels(30), values, seed=1)
    assert mean_interval(labels(30), values, seed=1) != mean_interval(labels(30), values, seed=2)


def test_coverage_of_clustered_data():
    # 200 samples of 30 images with 4 questions that share the image's mean; 95 % should hold the true mean 0.
    rng = generator("test", "coverage")
    clusters = [f"{number // 4}" for number in range(120)]
    held = 0
    for _ in range(200):
        values = np.repeat(rng.normal(size=30), 4) + rng.normal(size=120)
        found = mean_interval(clusters, values, resamples=200)
        held += found.low <= 0 <= found.high
    assert 0.88 <= held / 200 <= 0.99  # nominal 0.95, standard error 0.015, percentile intervals run a little short


@pytest.mark.parametrize("values", [[0.0, np.nan], [np.inf, 0.0]])
def test_a_part_takes_finite_values_only(values):
    with pytest.raises(ValueError, match="NaN or infinity"):
        group(["a", "b"], values)


@pytest.mark.parametrize("cells", [[0, 2], [-1, 0], [0]])
def test_a_part_takes_cells_in_range_only(cells):
    with pytest.raises(ValueError, match="cell from 0 to 1"):
        group(["a", "b"], [0, 1], cells=np.array(cells), cell_count=2)
