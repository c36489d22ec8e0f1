"""Treatments within blocks: Cochran's Q and Friedman's statistic against libraries, p by counting by hand."""

import doctest

import numpy as np
import pytest
import scipy.stats
from statsmodels.stats.contingency_tables import cochrans_q

from lmms_medtasks.seeding import generator
from lmms_medtasks.statistics import within_blocks as module
from lmms_medtasks.statistics.sign_flip import sign_flip
from lmms_medtasks.statistics.within_blocks import within_blocks


def test_examples_in_docstrings():
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("treatments", [3, 5])
def test_whole_blocks_of_0_and_1_are_cochran_s_q(treatments):
    values = (generator("blocks", treatments).random((80, treatments)) < 0.6).astype(float)
    expected = cochrans_q(values)
    found = within_blocks(values)
    assert (found.statistic, found.df) == (pytest.approx(expected.statistic), expected.df)
    assert found.p == pytest.approx(expected.pvalue, abs=0.02) and not found.exact


def test_ranks_are_friedman_s():
    values = generator("blocks", "ranks").random((40, 4)).argsort(axis=1).argsort(axis=1).astype(float)
    expected = scipy.stats.friedmanchisquare(*values.T)
    found = within_blocks(values)
    assert found.statistic == pytest.approx(expected.statistic) and found.df == 3
    assert found.p == pytest.approx(expected.pvalue, abs=0.02)


def test_few_blocks_are_counted_out():
    # Two blocks of three, both in the same order: of 36 orders, the 6 that keep both alike are as far out.
    found = within_blocks(np.array([[0.0, 1.0, 2.0], [0.0, 1.0, 2.0]]))
    assert (found.p, found.exact, found.blocks, found.differing) == (6 / 36, True, 2, 2)


def test_two_treatments_are_the_sign_flip_test():
    values = generator("blocks", "two").random((30, 2)).round(1)
    assert within_blocks(values).p == sign_flip(values[:, 0] - values[:, 1])


def test_a_block_without_a_treatment_is_permuted_among_those_that_it_has():
    whole = np.array([[0.0, 1.0, 2.0], [1.0, 1.0, 2.0], [0.0, 2.0, 2.0]])
    lacking = np.vstack([whole, [[1.0, np.nan, 3.0], [np.nan, np.nan, 9.0], [np.nan, 1.0, 1.0]]])
    found = within_blocks(lacking)
    # 6 * 3 * 3 orders of the whole ones that count as 6 * 6 * 6, times 2: still all.
    assert (found.blocks, found.differing, found.exact, found.df) == (5, 4, True, 2)
    # Only the first block of the three has an effect on two treatments alone.
    assert within_blocks(lacking[3:]).p == 1.0


def test_p_does_not_depend_on_how_hard_a_block_is_and_is_reproducible():
    values = generator("blocks", "hard").integers(0, 2, (50, 4)).astype(float)
    harder = values - 10 * np.arange(50)[:, None]
    assert within_blocks(values) == within_blocks(values)
    assert within_blocks(harder).p == pytest.approx(within_blocks(values).p)


@pytest.mark.parametrize("values", [np.full((3, 2), np.nan), np.zeros((0, 3)), np.array([[1.0]])])
def test_nothing_to_compare(values):
    found = within_blocks(values)
    assert (found.statistic, found.p, found.blocks) == (None, None, 0)


def test_nothing_differs():
    found = within_blocks(np.zeros((4, 3)))
    assert (found.statistic, found.p, found.blocks, found.differing) == (None, 1.0, 4, 0)


def test_false_findings_are_as_claimed_where_blocks_differ_in_difficulty():
    rng = generator("blocks", "null")
    hard = rng.beta(0.5, 0.5, (300, 25, 1))
    data = (rng.random((300, 25, 3)) < hard).astype(float)
    found = [within_blocks(each, permutations=499).p for each in data]
    assert sum(p is not None and p <= 0.05 for p in found) / 300 <= 0.075
