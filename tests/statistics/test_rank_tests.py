"""Rank tests of groups and of pairs against independent libraries, against enumeration, and by hand."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scikit_posthocs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lmms_medtasks.seeding import seeded_generator
from lmms_medtasks.statistics.rank_tests import dunn_test, kruskal_wallis, paired_tests


def samples(*sizes, values=2, seed="x"):
    rng = seeded_generator("rank tests", seed)
    return {f"m{n}": rng.integers(0, values, size) / max(values - 1, 1) for n, size in enumerate(sizes)}


CASES = [samples(203, 203, 203), samples(203, 203, 203, values=4, seed="thirds"), samples(9, 30, 4, 17, values=1000),
         samples(5, 5)]  # fmt: skip


@pytest.mark.parametrize("groups", CASES)
def test_dunn_is_the_library_s(groups):
    table = scikit_posthocs.posthoc_dunn(list(groups.values()), p_adjust="bonferroni")
    found = dunn_test(groups)
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
    found = dunn_test({"a": [1, 2], "b": [3, 4], "c": [5, 6]})
    assert found[1].z == pytest.approx(-2.138090, abs=1e-6)
    assert found[1].p == pytest.approx(0.032509, abs=1e-6) and found[1].adjusted == pytest.approx(0.097528, abs=3e-6)
    assert found[0].adjusted == pytest.approx(min(1.0, 3 * found[0].p))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=12), min_size=2, max_size=4))
def test_two_groups_the_other_way_round_have_the_other_sign(groups):
    named = {str(n): group for n, group in enumerate(groups)}
    there = {(each.first, each.second): each for each in dunn_test(named)}
    back = {(each.second, each.first): each for each in dunn_test(dict(reversed(list(named.items()))))}
    for pair, each in there.items():
        assert each.difference == pytest.approx(-back[pair].difference)
        assert each.adjusted == pytest.approx(back[pair].adjusted) if each.p is not None else back[pair].p is None
        assert each.p is None or each.p <= each.adjusted <= 1


def test_nothing_to_compare():
    assert kruskal_wallis({}).p is None and dunn_test({}) == [] == dunn_test({"a": [1.0], "b": []})
    alike = {"a": [1.0, 1.0], "b": [1.0]}
    assert kruskal_wallis(alike).statistic is None and dunn_test(alike)[0].adjusted is None
    assert kruskal_wallis({"a": [1.0, np.nan], "b": [0.0, 2.0]}).n == 3


VALUES = st.lists(st.integers(-9, 9).map(lambda number: number / 7), max_size=30)


def test_by_hand():
    # Sizes 1 to 5, of which 1 is up: ranks up 1, down 14. Sign: 2 (1 + 5) / 2**5 = 0.375. Sums of ranks of at most 1:
    # none, {1}: 2 of 32, two-sided 4 / 32 = 0.125. Effect (1 - 14) / 15.
    found = paired_tests([1.0, -2.0, -3.0, -4.0, -5.0, 0.0])
    assert (found.n, found.up, found.down) == (6, 1, 4)
    assert found.sign_p == pytest.approx(0.375)
    assert found.wilcoxon_p == pytest.approx(0.125)
    assert found.effect == pytest.approx(-13 / 15)


def enumerated(values):
    """Two-sided p of the smaller rank sum over all 2**n signs."""
    ranks = stats.rankdata(np.abs(values))
    lowest = min(ranks[values > 0].sum(), ranks[values < 0].sum())
    sums = [sum(chosen) for chosen in itertools.product(*((0, rank) for rank in ranks))]
    return min(1.0, 2 * sum(each <= lowest for each in sums) / len(sums))


@pytest.mark.parametrize("digits", [6, 0])
def test_p_is_that_of_all_signs_with_and_without_ties(digits):
    for number in range(20):
        rng = seeded_generator("paired", number)
        values = np.round(rng.normal(0.4, 1, int(rng.integers(1, 11))), digits)
        if (values != 0).any():
            assert paired_tests(values).wilcoxon_p == pytest.approx(enumerated(values[values != 0]))


@given(VALUES)
def test_equals_scipy(values):
    found = paired_tests(values)
    differing = [value for value in values if value]
    assert (found.n, found.up + found.down) == (len(values), len(differing))
    if not differing:
        assert found.sign_p is found.wilcoxon_p is found.effect is None
        return
    up = sum(value > 0 for value in values)
    assert found.sign_p == pytest.approx(stats.binomtest(up, len(differing)).pvalue)
    sizes = {round(abs(value), 9) for value in differing}
    exact = len(sizes) == len(differing)
    expected = stats.wilcoxon(np.round(differing, 12), method="exact" if exact else "approx")
    # With ties scipy has the normal approximation only.
    if exact:
        assert found.wilcoxon_p == pytest.approx(expected.pvalue)


@given(VALUES)
def test_swapping_the_two_turns_the_effect_only(values):
    one, other = paired_tests(values), paired_tests([-value for value in values])
    assert (one.sign_p, one.up) == (other.sign_p, other.down)
    assert one.wilcoxon_p == (None if other.wilcoxon_p is None else pytest.approx(other.wilcoxon_p))
    assert one.effect is None or one.effect == pytest.approx(-other.effect)


def test_wins_and_losses_of_questions():
    # 60 questions lost, 20 won, 920 the same. All sizes are alike, so both tests are the same.
    found = paired_tests([-1.0] * 60 + [1.0] * 20 + [0.0] * 920)
    assert (found.n, found.up, found.down) == (1000, 20, 60)
    assert found.sign_p == pytest.approx(stats.binomtest(20, 80).pvalue)
    assert found.wilcoxon_p == pytest.approx(found.sign_p)
    assert found.effect == -0.5


def test_differences_of_scores_that_differ_in_the_last_bit_are_ties():
    found = paired_tests([0.3 - 0.2, 0.2 - 0.1, 0.7 - 0.7 + 1e-16])
    assert (found.up, found.wilcoxon_p) == (2, 0.5)


def test_many_pairs_take_the_normal_distribution():
    values = seeded_generator("many").normal(0.03, 1, 2400)
    expected = stats.wilcoxon(values, method="approx").pvalue
    assert paired_tests(values).wilcoxon_p == pytest.approx(expected, rel=1e-6)


def test_no_pairs_and_no_numbers():
    assert paired_tests([]).n == 0
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="NaN or infinite"):
            paired_tests([1.0, bad])
