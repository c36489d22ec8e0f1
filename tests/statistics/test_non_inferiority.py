"""Worse and not worse than a margin: against exact binomial tests, by hand, and how often both err."""

import numpy as np
import pytest
from scipy import stats

from lmms_medtasks.errors import UserError
from lmms_medtasks.statistics.non_inferiority import check_margin, largest_drop, margin_test, not_worse_p
from lmms_medtasks.statistics.sign_flip import sign_flip


@pytest.mark.parametrize(("lost", "images", "margin"), [(0, 5, 0.02), (0, 149, 0.02), (3, 100, 0.1), (40, 400, 0.15)])
def test_of_questions_that_can_only_be_lost_it_is_the_exact_binomial_test(lost, images, margin):
    drops = np.r_[np.ones(lost), np.zeros(images - lost)]
    expected = stats.binom.cdf(lost, images, margin)
    assert not_worse_p(drops, np.ones(images), margin) == pytest.approx(expected, rel=1e-9)


def test_the_largest_drop_is_then_clopper_and_pearsons_limit():
    drops = np.r_[np.ones(3), np.zeros(97)]
    assert largest_drop(drops, np.ones(100), alpha=0.05) == pytest.approx(stats.beta.ppf(0.95, 4, 97), abs=1e-4)


def test_weights_of_many_sizes_are_those_of_a_simulation():
    rng = np.random.default_rng(0)
    drops, questions = rng.integers(-2, 3, 12) / 2, np.array([1, 2, 3] * 4)
    weights = np.append(drops - 0.1 * questions, 0.9 * 3)
    simulated = (rng.standard_exponential((200_000, 13)) @ weights > 0).mean()
    assert not_worse_p(drops, questions, 0.1) == pytest.approx(simulated, abs=0.005)


def test_many_images_of_many_sizes_come_near_the_normal_distribution_and_stay_above_it():
    drops = 0.3 * np.random.default_rng(0).normal(size=6000).clip(-1, 1)
    margin = drops.mean() + 1.645 * drops.std() / np.sqrt(6000)
    assert 0.05 <= not_worse_p(drops, np.ones(6000), margin) <= 0.065


def test_four_images_can_not_be_worse_and_five_can():
    """Sixty questions all lost: p is 2**-4 with four images, 2**-5 with five, whatever the number of questions."""
    four = margin_test(np.full(4, 15.0), np.full(4, 15), 0.02)
    five = margin_test(np.full(5, 12.0), np.full(5, 12), 0.02)
    assert (four.worse_p, five.worse_p) == (pytest.approx(1 / 16), pytest.approx(1 / 32))
    assert (four.n, four.clusters, four.drop, four.not_worse_p) == (60, 4, 1.0, 1.0)
    assert largest_drop(np.full(4, 15.0), np.full(4, 15), alpha=0.05) == 1.0


def test_at_margin_0_worse_is_the_sign_flip_test_and_only_a_gain_is_not_worse():
    drops = np.array([1.0, 1.0, 0.0, -1.0, 1.0])
    found = margin_test(drops, np.ones(5), 0.0)
    assert found.worse_p == sign_flip(drops, "greater")
    same = margin_test(np.zeros(500), np.ones(500), 0.0)
    assert (same.worse_p, same.not_worse_p) == (1.0, 1.0)
    assert margin_test(-np.ones(20), np.ones(20), 0.0).not_worse_p < 0.001


def test_one_image_no_question_and_a_margin_of_all():
    assert margin_test(np.empty(0), np.empty(0), 0.02) is None
    one = margin_test(np.array([1.0]), np.array([1]), 0.02)
    assert (one.worse_p, one.not_worse_p) == (0.5, 1.0)
    assert margin_test(np.zeros(3), np.ones(3), 1.0).not_worse_p == 0.0


def test_scores_in_points_are_as_shares_of_their_range():
    rng = np.random.default_rng(3)
    drops, questions = rng.integers(-2, 3, 40) / 10, np.ones(40)
    share, points = margin_test(drops, questions, 0.05), margin_test(40 * drops, questions, 2.0, 40.0)
    assert (points.worse_p, points.not_worse_p) == pytest.approx((share.worse_p, share.not_worse_p))
    share, points = (largest_drop(scale * drops, questions, scale, alpha=0.05) for scale in (1.0, 40.0))
    assert points == pytest.approx(40 * share, abs=1e-3)


@pytest.mark.parametrize("margin", [-0.01, 1.5, "2", True, None, float("nan")])
def test_a_margin_is_from_0_to_1(margin):
    with pytest.raises(UserError, match="margin is .* from 0 to 1"):
        check_margin(margin, "rules.yml")
    assert check_margin(0, "rules.yml") == 0 and check_margin(1, "rules.yml") == 1


@pytest.mark.parametrize(("images", "questions"), [(12, 3), (60, 1), (60, 3), (200, 1)])
def test_a_drop_of_the_margin_is_called_worse_or_not_worse_in_about_5_percent_at_most(images, questions):
    """Drops of 2 points in the mean, once by few questions that are lost, once among many that change."""
    rng = np.random.default_rng(images)
    for changed in (0.02, 0.2):
        lost, won = (changed + 0.02) / 2, (changed - 0.02) / 2
        worse = not_worse = 0
        for _ in range(200):
            drawn = rng.random((images, questions))
            drops = ((drawn < lost).astype(float) - (drawn > 1 - won)).sum(axis=1)
            worse += (sign_flip(drops - 0.02 * questions, "greater") or 0) < 0.05
            not_worse += not_worse_p(drops, np.full(images, questions), 0.02) < 0.05
        # More than 18 of 200 come with a probability of 0.4 % at a level of 5 %.
        assert worse <= 18 and not_worse <= 18
