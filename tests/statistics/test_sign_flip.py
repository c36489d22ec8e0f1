"""The sign-flip test against enumeration, the binomial test and the normal distribution."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lmms_medtasks.statistics import sign_flip as module
from lmms_medtasks.statistics.sign_flip import sign_flip


def enumerated(sums):
    signs = np.array(list(itertools.product((-1, 1), repeat=len(sums))))
    flipped = (signs * np.array(sums)).sum(axis=1)
    total = sum(sums)
    return (flipped <= total + 1e-9).mean(), (flipped >= total - 1e-9).mean()


@settings(max_examples=60)
@given(st.lists(st.integers(-6, 6).filter(bool), min_size=1, max_size=9), st.sampled_from([1, 3, 10]))
def test_it_is_the_share_of_all_assignments_of_signs(units, parts):
    sums = [unit / parts for unit in units]
    below, above = enumerated(sums)
    assert sign_flip(np.array(sums), "greater") == pytest.approx(above, abs=1e-12)
    assert sign_flip(np.array(sums)) == pytest.approx(min(1, 2 * min(below, above)), abs=1e-12)


def test_sums_without_a_common_unit_are_enumerated():
    sums = [0.1234567, -0.7654321, 0.3333313, 0.9191919]
    assert sign_flip(np.array(sums), "greater") == pytest.approx(enumerated(sums)[1])


@pytest.mark.parametrize(("wins", "losses"), [(3, 1), (40, 22), (0, 12), (500, 560)])
def test_with_one_question_an_image_it_is_mcnemars_exact_test(wins, losses):
    sums = np.array([1.0] * wins + [-1.0] * losses + [0.0] * 50)
    expected = stats.binomtest(wins, wins + losses, 0.5).pvalue
    assert sign_flip(sums) == pytest.approx(expected, rel=1e-9)


def test_many_images_take_the_normal_distribution(monkeypatch):
    sums = np.random.default_rng(0).integers(-3, 4, 2500).astype(float)
    approximate = sign_flip(sums)
    monkeypatch.setattr(module, "EXACT_UP_TO", 10**6)
    assert approximate == pytest.approx(sign_flip(sums), abs=0.01)


@pytest.mark.parametrize("count", [13, 60])
def test_differences_without_a_unit_are_exact_beyond_a_dozen_images(count):
    """All of one sign: only the seen assignment reaches so far, 1 of 2**n; a normal distribution says another thing."""
    sums = np.random.default_rng(1).uniform(0.1, 1, count)
    assert sign_flip(sums, "greater") == pytest.approx(0.5**count, rel=1e-9)
    mixed = sums * np.random.default_rng(2).choice([-1, 1], count)
    flipped = np.random.default_rng(3).choice([-1.0, 1.0], (40_000, count)) @ sums
    assert sign_flip(mixed, "greater") == pytest.approx((flipped >= mixed.sum()).mean(), abs=0.012)


def test_where_nothing_differs_p_is_1_and_without_an_image_there_is_none():
    assert sign_flip(np.zeros(4)) == sign_flip(np.zeros(4), "greater") == 1.0
    assert sign_flip(np.empty(0)) is None


def test_questions_of_one_image_count_as_one():
    # 5 images with 4 questions each, all better: 2 / 2**5, not 2 / 2**20.
    assert sign_flip(np.full(5, 4.0)) == pytest.approx(2 / 2**5)


def test_exact_values_are_exact_to_the_last_bit():
    assert sign_flip(np.ones(60)) == 2.0**-59  # 2 * 1 of 2^60 assignments
    assert sign_flip(np.array([*[1.0] * 10, -1.0])) == 24 / 2**11  # 2 * (1 + 11) of 2^11
    assert sign_flip(np.ones(2000)) == 0.0  # 2^-1999 is below the smallest float
    assert sign_flip(np.ones(1000)) == 2.0**-999
