"""Ranks that chance leaves open: hand-worked, against plain enumeration, and how often equal models are told apart."""

import itertools

import numpy as np
import pytest

from lmms_medtasks.statistics.rank_intervals import no_better_p, rank_intervals
from lmms_medtasks.statistics.sign_flip import sign_flip


def test_of_two_models_p_is_twice_the_one_sided_sign_flip_p():
    """The larger of both ordered pairs' statistics is the absolute one: the two-sided test."""
    sums = np.array([[3, 0], [2, 0], [1, 0], [0, 1], [2, 1], [1, 1], [4, 0], [1, 0]], dtype=float)
    p = no_better_p(sums)
    assert p[0, 1] == pytest.approx(sign_flip(sums[:, 0] - sums[:, 1]))
    assert p[1, 0] > 0.9 and p[0, 0] == p[1, 1] == 1


def test_the_first_step_is_the_largest_statistic_of_all_pairs():
    """Against the definition, coded without any thrift, over all 2**7 assignments."""
    sums = np.random.default_rng(0).integers(0, 4, (7, 3)).astype(float)
    pairs = list(itertools.permutations(range(3), 2))

    def statistics(signs):
        differences = [signs * (sums[:, a] - sums[:, b]) for a, b in pairs]
        return [each.sum() / np.sqrt((each**2).sum()) for each in differences]

    seen = statistics(np.ones(7))
    best = int(np.argmax(seen))
    largest = [max(statistics(np.array(signs))) for signs in itertools.product((1, -1), repeat=7)]
    assert no_better_p(sums)[pairs[best]] == pytest.approx(np.mean([each >= seen[best] - 1e-9 for each in largest]))


def test_a_model_that_is_better_on_every_image_has_rank_1_alone():
    # 10 images: 2 of 1024 assignments reach as far as the data, for the two pairs of the first model alike.
    sums = np.column_stack([np.full(10, 3.0), np.tile([1.0, 0.0], 5), np.tile([0.0, 1.0], 5)])
    found = rank_intervals(sums)
    assert found.low.tolist() == [1, 2, 2]
    assert found.high.tolist() == [1, 3, 3]


def test_with_fewer_than_ten_images_nothing_is_ranked():
    assert rank_intervals(np.column_stack([np.ones(9), np.zeros(9)])) is None
    assert rank_intervals(np.column_stack([np.ones(10), np.zeros(10)])).low.tolist() == [1, 2]


@pytest.mark.parametrize("sums", [np.zeros((12, 3)), np.ones((30, 3)), np.tile([[0.0, 1.0, 0.5]], (1, 1))])
def test_models_that_are_alike_and_a_single_image_are_told_apart_by_nothing(sums):
    assert (no_better_p(sums) > 0.05).all()


def test_one_model_has_nothing_to_be_told_from():
    found = rank_intervals(np.ones((10, 1)))
    assert (found.low.tolist(), found.high.tolist()) == ([1], [1])


def test_the_order_of_models_does_not_matter():
    sums = np.random.default_rng(4).integers(0, 3, (30, 6)).astype(float)
    order = [3, 1, 5, 0, 2, 4]
    assert no_better_p(sums[:, order]) == pytest.approx(no_better_p(sums)[np.ix_(order, order)])


@pytest.mark.parametrize(("images", "models"), [(10, 5), (20, 8)])
def test_equal_models_are_told_apart_in_at_most_5_percent(images, models):
    """300 data sets; 5 % are 15 of them, and more than 24 come with a probability of 1 %."""
    rng = np.random.default_rng(7)
    apart = 0
    for _ in range(300):
        skill = rng.beta(2, 1, (images, 1))
        found = rank_intervals(rng.binomial(3, np.broadcast_to(skill, (images, models))).astype(float))
        apart += (found.p <= 0.05).any()
    assert apart <= 24


def test_models_that_differ_do_not_make_equal_ones_differ():
    """Two far better models beside four equal ones: the four are told apart from each other in at most 5 %."""
    rng = np.random.default_rng(8)
    wrong = 0
    for _ in range(200):
        shares = np.array([0.95, 0.95, 0.4, 0.4, 0.4, 0.4])
        found = rank_intervals(rng.binomial(3, np.broadcast_to(shares, (30, 6))).astype(float))
        wrong += (found.p[2:, 2:] <= 0.05).any()
        assert (found.high[:2] <= 2).all()
    assert wrong <= 17
