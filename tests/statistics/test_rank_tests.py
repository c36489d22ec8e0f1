"""Kruskal-Wallis and Dunn's test against independent libraries, and worked by hand."""

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics.rank_tests import dunn, kruskal_wallis


def samples(*sizes, values=2, seed="x"):
    rng = generator("rank tests", seed)
    return {f"m{n}": rng.integers(0, values, size) / max(values - 1, 1) for n, size in enumerate(sizes)}


CASES = [samples(203, 203, 203), samples(203, 203, 203, values=4, seed="thirds"), samples(9, 30, 4, 17, values=1000),
         samples(5, 5)]  # fmt: skip


@pytest.mark.parametrize("groups", CASES)
def test_dunn_is_the_library_s(groups):
    table = scikit_posthocs.posthoc_dunn(list(groups.values()), p_adjust="bonferroni")
    found = dunn(groups)
    names = list(groups)
    assert len(found) == len(names) * (len(names) - 1) // 2
    for each in found:
        expected = table.iloc[names.index(each.first), names.index(each.second)]
        assert each.adjusted == pytest.approx(expected, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("groups", CASES)
def test_kruskal_is_scipy_s(groups):
    expected = stats.kruskal(*groups.values())
    found = kruskal_wallis(groups)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.n == sum(map(len, groups.values()))


def test_dunn_by_hand():
    # Ranks of 1 2 | 3 4 | 5 6: means 1.5, 3.5, 5.5; variance 6 * 7 / 12 = 3.5, error sqrt(3.5 * (1/2 + 1/2)),
    # 1.870829.
    # z of the first and last: -4 / 1.870829 = -2.138090, two-sided p 0.0325, times 3 pairs 0.0975.
    found = dunn({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert found[1].z == pytest.approx(-2.138090, abs=1e-6)
    assert found[1].p == pytest.approx(0.032509, abs=1e-6) and found[1].adjusted == pytest.approx(0.097528, abs=3e-6)
    assert found[0].adjusted == pytest.approx(min(1.0, 3 * found[0].p))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=2, max_size=4))
def test_two_groups_the_other_way_round_have_the_other_sign(groups):
    named = {str(n): group for n, group in enumerate(groups)}
    there = {(each.first, each.second): each for each in dunn(named)}
    back = {(each.second, each.first): each for each in dunn(dict(reversed(list(named.items()))))}
    for pair, each in there.items():
        assert each.difference == pytest.approx(-back[pair].difference)
        assert each.adjusted == pytest.approx(back[pair].adjusted) if each.p is not None else back[pair].p is None
        assert each.p is None or each.p <= each.adjusted <= 1


def test_nothing_to_compare():
    assert kruskal_wallis({}).p is None and dunn({}) == [] == dunn({"a": [1.0], "b": []})
    alike = {"a": [1.0, 1.0], "b": [1.0]}
    assert kruskal_wallis(alike).statistic is None and dunn(alike)[0].adjusted is None
    assert kruskal_wallis({"a": [1.0, np.nan], "b": [0.0, 2.0]}).n == 3
