"""Spearman's rho, Kendall's tau and the share of opposite pairs: against scipy, and against pairs written out."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import rank_correlation as under_test
from lmms_medtasks.statistics.inter_model import equation_6

# Few distinct figures, so that there are ties.
FIGURES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9)


def by_model(figures):
    return {f"m{number}": value / 7 for number, value in enumerate(figures)}


@settings(max_examples=100, deadline=None)
@given(FIGURES)
def test_correlations_are_scipys_and_pairs_the_written_out_ones(rows):
    one, other = np.array(rows).T
    found = equation_6(by_model(one), by_model(other))
    untied = len(set(one)) > 1 and len(set(other)) > 1
    if untied:
        assert found.kendall == pytest.approx(scipy.stats.kendalltau(one, other).statistic)
        assert found.spearman == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    else:
        assert found.kendall is None and found.spearman is None
    unequal = [sorted(pair) for pair in itertools.combinations(rows, 2) if pair[0][0] != pair[1][0]]
    assert found.pairs == len(unequal)
    assert found.fulfilled == sum(worse[1] > better[1] for worse, better in unequal)


def test_leading_dimensions_are_rows_of_their_own():
    rng = generator("test", "ranks")
    one, other = rng.integers(0, 4, (2, 5, 6)) / 7
    one[3] = np.nan
    for statistic in (under_test.kendall, under_test.spearman, under_test.share_of_opposite_pairs):
        found = statistic(one, other)
        alone = [float(statistic(first, second)) for first, second in zip(one, other, strict=True)]
        assert np.array_equal(found, alone, equal_nan=True)
        assert np.isnan(found[3])


@given(st.integers(1, 7).flatmap(
    lambda count: st.lists(
        st.lists(st.sampled_from([0.0, 1 / 3, 0.5, 1.0, float("nan")]), min_size=count, max_size=count), min_size=1
    )
))  # fmt: skip
def test_ranks_are_scipys_to_the_last_bit(rows):
    numbers = np.array(rows)
    expected = scipy.stats.rankdata(np.round(numbers, 9), axis=-1)
    assert np.array_equal(under_test.ranks(numbers), expected, equal_nan=True)
