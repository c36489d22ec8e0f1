"""Equation 6 and rank consistency: by hand, against scipy, and against pairs written out."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import ranks as under_test
from lmms_medtasks.statistics.bootstrap import group
from lmms_medtasks.statistics.calibration import calibration_group
from lmms_medtasks.statistics.ranks import Swap, inter_model_dke, rank_consistency
from lmms_medtasks.statistics.votes import votes

# Few distinct figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


def by_model(figures):
    return {f"m{number}": value / 7 for number, value in enumerate(figures)}


def test_inter_model_dke_by_hand():
    # Pairs with different accuracy: x-y, x-z, x-w, y-w, z-w (y and z are equal). The worse has the higher shift in
    # x-y (0.3 > 0.2), x-w (0.4 > 0.2), y-w (0.4 > 0.3), z-w (0.4 > 0.2), not in x-z (0.2 is not higher than 0.2).
    accuracy = {"x": 0.7, "y": 0.5, "z": 0.5, "w": 0.3, "only accuracy": 0.9, "no value": None}
    shift = {"x": 0.2, "y": 0.3, "z": 0.2, "w": 0.4, "only shift": 0.1, "no value": 0.5}
    found = inter_model_dke(accuracy, shift)
    assert (found.pairs, found.same_accuracy, found.fulfilled, found.share) == (5, 1, 4, 0.8)
    # tau-b: 4 discordant of 6, 5 untied in each: -4 / 5.
    assert found.kendall == pytest.approx(-0.8)
    # Ranks 4, 2.5, 2.5, 1 and 1.5, 3, 1.5, 4: deviations 1.5, 0, 0, -1.5 and -1, 0.5, -1, 1.5:
    # (-1.5 - 2.25) / sqrt(4.5 * 4.5).
    assert found.spearman == pytest.approx(-3.75 / 4.5)
    assert found.models == ("w", "x", "y", "z")
    assert found.left_out == ("no value", "only accuracy", "only shift")


@pytest.mark.parametrize("figures", [{}, {"x": 0.5}, {"x": 0.5, "y": None}, {"x": 0.5, "y": 0.5}])
def test_no_pairs_is_none(figures):
    found = inter_model_dke(figures, figures)
    assert (found.pairs, found.share, found.spearman, found.kendall) == (0, None, None, None)
    assert len(found.models) + len(found.left_out) == len(figures)


def test_models_of_the_same_confidence_fulfil_it_by_arithmetic():
    accuracy = {"x": 0.1, "y": 0.2, "z": 0.3 + 1e-16}
    found = inter_model_dke(accuracy, {name: 0.8 - value for name, value in accuracy.items()})
    assert (found.share, found.spearman, found.kendall) == (1, pytest.approx(-1), -1)


def test_rounding_breaks_no_tie():
    figures = {"x": 0.1 + 0.2, "y": 0.3}
    assert figures["x"] != figures["y"]
    found = inter_model_dke(figures, {"x": 0.1, "y": 0.2})
    assert (found.pairs, found.same_accuracy, found.kendall, found.spearman) == (0, 1, None, None)
    assert [each.first for each in rank_consistency(figures, figures).ranks] == [1.5, 1.5]


@settings(max_examples=100, deadline=None)
@given(FIGURES)
def test_correlations_are_scipys_and_pairs_the_written_out_ones(rows):
    one, other = np.array(rows).T
    found = inter_model_dke(by_model(one), by_model(other))
    untied = len(set(one)) > 1 and len(set(other)) > 1
    if untied:
        assert found.kendall == pytest.approx(scipy.stats.kendalltau(one, other).statistic)
        assert found.spearman == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    else:
        assert found.kendall is None and found.spearman is None
    unequal = [sorted(pair) for pair in itertools.combinations(rows, 2) if pair[0][0] != pair[1][0]]
    assert found.pairs == len(unequal)
    assert found.fulfilled == sum(worse[1] > better[1] for worse, better in unequal)


@settings(max_examples=50, deadline=None)
@given(FIGURES, st.randoms())
def test_the_order_of_models_does_not_matter(rows, random):
    one, other = (by_model(figures) for figures in np.array(rows).T)
    shuffled = list(one)
    random.shuffle(shuffled)
    again = {name: one[name] for name in shuffled}
    assert inter_model_dke(again, other) == inter_model_dke(one, other)
    assert rank_consistency(again, other) == rank_consistency(one, other)


def test_rank_consistency_by_hand():
    simulated = {"GPT-5": 0.64, "GPT-4.1": 0.6, "Gemini": 0.59, "VL2": 0.4, "new": 0.5, "failed": None}
    real = {"GPT-5": 0.61, "GPT-4.1": 0.5, "Gemini": 0.55, "VL2": 0.5, "old": 0.3, "failed": 0.2}
    found = rank_consistency(simulated, real)
    assert [(each.model, each.first, each.second) for each in found.ranks] == [
        ("GPT-5", 1, 1),
        ("GPT-4.1", 2, 3.5),
        ("Gemini", 3, 2),
        ("VL2", 4, 3.5),
    ]
    assert found.swaps == (Swap("GPT-4.1", "Gemini"),)
    assert (found.only_first, found.only_second, found.pairs) == (("new",), ("failed", "old"), 6)
    # 4 concordant, 1 discordant, 1 tied in the second: 3 / sqrt(6 * 5).
    assert found.kendall == pytest.approx(3 / 30**0.5)
    # Deviations 1.5, 0.5, -0.5, -1.5 and 1.5, -1, 0.5, -1: (2.25 - 0.5 - 0.25 + 1.5) / sqrt(5 * 4.5).
    assert found.spearman == pytest.approx(3 / 22.5**0.5)


def test_sets_without_a_common_model():
    found = rank_consistency({"x": 0.1}, {"y": 0.2})
    assert (found.ranks, found.kendall, found.only_first, found.only_second) == ((), None, ("x",), ("y",))
    interval = under_test.rank_consistency_intervals({"x": group(["a"], [1])}, {}).kendall
    assert (interval.estimate, interval.low, interval.n) == (None, None, 0)
    assert under_test.inter_model_dke_intervals({}).share.estimate is None


def test_the_same_set_is_ranked_alike():
    figures = {"x": 0.1, "y": 0.2, "z": 0.2, "w": 0.5}
    found = rank_consistency(figures, figures)
    assert (found.kendall, found.spearman, found.swaps) == (pytest.approx(1), pytest.approx(1), ())


def test_leading_dimensions_are_rows_of_their_own():
    rng = generator("test", "ranks")
    one, other = rng.integers(0, 4, (2, 5, 6)) / 7
    one[3] = np.nan
    for statistic in (under_test.kendall, under_test.spearman, under_test.fulfilled_share):
        found = statistic(one, other)
        alone = [float(statistic(first, second)) for first, second in zip(one, other, strict=True)]
        assert np.array_equal(found, alone, equal_nan=True)
        assert np.isnan(found[3])


def test_intervals_draw_the_same_images_for_all_models(question):
    rng = generator("test", "models")
    easy = rng.random((60, 1))
    tables = {}
    for number in range(4):
        drawn = rng.random((60, 10)) * (1 + number / 2) > easy
        trials = ["".join("AB"[int(wrong)] for wrong in row) for row in drawn]
        tables[f"m{number}"] = votes([question(each, id=f"{row:02d}") for row, each in enumerate(trials)])
    groups = {name: calibration_group(table) for name, table in tables.items()}
    found = under_test.inter_model_dke_intervals(groups, seed=4, resamples=100)
    columns = np.stack([each.columns for each in groups.values()])
    shares, correlations = [], []
    for rows in generator("bootstrap", 4).integers(0, 60, (100, 60)):
        # Rounded, so that what is tied is tied for scipy too.
        accuracy, confidence = columns[:, rows].mean(axis=1).round(9).T
        shares.append(inter_model_dke(by_model(accuracy * 7), by_model((confidence - accuracy) * 7)).share)
        correlations.append(scipy.stats.spearmanr(accuracy, (confidence - accuracy).round(9)).statistic)
    assert (found.share.low, found.share.high) == pytest.approx(tuple(np.quantile(shares, [0.025, 0.975])))
    assert (found.spearman.low, found.spearman.high) == pytest.approx(tuple(np.quantile(correlations, [0.025, 0.975])))
    assert found.kendall.n == 240 and found.kendall.clusters == 60


def test_rank_consistency_intervals_of_two_sets():
    rng = generator("test", "two sets")
    first, second = {}, {}
    for number in range(5):
        # Far apart in the first set, the same order in the second: the order is certain.
        first[f"m{number}"] = group([f"s{row}" for row in range(50)], number + rng.random(50))
        second[f"m{number}"] = group([f"r{row}" for row in range(30)], number + rng.random(30))
    found = under_test.rank_consistency_intervals(first, second, resamples=100)
    assert (found.kendall.estimate, found.kendall.low, found.kendall.high) == (1, 1, 1)
    assert (found.spearman.n, found.spearman.clusters) == (5 * 80, 80)
    turned = {f"m{4 - number}": second[f"m{number}"] for number in range(5)}
    assert under_test.rank_consistency_intervals(first, turned, resamples=20).kendall.high == -1
