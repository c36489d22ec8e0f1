"""Resamples of clusters against scipy on the same draws; Welch's test of them against scipy and by its formula."""

import inspect

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.significance import adjust
from lmms_medtasks.statistics.sums import Difference, Statistic, group, mean
from lmms_medtasks.task_configs.sure_vqa.resampled_tests import PAPER_ALPHA, resampled, welch, win_loss

RNG_NAME = "rng" if "rng" in inspect.signature(scipy.stats.bootstrap).parameters else "random_state"
VALUES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=30)
MEAN = Statistic(mean, ("",))
CHANGE = Difference(Statistic(mean, ("y",)), Statistic(mean, ("x",)))


def labels(count):
    return [f"{number:04d}" for number in range(count)]


def of_mean(clusters, values, resamples, seed=0):
    return resampled({"": group(clusters, values)}, MEAN, resamples, seed)


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
    drawn = of_mean(labels(40), values, 999, seed=5)
    found = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    assert tuple(found) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_clusters_stay_together():
    # Two clusters of 3 and 1 rows, all 1 and all 0: draws are 11, 10/01, 00, so means 1, 3/4, 0 with 1/4, 1/2, 1/4.
    rows = group(["a", "a", "a", "b"], [1, 1, 1, 0])
    values = resampled({"": rows}, MEAN, 4000)
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == [0, 0.75, 1]
    assert np.allclose(counts / 4000, [0.25, 0.5, 0.25], atol=0.03)  # 4 standard errors


@settings(max_examples=40, deadline=None)
@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(values, random):
    clusters = [f"{number % 5}" for number in range(len(values))]
    order = list(range(len(values)))
    random.shuffle(order)
    groups = {
        "x": group(clusters, values),
        "y": group([clusters[row] for row in order], [values[row] for row in order]),
    }
    assert resampled(groups, CHANGE, 60) == pytest.approx(0, abs=1e-12)


def test_pairing_removes_what_both_share():
    # The second level is the first less 0.1 throughout: paired, the difference is -0.1 in every draw.
    values = generator("test", "paired").random(80)
    groups = {"x": group(labels(80), values), "y": group(labels(80), values - 0.1)}
    assert resampled(groups, Statistic(mean, ("x",)), 200).std() > 0.02
    assert resampled(groups, CHANGE, 200) == pytest.approx(-0.1)


def test_resamples_without_a_part_have_no_value():
    # Group "rare" is in one of 4 clusters: it is not drawn with probability (3/4)**4 = 0.316.
    groups = {"x": group(list("abcd"), [0, 1, 0, 1]), "y": group(["a"], [1])}
    assert np.isnan(resampled(groups, CHANGE, 2000, seed=1)).mean() == pytest.approx(0.316, abs=0.045)
    assert not np.isnan(resampled(groups, Statistic(mean, ("x",)), 200)).any()
    assert len(resampled({"": group([], [])}, MEAN, 5)) == 0


def test_seed_decides():
    values = generator("test", "seed").random(30)
    one, again, other = (of_mean(labels(30), values, 50, seed).tolist() for seed in (1, 1, 2))
    assert one == again != other


def test_welch_by_its_formula():
    # Means 3 and 5, variances 1 (n = 3) and 4 (n = 3): t = -2 / sqrt(1/3 + 4/3) = -1.549193;
    # df = (5/3)^2 / ((1/3)^2/2 + (4/3)^2/2) = 2.941176.
    (found,) = welch({"s": {"a": [2, 3, 4], "b": [3, 5, 7]}})
    assert found.difference == -2
    assert found.p == found.adjusted == pytest.approx(2 * scipy.stats.t.cdf(-1.549193, 2.941176), abs=1e-6)


@pytest.fixture
def three_methods():
    rng = generator("test", "welch")
    means = {"first": {"a": 0.9, "b": 0.5, "c": 0.5}, "second": {"a": 0.5, "b": 0.7, "c": 0.5}}
    return {
        shift: {name: mean + 0.05 * rng.standard_normal(100) for name, mean in methods.items()}
        for shift, methods in means.items()
    }


def test_each_pair_under_each_shift_and_all_corrected_together(three_methods):
    found = welch(three_methods)
    assert [(each.condition, each.first, each.second) for each in found] == [
        (shift, *pair) for shift in ("first", "second") for pair in [("a", "b"), ("a", "c"), ("b", "c")]
    ]
    for each in found:
        values = three_methods[each.condition]
        expected = scipy.stats.ttest_ind(values[each.first], values[each.second], equal_var=False)
        assert each.p == pytest.approx(expected.pvalue)
    assert [each.adjusted for each in found] == adjust([each.p for each in found])


def test_wins_and_losses(three_methods):
    found = win_loss(welch(three_methods), alpha=PAPER_ALPHA)
    assert found.methods == ("a", "b", "c")
    # First shift: a beats b and c. Second: b beats a and c. b and c, a and c are alike where not said.
    assert found.wins.tolist() == [[0, 1, 1], [1, 0, 1], [0, 0, 0]]
    assert found.comparisons.tolist() == [[0, 2, 2], [2, 0, 2], [2, 2, 0]]
    assert win_loss(welch(three_methods), alpha=0.0).wins.sum() == 0


def test_what_can_not_be_tested_is_no_win_and_not_corrected_for():
    found = welch(
        {"s": {"a": [1.0], "b": [2.0, 3.0], "c": [2.5, 2.0], "d": [np.nan, np.nan]}, "t": {"a": [1, 1], "b": [2, 2]}}
    )
    tested = [each for each in found if each.p is not None]
    assert [(each.first, each.second) for each in tested] == [("b", "c")]
    assert tested[0].adjusted == tested[0].p
    assert found[-1].difference == -1 and found[-1].adjusted is None  # no variation: t is not defined
    assert next(each for each in found if each.second == "d").difference is None
    assert win_loss(found, alpha=PAPER_ALPHA).wins.sum() == 0
    assert win_loss(found, alpha=PAPER_ALPHA).comparisons.sum() == 2
    assert win_loss([], alpha=PAPER_ALPHA).methods == ()


def test_nan_is_left_out():
    one = welch({"s": {"a": [1, 2, np.nan, 3], "b": [2, 4, 5]}})
    assert one == welch({"s": {"a": [1, 2, 3], "b": [2, 4, 5]}})
