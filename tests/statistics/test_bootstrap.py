"""Resamples of clusters: against scipy on the same draws, and what clusters and pairing promise."""

import inspect

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import bootstrap as under_test
from lmms_medtasks.statistics.bootstrap import bootstrap
from lmms_medtasks.statistics.sums import Difference, Statistic, group, mean

RNG_NAME = "rng" if "rng" in inspect.signature(scipy.stats.bootstrap).parameters else "random_state"
VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=30)
MEAN = {"": Statistic(mean, ("",))}


CHANGE = Difference(Statistic(mean, ("y",)), Statistic(mean, ("x",)))


def labels(count):
    return [f"{number:04d}" for number in range(count)]


def of_mean(clusters, values, **options):
    return bootstrap({"": group(clusters, values)}, MEAN, **options)[""]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("decimals", [12, 0])
def test_one_question_a_cluster_is_scipys_bootstrap(level, decimals):
    # Whole numbers, so that many resamples tie with the estimate. Labels sort in the order of the values: the same
    # draws.
    values = generator("test", "skewed").exponential(size=40).round(decimals)
    expected = scipy.stats.bootstrap(
        (values,),
        np.mean,
        n_resamples=999,
        confidence_level=level,
        method="percentile",
        **{RNG_NAME: generator("bootstrap", 5)},
    ).confidence_interval
    drawn = of_mean(labels(40), values, seed=5, resamples=999).values
    found = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    assert tuple(found) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_clusters_stay_together():
    # Two clusters of 3 and 1 rows, all 1 and all 0: draws are 11, 10/01, 00, so means 1, 3/4, 0 with 1/4, 1/2, 1/4.
    rows = group(["a", "a", "a", "b"], [1, 1, 1, 0])
    values = bootstrap({"": rows}, {"": Statistic(mean, ("",))}, resamples=4000)[""].values
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == [0, 0.75, 1]
    assert np.allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)  # 4 standard errors


@settings(max_examples=40, deadline=None)
@given(VALUES, st.integers(0, 3), st.randoms(use_true_random=False))
def test_neither_order_nor_chunks_matter_to_the_last_bit(values, seed, random):
    clusters = [f"{number % 7}" for number in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    expected = of_mean(clusters, values, seed=seed, resamples=50).values.tolist()
    again = of_mean([clusters[row] for row in order], [values[row] for row in order], seed=seed, resamples=50)
    assert again.values.tolist() == expected
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(under_test, "_CHUNK", 21)
        assert of_mean(clusters, values, seed=seed, resamples=50).values.tolist() == expected


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
    found = bootstrap(groups, {"": CHANGE}, resamples=60)[""]
    assert found.estimate == 0
    assert (found.values == 0).all()


def test_pairing_removes_what_both_share():
    # The second level is the first less 0.1 throughout: paired, the difference is -0.1 in every draw.
    values = generator("test", "paired").random(80)
    groups = {"x": group(labels(80), values), "y": group(labels(80), values - 0.1)}
    found = bootstrap(groups, {"x": Statistic(mean, ("x",)), "change": CHANGE})
    assert found["x"].values.std() > 0.02
    assert found["change"].values == pytest.approx(-0.1)


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


def test_resamples_without_a_part_have_no_value():
    # Group "rare" is in one of 4 clusters: it is not drawn with probability (3/4)**4 = 0.316.
    groups = {"x": group(list("abcd"), [0, 1, 0, 1]), "y": group(["a"], [1])}
    found = bootstrap(groups, {"change": CHANGE, "x": Statistic(mean, ("x",))}, resamples=2000, seed=1)
    assert np.isnan(found["change"].values).mean() == pytest.approx(0.316, abs=0.045)
    assert found["change"].estimate == 0.5
    assert not np.isnan(found["x"].values).any()


def test_seed_decides():
    values = generator("test", "seed").random(30)
    one, again, other = (of_mean(labels(30), values, seed=seed).values.tolist() for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.parametrize("values", [[0.0, np.nan], [np.inf, 0.0]])
def test_a_part_takes_finite_values_only(values):
    with pytest.raises(ValueError, match="NaN or infinity"):
        group(["a", "b"], values)


@pytest.mark.parametrize("cells", [[0, 2], [-1, 0], [0]])
def test_a_part_takes_cells_in_range_only(cells):
    with pytest.raises(ValueError, match="cell from 0 to 1"):
        group(["a", "b"], [0, 1], cells=np.array(cells), cell_count=2)
